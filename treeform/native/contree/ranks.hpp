#pragma once
// From float64 values to dense ranks, exactly: two values share a rank when they are equal and only then, whatever
// their scale. The sort is a least-significant-digit radix sort on the bits of the float, mapped so that unsigned
// order is numeric order; digits that all values share are skipped.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "../common/stoppable.hpp"

namespace treeform::contree {

inline std::uint64_t ordered_bits(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // + 0.0 turns -0.0 into 0.0
    return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}

class RankSorter {
public:
    /// Rank `n` values that lie `stride` doubles apart: the rows by value, where equal values keep the row order, and the
    /// dense rank of each row. Returns the number of values.
    std::size_t rank(const double* column, std::size_t n, std::size_t stride, std::uint32_t* order,
                     std::vector<std::uint32_t>& rank) {
        load(column, n, stride);
        for (int digit = 0; digit < kDigits; ++digit) pass(digit);
        rank.reserve(n + 1), rank.resize(n);  // a table adds a row
        std::size_t distinct = 0;
        std::uint64_t previous = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const auto [bits, row] = items_[k];
            distinct += k == 0 || bits != previous;
            previous = bits;
            order[k] = row;
            rank[row] = static_cast<std::uint32_t>(distinct - 1);
        }
        return distinct;
    }

private:
    static constexpr int kBits = 11, kDigits = 6, kSize = 1 << kBits;
    struct Item {
        std::uint64_t bits;
        std::uint32_t row;
    };
    std::vector<Item> items_, other_;
    std::array<std::array<std::uint32_t, kSize>, kDigits> count_;

    static std::size_t digit_of(std::uint64_t bits, int digit) { return (bits >> (digit * kBits)) & (kSize - 1); }

    void load(const double* column, std::size_t n, std::size_t stride) {
        items_.resize(n);
        other_.resize(n);
        for (auto& table : count_) table.fill(0);
        for (std::size_t i = 0; i < n; ++i) {
            const auto bits = ordered_bits(column[i * stride]);
            items_[i] = {bits, static_cast<std::uint32_t>(i)};
            for (int digit = 0; digit < kDigits; ++digit) ++count_[digit][digit_of(bits, digit)];
        }
    }

    void pass(int digit) {
        if (items_.empty()) return;
        auto& table = count_[digit];
        if (table[digit_of(items_[0].bits, digit)] == items_.size()) return;
        std::uint32_t start = 0;
        for (auto& entry : table) {
            const auto size = entry;
            entry = start;
            start += size;
        }
        for (const auto& item : items_) other_[table[digit_of(item.bits, digit)]++] = item;
        items_.swap(other_);
    }
};

/// The ranks of all columns of a table. The orders lie one after the other with `slack` more places each, as a node of all
/// rows has them (table.hpp).
struct RankedTable {
    std::vector<std::uint32_t> order;
    std::vector<std::vector<std::uint32_t>> rank;  // [feature][row]
    std::vector<std::size_t> distinct;             // [feature]: values
    std::size_t most_values = 0;

    RankedTable(const double* x, std::size_t n, std::size_t features, std::size_t slack, const Stoppable& control)
        : order((n + slack) * features), rank(features), distinct(features) {
        RankSorter sorter;
        for (std::size_t f = 0; f < features; ++f) {
            control.check();
            distinct[f] = sorter.rank(x + f, n, features, order.data() + (n + slack) * f, rank[f]);
            most_values = std::max(most_values, distinct[f]);
        }
    }
};

}  // namespace treeform::contree
