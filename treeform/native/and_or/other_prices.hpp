#pragma once
// Excludes alternatives of trees of depth two by prices of other multipliers than those of the search. An alternative
// is needed only if, at each of these prices, some tree with it is within the limit. The multipliers that give the best
// bound for all trees need not be the best for the trees with one alternative. treeform/engines/graph_fixing.py does
// the same when a graph is written out; here alternatives are omitted before they take memory.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "../contree/table.hpp"
#include "../totals/prices.hpp"
#include "levels.hpp"
#include "rows_of_points.hpp"

namespace treeform::and_or {

class OtherPrices {
public:
    /// Makes prices with one multiplier scaled each; those that are too large to be exact are omitted.
    void begin(const totals::Table& table, const totals::Pricing& pricing, const totals::Prices& now, Amount cost) {
        kinds_ = table.kinds, labels_ = table.labels;
        if (now.multiplier != multiplier_ || now.unit != unit_) known_.clear();
        multiplier_ = now.multiplier, unit_ = now.unit;
        prices_.clear(), room_.clear(), limit_.clear();
        for (int r = 0; r < table.rows && prices_.size() < kMost; ++r)
            for (const double factor : {0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0}) {
                std::vector<Amount> multiplier = now.multiplier;
                multiplier[r] = Amount(double(multiplier[r]) * factor);
                totals::Prices made;
                if (multiplier == now.multiplier || !pricing.make(multiplier, now.unit, made)) continue;
                limit_.push_back(made.limit(cost)), prices_.push_back(std::move(made));
            }
        const std::size_t n = prices_.size();
        leaf_.resize(std::size_t(kinds_) * labels_ * n);
        for (std::size_t i = 0; i < std::size_t(kinds_) * labels_; ++i)
            for (std::size_t p = 0; p < n; ++p) leaf_[i * n + p] = double(prices_[p].leaf[i]);
    }
    void end() { prices_.clear(), room_.clear(); }
    /// The memory in use; a side that is kept has a number for each price, and its place in the map.
    std::size_t bytes() const {
        constexpr std::size_t kNumber = sizeof(double), kPlace = 80;
        const std::size_t each = known_.empty() ? 0 : known_.begin()->second.size() * kNumber + kPlace;
        return known_.size() * each + (leaf_.size() + room_.size() * prices_.size()) * kNumber;
    }

    /// Sets the limits of the nodes below the root. Root tests that no needed tree has get an infinite price.
    template <class W, class RowsOf>
    void ask(const Level& level, const Alternatives& of_root, std::vector<Amount>& own, int features,
             const IntervalGraph::RowsOfPoints& rows, const RowsOf& rows_of) {
        std::vector<const std::vector<double>*> least;
        for (std::size_t i = 0; i < level.nodes.size(); ++i) {
            const std::pair side{level.nodes[i].column, level.nodes[i].side};
            auto at = known_.find(side);
            if (at == known_.end()) at = known_.emplace(side, least_of<W>(rows_of(i), features, rows)).first;
            least.push_back(&at->second);
        }
        room_.assign(level.nodes.size(), std::vector<double>(prices_.size(), -double(totals::kNone)));
        for (std::size_t a = 0; a < of_root.test.size(); ++a) {
            if (of_root.test[a] < 0) continue;
            const std::size_t left = of_root.left[a] - 1, right = of_root.right[a] - 1;  // the root is node 0
            if (!over(left, *least[left], right, *least[right])) own[a] = totals::kNone;
        }
    }

    /// Whether a test over two leaves with these weights per kind is within the limits of a node.
    bool within(std::size_t node, const std::vector<Amount>& low, const std::vector<Amount>& high) const {
        if (room_.empty()) return true;
        for (std::size_t p = 0; p < prices_.size(); ++p)
            if (cheapest(low, p) + cheapest(high, p) + double(prices_[p].test[0]) > room_[node][p]) return false;
        return true;
    }

private:
    static constexpr std::size_t kMost = 48;
    int kinds_ = 0, labels_ = 0;
    std::vector<Amount> multiplier_, limit_;
    Amount unit_ = 0;
    std::vector<totals::Prices> prices_;
    // Whole numbers below 2^53: sums are exact.
    std::vector<double> leaf_;                // [kind][label][price]
    std::vector<std::vector<double>> room_;   // [node][price]: the highest cost of a tree at a node
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<double>> known_;  // by test and side: least cost

    /// For each price, a lower bound for trees of at most one test on these rows.
    template <class W>
    std::vector<double> least_of(const contree::Node<W>& subset, int features,
                                 const IntervalGraph::RowsOfPoints& rows) const {
        const std::size_t n = prices_.size();
        std::vector<double> whole(labels_ * n, 0), low(labels_ * n), best(n, double(totals::kNone));
        const auto add = [&](auto row, std::vector<double>& to) {
            const double* price = leaf_.data() + std::size_t(rows.kind[row]) * labels_ * n;
            const double weight = double(rows.weight[row]);
            for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * price[i];
        };
        for (std::size_t k = 0; k < subset.n; ++k) add(subset.order(0)[k], whole);
        for (std::size_t i = 0; i < whole.size(); ++i) best[i % n] = std::min(best[i % n], whole[i]);
        for (int f = 0; f < features; ++f) {
            std::fill(low.begin(), low.end(), 0);
            const auto* keys = subset.key(f);
            for (std::size_t k = 0; k < subset.n; ++k) {
                if (k > 0 && keys[k] != keys[k - 1])
                    for (std::size_t p = 0; p < n; ++p) {
                        double left = low[p], right = whole[p] - low[p];
                        for (std::size_t i = p + n; i < low.size(); i += n)
                            left = std::min(left, low[i]), right = std::min(right, whole[i] - low[i]);
                        best[p] = std::min(best[p], left + right + double(prices_[p].test[0]));
                    }
                add(subset.order(f)[k], low);
            }
        }
        return best;
    }
    /// Raises the limits of the two nodes of a test, given lower bounds on their costs; false if no tree with it is
    /// needed.
    bool over(std::size_t left, const std::vector<double>& of_left, std::size_t right,
              const std::vector<double>& of_right) {
        const auto rest = [&](std::size_t p) { return double(limit_[p] - prices_[p].test[0]); };
        for (std::size_t p = 0; p < prices_.size(); ++p)
            if (of_left[p] + of_right[p] > rest(p)) return false;
        for (std::size_t p = 0; p < prices_.size(); ++p) {
            room_[left][p] = std::max(room_[left][p], rest(p) - of_right[p]);
            room_[right][p] = std::max(room_[right][p], rest(p) - of_left[p]);
        }
        return true;
    }
    double cheapest(const std::vector<Amount>& total, std::size_t p) const {
        double best = double(totals::kNone);
        for (int c = 0; c < labels_; ++c) {
            double price = 0;
            for (int k = 0; k < kinds_; ++k)
                price += double(total[k]) * leaf_[(std::size_t(k) * labels_ + c) * prices_.size() + p];
            best = std::min(best, price);
        }
        return best;
    }
};

}  // namespace treeform::and_or
