#pragma once
// The scan on vector registers, written once over a small set of operations `V` that each instruction set provides.
// Included only by files that are compiled for one instruction set: everything has internal linkage and nothing of
// the standard library is instantiated here, so that no function compiled for a newer processor can be linked into the
// rest.
//
// V has: Reg, Mask, Key, Sum, lanes; keys(p), steps(p), labels(p); less(k, below); cuts(valid, s, part);
// differ(k, l) as bits; add_if(a, m, d), add_unless(a, m, d); raise_if(x, v, a), lower_if(n, v, a), raise, lower;
// pair_step(label, a, b); signed_by(x, s): x times s, which is -1, 0 or 1.
#include "scan.hpp"

namespace treeform::contree {
namespace {

/// The type of a sum over all lanes.
inline std::int32_t total_of(std::int16_t sum) { return sum; }
inline std::int64_t total_of(std::int32_t sum) { return sum; }

template <class Sum>
inline void join_lanes(const Sum* sum, const Sum* most, const Sum* least, bool cuts_only, std::int64_t& most_out,
                       std::int64_t& least_out) {
    using Total = decltype(total_of(Sum{}));
    constexpr Total kMost = static_cast<Total>(sizeof(Total) == 4 ? INT32_MAX : INT64_MAX);
    const Total highest = cuts_only ? -kMost - 1 : 0, lowest = cuts_only ? kMost : 0;  // without a cut
    Total before[kLanes], total = 0;
    for (int lane = 0; lane < kLanes; ++lane) before[lane] = total, total += sum[lane];
    Total high = highest, low = lowest;
    for (int lane = 0; lane < kLanes; ++lane) {
        const bool any = most[lane] >= least[lane];   // the lane has a cut
        const Total h = any ? before[lane] + most[lane] : highest, l = any ? before[lane] + least[lane] : lowest;
        high = h > high ? h : high, low = l < low ? l : low;
    }
    most_out = high, least_out = low;
}

/// One side of `V::lanes` lanes in registers.
template <class V>
struct Part {
    typename V::Reg sum = V::zero(), most = V::lowest(), least = V::highest();

