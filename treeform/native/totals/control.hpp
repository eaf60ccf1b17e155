#pragma once
#include "../common/control.hpp"
#include "problem.hpp"

namespace treeform::totals {

using Control = TreeControl;

/// Thrown when the solutions held need more memory than is allowed; caught at the top.
struct OutOfMemory {};

}  // namespace treeform::totals
