#pragma once
// What the search answers about a subset, and the plans it is made of.
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "value.hpp"

namespace treeform::regression {

/// Where the best tree of a similar subset begins.
struct Hint {
    int feature = -1;
    std::int64_t key = -1;
};

struct Answer {
    Value best;  // of trees whose leaves weigh enough
    PlanPtr plan;  // null where there is none
    double lower = 0;  // of trees whatever their leaves weigh; prices included
    std::vector<double> by_feature;  // the same with that feature at the root, or a leaf alone

    Hint hint() const { return plan && plan->feature >= 0 ? Hint{plan->feature, plan->key} : Hint{}; }
};

/// A test, and the cost of the best tree that begins with it.
struct RootTest {
    int feature;
    std::uint32_t key;
    double cost;
};

/// Hints for both children of a threshold, by the number of rows below it.
using Hints = std::map<std::uint32_t, std::pair<Hint, Hint>>;

/// Those of the nearest threshold.
inline std::pair<Hint, Hint> nearest_hints(const Hints& hints, std::uint32_t below) {
    if (hints.empty()) return {};
    auto at = hints.lower_bound(below);
    if (at == hints.end()) return std::prev(at)->second;
    if (at != hints.begin() && below - std::prev(at)->first < at->first - below) --at;
    return at->second;
}

/// Tests of a full tree.
inline std::int64_t full_tree(int depth) { return depth >= 40 ? kNoLimit : (std::int64_t{1} << depth) - 1; }

inline const PlanPtr& leaf_plan() {
    static const PlanPtr leaf = std::make_shared<const Plan>();
    return leaf;
}
inline PlanPtr test_plan(std::size_t feature, std::uint32_t key, const PlanPtr& left, const PlanPtr& right) {
    return std::make_shared<const Plan>(Plan{static_cast<int>(feature), key, left, right});
}

}  // namespace treeform::regression
