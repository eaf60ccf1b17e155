#pragma once
// By how much a tree may cost more than the best one. Where it need not be the best one that grows with the scans of its
// search: under a minimum support often no cut is good and all cost about the same, and a proof takes as many splits as
// there are rows.
#include <algorithm>
#include <cstdint>

namespace treeform::contree {

template <class Cost>
class Tolerance {
public:
    /// `gap` at least; it grows up to the cost of a leaf, unless that is 0.
    void begin(Cost gap, Cost leaf, double pairs_of_features, std::uint64_t scans) {
        gap_ = gap, begun_ = scans;
        rate_ = static_cast<double>(leaf) / (kScans * pairs_of_features);
    }
    /// After so many scans.
    Cost at(std::uint64_t scans) const {
        return std::max(gap_, static_cast<Cost>(rate_ * static_cast<double>(scans - begun_)));
    }

private:
    static constexpr double kScans = 2'000;  // of each pair, after which it is the cost of a leaf
    Cost gap_ = 0;
    std::uint64_t begun_ = 0;
    double rate_ = 0;
};

}  // namespace treeform::contree
