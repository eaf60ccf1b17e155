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

namespace treeform::diagram {

class SharedNode {
public:
    /// What a part does: its split (as in Plan; -1: it ends, -2: all of it goes to the node), and which sides go there.
    struct Way {
        int split = -1;
        bool sends_left = false, sends_right = false;
    };
    /// The node (split -1: none is needed), and what the parts do.
    struct Found {
        Cost value = 0;
        int split = -1;
        std::vector<Way> ways;
    };

    SharedNode(const Instance& in, bool used, std::size_t memory);

    /// Whether the costs of these parts can be had; they are the ones of `solve`.
    bool add(const Word* x);
    void clear() { parts_.clear(), costs_of_.clear(); }
    /// The least cost of the parts that were added.
    Found solve();
    /// How the parts attain it.
    void find_ways(Found& found);
    /// What the last part took, in searches for a single test.
    std::int64_t work() const { return work_; }

private:
    struct KeyHash {
        std::size_t operator()(const Set& key) const { return hash_of(key.data(), int(key.size()), 2); }
    };
    using Costs = std::vector<std::int32_t>;  // by pair of classes and split; the last one: without the node

    const Instance& in_;
    Pairs pairs_;
    bool suits_;
    std::size_t most_bytes_, bytes_ = 0;
    int nodes_ = 0;  // pairs of classes times splits
    std::int64_t work_ = 0;
    std::unordered_map<Set, Costs, KeyHash> known_;
    std::vector<const Word*> parts_;
    std::vector<const Costs*> costs_of_;
    std::vector<Cost> least_;
    std::vector<std::int64_t> sum_;
    int first_ = 0, second_ = 0;  // classes of the node that was found

    Costs count(const Word* x);
    void spread(const Word* x, Costs& out) const;
    Cost at_node(const Word* x, int split) const;
    Way way_of(const Word* x, int split, Cost cost) const;
};

}  // namespace treeform::diagram
