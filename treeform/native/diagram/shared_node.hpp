#pragma once
// One test left below a state: a single node, which flows out of any of its parts may share. With the node given, the
// parts have nothing to do with each other, so the least cost is
//
//     min over nodes h of  sum over parts x of  f(x, h),
//     f(x, h) = min { least cost of a test of x that ends, cost of x at h,
//                     min over tests of x of { h(left) + leaf(right), leaf(left) + h(right) } },
//
// where h is a test with a class on either side. What a part costs for every h is kept.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "pairs.hpp"
#include "plan.hpp"

namespace treeform::diagram {

class SharedNode {
public:
    SharedNode(const Instance& in, bool used, std::size_t memory);

    /// Whether the costs of these parts can be had; they are the ones of `solve`.
    bool add(const Word* x);
    void clear() { parts_.clear(), costs_of_.clear(); }
    /// The least cost of the parts that were added.
    Cost solve();
    /// The node that was found, if one is needed, and what the parts do.
    PlanPtr plan() const;
    /// What the last part took, in searches for a single test.
    std::int64_t work() const { return work_; }

private:
    /// The split of a part, or Plan::kNoTest or kPass, and which sides go to the node.
    struct Way {
        int split = Plan::kNoTest;
        bool sends_left = false, sends_right = false;
    };
    static constexpr int kNone = -1;
    using Costs = std::vector<std::int32_t>;  // by pair of classes and split; the last one: without the node

    const Instance& in_;
    Pairs pairs_;
    bool suits_;
    std::size_t most_bytes_, bytes_ = 0;
    int nodes_ = 0;  // pairs of classes times splits
    std::int64_t work_ = 0;
    std::unordered_map<Set, Costs, SetHash> known_;
    std::vector<const Word*> parts_;
    std::vector<const Costs*> costs_of_;
    std::vector<Cost> least_;
    std::vector<std::int64_t> sum_;
    int node_ = kNone, split_ = 0, first_ = 0, second_ = 0;  // that was found, with its split and classes

    Costs count(const Word* x);
    void spread(const Word* x, Costs& out) const;
    Cost at_node(const Word* x) const;
    Way way_of(const Word* x, const Costs& costs) const;
};

}  // namespace treeform::diagram
