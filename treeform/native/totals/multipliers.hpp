#pragma once
// The search for good multipliers: see multipliers.cpp.
#include <functional>
#include <vector>

#include "minima.hpp"

namespace treeform::totals {

/// The relaxation's value at one vector of multipliers, and where its cheapest tree stands.
struct Point {
    std::vector<Amount> multiplier;
    __int128 value = 0;           // minimum - constant, in 1 / unit of a unit of cost
    std::vector<Amount> row;      // rows of the cheapest tree
};

class Multipliers {
public:
    /// Evaluates a vector; false when its prices are too large to be exact.
    using Evaluate = std::function<bool(const std::vector<Amount>&, Point&)>;
    Multipliers(const Table&, const Pricing&, Evaluate);
    /// Whether no value beyond this one is wanted.
    using Enough = std::function<bool(__int128)>;
    /// The best vector found, from a start.
    Point climb(std::vector<Amount> start, const Enough& enough);
    bool out_of_range = false;    // a row asked for a multiplier that is too large: perhaps no tree satisfies it

private:
    bool raise(Point& at, int row, const Enough& enough);
    Amount slope(const Point& p, int row, int sign) const {
        return sign > 0 ? p.row[row] - table_.hi[row] : table_.lo[row] - p.row[row];
    }
    const Table& table_;
    const Pricing& pricing_;
    Evaluate evaluate_;
};

}  // namespace treeform::totals
