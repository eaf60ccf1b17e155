#pragma once
// A subproblem and its answer.
#include "problem.hpp"
#include "table.hpp"

namespace treeform::contree {

inline std::int64_t full_tree(int depth) { return depth >= 40 ? kNone : (std::int64_t{1} << depth) - 1; }

/// A subproblem, and the known bounds of it.
template <class W>
struct Subproblem {
    using Cost = typename W::Cost;
    const Node<W>& node;
    int depth;
    std::int64_t budget;                // tests
    Cost upper;                         // only trees that cost less are wanted
    Cost support = 0;                   // weight of every leaf, at least
    Cost lower = 0;                     // no tree costs less, whatever its support
    Cost supported = 0;                      // no tree of that support costs less
    const Cost* inherited = nullptr;    // as `lower`, per root feature
    Test hint;                          // a root test to try first
};

/// The result on one subproblem.
template <class Cost>
struct Answer {
    bool found = false;
    Cost value = 0;             // of the tree found, else the bound that it had to beat
    Cost lower = 0;             // no tree costs less, whatever its support
    Cost proven = 0;            // no tree of the required support costs less
    Plan::Kind kind = Plan::leaf, left = Plan::leaf, right = Plan::leaf;
    Test test;
    int left_feature = -1, right_feature = -1;  // of depth two: features of the best tests of the sides
    PlanPtr plan;               // set by the deeper search

    Test as_test() const { return plan ? plan->test : kind == Plan::split ? test : Test{}; }
    PlanPtr as_plan() const {
        if (plan) return plan;
        if (kind != Plan::split) return Plan::of(kind);
        return std::make_shared<const Plan>(Plan{Plan::split, test, Plan::of(left), Plan::of(right)});
    }
};

}  // namespace treeform::contree
