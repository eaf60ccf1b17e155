#pragma once
// Multipliers as whole prices. With a unit W per unit of cost and whole multipliers mu, a tree costs
//     rc = W cost + sum_r mu_r row_r,
// which adds up over samples and tests. A tree that satisfies the rows has rc <= W cost + constant, where the constant
// is the sum of mu_r hi_r (mu_r > 0) and mu_r lo_r (mu_r < 0). So (minimum of rc - constant) / W bounds the cost from
// below, whatever the multipliers: nothing is rounded. What all leaves pay alike is paid by tests, of which a tree has
// one less, and by the constant.
#include <optional>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace treeform::totals {

struct Prices {
    Amount unit = 0;
    std::vector<Amount> multiplier;      // per row
    std::vector<Amount> leaf;            // [kind * labels + label], per unit of weight
    std::vector<Amount> label;           // per label: of a leaf itself; the least is 0
    std::vector<Amount> test;            // per column of the table
    Amount constant = 0;
    /// The least whole cost that a minimum of rc leaves possible.
    Amount bound(Amount minimum) const {
        const Amount gap = minimum - constant;
        return gap / unit + (gap % unit > 0);
    }
    /// What rc is at most in a tree of at most that cost.
    Amount limit(Amount cost) const;
};

class Pricing {
public:
    Pricing(const Table& table, const Settings& settings);
    /// False when sums may leave the whole numbers that a double holds.
    bool make(const std::vector<Amount>& multiplier, Amount unit, Prices& out) const;
    Amount largest_unit() const { return unit_; }
    /// The dearest tree, at most.
    Amount most() const { return most_; }
    /// The largest contribution to a row, of a unit of weight or of a test.
    Amount scale(int row) const { return scale_[row]; }

private:
    const Table& table_;
    Amount tests_ = 0, most_ = 0, unit_ = 1;
    std::vector<Amount> weight_, scale_;
};

/// A row that no tree satisfies alone, and its side: 1 where it is too large, -1 where too small. `least`: the minimum of
/// rc under prices of that row without a price on the cost, or nothing where it is not known.
template <class Least>
std::optional<std::pair<int, int>> impossible_row(const Table& table, const Pricing& pricing, const Least& least) {
    for (int r = 0; r < table.rows; ++r)
        for (const int sign : {1, -1}) {
            if (sign > 0 ? table.hi[r] >= kNone : table.lo[r] <= -kNone) continue;
            std::vector<Amount> only(table.rows, 0);
            only[r] = sign;
            Prices prices;
            if (!pricing.make(only, 0, prices)) continue;
            const std::optional<Amount> minimum = least(prices);
            if (minimum && (*minimum >= kNone || *minimum > prices.constant)) return std::pair{r, sign};
        }
    return std::nullopt;
}

}  // namespace treeform::totals
