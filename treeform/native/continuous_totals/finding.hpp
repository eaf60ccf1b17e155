#pragma once
// The cheapest tree of the whole table that satisfies the active rows, as far as some search has come, and the limit on
// prices that it leaves.
#include <algorithm>
#include <vector>

#include "listing.hpp"

namespace treeform::continuous_totals {

/// A step of a staircase.
struct Stair {
    Amount row, cost;
    std::size_t place;  // of its solution
};
/// By row, and downwards by cost.
inline void sort_stairs(std::vector<Stair>& stairs) {
    std::sort(stairs.begin(), stairs.end(), [](const Stair& x, const Stair& y) {
        return x.row != y.row ? x.row < y.row : x.cost != y.cost ? x.cost > y.cost : x.place < y.place;
    });
}

template <class W, int K>
class Finding {
public:
    using Cost = typename W::Cost;
    using All = Listing<W, K>;
    using Alive = typename All::Alive;

    bool found = false;
    Amount upper = kNone;  // trees that cost less are sought
    Cost limit = 0;  // of their prices
    Test root;  // feature -1: no tree of two sides
    Solution<K> best{}, left{}, right{};
    Cost best_limit = 0, limit_left = 0, limit_right = 0;  // the limits of the lists that hold them

    void begin(const All& all, Amount below) {
        *this = Finding();
        upper = below, limit = static_cast<Cost>(all.shop.data.prices.limit(below - 1));
    }
    /// Trees that are better than another finding's are sought.
    void begin_below(const Finding& other) {
        *this = Finding();
        upper = other.upper, limit = other.limit;
    }
    void take_better(const Finding& other) {
        if (!other.found || other.upper >= upper) return;
        const Cost least = std::min(limit, other.limit);
        *this = other;
        limit = least;
    }

    /// A tree without sides: a leaf, or one test.
    void offer(const All& all, const Solution<K>& s) { offer(all, {}, s, {}, {}, 0, 0); }

    /// The best pair for a split of the root.
    Cost query(const All& all, const Alive& at, const Front<K>& a, const Front<K>& b) {
        if (all.amounts.stairs())
            query_stairs(all, at, a, b);
        else
            query_all(all, at, a, b);
        return limit;
    }

private:
    void offer(const All& all, Test test, const Solution<K>& s, const Solution<K>& u, const Solution<K>& v,
               Cost most_left, Cost most_right) {
        if (s.cost >= upper || !all.amounts.satisfied(s)) return;
        found = true, best = s, root = test, left = u, right = v, best_limit = limit;
        limit_left = most_left, limit_right = most_right;
        upper = s.cost;
        limit = std::min(limit, static_cast<Cost>(all.shop.data.prices.limit(upper - 1)));
    }
    void offer_pair(const All& all, const Alive& at, const Solution<K>& u, const Solution<K>& v) {
        offer(all, at.test, plus(plus(u, all.amounts.test), v), u, v, at.limit_left, at.limit_right);
    }

    void query_all(const All& all, const Alive& at, const Front<K>& a, const Front<K>& b) {
        for (const auto& u : a) {
            if (b.empty() || u.excess + b[0].excess + all.penalty > limit) break;
            for (const auto& v : b) {
                if (u.excess + v.excess + all.penalty > limit) break;
                ++all.shop.counters.pairs;
                if (u.cost + v.cost + all.amounts.test.cost < upper && all.amounts.may_meet(at.test.feature, u, v))
                    offer_pair(all, at, u, v);
            }
        }
    }
    /// With one row, on one side, a front is a staircase: the row falls where the cost rises. For each solution of one
    /// side the cheapest partner is the one whose row is as high as may be.
    void query_stairs(const All& all, const Alive& at, const Front<K>& a, const Front<K>& b) {
        const std::vector<Stair> low = stairs_of(a), high = stairs_of(b);
        std::size_t to = high.size();
        for (const Stair& u : low) {
            const Amount room = all.amounts.hi[0] - all.amounts.test.row[0] - u.row;
            while (to > 0 && high[to - 1].row > room) --to;
            if (to == 0) break;
            ++all.shop.counters.pairs;
            const Stair& v = high[to - 1];
            if (u.cost + v.cost + all.amounts.test.cost < upper) offer_pair(all, at, a[u.place], b[v.place]);
        }
    }
    static std::vector<Stair> stairs_of(const Front<K>& list) {
        std::vector<Stair> out;
        out.reserve(list.size());
        for (const auto& one : list) out.push_back({one.row[0], one.cost, out.size()});
        sort_stairs(out);
        return out;
    }
};

}  // namespace treeform::continuous_totals
