#pragma once
// The plain depth-one search: one pass per feature, class weights on both sides, every cut evaluated. It takes the
// minimum support into account and returns the cut: `rebuild` and the constrained search use it.
#include <algorithm>
#include <limits>
#include <vector>

#include "table.hpp"

namespace treeform::contree {

template <class Cost>
struct Stump {
    Cost cost = std::numeric_limits<Cost>::max() / 4;   // of the two leaves
    Test test;                                          // feature -1: none
};

template <class W>
class StumpScan {
public:
    using Cost = typename W::Cost;
    using Id = typename W::Id;

    explicit StumpScan(const Table<W>& table) : table_(table), below_(table.classes), above_(table.classes) {}

    /// Improve `best` with the cuts of `feature` over the rows of `node` that `outer` sends left (or right); all
    /// rows if outer.feature < 0. Both leaves keep at least `support`. `weight` is per class, over these rows.
    void improve(const Node<W>& node, int feature, Test outer, bool left, const std::vector<Cost>& weight, Cost support,
                 Stump<Cost>& best, Clash clash = {}) {
        improve(node.order(feature), node.n, feature, outer, left, weight, support, best, clash);
    }
    /// As above for `n` rows, sorted by the feature.
    void improve(const Id* rows, std::size_t n, int feature, Test outer, bool left, const std::vector<Cost>& weight,
                 Cost support, Stump<Cost>& best, Clash clash = {}) {
        const auto* rank = table_.rank[feature].data();
        const auto* outer_rank = outer.feature < 0 ? nullptr : table_.rank[outer.feature].data();
        std::fill(below_.begin(), below_.end(), Cost{0});
        above_ = weight;
        Cost under = 0, over = 0;
        if (support > 0)
            for (std::size_t k = 0; k < n; ++k) {
                const Id row = rows[k];
                if (!outer_rank || (outer_rank[row] < outer.key) == left) over += table_.support_of(row);
            }
        bool any = false;
        std::uint32_t previous = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const Id row = rows[k];
            if (outer_rank && (outer_rank[row] < outer.key) != left) continue;
            const std::uint32_t key = rank[row];
            const bool supported = support == 0 || (under >= support && over >= support);
            if (any && key != previous && supported) consider(feature, key, clash, best);
            any = true, previous = key;
            const Cost w = table_.weight_of(row), counted = table_.support_of(row);
            const auto y = table_.label[row];
            below_[y] += w, above_[y] -= w, under += counted, over -= counted;
        }
    }

    /// The cheapest single prediction for these class weights.
    Cost leaf(const std::vector<Cost>& weight, int* label = nullptr, std::uint64_t banned = 0) const {
        const int k = table_.predictions;
        Cost best = std::numeric_limits<Cost>::max() / 4;
        for (int a = 0; a < k; ++a) {
            if (banned != 0 && (banned >> a & 1) != 0) continue;
            Cost cost = 0;
            for (int y = 0; y < table_.classes; ++y)
                cost += weight[y] * table_.cost[static_cast<std::size_t>(y) * k + a];
            if (cost < best) {
                best = cost;
                if (label) *label = a;
            }
        }
        return best;
    }

private:
    const Table<W>& table_;
    std::vector<Cost> below_, above_;

    void consider(int feature, std::uint32_t key, Clash clash, Stump<Cost>& best) {
        Cost cost = side(below_) + side(above_);
        if (clash.any())
            cost = std::min(leaf(below_, nullptr, clash.below) + side(above_),
                            side(below_) + leaf(above_, nullptr, clash.above));
        if (cost < best.cost) best = {cost, {feature, key}};
    }
    Cost side(const std::vector<Cost>& weight) const {
        const auto each = static_cast<Cost>(table_.losses.of_error);
        if (each == 0) return leaf(weight);
        Cost total = 0, most = 0;
        for (const auto w : weight) total += w, most = std::max(most, w);
        return each * (total - most);
    }
};

}  // namespace treeform::contree
