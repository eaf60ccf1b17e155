#pragma once
// The order in which the features of a node are taken. Compiled once for each type of cost, not for each width.
#include <algorithm>
#include <numeric>
#include <vector>

#include "problem.hpp"

namespace treeform::contree {

/// By `first`, if there is one, then by `second`; equal features keep their order.
template <class Cost>
void sort_features(std::vector<int>& turn, const Cost* first, const Cost* second) {
    std::stable_sort(turn.begin(), turn.end(), [first, second](int a, int b) {
        if (first && first[a] != first[b]) return first[a] < first[b];
        return second[a] < second[b];
    });
}

/// All features by inherited bound, then by the bound one level less, the hinted one first.
template <class Cost>
void order_features(std::vector<int>& turn, const Cost* inherited, const std::vector<Cost>& whole_by, Test hint) {
    std::iota(turn.begin(), turn.end(), 0);
    sort_features(turn, inherited, whole_by.data());
    if (hint.feature < 0) return;
    const auto it = std::find(turn.begin(), turn.end(), hint.feature);
    std::rotate(turn.begin(), it, it + 1);
}

}  // namespace treeform::contree
