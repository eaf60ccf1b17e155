#pragma once
// What leaves, tests and sides of splits add to the price, the cost and the active rows; and lists of solutions.
//
// Active rows are turned so that their active side is the upper one.
#include <algorithm>
#include <utility>
#include <vector>

#include "../common/cold.hpp"
#include "../totals/active.hpp"
#include "../totals/solution.hpp"
#include "priced.hpp"

namespace treeform::continuous_totals {

using totals::Active;

constexpr int kMostActive = 16;
/// Solutions with room for many rows have room for marks, too: another size would have to be compiled for them.
template <int K>
constexpr int kWords = K == kMostActive ? 1 : 0;
template <int K>
using Solution = totals::Solution<K, kWords<K>>;  // `excess` holds the price
template <int K>
using Front = totals::Front<K, kWords<K>>;

template <int K>
Solution<K> plus(const Solution<K>& a, const Solution<K>& b) {
    Solution<K> sum;
    sum.carried.join(a.carried, b.carried);
    sum.excess = a.excess + b.excess, sum.cost = a.cost + b.cost;
    for (int k = 0; k < K; ++k) sum.row[k] = a.row[k] + b.row[k];
    return sum;
}

template <int K>
class Amounts {
public:
    TREEFORM_COLD Amounts(const Samples& samples, const Prices& prices, const std::vector<Active>& active,
                          bool dominance)
        : marks(samples.has_clashes()), samples_(samples),
          leaf_(static_cast<std::size_t>(samples.kinds) * samples.labels) {
        for (int i = 0; i < samples.kinds * samples.labels; ++i) {
            leaf_[i].carried.set_marks(std::uint64_t(samples.mark[i]));
            leaf_[i].excess = prices.leaf[i], leaf_[i].cost = samples.cost[i];
            fill(leaf_[i], active, samples.row + static_cast<std::size_t>(i) * samples.rows);
        }
        test.carried.clear();
        test.excess = prices.test, test.cost = samples.test_cost;
        fill(test, active, samples.test_row);
        for (int k = 0; k < K; ++k) hi[k] = kNone, lo[k] = -kNone;
        for (std::size_t k = 0; k < active.size(); ++k) {
            const auto& [row, sign, both] = active[k];
            hi[k] = sign > 0 ? samples.hi[row] : -samples.lo[row];
            if (both) lo[k] = sign > 0 ? samples.lo[row] : -samples.hi[row];
            (both || !dominance ? order.equal : order.upper).push_back(static_cast<int>(k));
        }
    }

    Solution<K> test;
    Amount lo[K], hi[K];
    totals::Dominance order;
    bool marks;  // there are some that must not meet

    /// Whether a front is a staircase: one row at most, on one side, and nothing else to compare.
    bool stairs() const { return !marks && order.equal.empty() && order.upper.size() <= 1; }
    bool may_meet(int feature, const Solution<K>& left, const Solution<K>& right) const {
        return !marks || samples_.may_meet(feature, left.carried.marks(), right.carried.marks());
    }
    /// Whether sides with these weights per kind, which cost at least that much, may stay within the limit: of each
    /// clash, one side has to do without the labels that bring its marks.
    bool within(int feature, const std::vector<Amount>& left, const std::vector<Amount>& right, Amount least_left,
                Amount least_right, Amount limit) const {
        for (int j = samples_.clash_begin[feature]; j < samples_.clash_begin[feature + 1]; ++j) {
            const Amount without_low = std::max(least_left, without(left, samples_.clash_low[j]));
            const Amount without_high = std::max(least_right, without(right, samples_.clash_high[j]));
            if (std::min(without_low + least_right, least_left + without_high) > limit) return false;
        }
        return true;
    }

