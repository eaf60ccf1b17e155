#pragma once
// Better diagrams of a given number of tests by alternation, as in tree alternating optimisation (Carreira-Perpinan and
// Tavallali, NeurIPS 2018), here on layers.
//
// With all other tests fixed, a point that reaches a node costs so much if it leaves for a terminal and so much if it
// leaves for a node of the next layer. The best test of the node, together with the best heads of its two arcs, is one
// pass over the points in the order of every feature. Nodes are taken from the last layer up until nothing improves.
// Tests that are left over then go where they save most. From time to time a test is drawn at random, and kept
// if alternation finds no worse diagram from there.
#include <functional>

#include "order.hpp"
#include "plan.hpp"

namespace treeform::diagram {

class Alternation {
public:
    Alternation(const Instance& in, const Settings& settings, const Order& order, const Control& control);

    using Found = std::function<void(const PlanPtr& plan)>;

    /// Improve `plan` with at most `tests` tests for about `work` elementary steps, and at most `kicks` tests drawn at
    /// random; what costs less than `cost` is handed to `found`. If the run is stopped, so is what there is by then.
    void improve(const PlanPtr& plan, int tests, Cost cost, double work, int kicks, std::uint64_t seed,
                 const Found& found);

private:
    struct Node {
        int split = Plan::kNoTest;
        int to[2] = {~0, ~0};  // a node of the next layer, or ~class
        bool used = false;
    };
    using Model = std::vector<std::vector<Node>>;  // by layer
    struct Choice {
        Cost cost = kNever;
        int split = Plan::kNoTest, left = 0, right = 0;
    };
    const Instance& in_;
    const Settings& settings_;
    const Order& order_;
    const Control& control_;
    int points_, classes_;
    Model model_;
    std::vector<std::vector<std::vector<std::uint8_t>>> below_;  // by layer, node and point: the class it ends in from there
    std::vector<std::vector<int>> at_;  // by layer and point: its node, or -1
    std::vector<int> option_;  // heads that a node may have
    std::vector<Cost> table_, left_, total_;  // costs by point and option, and sums over points
    std::vector<std::uint32_t> here_;  // the points of a node
    std::vector<std::int32_t> place_;  // of a point among them, or -1
    double work_ = 0;
    std::uint64_t state_ = 0;

    std::uint64_t draw(std::uint64_t below);
    void read(const Plan* plan);
    PlanPtr write() const;
    int tests() const;
    Cost descend(int tests);
    bool sweep();
    void route();
    void cost_from(int layer, int node);
    std::uint8_t class_at(int layer, int head, std::uint32_t point) const;
    Cost cost_as(int label, std::uint32_t point) const;
    Cost cost_at(int layer, int head, std::uint32_t point) const;
    void list_options(int layer, int node);
    Choice best_choice(int layer, int node);
    void scan(int feature, Choice& best);
    void take_better(int split, Choice& best) const;
    void drop_unused();
    bool grow();
    void kick();
    Cost total() const;
};

}  // namespace treeform::diagram
