#pragma once
// The table of sizes: e(k), the least cost of a diagram with at most k tests, bounded from both sides for
// every k, as far as the given objectives need it. See size_table.cpp.
#include "../common/away.hpp"
#include "control.hpp"
#include "problem.hpp"

namespace treeform::diagram {

/// `away`: ranges of tests at the root may be asked of it.
Outcome solve(const Points& points, const Settings& settings, Control& control, const Away& away = {});

}  // namespace treeform::diagram
