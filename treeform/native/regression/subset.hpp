#pragma once
// The table as ranks, and the subsets of its rows that the search visits.
#include <cstdint>
#include <vector>

#include "../common/stoppable.hpp"
#include "problem.hpp"

namespace treeform::regression {

using Row = std::uint32_t;

/// Ranks of all values, targets and weights. `features + 1` orders: the last one is by target, for absolute errors.
struct Table {
    std::size_t n = 0, features = 0;
    const double* x = nullptr;                     // row-major, as it was given; null if the features are made
    std::vector<std::vector<std::uint32_t>> rank;  // by feature and row; dense
    std::vector<std::size_t> distinct;             // by feature: values
    std::vector<std::int64_t> target, weight;
    std::vector<std::uint32_t> place;              // by row, in the order of the targets; absolute errors only
    bool weighted = false;
    bool ordered = true;  // whether subsets hold an order for each feature, or only one of any kind

    /// The value of a row.
    double value(std::size_t row, std::size_t feature) const { return x[row * features + feature] + 0.0; }
    Loss loss = Loss::squared;
};

/// Rows in the order of each feature, and for absolute errors in the order of the targets after these. One list of rows
/// where the table is not ordered, or no more is asked about the rows than what a leaf costs.
struct Subset {
    std::uint64_t id = 0;  // differs from that of all subsets that one search has made; 0: all rows
    std::size_t n = 0;
    std::int64_t weight = 0;
    std::int64_t centre = 0;  // a whole number next to the mean
    std::int64_t sum = 0;  // of weight * (target - centre)
    double squares = 0;  // of weight * (target - centre)^2, rounded once
    std::vector<std::vector<Row>> order;

    /// Of its orders.
    std::size_t bytes() const { return order.size() * n * sizeof(Row); }
};

/// A threshold between two neighbouring values of a feature: so many rows lie below it, and it goes left below `key`.
struct Cut {
    std::uint32_t below, key;
};

/// Whether all targets are equal.
bool is_pure(const Table& table, const Subset& rows);
/// Throws when `control` asks for a stop.
Table table_of(const Rows& rows, Loss loss, const Stoppable& control);
Subset all_rows(const Table& table);
/// Which orders the parts of a subset get: those that it has, or the last one.
enum class Orders { all, last };
/// The rows of `from` with a rank below `key`, and the others. `scratch` has a byte for each row of the table.
void part(const Table& table, const Subset& from, std::size_t feature, std::uint32_t key, Subset& left, Subset& right,
          std::vector<std::uint8_t>& scratch, Orders orders = Orders::all);
/// The rows of `from` whose mark is 1, `below` in number, and the others.
void divide(const Table& table, const Subset& from, const std::vector<std::uint8_t>& marks, std::size_t below,
            Subset& left, Subset& right, Orders orders = Orders::all);
/// All thresholds of a feature that separate rows of the subset.
void cuts_of(const Table& table, const Subset& rows, std::size_t feature, std::vector<Cut>& cuts);

}  // namespace treeform::regression
