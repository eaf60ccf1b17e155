#pragma once
// Where to put the multipliers: by the trees known so far. Each tree is a line above the relaxation,
// cost + sum_r mu_r (row_r - side_r), so the least of them is a concave function of mu that is known completely. Its
// maximum is a linear program with one variable for each side of a row. Asking for the cheapest tree there brings a new
// line, or shows that the maximum is attained (Kelley's cutting planes; with one row, the intersection of two lines).
#include <vector>

#include "prices.hpp"

namespace treeform::continuous_totals {

struct Line {
    Amount cost;
    std::vector<Amount> row;
    Tree tree;
    bool admissible = true;  // supports and marks; its line counts in any case
};

class Multipliers {
public:
    Multipliers(const Samples& samples, const Pricing& pricing);
    /// Enter a tree; false when its line is known.
    bool add(Line line);
    const std::vector<Line>& lines() const { return lines_; }
    /// Per row, in units of cost.
    std::vector<double> at;
    /// Move to the maximum that the lines show; returns its value. `at` stays 0 where no line violates a row.
    double climb();

private:
    struct Side {  // one side of a row: what a tree exceeds it by
        int row, sign;
        double most;  // of the multiplier
    };
    const Samples& samples_;
    std::vector<Line> lines_;
    std::vector<Side> sides_;

    double excess(const Side& side, const Line& line) const;
};

}  // namespace treeform::continuous_totals
