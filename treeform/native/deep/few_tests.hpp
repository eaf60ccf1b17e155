#pragma once
// The best tree of at most so many tests from a tree that may have more: each of its nodes keeps its test, or is a leaf, or
// a small exact tree of one, two or three tests. Which one is decided for all nodes at once: a node has its least cost for
// every number of tests, from the leaves up. So a test is taken away where it costs least, and given where it gains most.
#include <algorithm>
#include <vector>

#include "kept.hpp"
#include "sides.hpp"
#include "tree.hpp"

namespace treeform::deep {

template <class Space>
class FewTests {
    using Cost = typename Space::Cost;
    using Rows = typename Space::Rows;
    using Ptr = typename Space::Ptr;

public:
    /// Tests have the prices of the space.
    FewTests(Space& space, const Rows& root, int depth, std::int64_t most)
        : space_(space), root_(root), depth_(depth), most_(static_cast<std::size_t>(most)), small_(kMostKept) {}

    /// Of at most so many tests; with `exact`, small exact trees are tried at its nodes. Where labels clash, a good one.
    Ptr best(const Ptr& tree, bool exact) {
        exact_ = exact;
        nodes_.clear();
        whole_ = enter(tree, root_, depth_, most_ + 1);
        sides_.clear();
        return written(whole_, most_);
    }
    /// What the last test of that tree gains and one more would gain, in the mean.
    Cost gain() const { return (least(most_ - 1) - least(most_ + 1)) / 2; }

private:
    static constexpr std::size_t kMostKept = 10'000;
    static constexpr std::size_t kLarge = 40'000;  // rows: their exact trees take long
    static constexpr int kSmall = 2;               // the height of exact trees
    struct Node {
        Test test;
        std::vector<Ptr> small;  // the cheapest ones of at most so many tests; the first one is a leaf
        std::size_t left = 0, right = 0;
        std::vector<Cost> least;         // by the number of tests, at most
        std::vector<std::size_t> share;  // of them, of the left side and the test itself; 0: a small tree
    };

    Space& space_;
    const Rows& root_;
    int depth_;
    std::size_t most_, whole_ = 0;
    bool exact_ = false;
    Kept<std::vector<Ptr>> small_;
    std::vector<Node> nodes_;
    SidesByHeight<Space> sides_;

    Cost least(std::size_t tests) const {
        const auto& of_whole = nodes_[whole_].least;
        return of_whole[std::min(tests, of_whole.size() - 1)];
    }
    std::size_t enter(const Ptr& tree, const Rows& rows, int height, std::size_t most) {
        Node node;
        node.small = small_trees(rows, std::min<int>(height, static_cast<int>(most)));
        auto* sides = tree->is_leaf() || most == 0 || height == 0 ? nullptr : sides_.split(space_, rows, tree->test, height);
        std::size_t room = node.small.size() - 1;
        if (sides) {
            node.test = tree->test;
            node.left = enter(tree->left, sides->left, height - 1, most - 1);
            space_.give_back(sides->left);
            node.right = enter(tree->right, sides->right, height - 1, most - 1);
            space_.give_back(sides->right);
            room = std::max(room, nodes_[node.left].least.size() + nodes_[node.right].least.size() - 1);
        }
        room = std::min(room, most);
        for (std::size_t tests = 0; tests <= room; ++tests) {
            node.least.push_back(node.small[std::min(tests, node.small.size() - 1)]->cost), node.share.push_back(0);
            if (sides) divide(node, tests);
        }
        nodes_.push_back(std::move(node));
        return nodes_.size() - 1;
    }
    /// The best division of so many tests among the test of a node and its sides.
    void divide(Node& node, std::size_t tests) const {
        const auto &left = nodes_[node.left].least, &right = nodes_[node.right].least;
        for (std::size_t l = 0; l < std::min(left.size(), tests); ++l) {
            const std::size_t r = std::min(right.size() - 1, tests - 1 - l);
            const Cost cost = left[l] + right[r] + space_.price();
            if (Space::better(cost, node.least[tests])) node.least[tests] = cost, node.share[tests] = l + 1;
        }
    }
    Ptr written(std::size_t at, std::size_t tests) const {
        const Node& node = nodes_[at];
        tests = std::min(tests, node.least.size() - 1);
        while (tests > 0 && !Space::better(node.least[tests], node.least[tests - 1])) --tests;
        if (node.share[tests] == 0) return node.small[std::min(tests, node.small.size() - 1)];
        const std::size_t left = node.share[tests] - 1;
        return space_.join(node.test, written(node.left, left), written(node.right, tests - 1 - left));
    }
    std::vector<Ptr> small_trees(const Rows& rows, int height) {
        const Ptr leaf = space_.leaf(rows);
        height = std::min({height, kSmall, space_.most_tests(rows)});
        const bool has_tests = height > 0 && space_.size(rows) > 1 && Space::better(Cost{0}, leaf->cost);
        if (!exact_ || !has_tests || space_.size(rows) > kLarge) return {leaf};
        std::vector<Ptr>& kept = small_.at({space_.hash(rows), static_cast<std::uint64_t>(height)});
        if (!kept.empty()) return kept;
        std::vector<Ptr> found{leaf};
        for (int tests = 1; tests < (1 << height); ++tests) {
            const Ptr tree = space_.solve(rows, height, found.back()->cost, {}, tests);
            found.push_back(tree ? tree : found.back());
        }
        return kept = std::move(found);
    }
};

}  // namespace treeform::deep
