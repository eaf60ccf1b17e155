#pragma once
// Prices for the search over intervals: small whole numbers that are not negative.
//
// The `base` is the price of all rows at their cheapest labels. Prices of labels are those beyond the base. If their
// sums would not fit narrow integers, with which the search is many times faster, they are rounded down to multiples of
// 2^shift. No tree costs more at rounded prices than at exact ones, so bounds stay valid, and each tree within a limit
// is still found.
#include <algorithm>
#include <optional>
#include <vector>

#include "../continuous_totals/prices.hpp"
#include "../contree/lanes.hpp"
#include "../totals/prices.hpp"
#include "rows_of_points.hpp"

namespace treeform::and_or {

constexpr int kBitsOfShort = 28, kBitsOfSums = 30;  // of all prices together, where those along a lane have 16 or 32 bits
constexpr int kFineBits = 6;  // of a unit of cost at least, where prices are rounded

/// Whether sums along a lane of a scan stay in 16 bits.
inline bool fits_short_lanes(std::size_t rows, __int128 dearest_row) {
    return __int128(rows / contree::kLanes + 1) * dearest_row < 32000;
}

struct SearchPrices {
    continuous_totals::Prices exact, rounded;  // beyond the base
    int shift = 0;
    Amount base = 0;
    Amount dearest_tree = 0;                   // at most, beyond the base

    /// A lower bound on the exact price of a tree, from its rounded one.
    Amount at_least(Amount rounded_price) const { return (rounded_price << shift) + base; }
};

/// None if sums would not fit the integers of W; without rows of the problem, prices are not rounded.
template <class W>
std::optional<SearchPrices> search_prices(const totals::Prices& prices, const totals::Table& table,
                                          const IntervalGraph::RowsOfPoints& rows, int depth) {
    SearchPrices out;
    continuous_totals::Prices& exact = out.exact;
    exact.unit = prices.unit, exact.leaf = prices.leaf, exact.test = prices.test[0];
    if (exact.test < 0) return std::nullopt;
    __int128 sum = __int128(exact.test) * ((Amount(1) << std::min(depth, 20)) - 1), base = 0, dearest = 0;
    std::vector<Amount> weight(table.kinds, 0);
    for (std::size_t i = 0; i < rows.kind.size(); ++i) weight[rows.kind[i]] += rows.weight[i];
    for (int k = 0; k < table.kinds; ++k) {
        const auto from = exact.leaf.begin() + std::ptrdiff_t(k) * table.labels, to = from + table.labels;
        const Amount least = *std::min_element(from, to);
        for (auto at = from; at != to; ++at) *at -= least;
        const Amount most = *std::max_element(from, to);
        sum += __int128(most) * weight[k], base += __int128(least) * weight[k];
        dearest = std::max(dearest, __int128(most) * rows.heaviest());
    }
    out.base = Amount(base), out.dearest_tree = Amount(sum);
    constexpr bool kShort = sizeof(typename W::Sum) == 2;
    if constexpr (sizeof(typename W::Sum) < 8)
        while (sum >> out.shift >> (kShort ? kBitsOfShort : kBitsOfSums)) ++out.shift;
    if (kShort)
        while (!fits_short_lanes(rows.kind.size(), dearest >> out.shift)) ++out.shift;
    if (table.rows == 0 && out.shift > 0) return std::nullopt;
    out.rounded = exact;
    for (Amount& price : out.rounded.leaf) price >>= out.shift;
    out.rounded.test >>= out.shift;
    return out;
}

}  // namespace treeform::and_or
