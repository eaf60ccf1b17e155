#pragma once
// Splits of the root that are evaluated elsewhere: in another process, or on another machine.
//
// The sequence of the root (root.hpp) stays here. Its tasks, single thresholds, are independent of each other once they
// are chosen: what goes out is what `Search::evaluate` is given, what comes back is what it fills in, both as whole
// numbers. All sides hold the same table, so that a threshold is named by its rank.
#include "../common/cold.hpp"
#include "search.hpp"

namespace treeform::contree {

inline void exchange(Numbers& io, Test& test, int features) {
    io.all(test.feature, test.key);
    Numbers::require(test.feature >= -1 && test.feature < features);
}

/// A plan, the root first; what is below a split follows it.
TREEFORM_COLD inline void exchange(Numbers& io, PlanPtr& plan, int features, int depth) {
    Plan here = plan ? *plan : Plan{};
    int kind = here.kind;
    io.all(kind);
    Numbers::require(depth >= 0 && kind >= Plan::leaf && kind <= Plan::split);
    here.kind = Plan::Kind(kind);
    if (here.kind == Plan::split) {
        exchange(io, here.test, features);
        Numbers::require(here.test.feature >= 0);
        exchange(io, here.left, features, depth - 1), exchange(io, here.right, features, depth - 1);
    }
    plan = std::make_shared<const Plan>(std::move(here));
}

/// A split to be evaluated, and how far the tree may reach below it.
template <class W>
struct Question {
    using Cost = typename W::Cost;
    int depth = 0;
    std::int64_t budget = 0;
    Cost upper = 0, room = 0, cutoff = 0;
    Test test;

    TREEFORM_COLD void exchange(Numbers& io, SplitWork<W>& work, int features) {
        auto& pick = work.pick;
        io.all(depth, budget, upper, room, cutoff);
        for (Test* one : {&test, &pick.hint_left, &pick.hint_right}) contree::exchange(io, *one, features);
        io.all(pick.reach, pick.left, pick.right, pick.supported_left, pick.supported_right, pick.first, pick.last,
               pick.common_left, pick.common_right, pick.support_cost_left, pick.support_cost_right);
        io.each(work.left.by), io.each(work.right.by);
        Numbers::require(depth >= 3 && test.feature >= 0);
    }
};

/// What came out of it, and what was done for it.
template <class W>
TREEFORM_COLD void exchange(Numbers& io, SplitWork<W>& work, Counters& counters, int features, int depth) {
    for (auto* part : {&work.left, &work.right}) {
        io.all(part->lower, part->supported);
        exchange(io, part->hint, features);
        io.each(part->by);
    }
    io.all(work.total, work.proven, work.dropped, work.found, work.value), io.counts(counters);
    if (work.found) exchange(io, work.plan, features, depth);
}

}  // namespace treeform::contree
