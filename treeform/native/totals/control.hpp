#pragma once
#include "../common/control.hpp"
#include "problem.hpp"

namespace treeform::totals {

using Control = TreeControl;

}  // namespace treeform::totals
