#pragma once
#include "../common/control.hpp"
#include "problem.hpp"

namespace treeform::binary {

using Control = TreeControl;

}  // namespace treeform::binary
