#pragma once
// Single tests under absolute errors with a price on values: the costs of all thresholds of all columns, in doubles.
//
// A side with the samples i pays  min_v sum_i w_i |y_i - v| + c_i v  over the levels v, the distinct targets of the
// table. Its slope beyond v is  2 W(y <= v) - W + C,  C the sum of its c, so the lowest level at which that is not
// negative is a best one; the first or the last level where there is none. Sums of w and w y of the levels below stand
// in a binary indexed tree (Fenwick 1994), so that a sample more costs the logarithm of the number of levels.
#include <cstdint>
#include <vector>

namespace treeform::regression {

/// What there is of each sample, and the levels that values may have, ascending.
struct PricedRows {
    const double *weight, *price, *target;
    const std::int64_t* level;  // of its target
    const double* levels;
    std::size_t n_levels, first_level, last_level;
};

/// Samples in the order of one column: `cost[k]` is what the first k + 1 and the others pay together, at levels from
/// `first_level` to `last_level`. Where `way` is not 0, `wrong[k]` says that each best value of the first ones is
/// greater (1) or less (-1) than each best value of the others, whatever the level; levels whose slope is within `near`
/// of 0 count as best ones.
class PricedTests {
public:
    explicit PricedTests(const PricedRows& rows);
    void run(const std::int64_t* order, std::size_t count, std::int64_t way, double near, double* cost,
             std::int32_t* wrong);

private:
    struct Sums {
        double weight = 0, moment = 0;
    };
    struct Side {
        double cost = 0;
        std::size_t lowest = 0, highest = 0;  // best levels
    };

    PricedRows rows_;
    std::size_t highest_bit_ = 1;
    std::vector<Sums> tree_;
    std::vector<Side> first_;
    Sums all_;
    double price_ = 0;

    void clear();
    void add(std::int64_t row);
    Sums below(std::size_t level) const;
    std::size_t reached(double weight, bool beyond, Sums& sums) const;
    Side best(bool range, double near) const;
};

}  // namespace treeform::regression