    /// What these weights per kind come to under one label.
    Solution<K> of(const std::vector<Amount>& weight, int label) const {
        Solution<K> sum{};
        for (int m = 0; m < samples_.kinds; ++m) {
            if (weight[m] == 0) continue;
            const Solution<K>& one = leaf_[static_cast<std::size_t>(m) * samples_.labels + label];
            sum.carried.join(sum.carried, one.carried);
            sum.excess += weight[m] * one.excess, sum.cost += weight[m] * one.cost;
            for (int k = 0; k < K; ++k) sum.row[k] += weight[m] * one.row[k];
        }
        return sum;
    }
    /// The change of `from` when these weights per kind get label b in place of a.
    Solution<K> moved(Solution<K> from, const std::vector<Amount>& weight, int a, int b) const {
        for (int m = 0; m < samples_.kinds; ++m) {
            if (weight[m] == 0) continue;
            const std::size_t at = static_cast<std::size_t>(m) * samples_.labels;
            const Solution<K>&is = leaf_[at + b], &was = leaf_[at + a];
            from.excess += weight[m] * (is.excess - was.excess), from.cost += weight[m] * (is.cost - was.cost);
            for (int k = 0; k < K; ++k) from.row[k] += weight[m] * (is.row[k] - was.row[k]);
        }
        return from;
    }
    /// The marks of a test of column f: label a for the weights below, b for the others. False when they clash.
    bool join_marks(int f, const std::vector<Amount>& weight, const std::vector<Amount>& below, int a, int b,
                    Solution<K>& out) const {
        std::uint64_t left = 0, right = 0;
        for (int m = 0; m < samples_.kinds; ++m) {
            const Amount* mark = samples_.mark + static_cast<std::size_t>(m) * samples_.labels;
            if (below[m] > 0) left |= std::uint64_t(mark[a]);
            if (below[m] < weight[m]) right |= std::uint64_t(mark[b]);
        }
        out.carried.set_marks(left | right);
        return samples_.may_meet(f, left, right);
    }
    bool satisfied(const Solution<K>& s) const {
        for (int k = 0; k < K; ++k)
            if (s.row[k] > hi[k] || s.row[k] < lo[k]) return false;
        return true;
    }

private:
    const Samples& samples_;
    std::vector<Solution<K>> leaf_;

    /// The least price of a part whose samples avoid these marks; kNone if one of them cannot.
    Amount without(const std::vector<Amount>& weight, Amount marks_avoided) const {
        Amount sum = 0;
        for (int m = 0; m < samples_.kinds; ++m) {
            if (weight[m] == 0) continue;
            Amount least = kNone;
            for (int c = 0; c < samples_.labels; ++c) {
                const std::size_t i = static_cast<std::size_t>(m) * samples_.labels + c;
                if ((samples_.mark[i] & marks_avoided) == 0) least = std::min(least, leaf_[i].excess);
            }
            if (least == kNone) return kNone;
            sum += weight[m] * least;
        }
        return sum;
    }
    TREEFORM_COLD static void fill(Solution<K>& out, const std::vector<Active>& active, const Amount* row) {
        for (int k = 0; k < K; ++k) out.row[k] = 0;
        for (std::size_t k = 0; k < active.size(); ++k) out.row[k] = active[k].sign * row[active[k].row];
    }
};

/// A front that is being filled. Needless solutions are dropped whenever it has grown to twice its size, and most of
/// them are not even taken in: with one row, what is left after the last time is a staircase.
template <int K>
class Collector {
public:
    Front<K> list;

    void begin(const Amounts<K>& amounts, std::size_t most) {
        order_ = &amounts.order, most_ = most, mark_ = kFirst;
        one_ = amounts.stairs();
        list.clear(), stairs_.clear();
    }
    void offer(const Solution<K>& s) {
        if (one_ && covered(s)) return;
        list.push_back(s);
        if (list.size() >= mark_) tidy();
    }
    /// The front, sorted by price.
    Front<K>& finish() {
        totals::tidy(list, *order_);
        return list;
    }

private:
    static constexpr std::size_t kFirst = 256;
    const totals::Dominance* order_ = nullptr;
    std::size_t most_ = 0, mark_ = kFirst;
    bool one_ = false;
    std::vector<std::pair<Amount, Amount>> stairs_;  // row upwards, cost downwards

    bool covered(const Solution<K>& s) const {
        const auto at = std::upper_bound(stairs_.begin(), stairs_.end(), std::pair<Amount, Amount>(s.row[0], kNone));
        return at != stairs_.begin() && std::prev(at)->second <= s.cost;
    }
    void tidy() {
        totals::tidy(list, *order_);
        mark_ = std::max(kFirst, 2 * list.size());
        if (list.size() * sizeof(Solution<K>) > most_) throw std::bad_alloc();
        if (!one_) return;
        stairs_.clear();
        for (const auto& s : list) stairs_.push_back({s.row[0], s.cost});
        std::sort(stairs_.begin(), stairs_.end());
        std::size_t kept = 0;
        for (const auto& [row, cost] : stairs_)
            if (kept == 0 || cost < stairs_[kept - 1].second) stairs_[kept++] = {row, cost};
        stairs_.resize(kept);
    }
};

}  // namespace treeform::continuous_totals
