#pragma once
// The improvement search for regression trees.
#include <memory>

#include "../regression/incumbent.hpp"
#include "improver.hpp"

namespace treeform::deep {

/// What it finds is offered to the incumbent. All arguments stay as long as it does.
template <class LossOf>
std::unique_ptr<Improver> value_improver(const regression::Table& table, const regression::Subset& root,
                                         const regression::Settings& settings, regression::Control& control,
                                         regression::Incumbent& incumbent);

}  // namespace treeform::deep
