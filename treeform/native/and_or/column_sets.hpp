#pragma once
// Bounds of trees over sets of columns: see column_sets.cpp.
#include <vector>

#include "../totals/control.hpp"
#include "../totals/prices.hpp"

namespace treeform::and_or {

using totals::Amount;

/// For each set, the least price of a tree whose tests are of it; kNone: there is no tree. Set i has the tests from
/// begin[i] to begin[i + 1].
std::vector<Amount> least_over_sets(const totals::Table&, const totals::Settings&, totals::Control&,
                                    const totals::Prices&, const std::vector<std::int64_t>& begin,
                                    const std::vector<std::int32_t>& tests);

}  // namespace treeform::and_or
