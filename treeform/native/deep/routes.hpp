#pragma once
// A tree as an array, to find the leaves of many rows. Every row takes as many steps as the longest path has, and stays
// at its leaf once there. So no branch depends on the row; the processor could not predict it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tree.hpp"

namespace treeform::deep {

/// `Rank` is a container of the ranks of all rows in one feature.
template <class Cost, class Rank>
class Routes {
public:
    /// `rank` has one such container for each feature.
    Routes(const Tree<Cost>& tree, const std::vector<Rank>& rank) { enter(tree, rank, 0); }

    /// The prediction of the leaf of a row.
    double value(std::size_t row) const {
        std::size_t at = 0;
        for (int step = 0; step < height_; ++step) {
            const Node& node = nodes_[at];
            at = node.side[node.rank[row] >= node.key];
        }
        return nodes_[at].value;
    }

private:
    struct Node {
        const typename Rank::value_type* rank;
        std::uint32_t key;
        std::uint32_t side[2];
        double value;
    };
    std::vector<Node> nodes_;
    int height_ = 0;

    std::uint32_t enter(const Tree<Cost>& tree, const std::vector<Rank>& rank, int above) {
        const auto at = static_cast<std::uint32_t>(nodes_.size());
        const std::size_t feature = tree.is_leaf() ? 0 : static_cast<std::size_t>(tree.test.feature);
        nodes_.push_back({rank[feature].data(), tree.test.key, {at, at}, tree.value});
        height_ = std::max(height_, above);
        if (tree.is_leaf()) return at;
        const std::uint32_t left = enter(*tree.left, rank, above + 1), right = enter(*tree.right, rank, above + 1);
        nodes_[at].side[0] = left, nodes_[at].side[1] = right;
        return at;
    }
};

}  // namespace treeform::deep
