#pragma once
// A table with few thresholds, its columns of zeros and ones joined to chains. Columns whose sets of rows lie one in
// the other, such as x <= 1, x <= 2, x <= 3, are the thresholds of one feature: counting samples by the values of two
// features counts all pairs of their thresholds at once.
#include <memory>
#include <optional>
#include <vector>

#include "subset.hpp"

namespace treeform::regression {

/// A test of the table as it was given: `rank(column) < key`, or the opposite.
struct ColumnTest {
    int column;
    std::uint32_t key;
    bool opposite;
};

struct Chains {
    Table table;                                 // of the features made
    std::vector<std::vector<ColumnTest>> tests;  // by feature and key; key 0 is no test

    /// The same tree over the columns that were given.
    PlanPtr over_columns(const PlanPtr& plan) const;
    /// Thresholds of all features.
    std::size_t count() const;
};

/// The chains of a table; none if there are more than so many thresholds, or none.
std::optional<Chains> chains_of(const Table& table, std::size_t most);

}  // namespace treeform::regression
