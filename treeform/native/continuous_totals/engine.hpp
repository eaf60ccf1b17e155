#pragma once
// The door of the engine: plain data in, an Outcome out. See solve.hpp for the method.
#include "control.hpp"
#include "problem.hpp"

namespace treeform::continuous_totals {

/// Runs on the calling thread until it is done or `control` says stop.
///
/// @throws std::overflow_error if the costs of all samples together exceed 2^60
Outcome solve(const Samples& samples, const Settings& settings, Control& control);

}  // namespace treeform::continuous_totals
