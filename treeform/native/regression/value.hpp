#pragma once
// The cost of a tree: a double that is near enough to discard with, and its leaves, with which two costs are compared
// exactly.
#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace treeform::regression {

/// Sum and weight of the targets that reach a leaf.
struct LeafSum {
    std::int64_t sum = 0, weight = 0;
};

/// The cost of a tree on some samples, the price of its tests included. Leaves are listed for squared errors only;
/// absolute errors are whole numbers below 2^53, which doubles hold exactly.
struct Value {
    double cost = kInfinite;
    int tests = 0;
    std::vector<LeafSum> leaves;

    bool exists() const { return cost < kInfinite; }
};

/// Q - S^2 / n, with Q, S and n the sums of w y^2, w y and w.
inline double squared_error_of(double squares, std::int64_t sum, std::int64_t weight) {
    if (weight <= 0) return 0;
    const double s = static_cast<double>(sum), n = static_cast<double>(weight);
    const double cost = squares - s * s / n;
    // n times the cost is whole: what is less than half of 1 / n, and known that well, is 0.
    return cost <= 0 || (cost * n < 0.5 && squares * n < 0x1p47) ? 0 : cost;
}

/// The sign of cost(a) - cost(b) under squared errors, in whole numbers of any length. Both are of the same samples,
/// so that the cost of a tree is a constant less the sum over its leaves of sum^2 / weight, plus its tests.
int compare_exactly(const Value& a, const Value& b, const Price& price);

/// Compares values: by their doubles where these differ by more than their rounding, else exactly.
class Judge {
public:
    explicit Judge(const Settings& settings) : squared_(settings.loss == Loss::squared), price_(settings.price) {}

    /// Twice the rounding of the cost of any tree on samples of this weight whose leaf alone costs so much, or more.
    /// Targets are centred there by a whole number, so that squares sum to at most `alone + weight / 4`. 0 where costs
    /// are whole.
    double tolerance(double alone, std::int64_t weight) const {
        return squared_ ? 0x1p-41 * (alone + 0.25 * static_cast<double>(weight)) : 0;
    }
    /// Whether `a` costs less than `b`.
    bool better(const Value& a, const Value& b, double tolerance, std::uint64_t& near_ties) const {
        if (!a.exists() || !b.exists() || !squared_) return a.cost < b.cost;
        if (a.cost < b.cost - tolerance || a.cost > b.cost + tolerance) return a.cost < b.cost;
        ++near_ties;
        return compare_exactly(a, b, price_) < 0;
    }
    /// Only bounds below it leave room for a better tree than `best`. No cost is below 0, and 0 is exact.
    static double limit(const Value& best, double tolerance) { return best.cost <= 0 ? 0 : best.cost + tolerance; }
    static double limit_of_leaf(double cost, double tolerance) { return cost <= 0 ? 0 : cost + tolerance; }
    /// What is left of the limit beside a cost; with it, and whatever is rounded, at least the limit.
    static double beside(double limit, double cost) { return limit - cost + 0x1p-50 * (limit + cost); }

private:
    bool squared_;
    Price price_;
};

}  // namespace treeform::regression
