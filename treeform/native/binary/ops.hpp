#pragma once
// What the vector kernels compute, as plain structs and function pointers: the boundary between code compiled
// once per instruction set and everything else. `L` is the lane (16, 32 or 64 bits): a lane holds that many rows of
// one feature as bits, or one count.
#include <atomic>
#include <cstdint>

namespace treeform::binary {

/// One run of chunks whose bits all belong to one channel and weigh 2^plane. Runs of a channel go from the
/// highest plane to plane 0, all present, so a weighted count is a Horner scheme over planes.
struct Run {
    int begin = 0, end = 0;
};

/// The bits of a set of rows: chunk c of feature f is bits[c * pad + f]; features beyond `columns` are zero.
template <class L>
struct Bits {
    const L* bits = nullptr;
    int columns = 0, pad = 0;
    const Run* runs = nullptr;  // channel-major: runs[channel * planes + (planes - 1 - plane)]
    int planes = 0;
    const std::atomic<bool>* stopping = nullptr;  // once it is true tables of pairs are left unfinished
    bool stopped() const { return stopping && stopping->load(std::memory_order_relaxed); }
};

/// One chunk of a compression: which bits stay, and where they go.
template <class L>
struct Step {
    std::uint32_t from;   // input chunk
    L mask;               // bits kept
    L move[6];            // Hacker's Delight "compress", one mask per halving step
    std::uint8_t at;      // position in the output chunk under construction
    bool whole;           // mask keeps a whole prefix: nothing to move
    bool emit;            // the output chunk is full after this step
    bool flush;           // the run ends here: write what is left
};

enum class Mode { two_classes, classes, classes_and_support };

/// Rewards ("weight on the right side") of the best trees below a test on feature f of at most 0..2 further
/// tests per side, as arrays over features: index 0 = rows with the feature, 1 = rows without it.
template <class S>
struct Best {
    S* leaf[2];    // no further test
    S* one[2];     // one further test
    S* two[2];     // a test and one below it
    S* three[2];   // a test and one below each of its sides
};

/// Pair table: for channel k, table[(k * columns + h) * pad + g] = weight of rows with both h and g.
template <class L, class S>
struct Ops {
    const char* name;
    int vector_bytes;
    void (*compress)(const L* bits, int pad, const Step<L>* steps, int n_steps, L* out);
    /// counts[k * pad + f] for channels first..last.
    void (*count)(const Bits<L>&, int first, int last, S* counts);
    /// The pair table of `channels` channels; two_classes: one table, channel 0 minus channel 1.
    void (*pairs)(const Bits<L>&, Mode, int channels, L* scratch, S* table);
    /// mass: channel 0 plus channel 1 (two_classes), or one given channel.
    void (*mass_pairs)(const Bits<L>&, int first, int last, L* scratch, S* table);
    /// From the table: best[...].leaf and .one of each feature (the depth-two problem).
    void (*stumps)(const Bits<L>&, Mode, int channels, const S* table, const S* counts, const S* totals, S support,
                   Best<S>&);
    /// One row of the depth-three problem: `inside` are the rows of the node that have feature f; columns >= f
    /// are combined with f, and best.one/two/three are raised for f and for every such column.
    void (*triples)(const Bits<L>& inside, Mode, int channels, int f, const S* table, const S* counts, const S* totals,
                    S support, L* scratch, Best<S>&);
};

/// The value of a tree that violates the minimum support (support mode uses lanes of 32 bits or more).
template <class S>
constexpr S forbidden() {
    return -(S(1) << (8 * sizeof(S) - 3));
}

template <class L, class S>
const Ops<L, S>& choose_ops(const char* wanted);  // "auto", "avx512", "avx2", "plain"

}  // namespace treeform::binary
