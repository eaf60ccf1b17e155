#pragma once
// Squared errors: the cost of a leaf is Q - S^2 / n, with Q, S and n the sums of w y^2, w y and w.
//
// Bounds come from a scan in 32-bit numbers (scan.hpp). At each depth-two node the products w (y - mean) are rounded to
// multiples q of 1 / scale. A gain is the squared length of the projection of the vector sqrt(w) (y - mean) on a unit
// vector, so by Cauchy-Schwarz |sqrt(gain) - sqrt(gain')| <= ||e||, e_i = (w (y - mean) - q / scale) / sqrt(w), for
// every side, feature and threshold at once. The scan's floats add at most 2^-20 sum |q| / scale: a sum and n * mean
// are each off by 2^-24 of it, twice, sqrt(n / (k (n - k))) is at most sqrt(2), and so are the products compared and
// the quotient.
#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "scan.hpp"
#include "stump.hpp"
#include "subset.hpp"

namespace treeform::regression {

class Squared {
public:
    static constexpr bool by_pairs = false;

    /// Whether `bound` is as fast for both sides as for one.
    bool both_sides() const { return !table_.weighted; }

    Squared(const Table& table, const Settings& settings, Counters& counters);

    Value leaf(const Subset& rows) const;

    /// Of the layouts of so many cells: keys and targets, and room to grow.
    static constexpr std::size_t bytes_of_layouts(std::size_t cells) { return cells * 10; }
    /// From here on `stump` is about these rows.
    static void enter(const Subset&) {}
    /// From here on `outer` and `bound` are, too.
    void prepare(const Subset& rows);
    /// By how much `prepare` adds to what is held.
    std::size_t bytes_to_prepare(const Subset& rows) const;
    /// Gives what is held of the last rows back.
    void release() {
        layout_ = std::vector<Layout>(layout_.size());
        give_back(sums_), give_back(weights_), give_back(squares_), give_back(chosen_);
    }
    /// From here on `bound` and the leaves are about thresholds of this feature.
    void outer(const Subset& rows, std::size_t feature);
    Value left_leaf(std::size_t below) const;
    Value right_leaf(std::size_t below) const;
    std::int64_t left_weight(std::size_t below) const {
        return table_.weighted ? weights_[below] : static_cast<std::int64_t>(below);
    }
    /// Brackets of the least cost of a threshold of `feature` on the sides that are wanted: lowest <= cost <= highest.
    void bound(const Subset& rows, const Cut& cut, std::size_t feature, const bool want[2], double lowest[2],
               double highest[2]);
    /// The best threshold of a feature, exactly.
    Stump stump(const Subset& rows, const Side& side, std::size_t feature);
    /// What `release` gives back.
    std::size_t bytes_to_release() const;

private:
    struct Layout {
        Aligned<std::int32_t> key, target;
        bool ties = false, keys_ready = false;
    };

    const Table& table_;
    Counters& counters_;
    const std::int64_t& min_support_;  // of samples it is another one
    ScanChoice choice_;
    std::vector<Layout> layout_;
    std::vector<std::int32_t> scaled_;  // by row
    std::vector<Row> chosen_;  // of one side, in the order of the inner feature
    std::size_t outer_ = 0;
    int rows_ = 0;  // of the layouts
    double scale_ = 1, margin_ = 0;
    std::vector<std::int64_t> sums_, weights_;  // of the first rows in the outer order; weights if they differ
    std::vector<double> squares_;
    std::int64_t centre_ = 0, sum_ = 0, weight_ = 0;
    double all_squares_ = 0;

    void scale_targets(const Subset& rows);
    void lay_out(const Subset& rows, std::size_t feature);
    const std::int32_t* keys(const Subset& rows, std::size_t feature);
    void bound_exactly(const Subset& rows, const Cut& cut, std::size_t feature, const bool want[2], double lowest[2],
                       double highest[2]);
};

}  // namespace treeform::regression
