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
    std::size_t stride = 0;                        // of its rows
    std::vector<std::size_t> columns;              // by feature
    std::vector<std::vector<std::uint32_t>> rank;  // by feature and row; dense
    std::vector<std::size_t> distinct;             // by feature: values
    const std::int64_t* target = nullptr;          // by row, as they were given
    const std::int64_t* weight = nullptr;          // the same, or `ones`
    std::vector<std::int64_t> ones;
    std::vector<std::uint32_t> place;              // by row, in the order of the targets; absolute errors only
    bool weighted = false;
    bool ordered = true;  // whether subsets hold an order for each feature, or only one of any kind

    /// The value of a row.
    double value(std::size_t row, std::size_t feature) const { return x[row * stride + columns[feature]] + 0.0; }
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

/// The thresholds of a feature. Of all rows there may be as many for each feature: numbers that are those of the thresholds
/// themselves, from one on, are not stored.
class Cuts {
public:
    std::size_t size() const { return size_; }
    Cut operator[](std::size_t k) const { return {below(k), key(k)}; }
    std::uint32_t below(std::size_t k) const { return below_.empty() ? static_cast<std::uint32_t>(k + 1) : below_[k]; }
    std::uint32_t key(std::size_t k) const { return key_.empty() ? static_cast<std::uint32_t>(k + 1) : key_[k]; }
    std::size_t bytes() const { return (below_.capacity() + key_.capacity()) * sizeof(std::uint32_t); }

    /// Begins anew, for at most so many; says what will be stored.
    void begin(std::size_t most, bool below, bool key) {
        size_ = 0, below_.clear(), key_.clear(), stores_below_ = below, stores_key_ = key;
        if (below) below_.reserve(most);
        if (key) key_.reserve(most);
    }
    void add(std::size_t below, std::uint32_t key) {
        ++size_;
        if (stores_below_) below_.push_back(static_cast<std::uint32_t>(below));
        if (stores_key_) key_.push_back(key);
    }

private:
    std::size_t size_ = 0;
    bool stores_below_ = true, stores_key_ = true;
    std::vector<std::uint32_t> below_, key_;
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
void cuts_of(const Table& table, const Subset& rows, std::size_t feature, Cuts& cuts);

}  // namespace treeform::regression
