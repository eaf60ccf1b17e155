#pragma once
// Where the search and the outside meet: ConTree's stop flag and upper bound, and the improvements found so far.
#include <utility>
#include <vector>

#include "../contree/control.hpp"
#include "problem.hpp"

namespace treeform::continuous_totals {

class Control : public contree::Control {
public:
    Control() : contree::Control(contree::kNone) {}

    void publish(Amount upper, Amount lower, FlatTree tree) {
        const std::lock_guard lock(mutex_);
        news_.push_back({seconds(), upper, lower, std::move(tree)});
    }
    std::vector<Improvement> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(news_, {});
    }

private:
    std::vector<Improvement> news_;
};

/// Thrown when more rows are active than solutions can carry; caught at the top.
struct TooManyActive {};

}  // namespace treeform::continuous_totals
