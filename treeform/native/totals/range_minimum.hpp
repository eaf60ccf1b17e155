#pragma once
// The place of the least value in any range, after a table of the least of all ranges of 2^j places.
#include <bit>
#include <cstddef>
#include <vector>

#include "problem.hpp"

namespace treeform::totals {

class RangeMinimum {
public:
    explicit RangeMinimum(std::vector<Amount> value);
    /// The first place of the least value of from <= place < to.
    int least(int from, int to) const {
        const int j = std::bit_width(unsigned(to - from)) - 1;
        return lower(table_[j][from], table_[j][to - (1 << j)]);
    }

private:
    std::vector<Amount> value_;
    std::vector<std::vector<int>> table_;  // [j][i]: of i .. i + 2^j - 1
    int lower(int x, int y) const { return value_[x] <= value_[y] ? x : y; }
};

}  // namespace treeform::totals
