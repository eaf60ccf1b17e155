#pragma once
// The best pruning of a tree to so many tests: its least cost for every number of tests, from the leaves up.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tree.hpp"

namespace treeform::deep {

template <class Cost>
class Pruning {
public:
    using Ptr = TreePtr<Cost>;

    using Join = std::function<Ptr(Test, const Ptr&, const Ptr&)>;

    /// `alone` returns the leaf of the rows that reach a node, given its path from the root (0: left). `join` puts a test
    /// above two trees, and may change them where their labels clash: then the tree is not always the cheapest one.
    Pruning(const Ptr& tree, std::int64_t most, Cost price, const std::function<Ptr(const std::vector<int>&)>& alone,
            Join join)
        : price_(price), join_(std::move(join)) {
        std::vector<int> path;
        root_ = enter(tree, static_cast<std::size_t>(most), path, alone);
    }
    /// The cheapest tree of at most so many tests.
    Ptr best() const { return written(root_, nodes_[root_].least.size() - 1); }

private:
    struct Node {
        Ptr leaf, of;
        std::size_t left = 0, right = 0;
        std::vector<Cost> least;          // by the number of tests, at most
        std::vector<std::size_t> share;  // of them, of the left side
    };
    Cost price_;
    Join join_;
    std::vector<Node> nodes_;
    std::size_t root_ = 0;

    std::size_t enter(const Ptr& tree, std::size_t most, std::vector<int>& path,
                      const std::function<Ptr(const std::vector<int>&)>& alone) {
        Node node;
        node.leaf = alone(path), node.of = tree;
        const std::size_t budget = std::min(most, static_cast<std::size_t>(tree->tests));
        node.least.assign(budget + 1, node.leaf->cost), node.share.assign(budget + 1, 0);
        if (budget > 0) {
            path.push_back(0), node.left = enter(tree->left, budget - 1, path, alone);
            path.back() = 1, node.right = enter(tree->right, budget - 1, path, alone), path.pop_back();
            const auto &left = nodes_[node.left].least, &right = nodes_[node.right].least;
            for (std::size_t tests = 1; tests <= budget; ++tests) {
                node.least[tests] = node.least[tests - 1], node.share[tests] = node.share[tests - 1];
                for (std::size_t l = 0; l < std::min(left.size(), tests); ++l) {
                    const std::size_t r = std::min(right.size() - 1, tests - 1 - l);
                    const Cost cost = left[l] + right[r] + price_;
                    if (cost < node.least[tests]) node.least[tests] = cost, node.share[tests] = l + 1;
                }
            }
        }
        nodes_.push_back(std::move(node));
        return nodes_.size() - 1;
    }
    Ptr written(std::size_t at, std::size_t tests) const {
        const Node& node = nodes_[at];
        tests = std::min(tests, node.least.size() - 1);
        while (tests > 0 && !(node.least[tests] < node.least[tests - 1])) --tests;
        if (tests == 0 || node.share[tests] == 0) return node.leaf;
        const std::size_t left = node.share[tests] - 1;
        return join_(node.of->test, written(node.left, left), written(node.right, tests - 1 - left));
    }
};

}  // namespace treeform::deep
