#pragma once
// The scan in bytes. Where a row adds -1, 0 or 1 (two classes of unit weight, or a pair of classes), a sum over a block
// of at most 127 rows of the lane table fits in 8 bits: one register of 32 bytes holds all lanes. After each block the
// sums and their extremes are joined to those of the blocks before it in 16 bits. Steps of up to 31 work alike, in
// shorter blocks.
//
// Written once over a small set of operations `B` that each instruction set provides, included only by files that are
// compiled for one (see scan_vector.hpp).
//
// B has: Reg (32 bytes), Mask, Cuts, Words (32 numbers of 16 bits); zero, lowest, highest, labels(p),
// steps(p), cuts(bits), all_cuts(); Below<Key>(key) with mask(p); add_if(a, m, d), add_unless(a, m, d); raise_if(x, c, a), lower_if(x, c, a),
// raise, lower; LookUp and Compare from labels to steps; words of Part (first_block, next_block), store_words, join.
#include "scan_vector.hpp"

namespace treeform::contree {
namespace {

/// Sums of one side over one block.
template <class B>
struct BytePart {
    typename B::Reg sum = B::zero(), most = B::lowest(), least = B::highest();

    template <bool Ties>
    inline void update(const typename B::Cuts& cuts) {
        if constexpr (Ties)
            most = B::raise_if(most, cuts, sum), least = B::lower_if(least, cuts, sum);
        else
            most = B::raise(most, sum), least = B::lower(least, sum);
    }
};

/// Sums of one side over all blocks so far, 16 bits a lane. A lane without a cut keeps -32768 and 32767.
template <class B>
struct WordPart {
    typename B::Words sum = B::zero_words(), most = B::lowest_words(), least = B::highest_words();

    inline void append(const BytePart<B>& block) {
        const typename B::Words high = B::widen(block.most), low = B::widen(block.least);
        const auto none = B::above(low, high);  // lanes without a cut in this block: 127 above -128
        most = B::raise_words(most, B::replace(B::add_words(sum, high), none, B::lowest_words()));
        least = B::lower_words(least, B::replace(B::add_words(sum, low), none, B::highest_words()));
        sum = B::add_words(sum, B::widen(block.sum));
    }
    inline void join(bool small_total, std::int64_t& most_out, std::int64_t& least_out) const {
        if (small_total) {
            B::join(sum, most, least, most_out, least_out);
            return;
        }
        alignas(64) std::int16_t lanes[3][kLanes];
        B::store_words(lanes[0], sum), B::store_words(lanes[1], most), B::store_words(lanes[2], least);
        join_lanes(lanes[0], lanes[1], lanes[2], false, most_out, least_out);
    }
};

template <class B, bool L, bool R, bool Ties, class Key, class Sum, class Step>
inline void run_bytes(const ScanInput<Key, Sum>& in, Extremes& out, const Step& step) {
    const typename B::template Below<Key> below(in.below);
    WordPart<B> left_sums, right_sums;
    for (std::size_t begin = 0; begin < in.rows; begin += in.block) {
        const std::size_t end = in.rows - begin < in.block ? in.rows : begin + in.block;
        BytePart<B> left, right;
        for (std::size_t s = begin; s < end; ++s) {
            const std::size_t i = s * kLanes;
            const auto mask = below.mask(in.key + i);
            typename B::Cuts cuts{};
            if constexpr (Ties) cuts = B::cuts(in.valid[s]);
            const auto steps = step(i);
            if constexpr (L) left.sum = B::add_if(left.sum, mask, steps.left()), left.template update<Ties>(cuts);
            if constexpr (R)
                right.sum = B::add_unless(right.sum, mask, steps.right()), right.template update<Ties>(cuts);
        }
        if constexpr (L) left_sums.append(left);
        if constexpr (R) right_sums.append(right);
    }
    if constexpr (L) left_sums.join(in.small_total, out.most_left, out.least_left);
    if constexpr (R) right_sums.join(in.small_total, out.most_right, out.least_right);
}

template <class B>
struct InBytes {
    template <bool L, bool R, bool Ties, class Input, class Step>
    static inline void run(const Input& in, Extremes& out, const Step& step) {
        run_bytes<B, L, R, Ties>(in, out, step);
    }
};

/// The scans of V, in bytes where the input has them.
template <class B, class V>
void delta_scan_in_bytes(const ScanInput<typename V::Key, typename V::Sum>& in, Extremes& out) {
    if (in.step_bytes)
        by_ties<InBytes<B>>(in, out, DeltaStep<B, std::int8_t>{in.step_bytes});
    else
        delta_scan<V>(in, out);
}
template <class B, class V>
void pair_scan_in_bytes(const ScanInput<typename V::Key, typename V::Sum>& in, Extremes& out) {
    const std::uint16_t* p = in.pairs;
    if (!in.label_bytes) {
        pair_scan<V>(in, out);
    } else if (in.classes <= B::kLookUpLabels) {
        using P = typename B::LookUp;
        by_ties<InBytes<B>>(in, out, PairStep<B, P, std::uint8_t>{in.label_bytes, P(p[0], p[1]), P(p[2], p[3])});
    } else {
        using P = typename B::Compare;
        by_ties<InBytes<B>>(in, out, PairStep<B, P, std::uint8_t>{in.label_bytes, P(p[0], p[1]), P(p[2], p[3])});
    }
}

}  // namespace
}  // namespace treeform::contree
