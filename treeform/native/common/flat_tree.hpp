#pragma once
// A tree as arrays: what an engine may begin with, and what it returns.
#include <cstdint>
#include <vector>

namespace treeform {

/// Node 0 is the root, and children come after their parents. A leaf has feature -1 and a label, a test has the label
/// -1. With 0/1 features the left side is the one of 0. With continuous features the left side is x <= t, for any
/// threshold t with low <= t < high; otherwise `low` and `high` are empty. A tree to begin with over ranks has `key`: so
/// many distinct values of the feature go left.
struct FlatTree {
    std::vector<std::int32_t> feature, left, right, label;
    std::vector<double> low, high;
    std::int64_t cost = 0;
    std::vector<std::uint32_t> key = {};

    bool empty() const { return feature.empty(); }
    /// Whether it is a tree over so many columns and labels: arrays of one length, children behind their parents.
    bool fits(std::size_t features, int labels) const {
        const std::size_t n = feature.size();
        if (n == 0 || left.size() != n || right.size() != n || label.size() != n) return false;
        for (std::size_t i = 0; i < n; ++i) {
            const auto below = [&](std::int32_t child) { return child > std::int64_t(i) && std::size_t(child) < n; };
            if (feature[i] < 0 ? label[i] < 0 || label[i] >= labels
                               : std::size_t(feature[i]) >= features || !below(left[i]) || !below(right[i]))
                return false;
        }
        return true;
    }
    /// Adds a node without test and label, and returns its number.
    int add() {
        feature.push_back(-1), left.push_back(-1), right.push_back(-1), label.push_back(-1);
        return static_cast<int>(feature.size()) - 1;
    }
};

}  // namespace treeform
