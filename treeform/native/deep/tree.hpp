#pragma once
// A tree as the improvement search holds it: every test is written out, and subtrees are shared between trees.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

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
    int tests = 0, height = 0;
    std::shared_ptr<const Tree> left, right;
    // Where labels may clash: those of its leaves, and what one leaf in its place costs with each label.
    std::uint64_t labels = 0;
    std::vector<Cost> as_leaf{};

    bool is_leaf() const { return test.feature < 0; }
};
template <class Cost>
using TreePtr = std::shared_ptr<const Tree<Cost>>;

template <class Cost>
int height_above(const Tree<Cost>& left, const Tree<Cost>& right) {
    return 1 + std::max(left.height, right.height);
}

/// The cheapest leaf whose label is not in a set, by what it costs with each label.
template <class Cost>
TreePtr<Cost> leaf_for(const std::vector<Cost>& costs, std::uint64_t banned) {
    int label = 0;
    const Cost cost = contree::leaf_without(costs, banned, &label);
    return std::make_shared<const Tree<Cost>>(
        Tree<Cost>{{}, cost, double(label), 0, 0, nullptr, nullptr, std::uint64_t{1} << label, costs});
}

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
    tree->height = height_above(*tree->left, *tree->right);
    return tree;
}

/// `tree` with `part` in place of its node at the end of `path` (0: left), as `space` joins it.
template <class Space>
typename Space::Ptr replaced(const Space& space, const typename Space::Ptr& tree, const std::vector<int>& path,
                             const typename Space::Ptr& part, std::size_t at = 0) {
    if (at == path.size()) return part;
    const auto child = replaced(space, path[at] ? tree->right : tree->left, path, part, at + 1);
    return path[at] ? space.join(tree->test, tree->left, child) : space.join(tree->test, child, tree->right);
}

}  // namespace treeform::deep
