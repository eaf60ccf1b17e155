#pragma once
// A diagram while it is searched for: splits by number, and which part of the next layer an arc leads to.
#include <cstddef>
#include <memory>
#include <vector>

namespace treeform::diagram {

/// The rest of a diagram from one layer on: parts are those of the state, in its order.
struct Plan {
    static constexpr int kNoTest = -1;  // the part goes to a terminal instead
    static constexpr int kPass = -2;  // a pass-through: all of the part leaves by its first arc
    static constexpr int kTerminal = -1;
    std::vector<int> split;  // per part
    std::vector<int> target;  // 2 per part: a part of the next layer, or kTerminal
    std::shared_ptr<const Plan> next;

    bool has_test(std::size_t part) const { return split[part] != kNoTest; }
};
using PlanPtr = std::shared_ptr<const Plan>;

}  // namespace treeform::diagram
