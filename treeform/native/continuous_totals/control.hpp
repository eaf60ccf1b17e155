#pragma once
// Where the search and the outside meet: ConTree's stop flag and upper bound, with whole trees as news.
#include <utility>

#include "../contree/control.hpp"
#include "problem.hpp"

namespace treeform::continuous_totals {

class Control : public contree::Control {
public:
    Control() : contree::Control(contree::kNone) {}

    void publish(Amount upper, Amount lower, FlatTree tree) {
        const std::lock_guard lock(mutex_);
        pending_.push_back({seconds(), upper, lower, std::move(tree)});
    }
};

/// Thrown when more rows are active than solutions can carry; caught at the top.
struct TooManyActive {};

}  // namespace treeform::continuous_totals
