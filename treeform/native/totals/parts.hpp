#pragma once
// The least price at some multipliers in parts, one for each test at the root, that are answered elsewhere
// (common/away.hpp). Prices are exact whoever finds them, and the tree of a reply is built from exact minima: so the
// answer does not depend on who answered, or on what else it was asked.
//
// A question is about a column, a depth, the unit and the multipliers.
#include "../common/away.hpp"
#include "team.hpp"

namespace treeform::totals {

/// The tests at the root, asked of others.
struct Parts {
    const Away& away;
    const Table& table;
    const Settings& settings;
    const Control& control;
    Worker& here;
    FlatTree tree{};  // the first that has the least price
    std::vector<Amount> price{};  // per column: no tree with it at the root is cheaper; empty: nothing was asked
    Counters counters{};  // of all replies

    /// Whether a test of the root pays for a message: by the steps that it may take.
    bool travel(int depth) const;
    /// The least price of a tree at the prices of `here`.
    Amount minimum(Subset& root, int depth);
};

PartSearch part_search(const Table& table, const Settings& settings, const Control& control);

}  // namespace treeform::totals
