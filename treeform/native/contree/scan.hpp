#pragma once
// The depth-one scan, where almost all the time goes.
//
// A side of a split holds some rows; the best tree of one test on feature g for that side is wanted. Take two
// predictions a and b. With d(k) = sum over the first k rows, sorted by g, of cost[y][a] - cost[y][b], predicting a
// below a cut after k rows and b above costs
//
//     (all predicted b) + d(k),        and the other way round        (all predicted a) - d(k),
//
// so only the least and the greatest d over the cuts matter: no class counts, no division, no branch. Both sides of
// the outer split {rank_f < key} share one pass over the node's rows sorted by g: a row adds to the side it is on.
//
// To run 32 prefix sums at once the sorted rows are cut into 32 contiguous stretches, one per lane: element k of the
// order sits in lane k / S, row k % S of a table of S rows (S = ceil(n / 32)), at position (k % S) * 32 + k / S. Going
// down the table every lane sums its own stretch; at the end one scan over the 32 lane totals joins them. Bit l of
// `valid[s]` is set if a cut after element (s, l) separates two different values of g; no cut goes inside equal values.
// The padding rows at the end add nothing.
#include <cstddef>
#include <cstdint>

namespace treeform::contree {

constexpr int kLanes = 32;
enum Sides : int { kLeft = 1, kRight = 2, kBoth = 3 };

/// Extremes of d over the cuts of each side; the empty prefix (0) is among them unless `cuts_only`. Most below least:
/// no cut.
struct Extremes {
    std::int64_t most_left = 0, least_left = 0, most_right = 0, least_right = 0;
};

/// One scan. `step` is what a row adds to d, for `delta`; `label` and `pairs` (a, b of the left side, a, b of the right
/// side) define it for `pair`: +1 for class b, -1 for class a; `weighted_pair` adds `step` times that.
template <class Key, class Sum>
struct ScanInput {
    const Key* key = nullptr;
    const Sum* step = nullptr;
    const std::uint16_t* label = nullptr;
    const std::int8_t* step_bytes = nullptr;  // `step` and `label` in bytes, where the scans take them (`block` > 0)
    const std::uint8_t* label_bytes = nullptr;
    const std::uint32_t* valid = nullptr;  // null: every cut counts
    std::size_t rows = 0;  // of the lane table
    std::size_t block = 0;  // rows whose steps sum up to at most 127
    Key below = 0;  // key < below is the left side
    int sides = kBoth;
    bool cuts_only = false;  // not in bytes
    bool small_total = false;  // the sum over all rows of |step| is at most 16,000
    int classes = 0;
    std::uint16_t pairs[4] = {0, 0, 0, 0};
};

/// The functions of one instruction set.
template <class Key, class Sum>
struct ScanTable {
    void (*delta)(const ScanInput<Key, Sum>&, Extremes&);
    void (*pair)(const ScanInput<Key, Sum>&, Extremes&);
    void (*weighted_pair)(const ScanInput<Key, Sum>&, Extremes&);
    /// Write `valid` for a lane table of keys; returns the number of bits set.
    std::size_t (*mark)(const Key* key, std::size_t rows, std::uint32_t* valid);
    const char* name;
    bool bytes = false;  // takes steps and labels in bytes
};

/// The plain functions, and the fastest that this processor and `simd` ("auto", "plain", "portable", "avx2", "avx512")
/// allow.
template <class Key, class Sum>
ScanTable<Key, Sum> plain_scans();
template <class Key, class Sum>
ScanTable<Key, Sum> choose_scans(const char* simd);
// The vector paths; only for widths that are declared here, and only where `simd_available` is true.
#if defined(__GNUC__)
ScanTable<std::uint16_t, std::int16_t> portable_scans_16();
ScanTable<std::uint32_t, std::int32_t> portable_scans_32();
ScanTable<std::uint16_t, std::int32_t> portable_scans_16_32();
#endif
#if defined(__x86_64__)
ScanTable<std::uint16_t, std::int16_t> avx2_scans_16();
ScanTable<std::uint32_t, std::int32_t> avx2_scans_32();
ScanTable<std::uint16_t, std::int32_t> avx2_scans_16_32();
ScanTable<std::uint16_t, std::int16_t> avx512_scans_16();
ScanTable<std::uint32_t, std::int32_t> avx512_scans_32();
ScanTable<std::uint16_t, std::int32_t> avx512_scans_16_32();
#endif
/// Whether the processor can run that path.
bool simd_available(const char* simd);

}  // namespace treeform::contree
