#pragma once
// One run: plain data in, an Outcome out. See search.hpp for the method.
#include "control.hpp"
#include "problem.hpp"

namespace treeform::regression {

Outcome solve(const Rows& rows, const Settings& settings, Control& control);

}  // namespace treeform::regression
