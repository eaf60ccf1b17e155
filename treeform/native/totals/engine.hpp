#pragma once
// One run: preprocessing, the stages, the answer. The caller owns the thread and the control.
#include "control.hpp"
#include "problem.hpp"

namespace treeform::totals {

Outcome solve(const Table& table, const Settings& settings, Control& control);

}  // namespace treeform::totals
