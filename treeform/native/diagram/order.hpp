#pragma once
// The points by feature, in the order of its splits.
#include <vector>

#include "instance.hpp"

namespace treeform::diagram {

struct Order {
    struct Feature {
        std::vector<std::uint32_t> points;
        std::vector<std::uint32_t> first;  // points that are right of exactly r splits: first[r] .. first[r + 1] - 1
    };
    std::vector<Feature> of;

    Order(const Instance& in, const Control& control);
};

}  // namespace treeform::diagram
