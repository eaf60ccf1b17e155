#pragma once
// The door of the engine: plain data in, an Outcome out. See search.hpp for the method.
#include <functional>

#include "control.hpp"
#include "problem.hpp"

namespace treeform::contree {

/// Called by the calling thread every few hundredths of a second: the improvements since the last call and the best
/// tree (if any). Returns true to stop; may tighten the upper bound through the Control.
using Poll = std::function<bool(const std::vector<Improvement>&, const FlatTree*, Control&)>;

/// Solve; returns when the search is complete, `time_limit` seconds have passed, or `poll` asked to stop.
Outcome run(const Rows& rows, const Settings& settings, double time_limit, const Poll& poll);

}  // namespace treeform::contree
