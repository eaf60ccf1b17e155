#pragma once
// Subtrees that need no search: the best tree of depth at most three from the counts of the rows, for any budget of
// tests and price per test.
#include "control.hpp"
#include "plan.hpp"
#include "row_sets.hpp"

namespace treeform::binary {

struct Solved {
    Cost cost = kNever;
    int column = -1;            // the root test; -1: a leaf
    int tests[2] = {0, 0};      // at most so many below each side
};

inline std::int64_t full(int depth) {
    return depth >= 31 ? (std::int64_t(1) << 31) - 1 : (std::int64_t(1) << depth) - 1;
}

inline Cost plus(Cost a, Cost b) { return a >= kNever || b >= kNever ? kNever : a + b; }

/// Best root test when each side may use the given lists of (0, 1, 2, ...) further tests.
template <class SideCost>
Solved best_root(const Node& node, int most_per_side, std::int64_t tests, Cost penalty, SideCost cost) {
    Solved best;
    best.cost = node.leaf;
    if (tests < 1) return best;
    const int first = tests - 1 >= 2 * most_per_side ? most_per_side : 0;  // enough for both sides: one way to share
    for (int j = 0; j < node.columns; ++j) {
        for (int a = first; a <= most_per_side && a <= tests - 1; ++a) {
            const int b = int(std::min<std::int64_t>(most_per_side, tests - 1 - a));
            const Cost c = plus(plus(cost(0, j, a), cost(1, j, b)), penalty);
            if (c < best.cost) best = {c, j, {a, b}};
        }
    }
    return best;
}

/// Cost of a side with at most `tests` tests, given the raw costs with exactly so many.
inline Cost side_cost(const Node& n, int s, int j, int tests, Cost penalty) {
    Cost c = n.side_leaf[s][j];
    if (tests >= 1) c = std::min(c, plus(n.side_one[s][j], penalty));
    if (tests >= 2) c = std::min(c, plus(n.side_two[s][j], 2 * penalty));
    if (tests >= 3) c = std::min(c, plus(n.side_three[s][j], 3 * penalty));
    return c;
}

inline Solved solve_one(const Node& n, std::int64_t tests, Cost penalty) {
    return best_root(n, 0, tests, penalty, [&](int s, int j, int) { return n.side_leaf[s][j]; });
}
inline Solved solve_two(RowSets& row_sets, Node& n, std::int64_t tests, Cost penalty) {
    if (tests <= 1) return solve_one(n, tests, penalty);
    row_sets.pairs(n);
    return best_root(n, 1, tests, penalty, [&](int s, int j, int t) { return side_cost(n, s, j, t, penalty); });
}
inline Solved solve_three(RowSets& row_sets, Node& n, std::int64_t tests, Cost penalty,
                          const std::atomic<bool>& stopping) {
    if (tests <= 1) return solve_one(n, tests, penalty);
    row_sets.triples(n, stopping);
    if (stopping.load(std::memory_order_relaxed)) throw Stopped{};  // its sums may be unfinished
    return best_root(n, 3, tests, penalty, [&](int s, int j, int t) { return side_cost(n, s, j, t, penalty); });
}

/// The plan of a solved tree of depth at most three.
inline PlanPtr plan_of(const Node& n, const Solved& s, int depth) {
    if (s.column < 0) return Plan::a_leaf();
    if (depth <= 2) return Plan::solve_directly(depth, 1 + s.tests[0] + s.tests[1]);
    PlanPtr with = Plan::solve_directly(2, s.tests[0]), without = Plan::solve_directly(2, s.tests[1]);
    if (n.flip[s.column]) std::swap(with, without);  // side 0 holds where the feature is not flip
    return Plan::test(n.feature[s.column], without, with);
}

}  // namespace treeform::binary
