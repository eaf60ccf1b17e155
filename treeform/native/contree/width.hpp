#pragma once
// How wide the numbers of one run are. The search is compiled once per width; `engine.cpp` picks the narrowest
// that cannot overflow.
#include <cstdint>

namespace treeform::contree {

template <class I, class K, class S, class C>
struct Widths {
    using Id = I;    // a row
    using Key = K;   // a rank within one feature
    using Sum = S;   // a sum along one lane of a scan
    using Cost = C;  // errors, costs, bounds
};

/// Up to 65,535 rows, ranks and lane sums in 16 bits: the common case, and the fastest.
struct Narrow : Widths<std::uint16_t, std::uint16_t, std::int16_t, std::int32_t> {};

/// Many rows, few distinct values per feature.
struct Medium : Widths<std::uint32_t, std::uint16_t, std::int16_t, std::int32_t> {};

/// Many rows and many values, or weights of some size.
struct Wide : Widths<std::uint32_t, std::uint32_t, std::int32_t, std::int32_t> {};

/// Costs that are prices: fine units, so that sums take 32 bits, over few rows and values.
struct Priced : Widths<std::uint16_t, std::uint16_t, std::int32_t, std::int64_t> {};

/// Prices, or weights in fine units, over many rows: costs beyond 2^28 whose sums along a lane take 32 bits.
struct PricedWide : Widths<std::uint32_t, std::uint32_t, std::int32_t, std::int64_t> {};

/// Sums beyond 32 bits.
struct Huge : Widths<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t> {};

}  // namespace treeform::contree
