#pragma once
// Trees as flat arrays, and what they cost, counted again from the table.
#include <vector>

#include "problem.hpp"
#include "subset.hpp"

namespace treeform::totals {

inline int add_node(FlatTree& tree) {
    tree.feature.push_back(-1), tree.left.push_back(-1), tree.right.push_back(-1), tree.label.push_back(-1);
    return int(tree.feature.size()) - 1;
}
inline FlatTree constant_tree(int label) {
    FlatTree tree;
    tree.label[add_node(tree)] = label;
    return tree;
}

/// Whether a test on a column may have sides that carry these marks.
inline bool meet(const Table& table, std::size_t column, std::uint64_t low, std::uint64_t high) {
    if (!table.clash_begin) return true;
    for (std::int32_t c = table.clash_begin[column]; c < table.clash_begin[column + 1]; ++c)
        if ((low & table.clash_low[c]) && (high & table.clash_high[c])) return false;
    return true;
}

struct Valued {
    bool admissible = false;      // support, flow, the budget of features, clashes
    bool satisfied = false;       // and all rows
    Amount cost = 0;
    std::vector<Amount> row;
};

/// Cost and rows of a tree whose tests are columns of the table.
Valued value_of(const FlatTree& tree, const Table& table, const Settings& settings);

}  // namespace treeform::totals
