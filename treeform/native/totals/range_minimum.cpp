#include "range_minimum.hpp"

#include <numeric>
#include <utility>

namespace treeform::totals {

RangeMinimum::RangeMinimum(std::vector<Amount> value) : value_(std::move(value)) {
    const std::size_t m = value_.size();
    table_.resize(std::bit_width(m));
    if (m == 0) return;
    table_[0].resize(m);
    std::iota(table_[0].begin(), table_[0].end(), 0);
    for (std::size_t j = 1; j < table_.size(); ++j) {
        const std::size_t half = std::size_t(1) << (j - 1);
        table_[j].resize(m - 2 * half + 1);
        for (std::size_t i = 0; i < table_[j].size(); ++i)
            table_[j][i] = lower(table_[j - 1][i], table_[j - 1][i + half]);
    }
}

}  // namespace treeform::totals
