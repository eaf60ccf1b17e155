#pragma once
// What a depth-one search along one feature answers, exactly.
#include <algorithm>
#include <cstdint>

#include "value.hpp"

namespace treeform::regression {

/// The samples of one side of an outer threshold: those with a rank below `key` in `feature`, or the others. All
/// samples of a subset where `feature` is -1.
struct Side {
    int feature = -1;
    std::uint32_t key = 0;
    bool left = true;
};

struct Stump {
    double least = kInfinite;  // the least cost by a threshold of this feature, whatever the leaves weigh
    Value value;               // of the best threshold whose leaves weigh enough, without the price of its test
    std::uint32_t key = 0;
};

}  // namespace treeform::regression
