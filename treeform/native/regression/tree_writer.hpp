#pragma once
// Plans as arrays.
#include "subset.hpp"

namespace treeform::regression {

/// The tree of a plan over all rows. A threshold lies between the nearest values of the samples that reach its test.
FlatTree write_tree(const Table& table, const Plan& plan);

}  // namespace treeform::regression
