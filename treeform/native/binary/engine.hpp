#pragma once
// One run: preprocessing, the chosen strategy, the answer. The caller owns the thread and the control.
#include "../common/away.hpp"
#include "control.hpp"
#include "problem.hpp"

namespace treeform::binary {

/// `away`: tests at the root of DL8.5 may be asked of it.
Outcome solve(const Points& points, const Settings& settings, Control& control, const Away& away = {});
PartSearch part_search(const Points& points, const Settings& settings, Control& control);

}  // namespace treeform::binary
