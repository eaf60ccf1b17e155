#pragma once
// Labels that must not stand on the two sides of a test of a feature, such as a positive one below a threshold and a
// negative one above it where the feature acts monotonically. A label is on one of the two lists at most, so a leaf never
// clashes. Where a test of the feature has clashing labels below, one side becomes a leaf without those of its list: with
// two classes no better tree is lost, since that side has one label then.
#include <cstdint>
#include <limits>
#include <vector>

namespace treeform::contree {

struct Clash {
    std::uint64_t below = 0, above = 0;  // sets of labels

    bool any() const { return below != 0 && above != 0; }
    bool forbids(int low, int high) const {
        return any() && (below >> low & 1) != 0 && (above >> high & 1) != 0;  // no clash has more than 62 labels
    }
};

/// What the cheapest leaf costs whose label is not in a set.
template <class Cost>
Cost leaf_without(const std::vector<Cost>& as_leaf, std::uint64_t banned, int* label = nullptr) {
    Cost best = std::numeric_limits<Cost>::max() / 4;
    for (int a = 0; a < static_cast<int>(as_leaf.size()); ++a) {
        if ((banned != 0 && (banned >> a & 1) != 0) || as_leaf[a] >= best) continue;
        best = as_leaf[a];
        if (label) *label = a;
    }
    return best;
}

}  // namespace treeform::contree
