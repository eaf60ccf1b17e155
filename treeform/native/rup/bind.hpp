#pragma once
#include <nanobind/nanobind.h>

namespace treeform::rup {
/// `rup_check` in the module: see treeform.solve.proofs.
void bind(nanobind::module_& m);
}  // namespace treeform::rup
