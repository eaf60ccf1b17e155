#pragma once
// Diagrams under linear constraints over sums, such as the rates of groups: totals are carried with the states.
//
// The instance holds reduced costs: the true cost and the rows, each at its multiplier. For a diagram that satisfies
// the rows and costs less than `below`, the reduced cost is at most
//
//     rate * (below - 1) + sum over rows of (multiplier * rhs),
//
// so the search goes through all diagrams of at most that reduced cost, layer by layer as in search.hpp, and leaves out
// what the bounds from trees (of reduced costs) show to be above it. It keeps the least true cost among those that
// satisfy the rows, which lowers the limit. In the last layer parts are independent: each has a list of what one test
// or a terminal can give, without what costs as much elsewhere in the list and takes no more of any row.
#include <unordered_map>

#include "search.hpp"

namespace treeform::diagram {

/// What the rows read; `truth` and `taken` by point and class, as Points::value.
struct Rows {
    const Cost* truth = nullptr;
    std::vector<const Cost*> taken;  // by row
    std::vector<Cost> rhs;  // taken <= rhs
    Cost rate = 1;  // reduced = rate * true + priced rows
    Cost base = 0;  // sum of multiplier * rhs
    Cost below = kNever;  // only true costs below this are wanted
};

struct RowOutcome {
    Cost cost = kNever;  // the least true cost found
    bool found = false, complete = false, memory_stop = false;
    FlatDiagram diagram;
    Counters counters;
    double seconds = 0;
};

/// Raises `complete` when nothing below `cost` (or `below`) satisfies the rows.
RowOutcome solve_rows(const Points& points, const Settings& settings, const Rows& rows, Control& control);

}  // namespace treeform::diagram
