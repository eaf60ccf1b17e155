#pragma once
// Rows that are hard to tell apart: those that a tree labels wrongly, each with its nearest neighbours of other
// classes. No tree costs less on all rows than the best one costs on these, which are few.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "table.hpp"

namespace treeform::contree {

/// The rows that reach a leaf of another label than their own.
template <class W>
TREEFORM_COLD std::vector<typename W::Id> wrong_rows(const Table<W>& table, const FlatTree& tree) {
    std::vector<typename W::Id> wrong;
    for (std::size_t row = 0; row < table.n; ++row) {
        const auto id = static_cast<typename W::Id>(row);
        int at = 0;
        while (tree.feature[at] >= 0)
            at = table.value_of(id, tree.feature[at]) <= tree.low[at] ? tree.left[at] : tree.right[at];
        if (tree.label[at] != table.label[row]) wrong.push_back(id);
    }
    return wrong;
}

/// Whether a first round of cuts of all rows, one of each feature at each level above trees of depth two, takes some
/// seconds at most. The order of the levels makes no difference to the boxes.
template <class W>
bool are_all_in_reach(const Table<W>& table, int depth) {
    constexpr double kMostSteps = 7e9;
    double steps = static_cast<double>(table.n) * table.features * table.features;
    for (int level = 1; level <= depth - 2; ++level) steps *= (table.features + level - 1.0) / level;
    return steps < kMostSteps;
}

/// Whether all rows give a larger bound than the hard ones in the same time: many are wrong.
template <class W>
bool are_all_hard(const Table<W>& table, int depth, std::size_t wrong) {
    return wrong * 8 >= table.n && are_all_in_reach(table, depth);
}

/// The node of the hard rows. If finding all neighbours would take too long, only evenly spaced wrong rows are taken.
/// The distance is the sum over features of the difference in rank, divided by the number of ranks.
template <class W>
TREEFORM_COLD Node<W> hard_rows(const Table<W>& table, const Node<W>& root, const std::vector<typename W::Id>& wrong,
                                Control& control) {
    constexpr std::size_t kNeighbours = 3, kMostSteps = 300'000'000;
    const std::size_t cells = std::max<std::size_t>(1, table.n * table.features);
    const std::size_t stride = wrong.size() / std::max<std::size_t>(1, kMostSteps / cells) + 1;
    std::vector<char> kept(table.n);
    std::vector<float> distance(table.n);
    std::vector<std::uint32_t> others;
    for (std::size_t i = 0; i < wrong.size(); i += stride) {
        control.check();
        const auto row = wrong[i];
        kept[row] = true;
        std::fill(distance.begin(), distance.end(), 0.0f);
        for (int f = 0; f < table.features; ++f) {
            const auto* rank = table.rank[f].data();
            const float unit = 1.0f / static_cast<float>(std::max<std::size_t>(1, table.distinct[f])), here = rank[row];
            for (std::size_t k = 0; k < table.n; ++k)
                distance[k] += std::abs(static_cast<float>(rank[k]) - here) * unit;
        }
        others.clear();
        for (std::size_t k = 0; k < table.n; ++k)
            if (table.label[k] != table.label[row]) others.push_back(static_cast<std::uint32_t>(k));
        const std::size_t near = std::min(kNeighbours, others.size());
        std::partial_sort(others.begin(), others.begin() + near, others.end(), [&](auto a, auto b) {
            return std::pair(distance[a], a) < std::pair(distance[b], b);
        });
        for (std::size_t k = 0; k < near; ++k) kept[others[k]] = true;
    }
    Node<W> node;
    node.n = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true));
    node.reserve(node.n, table.features);
    node.weight.assign(table.classes, 0);
    for (int f = 0; f < table.features; ++f) {
        std::size_t to = 0;
        for (std::size_t k = 0; k < root.n; ++k) {
            const auto row = root.order(f)[k];
            if (!kept[row]) continue;
            node.order(f)[to] = row, node.key(f)[to] = table.rank[f][row], node.label(f)[to++] = table.label[row];
            if (f == 0) weigh(table, node, row, table.label[row]);
        }
    }
    add_totals(table, node);
    return node;
}

}  // namespace treeform::contree
