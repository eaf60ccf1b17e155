#pragma once
// One run: preprocessing, the chosen strategy, the answer. The caller owns the thread and the control.
#include "control.hpp"
#include "problem.hpp"

namespace treeform::binary {

Outcome solve(const Points& points, const Settings& settings, Control& control);

}  // namespace treeform::binary
