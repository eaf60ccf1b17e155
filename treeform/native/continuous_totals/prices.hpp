#pragma once
// Multipliers as prices. With W per unit of cost and a multiplier mu_r per unit of row r, all in 1/2^20 of a price
// unit,
//
//     reduced cost = W cost + sum_r mu_r row_r
//
// adds up over samples and tests. A tree that satisfies the rows has a reduced cost of at most W cost + constant, where
// the constant is the sum of mu_r hi_r (mu_r > 0) and mu_r lo_r (mu_r < 0).
//
// The search wants small whole prices that are not negative. Every sample pays its cheapest label anyway: these sums
// are the `base`, exact. What a label costs beyond that is rounded down to whole prices. So the price x of a tree is at
// most its reduced cost - base, every bound stays true, and no number is rounded in the wrong direction.
#include <vector>

#include "problem.hpp"

namespace treeform::continuous_totals {

constexpr int kFraction = 20;

struct Prices {
    Amount unit = 0;  // W, in whole price units
    std::vector<Amount> multiplier;  // per row, in 1/2^20 of a price unit
    std::vector<Amount> leaf;  // [kind * labels + label], per unit of weight: >= 0, the cheapest is 0
    Amount test = 0;
    Wide base = 0, constant = 0;  // in 1/2^20

    /// The least whole cost that a minimum price leaves possible. Of `unit` 0: kNone if it leaves none.
    Amount bound(Amount minimum) const;
    /// What the price of a tree of at most that cost is at most, if it satisfies the rows; negative: there is none.
    Amount limit(Amount cost) const;
    /// The most that the price of a tree with that cost and these rows can be.
    Amount at_most(Amount cost, const std::vector<Amount>& row) const;
};

class Pricing {
public:
    /// Sums of prices stay below `most`.
    Pricing(const Samples& samples, const Settings& settings, Amount most);
    /// Prices for multipliers in units of cost, in the finest unit that is exact; with `cost` false, for the rows
    /// alone. False when the multipliers are too large for any.
    bool make(const std::vector<double>& multiplier, bool cost, Prices& out) const;
    /// The dearest tree, at most.
    Amount most_cost() const { return most_cost_; }
    /// The largest contribution of a sample or a test to a row.
    double scale(int row) const { return scale_[row]; }

private:
    const Samples& samples_;
    Amount tests_ = 0, most_cost_ = 0, most_;
    std::vector<Amount> weight_;  // per kind
    std::vector<double> scale_;

    bool price(Amount unit, bool cost, Prices& out) const;
};

/// Weight per kind.
std::vector<Amount> weight_per_kind(const Samples& samples);

}  // namespace treeform::continuous_totals
