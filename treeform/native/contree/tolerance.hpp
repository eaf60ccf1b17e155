#pragma once
// By how much a tree may cost more than the best one. If it need not be the best, the tolerance grows with the scans of
// its search: under a minimum support, all cuts often cost about the same, and a proof takes a split for almost every
// row.
#include <algorithm>
#include <cstdint>

namespace treeform::contree {

template <class Cost>
class Tolerance {
public:
    /// The tolerance starts at `gap` and grows with the scans; with a `leaf` of 0 it stays there.
    void begin(Cost gap, Cost leaf, double pairs_of_features, std::uint64_t scans) {
        gap_ = gap, leaf_ = leaf, begun_ = scans;
        rate_ = static_cast<double>(leaf) / (kScans * pairs_of_features);
    }
    /// The tolerance after `scans`: of the cost of a leaf at most, which any number of scans may be worth.
    Cost at(std::uint64_t scans) const {
        const double grown = rate_ * static_cast<double>(scans - begun_);
        return std::max(gap_, grown < static_cast<double>(leaf_) ? static_cast<Cost>(grown) : leaf_);
    }

private:
    static constexpr double kScans = 2'000;  // of each pair of features: then it is the cost of a leaf
    Cost gap_ = 0, leaf_ = 0;
    std::uint64_t begun_ = 0;
    double rate_ = 0;
};

}  // namespace treeform::contree
