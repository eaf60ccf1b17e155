#pragma once
// One of several searches by the same object, whose control outlives each of them.
#include "binding.hpp"

namespace treeform {

/// Runs `search` with `control` on a thread of its own, also where an earlier one was stopped. False where it was
/// stopped, or memory ran out. `poll` is called about twenty times a second and returns whether to stop; None: Ctrl-C
/// stops it.
bool run_again(Stoppable& control, double time_limit, const nb::object& poll, const std::function<void()>& search);

}  // namespace treeform
