#pragma once
// A tree as an array, to find the leaves of many rows. Every row takes as many steps as the longest path has, and stays
// at its leaf once there. So no branch depends on the row; the processor could not predict it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tree.hpp"

namespace treeform::deep {

/// Rows between two looks at the clock: each is led through two trees.
constexpr std::size_t kPolled = 1 << 14;

/// `Rank` is a container of the ranks of all rows in one feature.
template <class Cost, class Rank>
class Routes {
public:
    /// `rank` has one such container for each feature.
    Routes(const Tree<Cost>& tree, const std::vector<Rank>& rank) : nodes_(1), values_(1) { enter(tree, rank, 0, 0); }

    /// The prediction of the leaf of a row.
    double value(std::size_t row) const {
        std::size_t at = 0;
        for (int step = 0; step < height_; ++step) {
            const Node& node = nodes_[at];
            at = node.left + (node.rank[row] >= node.key);
        }
        return values_[at];
    }

private:
    struct Node {
        const typename Rank::value_type* rank;
        std::uint32_t key;
        std::uint32_t left;  // the right side is the next one; of a leaf, whose right side is every row's, that before it
    };
    std::vector<Node> nodes_;
    std::vector<double> values_;
    int height_ = 0;

    void enter(const Tree<Cost>& tree, const std::vector<Rank>& rank, std::uint32_t at, int above) {
        height_ = std::max(height_, above);
        values_[at] = tree.value;
        if (tree.is_leaf()) {
            nodes_[at] = {rank[0].data(), 0, at - 1};
            return;
        }
        const auto left = static_cast<std::uint32_t>(nodes_.size());
        nodes_[at] = {rank[static_cast<std::size_t>(tree.test.feature)].data(), tree.test.key, left};
        nodes_.resize(left + 2), values_.resize(left + 2);
        enter(*tree.left, rank, left, above + 1), enter(*tree.right, rank, left + 1, above + 1);
    }
};

}  // namespace treeform::deep
