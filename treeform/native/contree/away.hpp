#pragma once
// Splits of the root that are evaluated elsewhere: in another process, or on another machine.
//
// The sequence of the root (root.hpp) stays here. Its tasks, single thresholds, are independent of each other once they
// are chosen: what goes out is what `Search::evaluate` is given, what comes back is what it fills in, both as whole
// numbers. All sides hold the same table, so that a threshold is named by its rank.
#include "../common/cold.hpp"
#include "search.hpp"

namespace treeform::contree {

template <class IO>
void exchange(IO& io, Test& test, int features) {
    io.all(test.feature, test.key);
    io.require(test.feature >= -1 && test.feature < features);
}

/// A plan, the root first; what is below a split follows it.
template <class IO>
TREEFORM_COLD void exchange(IO& io, PlanPtr& plan, int features, int depth) {
    int kind = plan ? plan->kind : 0;
    io.all(kind);
    io.require(depth >= 0 && kind >= Plan::leaf && kind <= Plan::split);
    if (kind != Plan::split) {
        plan = Plan::of(static_cast<Plan::Kind>(kind));
        return;
    }
    Plan split = plan ? *plan : Plan{Plan::split, {}, {}, {}};
    exchange(io, split.test, features);
    io.require(split.test.feature >= 0);
    PlanPtr left = split.left, right = split.right;
    exchange(io, left, features, depth - 1), exchange(io, right, features, depth - 1);
    plan = std::make_shared<const Plan>(Plan{Plan::split, split.test, left, right});
}

/// A split to be evaluated, and how far the tree may reach below it.
template <class W>
struct Question {
    using Cost = typename W::Cost;
    int depth = 0;
    std::int64_t budget = 0;
    Cost upper = 0, room = 0, cutoff = 0;
    Test test;

    template <class IO>
    TREEFORM_COLD void exchange(IO& io, SplitWork<W>& work, int features) {
        auto& pick = work.pick;
        io.all(depth, budget, upper, room, cutoff);
        contree::exchange(io, test, features);
        io.all(pick.reach, pick.left, pick.right, pick.supported_left, pick.supported_right, pick.first, pick.last,
               pick.common_left, pick.common_right, pick.support_cost_left, pick.support_cost_right);
        contree::exchange(io, pick.hint_left, features), contree::exchange(io, pick.hint_right, features);
        io.each(work.left.by), io.each(work.right.by);
        io.require(depth >= 3 && test.feature >= 0);
    }
};

/// What came out of it, and what was done for it.
template <class W, class IO>
TREEFORM_COLD void exchange(IO& io, SplitWork<W>& work, Counters& c, int features, int depth) {
    for (auto* part : {&work.left, &work.right}) {
        io.all(part->lower, part->supported);
        exchange(io, part->hint, features);
        io.each(part->by);
    }
    io.all(work.total, work.proven, work.dropped, work.found, work.value);
    if (work.found) exchange(io, work.plan, features, depth);
    io.all(c.nodes, c.splits, c.scans, c.gathers, c.bounded, c.pruned_neighbourhood, c.pruned_shrinking,
           c.pruned_subinterval, c.pruned_features);
}

}  // namespace treeform::contree
