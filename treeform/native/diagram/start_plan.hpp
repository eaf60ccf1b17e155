#pragma once
// The model to begin with as a plan over the splits.
#include "instance.hpp"
#include "plan.hpp"
#include "problem.hpp"

namespace treeform::diagram {

/// The plan of a diagram whose thresholds are in `low`; null if one of its tests is no split, or it is no diagram of
/// these widths.
PlanPtr plan_of(const Instance& in, const FlatDiagram& start, const std::vector<int>& widths);

}  // namespace treeform::diagram
