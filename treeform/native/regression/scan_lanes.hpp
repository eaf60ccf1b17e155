#pragma once
// The scan of scan.hpp for one instruction set; each scan_*.cpp defines TREEFORM_LANES and includes it.
#include "../contree/shuffle.hpp"
#include "scan.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"

namespace treeform::regression {
namespace {

constexpr int kLanes = TREEFORM_LANES;
typedef std::int32_t Ints __attribute__((vector_size(4 * kLanes)));
typedef float Floats __attribute__((vector_size(4 * kLanes)));

inline Ints load(const std::int32_t* from) { return *reinterpret_cast<const Ints*>(from); }
inline Floats to_floats(Ints value) { return __builtin_convertvector(value, Floats); }

template <int... Lane>
struct Lanes {};
template <int N, int... Lane>
struct Counted : Counted<N - 1, N - 1, Lane...> {};
template <int... Lane>
struct Counted<0, Lane...> {
    using type = Lanes<Lane...>;
};

/// Each lane takes the value of the one that is By before it; the first ones are 0.
template <int By, int... Lane>
inline Ints moved(Ints value, Lanes<Lane...>) {
    return TREEFORM_SHUFFLE(Ints{}, value, Ints, (Lane < By ? 0 : kLanes + Lane - By)...);
}

/// What `merge` makes of each lane and all before it.
template <class Merge>
inline Ints running(Ints value, const Merge& merge) {
    constexpr typename Counted<kLanes>::type lanes;
    value = merge(value, moved<1>(value, lanes));
    value = merge(value, moved<2>(value, lanes));
    if constexpr (kLanes > 4) value = merge(value, moved<4>(value, lanes));
    if constexpr (kLanes > 8) value = merge(value, moved<8>(value, lanes));
    return value;
}

/// Sums of the segments before each lane, and the sum of all.
inline std::int32_t before_lanes(Ints& sums) {
    const Ints all = running(sums, [](Ints a, Ints b) __attribute__((always_inline)) { return a + b; });
    sums = all - sums;
    return all[kLanes - 1];
}

/// The best pair (c^2, k (n - k)) of each lane on one side.
struct Best {
    Floats mean, n, c = Floats{}, q = Floats{} + 1.0f;

    Best(std::int32_t sum, std::int32_t count)
        : mean(Floats{} + (count > 0 ? static_cast<float>(static_cast<double>(sum) / count) : 0.0f)),
          n(Floats{} + static_cast<float>(count)) {}
    template <bool Ties>
    void offer(Ints sum, Ints count, Ints ends) {
        const Floats k = to_floats(count);
        Floats cc = to_floats(sum) - k * mean;
        Floats qq = k * (n - k);
        cc = cc * cc;
        // At empty sides c is 0 but for rounding, and q is 0: no gain may come of it.
        qq = qq > 0.5f ? qq : Floats{} + 1e30f;
        Ints higher = cc * q > c * qq;
        if (Ties) higher &= ends;
        c = higher ? cc : c;
        q = higher ? qq : q;
    }
    double gain() const {
        // None is negative, so that their bits compare as they do.
        const Ints most = running(reinterpret_cast<Ints>(n * (c / q)),
                                  [](Ints a, Ints b) __attribute__((always_inline)) { return a > b ? a : b; });
        return static_cast<double>(reinterpret_cast<Floats>(most)[kLanes - 1]);
    }
};

struct Yes {
    static constexpr bool value = true;
};
struct No {
    static constexpr bool value = false;
};

template <bool Left, bool Right>
void scan_sides(const ScanInput& in, double gain[2]) {
    const Ints threshold = Ints{} + in.threshold;
    Ints sum = {}, count = {}, total = {};
    for (int i = 0; i < in.rows; ++i) {
        const Ints goes_left = load(in.key + i * kLanes) < threshold, y = load(in.target + i * kLanes);
        sum += goes_left & y, count -= goes_left;
        if (Right) total += y;
    }
    const std::int32_t left_sum = before_lanes(sum);
    before_lanes(count);
    const std::int32_t all = before_lanes(total);
    Ints position;
    for (int l = 0; l < kLanes; ++l) position[l] = l;
    position *= in.rows;
    Best left(left_sum, in.n[0]), right(all - left_sum, in.n[1]);
    const auto step = [&](int i, auto ties) __attribute__((always_inline)) {
        constexpr bool kTies = decltype(ties)::value;
        const Ints key = load(in.key + i * kLanes), goes_left = key < threshold, y = load(in.target + i * kLanes);
        Ints ends = {};
        if constexpr (kTies) ends = -(key & 1);
        sum += goes_left & y, count -= goes_left;
        if constexpr (Left) left.template offer<kTies>(sum, count, ends);
        if constexpr (Right) {
            position += 1, total += y;
            right.template offer<kTies>(total - sum, position - count, ends);
        }
    };
    int i = 0;
    if (!in.ties)
        for (; i < in.rows - kLanes; ++i) step(i, No{});
    for (; i < in.rows; ++i) step(i, Yes{});  // pads lie in the last rows of the last lane
    if (Left) gain[0] = left.gain();
    if (Right) gain[1] = right.gain();
}

void scan_here(const ScanInput& in, bool want_left, bool want_right, double gain[2]) {
    if (want_left && want_right)
        scan_sides<true, true>(in, gain);
    else if (want_left)
        scan_sides<true, false>(in, gain);
    else
        scan_sides<false, true>(in, gain);
}

}  // namespace
}  // namespace treeform::regression
