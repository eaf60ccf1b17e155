#pragma once
// Absolute errors: the cost of a leaf is the sum of w |y - m| with m the lower weighted median. All costs are whole.
//
// Costs of all prefixes of an order: the samples stand in a linked list in the order of their targets and are deleted
// one after the other from the far end; the median moves to a neighbour now and then. Linear without weights.
#include <cstdint>
#include <vector>

#include "stump.hpp"
#include "subset.hpp"

namespace treeform::regression {

class Absolute {
public:
    static constexpr bool by_pairs = false;
    static constexpr bool both_sides() { return false; }

    Absolute(const Table& table, const Settings& settings, Counters& counters);

    Value leaf(const Subset& rows);
    void enter(const Subset&) { prepared_ = {}; }
    static void prepare(const Subset&) {}
    static constexpr std::size_t bytes_to_prepare(const Subset&) { return 0; }
    static void release() {}
    void outer(const Subset& rows, std::size_t feature);
    Value left_leaf(std::size_t below) const { return {outer_before_[below], 0, {}}; }
    Value right_leaf(std::size_t below) const { return {outer_after_[outer_n_ - below], 0, {}}; }
    std::int64_t left_weight(std::size_t below) const { return outer_weight_[below]; }
    void bound(const Subset& rows, const Cut& cut, std::size_t feature, const bool want[2], double lowest[2],
               double highest[2]);
    Stump stump(const Subset& rows, const Side& side, std::size_t feature);
    static constexpr std::size_t bytes_to_release() { return 0; }

private:
    struct Prepared {
        const Subset* rows = nullptr;
        Side side;
    };

    const Table& table_;
    Counters& counters_;
    const std::int64_t& min_support_;  // of samples it is another one
    std::size_t outer_ = 0, outer_n_ = 0;
    Prepared prepared_;                 // what by_target_ holds
    std::vector<Row> by_target_, sequence_;
    std::vector<std::uint32_t> next_, previous_;
    std::vector<std::int64_t> outer_weight_;
    std::vector<double> before_, after_, outer_before_, outer_after_;

    /// costs[k]: of the first k samples of `sequence_`; of the last k where `backwards` is false.
    void sweep(bool backwards, std::vector<double>& costs);
    void list_by_target(const Subset& rows, const Side& side);
    void take_sequence(const Subset& rows, const Side& side, std::size_t feature);
};

}  // namespace treeform::regression
