#pragma once
// From float64 values to dense ranks, exactly: two values share a rank when they are equal and only then, whatever
// their scale. The sort is a least-significant-digit radix sort on the bits of the float, mapped so that unsigned
// order is numeric order; digits that all values share are skipped.
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace treeform::contree {

struct RankedColumn {
    std::vector<std::uint32_t> order;   // rows by value; equal values keep the row order
    std::vector<std::uint32_t> rank;    // dense rank of each row
    std::size_t distinct = 0;           // values
};

inline std::uint64_t ordered_bits(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // + 0.0 turns -0.0 into 0.0
    return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}

class RankSorter {
public:
    /// Rank `n` values that lie `stride` doubles apart.
    void rank(const double* column, std::size_t n, std::size_t stride, RankedColumn& out) {
        load(column, n, stride);
        for (int digit = 0; digit < kDigits; ++digit) pass(digit);
        out.order.resize(n);
        out.rank.reserve(n + 1), out.rank.resize(n);  // a table adds a row
        out.distinct = 0;
        std::uint64_t previous = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const auto [bits, row] = items_[k];
            out.distinct += k == 0 || bits != previous;
            previous = bits;
            out.order[k] = row;
            out.rank[row] = static_cast<std::uint32_t>(out.distinct - 1);
        }
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

}  // namespace treeform::contree
