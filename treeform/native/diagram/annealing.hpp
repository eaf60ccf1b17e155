#pragma once
// Better diagrams by simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 1983).
//
// A step changes one node: its test, its threshold, or the head of an arc. The samples are routed again below it, as
// sets of bits, which takes less than a microsecond on a thousand samples; so a second has millions of steps. Where many
// nodes share what is below them, no change of a single node by the best one (alternation) leads out of a poor diagram.
#include <functional>
#include <utility>
#include <vector>

#include "instance.hpp"
#include "plan.hpp"

namespace treeform::diagram {

class Annealing {
public:
    using Found = std::function<void(int tests, const PlanPtr& plan)>;

    Annealing(const Instance& in, const Settings& settings, const Control& control);

    /// Whether a step is cheap enough for the skeleton.
    static bool suits(const Settings& settings);

    /// From `plan`, with at most `most` tests, for about `work` elementary steps. `least[k]`: the least cost known with at
    /// most k tests; a diagram that costs less is handed to `found`, which has to lower it.
    void run(const PlanPtr& plan, int most, double work, std::uint64_t seed, const std::vector<Cost>& least,
             const Found& found);

private:
    static constexpr int kTerminal = Plan::kTerminal;
    struct Node {
        int split = 0;
        int to[2] = {kTerminal, kTerminal};  // a node of the next layer, or a terminal
    };
    /// The samples of each node of a layer, what its arcs into terminals cost, and how many nodes samples reach.
    struct Layer {
        std::vector<Word> points;
        std::vector<char> reached;
        Cost cost = 0;
        int tests = 0;
    };
    struct Totals {
        Cost cost = 0;
        int tests = 0;
    };
    const Instance& in_;
    const Settings& settings_;
    const Control& control_;
    int depth_;
    std::vector<std::vector<Node>> model_;  // by layer
    std::vector<Layer> now_, next_;
    std::vector<Word> flow_;
    double work_ = 0;
    std::uint64_t state_ = 0;

    std::uint64_t draw(std::uint64_t below);
    double uniform();
    std::pair<int, int> draw_node();
    int draw_split();
    int draw_neighbour(int split);
    int draw_head(int layer);
    void read(const Plan* plan);
    PlanPtr write() const;
    bool change(int layer, int node);
    bool propose(int from);
    void accept(int from);
    Totals totals_from(int from) const;
};

}  // namespace treeform::diagram
