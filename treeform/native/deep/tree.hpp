#pragma once
// A tree as the improvement search holds it: every test is written out, and subtrees are shared between trees.
#include <cstdint>
#include <memory>

#include "../contree/problem.hpp"

namespace treeform::deep {

constexpr int kAnyTests = 1 << 20;  // more than a tree has

using contree::Test;

/// Rows with rank(test.feature) < test.key go left. A leaf has no feature, and predicts `value`: a label, or a number.
template <class Cost>
struct Tree {
    Test test;
    Cost cost{};  // on the rows for which it was built, with the price of its tests
    double value = 0;
    int tests = 0;
    std::shared_ptr<const Tree> left, right;

    bool is_leaf() const { return test.feature < 0; }
};
template <class Cost>
using TreePtr = std::shared_ptr<const Tree<Cost>>;

/// A test, and what the best tree that begins with it costs, as far as it is known.
template <class Cost>
struct Candidate {
    Test test;
    Cost cost;
};

/// The tests of a tree to begin with, for `Builder::refit`: costs and labels are not filled in.
template <class Cost>
TreePtr<Cost> tests_of(const FlatTree& start, std::size_t node = 0) {
    auto tree = std::make_shared<Tree<Cost>>();
    if (start.feature[node] < 0) return tree;
    tree->test = {start.feature[node], start.key[node]};
    tree->left = tests_of<Cost>(start, static_cast<std::size_t>(start.left[node]));
    tree->right = tests_of<Cost>(start, static_cast<std::size_t>(start.right[node]));
    return tree;
}

/// `tree` with `part` in place of its node at the end of `path` (0: left), whose costs change by that of the part.
template <class Cost>
TreePtr<Cost> replaced(const TreePtr<Cost>& tree, const std::vector<int>& path, const TreePtr<Cost>& part,
                       std::size_t at = 0) {
    if (at == path.size()) return part;
    auto copy = std::make_shared<Tree<Cost>>(*tree);
    auto& child = path[at] ? copy->right : copy->left;
    const auto before = child;
    child = replaced<Cost>(before, path, part, at + 1);
    copy->cost += child->cost - before->cost;
    copy->tests += child->tests - before->tests;
    return copy;
}

}  // namespace treeform::deep
