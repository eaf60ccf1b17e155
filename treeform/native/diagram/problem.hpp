#pragma once
// Input and output of the engine, in whole numbers. No algorithm here.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kernel.hpp"

namespace treeform::diagram {

/// Most nodes of a layer, where nodes may share what is below them.
constexpr int kMostParts = 64;

/// Distinct rows. value[p * classes + k] is the cost of predicting k on all of row p.
struct Points {
    const double* x = nullptr;  // row-major
    std::size_t rows = 0, features = 0;
    const std::int64_t* order = nullptr;  // the row of `x` of every point; null: their own
    /// The thresholds to be tried, ascending by feature: of feature f from first_threshold[f] on. Null: all there are.
    const double* threshold = nullptr;
    const std::int64_t* first_threshold = nullptr;
    const Cost* value = nullptr;
    int classes = 0;
    const Cost* weight = nullptr;   // for the minimum support

    const double* row(std::size_t p) const { return x + (order ? std::size_t(order[p]) : p) * features; }
};

/// An objective: rate * cost + price * max(tests - free, 0).
struct Price {
    Cost rate = 1, price = 0;
    int free = 0;

    Cost of_tests(int tests) const { return price * std::max(tests - free, 0); }
};

/// A diagram: node 0 is the root, arcs lead to nodes or to ~class. A threshold t has low <= t < high. A node of feature
/// kNoFeature is a pass-through: it tests nothing, and `left` and `right` are its one arc.
struct FlatDiagram {
    static constexpr int kNoFeature = -1;
    std::vector<int> feature, left, right;
    std::vector<double> low, high;
    int constant = 0;  // the class, if there is no node
};

struct Settings {
    std::vector<int> widths;        // of the skeleton, root first
    bool is_tree = false;           // no two arcs into one node
    Cost min_support = 0;           // weight on each side of every test
    Cost min_flow = 0;              // weight that reaches every test
    int max_nodes = 0;              // tests, at most the skeleton's
    std::vector<Price> prices;      // objectives to be proved, one after the other
    bool some_tests = false;        // not all of them: models are wanted, and what is proved says nothing
    bool every_number = false;      // and e(k) for every k
    std::vector<Cost> known;        // known[k]: the cost of a known model of at most k tests
    FlatDiagram start;              // the best known model, with thresholds in `low` alone; empty where there is none
    std::vector<Cost> refuted;      // refuted[k]: no model of at most k tests costs less (proved before)
    std::uint64_t seed = 0;
    double start_seconds = 0;       // for diagrams built by information gain, before the search
    std::int64_t starts = 0;        // at most so many of them; -1: a number that takes a fraction of a second
    std::size_t memory = std::size_t(1) << 30;  // bytes for the tests as sets of points
    std::size_t kept = std::size_t(1) << 30;  // and for what is kept of other sets
    bool use_trees = true;          // bounds from trees
    bool use_memory = true;         // transpositions
    bool use_pairs = true;          // trees of two levels by counts of pairs
    bool use_regions = true;        // trees of two tests by regions
    bool use_conflicts = true;      // sets of points that no tree predicts without a cost
    bool use_intervals = true;      // tests of one feature refuted together
    bool use_alternation = true;    // better models by alternation
    bool use_annealing = true;      // and by simulated annealing
    int least_tests = 4;            // of a search that others take part in
    std::string simd = "auto";
};

struct Counters {
    std::uint64_t states = 0;          // partitions of a layer that were opened
    std::uint64_t transpositions = 0;  // of these, settled by what was known
    std::uint64_t bounded = 0;         // settled by the bounds of trees alone
    std::uint64_t candidates = 0;      // tests that no bound ruled out
    std::uint64_t intervals = 0;       // intervals of tests that were looked at together
    std::uint64_t refuted = 0;         // of these, refuted
    std::uint64_t witnesses = 0;       // checks that a diagram rules a refutation out
    std::uint64_t groupings = 0;       // ways to send flows on
    std::uint64_t trees = 0;           // tree problems opened
    std::uint64_t tree_hits = 0;       // tree problems known before
    std::uint64_t stumps = 0;          // searches for a single test
    std::uint64_t pairs = 0;           // sets whose trees of two levels were counted by pairs of splits
    std::uint64_t regions = 0;         // sets whose trees of two tests were searched by regions
    std::uint64_t conflicts = 0;       // tree problems settled by conflict sets
    std::uint64_t free = 0;            // tree problems settled by trees found before, without a cost
    std::uint64_t shared = 0;          // partitions with one test left below, solved by the node that is shared
    std::uint64_t given_up = 0;        // tree bounds that took too long
    std::uint64_t evictions = 0;       // times that the older half of a table was dropped
    std::uint64_t starts = 0;          // diagrams built by information gain
};

struct Improvement {
    double seconds = 0;
    int nodes = 0;  // a model with at most that many tests
    Cost cost = 0;
    FlatDiagram diagram;
};

struct Outcome {
    std::vector<Cost> lower, upper;  // by number of tests
    std::vector<FlatDiagram> diagrams;  // those that attain `upper`
    std::vector<bool> has_diagram;
    std::vector<double> proved_at;  // per price: seconds, or -1
    bool complete = false, memory_stop = false;
    double seconds = 0;
    Counters counters;
    std::string simd;
    int points = 0, splits = 0;
};

}  // namespace treeform::diagram
