#pragma once
#include <nanobind/nanobind.h>

namespace treeform::rup {
/// `rup_check` in the module: see treeform.certify.proofs.
void bind(nanobind::module_& m);
}  // namespace treeform::rup
