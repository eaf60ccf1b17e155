#pragma once
// How wide the numbers of one run are. The search is compiled once per width; `engine.cpp` picks the narrowest
// that cannot overflow.
#include <cstdint>

namespace treeform::contree {

/// Up to 65,535 rows, ranks and lane sums in 16 bits: the common case, and the fastest.
struct Narrow {
    using Id = std::uint16_t;    // a row
    using Key = std::uint16_t;   // a rank within one feature
    using Sum = std::int16_t;    // a sum along one lane of a scan
    using Cost = std::int32_t;   // errors, costs, bounds
};

/// Many rows, few distinct values per feature.
struct Medium {
    using Id = std::uint32_t;
    using Key = std::uint16_t;
    using Sum = std::int16_t;
    using Cost = std::int32_t;
};

/// Many rows and many values, or weights of some size.
struct Wide {
    using Id = std::uint32_t;
    using Key = std::uint32_t;
    using Sum = std::int32_t;
    using Cost = std::int32_t;
};

/// Costs that are prices: fine units, so that sums take 32 bits, over few rows and values.
struct Priced {
    using Id = std::uint16_t;
    using Key = std::uint16_t;
    using Sum = std::int32_t;
    using Cost = std::int64_t;
};

/// Prices over many rows.
struct PricedWide {
    using Id = std::uint32_t;
    using Key = std::uint32_t;
    using Sum = std::int32_t;
    using Cost = std::int64_t;
};

/// Costs beyond 2^30.
struct Huge {
    using Id = std::uint32_t;
    using Key = std::uint32_t;
    using Sum = std::int64_t;
    using Cost = std::int64_t;
};

}  // namespace treeform::contree
