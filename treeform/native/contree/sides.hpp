#pragma once
// Class weights of one side of a split, what its leaf costs, and which pairs of predictions need a scan.
// Compiled once for each type of cost, not for each width.
//
// A split of the side with predictions a and b costs at least sum over y of w[y] * min(cost[y][a], cost[y][b]): where
// all errors cost the same, the rows of all other classes. Pairs whose bound does not beat the best cost so far need no
// scan; of many classes only a handful of pairs remain.
#include <algorithm>
#include <limits>
#include <vector>

#include "table.hpp"

namespace treeform::contree {

template <class Cost>
class Side {
public:
    struct Pair {
        Cost bound;
        std::uint16_t a, b;
    };

    std::vector<Cost> weight;  // per class
    std::vector<Cost> as_leaf;  // per prediction: the cost of predicting it everywhere
    Cost total = 0, leaf = 0;

    /// Call once `weight` is filled in.
    void prepare(const Losses& losses, const std::vector<Cost>& cost) {
        const int k = losses.predictions;
        as_leaf.resize(k);
        total = 0;
        for (int y = 0; y < losses.classes; ++y) total += weight[y];
        of_error_ = static_cast<Cost>(losses.of_error);
        if (of_error_ > 0) {
            for (int a = 0; a < k; ++a) as_leaf[a] = of_error_ * (total - weight[a]);
        } else {
            for (int a = 0; a < k; ++a) {
                as_leaf[a] = 0;
                for (int y = 0; y < losses.classes; ++y) as_leaf[a] += weight[y] * cost[y * k + a];
            }
        }
        leaf = *std::min_element(as_leaf.begin(), as_leaf.end());
        ready_ = false;
    }

    /// Begin to walk over the pairs, the lowest bound first.
    void rewind(const Losses& losses, const std::vector<Cost>& cost) {
        if (!ready_) sort(losses, cost);
        next_ = 0;
    }
    /// The next pair whose bound is below `best`; false when there is none.
    bool next(Cost best, Pair& pair) {
        if (!is_listed() || pairs_[next_].bound >= best) return false;
        pair = pairs_[next_++];
        return true;
    }
    /// A test above labels a and b, each below it or above, by the extremes of the sums up to a cut; a leaf where they
    /// clash in both ways.
    Cost with_test(int a, int b, std::int64_t most, std::int64_t least, Clash clash) const {
        const Cost a_below = clash.forbids(a, b) ? leaf : static_cast<Cost>(as_leaf[b] + least);
        return std::min(a_below, clash.forbids(b, a) ? leaf : static_cast<Cost>(as_leaf[a] - most));
    }
    /// The bound of the pairs that `next` has not returned.
    Cost rest() { return is_listed() ? pairs_[next_].bound : std::numeric_limits<Cost>::max() / 4; }

private:
    bool ready_ = false;
    Cost of_error_ = 1;  // 0: errors differ
    std::vector<std::uint16_t> classes_;  // those present, heaviest first
    std::vector<std::uint16_t> frontier_;  // pair (i, frontier_[i]) is the next one of the i-th class that is not listed
    std::vector<Pair> pairs_;  // in the order of their bounds; where all errors cost the same, those that were asked for
    std::size_t next_ = 0;

    /// Whether there is a pair at `next_`. It is listed when it is first asked for: most walks end after a few.
    bool is_listed() {
        if (next_ < pairs_.size()) return true;
        const int i = lowest();
        if (i < 0) return false;
        pairs_.push_back({frontier_bound(i), classes_[i], classes_[frontier_[i]]});
        ++frontier_[i];
        const std::size_t after = frontier_.size();
        if (static_cast<std::size_t>(i) + 1 == after && after + 1 < classes_.size())
            frontier_.push_back(static_cast<std::uint16_t>(after + 1));
        return true;
    }
    Cost frontier_bound(int i) const {
        return of_error_ * (total - weight[classes_[i]] - weight[classes_[frontier_[i]]]);
    }
    int lowest() const {
        int best = -1;
        for (int i = 0; i < static_cast<int>(frontier_.size()); ++i)
            if (frontier_[i] < classes_.size() && (best < 0 || frontier_bound(i) < frontier_bound(best))) best = i;
        return best;
    }

    void sort(const Losses& losses, const std::vector<Cost>& cost) {
        ready_ = true;
        const int k = losses.predictions;
        pairs_.clear(), frontier_.clear();
        if (of_error_ > 0) {
            classes_.clear();
            for (int y = 0; y < k; ++y)
                if (weight[y] > 0) classes_.push_back(static_cast<std::uint16_t>(y));
            std::sort(classes_.begin(), classes_.end(),
                      [this](auto a, auto b) { return weight[a] != weight[b] ? weight[a] > weight[b] : a < b; });
            if (classes_.size() > 1) frontier_.push_back(1);
            return;
        }
        for (int a = 0; a < k; ++a)
            for (int b = a + 1; b < k; ++b) {
                Cost bound = 0;
                for (int y = 0; y < losses.classes; ++y)
                    bound += weight[y] * std::min(cost[y * k + a], cost[y * k + b]);
                if (bound < leaf)
                    pairs_.push_back({bound, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)});
            }
        std::sort(pairs_.begin(), pairs_.end(), [](const Pair& x, const Pair& y) { return x.bound < y.bound; });
    }
};

}  // namespace treeform::contree
