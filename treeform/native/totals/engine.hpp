#pragma once
// One run: preprocessing, the stages, the answer. The caller owns the thread and the control.
#include "../common/away.hpp"
#include "control.hpp"
#include "problem.hpp"

namespace treeform::totals {

/// `away`: tests of the root may be asked of it.
Outcome solve(const Table& table, const Settings& settings, Control& control, const Away& away = {});

}  // namespace treeform::totals