    template <bool Ties>
    inline void update(typename V::Mask cuts) {
        if constexpr (Ties)
            most = V::raise_if(most, cuts, sum), least = V::lower_if(least, cuts, sum);
        else
            most = V::raise(most, sum), least = V::lower(least, sum);
    }
};

template <class V, bool L, bool R, bool Ties, class Step>
inline void run_part(const ScanInput<typename V::Key, typename V::Sum>& in, int part, Part<V>& left, Part<V>& right,
                     const Step& step) {
    const auto below = V::broadcast(in.below);
    const std::size_t first = static_cast<std::size_t>(part) * V::lanes;
    for (std::size_t s = 0; s < in.rows; ++s) {
        const std::size_t i = s * kLanes + first;
        const auto is_left = V::less(V::keys(in.key + i), below);
        typename V::Mask cuts{};
        if constexpr (Ties) cuts = V::cuts(in.valid, s, part);
        const auto steps = step(i);
        if constexpr (L) left.sum = V::add_if(left.sum, is_left, steps.left()), left.template update<Ties>(cuts);
        if constexpr (R)
            right.sum = V::add_unless(right.sum, is_left, steps.right()), right.template update<Ties>(cuts);
    }
}

template <class V, bool L, bool R, bool Ties, class Step>
inline void run_all(const ScanInput<typename V::Key, typename V::Sum>& in, Extremes& out, const Step& step) {
    using Sum = typename V::Sum;
    constexpr int parts = kLanes / V::lanes;
    if constexpr (parts == 1) {
        Part<V> left, right;
        run_part<V, L, R, Ties>(in, 0, left, right, step);
        if (in.small_total && !in.cuts_only) {   // the join fits in 16 bits and stays in registers
            if constexpr (L) V::join(left, out.most_left, out.least_left);
            if constexpr (R) V::join(right, out.most_right, out.least_right);
            return;
        }
        alignas(64) Sum lanes[6][kLanes];
        V::store(lanes[0], left.sum), V::store(lanes[1], left.most), V::store(lanes[2], left.least);
        V::store(lanes[3], right.sum), V::store(lanes[4], right.most), V::store(lanes[5], right.least);
        if constexpr (L) join_lanes(lanes[0], lanes[1], lanes[2], in.cuts_only, out.most_left, out.least_left);
        if constexpr (R) join_lanes(lanes[3], lanes[4], lanes[5], in.cuts_only, out.most_right, out.least_right);
    } else {
        alignas(64) Sum lanes[6][kLanes];
        for (int part = 0; part < parts; ++part) {
            Part<V> left, right;
            run_part<V, L, R, Ties>(in, part, left, right, step);
            const int at = part * V::lanes;
            V::store(lanes[0] + at, left.sum), V::store(lanes[1] + at, left.most), V::store(lanes[2] + at, left.least);
            V::store(lanes[3] + at, right.sum), V::store(lanes[4] + at, right.most),
                V::store(lanes[5] + at, right.least);
        }
        if constexpr (L) join_lanes(lanes[0], lanes[1], lanes[2], in.cuts_only, out.most_left, out.least_left);
        if constexpr (R) join_lanes(lanes[3], lanes[4], lanes[5], in.cuts_only, out.most_right, out.least_right);
    }
}

/// The same step on both sides, from an array.
template <class V, class Sum = typename V::Sum>
struct DeltaStep {
    const Sum* step;
    struct Both {
        typename V::Reg value;
        inline typename V::Reg left() const { return value; }
        inline typename V::Reg right() const { return value; }
    };
    inline Both operator()(std::size_t i) const { return {V::steps(step + i)}; }
};

/// A pair of classes per side, from labels. `P` turns labels into steps.
template <class V, class P, class Label = std::uint16_t>
struct PairStep {
    const Label* label;
    P pair_left, pair_right;
    struct Both {
        typename V::Reg labels;
        const PairStep& from;
        inline typename V::Reg left() const { return from.pair_left(labels); }
        inline typename V::Reg right() const { return from.pair_right(labels); }
    };
    inline Both operator()(std::size_t i) const { return {V::labels(label + i), *this}; }
};

/// The same times what the row adds by its weight.
template <class V, class P>
struct WeightedPairStep {
    const std::uint16_t* label;
    const typename V::Sum* weight;
    P pair_left, pair_right;
    struct Both {
        typename V::Reg labels, weights;
        const WeightedPairStep& from;
        inline typename V::Reg left() const { return V::signed_by(weights, from.pair_left(labels)); }
        inline typename V::Reg right() const { return V::signed_by(weights, from.pair_right(labels)); }
    };
    inline Both operator()(std::size_t i) const { return {V::labels(label + i), V::steps(weight + i), *this}; }
};

template <class V>
struct InLanes {
    template <bool L, bool R, bool Ties, class Input, class Step>
    static inline void run(const Input& in, Extremes& out, const Step& step) {
        run_all<V, L, R, Ties>(in, out, step);
    }
};
template <class Way, bool Ties, class Input, class Step>
inline void by_side(const Input& in, Extremes& out, const Step& step) {
    if (in.sides == kBoth)
        Way::template run<true, true, Ties>(in, out, step);
    else if (in.sides == kLeft)
        Way::template run<true, false, Ties>(in, out, step);
    else
        Way::template run<false, true, Ties>(in, out, step);
}
template <class Way, class Input, class Step>
inline void by_ties(const Input& in, Extremes& out, const Step& step) {
    if (in.valid)
        by_side<Way, true>(in, out, step);
    else
        by_side<Way, false>(in, out, step);
}

template <class V>
void delta_scan(const ScanInput<typename V::Key, typename V::Sum>& in, Extremes& out) {
    by_ties<InLanes<V>>(in, out, DeltaStep<V>{in.step});
}
template <class V>
void pair_scan(const ScanInput<typename V::Key, typename V::Sum>& in, Extremes& out) {
    if constexpr (requires { typename V::LookUp; }) {
        using P = typename V::LookUp;
        if (in.classes <= 31) {
            by_ties<InLanes<V>>(in, out, PairStep<V, P>{in.label, P(in.pairs[0], in.pairs[1]), P(in.pairs[2], in.pairs[3])});
            return;
        }
    }
    using P = typename V::Compare;
    by_ties<InLanes<V>>(in, out, PairStep<V, P>{in.label, P(in.pairs[0], in.pairs[1]), P(in.pairs[2], in.pairs[3])});
}

template <class V>
void weighted_pair_scan(const ScanInput<typename V::Key, typename V::Sum>& in, Extremes& out) {
    using P = typename V::Compare;
    const std::uint16_t* p = in.pairs;
    by_ties<InLanes<V>>(in, out, WeightedPairStep<V, P>{in.label, in.step, P(p[0], p[1]), P(p[2], p[3])});
}

template <class V>
std::size_t mark_cuts(const typename V::Key* key, std::size_t rows, std::uint32_t* valid) {
    std::size_t marked = 0;
    for (std::size_t s = 0; s < rows; ++s) {
        const typename V::Key* here = key + s * kLanes;
        std::uint32_t cuts = 0;
        if (s + 1 < rows) {
            for (int part = 0; part < kLanes / V::lanes; ++part) {
                const auto* p = here + part * V::lanes;
                cuts |= V::differ(V::keys(p), V::keys(p + kLanes)) << (part * V::lanes % kLanes);
            }
        } else {   // followed by the first row of the next lane
            for (int lane = 0; lane + 1 < kLanes; ++lane)
                cuts |= static_cast<std::uint32_t>(here[lane] != key[lane + 1]) << lane;
        }
        valid[s] = cuts;
        marked += static_cast<std::size_t>(__builtin_popcount(cuts));
    }
    return marked;
}

}  // namespace
}  // namespace treeform::contree
