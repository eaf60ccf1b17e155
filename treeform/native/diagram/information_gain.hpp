#pragma once
// Step 1 of Florio et al. (AAAI 2023): many diagrams built from the top by information gain, pruned from the bottom.
//
// Layer by layer every node gets the test of the largest information gain, over a random 60 % of the features of its
// own; then, while there are more flows than nodes in the next layer, the two flows are merged whose union loses the
// least information. Where the skeleton begins with several layers of one node, the first test may be in any of them,
// below pass-throughs. What is left at the end goes to the terminal of its most frequent class. Pruning takes out
// nodes that lead to terminals only, the one that costs least first, until none is left: so one start gives a diagram
// for every number of tests up to its own, and for every price of a test the one that the paper's rule would keep.
#include <functional>
#include <utility>

#include "order.hpp"
#include "plan.hpp"

namespace treeform::diagram {

class Heuristic {
public:
    /// A diagram of that many tests and that relative cost. True to go on.
    using Found = std::function<void(int tests, Cost cost, const PlanPtr& plan)>;

    Heuristic(const Instance& in, const Settings& settings, const Order& order, const Control& control);

    /// Starts until `seconds` have passed or `starts` were made; returns their number.
    std::int64_t run(std::uint64_t seed, double seconds, std::int64_t starts, const Found& found);
    /// About how long a start takes, in elementary steps.
    double work() const { return double(points_) * features_ * depth_ * (2 + classes_); }

private:
    struct Layer {
        std::vector<int> split;                 // per node, -1: none
        std::vector<int> target;                // 2 per node: node of the next layer, or -1
        std::vector<std::vector<Cost>> cost;    // per flow: cost by class
        std::vector<Cost> weight;               // per flow
    };
    struct Flows {  // groups of flows that may be united
        std::vector<std::vector<Cost>> count;
        std::vector<std::uint64_t> parents;
    };
    struct Best {
        double gain = -1;
        int split = -1;
    };
    const Instance& in_;
    const Settings& settings_;
    const Order& order_;
    const Control& control_;
    int points_, features_, depth_, classes_;
    std::vector<Cost> benefit_;                         // [point * classes + class]: what predicting it saves
    std::vector<double> table_;                         // x log x
    std::vector<Layer> layers_;
    std::vector<Cost> best_;                            // by number of tests
    std::vector<int> node_;                             // per point, in the present layer; -1: at a terminal
    std::vector<Cost> count_, under_, total_, node_weight_;
    std::vector<int> last_;
    std::vector<Best> chosen_;
    std::vector<std::uint8_t> open_;
    int most_passes_ = 0;  // most pass-throughs at the root, so that the first test stands above a wider layer
    std::uint64_t state_ = 0;

    double x_log_x(Cost x) const;
    double information(const Cost* count) const;
    bool chance(double share);
    void start(const Found& found);
    void choose_tests(int nodes);
    void scan(int f, int nodes);
    void consider(int f, int u, int right);
    int send_flows(int layer, int nodes);
    std::pair<int, int> closest(const Flows& flows, int groups) const;
    int merge(const Layer& here, std::vector<int>& group, int groups, int width) const;
    void prune(const Found& found);
    bool ends(int layer, int flow) const;
    Cost terminal_cost() const;
    Cost cost_of(const Layer& layer, int node) const;
    PlanPtr plan() const;
};

}  // namespace treeform::diagram
