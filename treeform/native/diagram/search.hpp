#pragma once
// The exact search for a diagram, layer by layer. A state is the partition of points over the nodes of a layer, and the
// number of tests left for the layers below. It is branched on a test for every node, and on where the outgoing flows
// go: to a terminal, to a node of the next layer of their own, or merged with others. A node may also be a
// pass-through, which has no column and sends all its points to a node of the next layer; it is a test in every
// count. Nodes are bounded by the costs of trees (tree_bounds.hpp); states met before are looked up. The flows are in
// flows.cpp, bounds by the number of nodes below in node_counts.cpp, intervals of tests in intervals.cpp.
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "plan.hpp"
#include "shared_node.hpp"
#include "tree_bounds.hpp"

namespace treeform::diagram {

/// `value` is a lower bound; if it is below what was asked for, it is attained by `plan`.
struct Answer {
    Cost value = 0;
    PlanPtr plan;
};

class Search {
public:
    Search(const Instance& in, const Settings& settings, const Control& control, Counters& counters);

    /// Thrown by `solve` when it takes more work than it may; what it has learnt remains.
    struct TooMuch {};
    /// The least cost of a diagram with at most `tests` >= 1 tests, if it is below `need`; with that share of the work
    /// that the bound of all points may take. `together`: by intervals of tests.
    Answer solve(int tests, Cost need, double share, bool together);
    /// Whether `solve` may go by intervals: not where weights have to be reached, which samples left out add to, and
    /// not in trees, whose bounds are as good as their search.
    bool takes_intervals() const;
    /// A lower bound of that cost from trees alone, with that share of the work that a bound may take; at least `need`
    /// if it was found in time and is no less.
    Cost root_bound(int tests, Cost need, double share);
    /// What predicting few enough classes costs on the points, for a diagram of at most `tests` tests.
    Cost least_of_classes(const Set& x, int tests) const;
    /// As `solve`, for diagrams whose root is one of these tests, of one feature; Plan::kPass is a pass-through.
    Answer solve_range(int tests, int begin, int end, Cost need);
    /// Whether a pass-through at the root is a candidate.
    bool root_may_pass(int tests);
    /// How many tests of the root the last `solve` left open.
    int open() const { return open_; }
    /// Elementary steps of the work that the bound of all points may take.
    double most_steps() const;
    std::size_t bytes() const { return known_bytes_ + old_bytes_; }

private:
    /// Lower bounds by the number of nodes in the next layer; the last is for all larger numbers too.
    static constexpr int kMostCounted = 8;
    static constexpr Cost kDead = kNever >> 8;  // no diagram has that number; sums do not overflow
    using ByNodes = std::array<Cost, kMostCounted + 1>;
    /// Of a side of a test: its cost as a leaf, and a bound if it goes on.
    struct SideCosts {
        Cost leaf = 0;
        ByNodes on{};
    };
    /// Neighbouring tests of one feature, first .. last; Plan::kPass alone. Samples that these do not agree on cost
    /// nothing: what is proved of the interval holds for each of its tests.
    struct Interval {
        int first, last;
        Cost lower;
        bool has_costs = false;  // the rest is known
        SideCosts left{}, right{};
        ByNodes by_nodes{};  // a bound for both sides together
        bool is_wide() const { return first < last; }
        int tests() const { return last - first + 1; }
        const SideCosts& side(int i) const { return i % 2 == 0 ? left : right; }
    };
    /// As `Interval`, with bounds of the left side of its first test, and of the right side of its last one.
    struct Range {
        int first, last;
        Cost left, right;
    };
    struct Branch {
        const Set* set;
        int part;
        Cost leaf, lower;
    };
    struct Group {
        Set set;
        std::uint64_t sides = 0;  // that flow into it
        std::uint64_t since = 0;  // Layer::round when the last of their tests was chosen
        std::uint64_t parts = 0;  // a node has at most one arc into each node below
        bool has_pass = false;  // an arc of a pass-through leads to it
        Cost lower = 0;
    };
    /// What was found for some sides in one node: a lower bound, and what was asked for.
    struct Joined {
        std::uint64_t round = 0;
        Cost lower = 0, asked = 0;
    };
    struct Layer {
        std::vector<Set> part;  // of the present state
        std::vector<Cost> lower;
        std::vector<std::vector<Interval>> candidates;
        std::vector<ByNodes> least;  // per part, of its candidates
        std::vector<Interval> chosen;
        std::vector<Set> side;  // 2 per part
        std::vector<Branch> branch;
        std::vector<Cost> rest;  // bounds of the branches from one on
        std::vector<int> way;  // per branch: group or kTerminal
        std::vector<Group> group;
        std::vector<Joined> joined_bounds;  // by set of sides and number of nodes in the next layer
        std::uint64_t round = 0;  // tests chosen so far
        std::vector<std::uint64_t> since;  // per part: the round of its test
        int groups = 0, parts = 0, budget = 0;
        int nodes = 0;  // of the next layer: as many groups are made
        Cost limit = 0;  // of the flows: ways to send them on that cost as much are left out
        bool complete = false;  // all flows are sent on, and not those of the first parts alone
        bool relaxed = false;  // the state's parts lack samples: any diagram below the bound will do
        bool probing = false;  // so do those of the chosen intervals
        Cost lower_sum = 0;
        Answer best;
        bool found = false;
        std::vector<Set> undo;  // by branch: a group before it joined
        Set left, right;
    };
    struct Entry {
        Cost lower = 0;
        PlanPtr plan;  // not null: `lower` is exact
        bool exact = false;
        Cost attained = kNever;  // of a relaxed state: there is a diagram that costs less
    };
    /// How often intervals of about one size were refuted.
    struct Tally {
        int tried = 0, refuted = 0, skipped = 0;
    };
    using Memory = std::unordered_map<Set, Entry, SetHash>;

    const Instance& in_;
    const Settings& settings_;
    const Control& control_;
    Counters& counters_;
    Trees trees_;
    SharedNode shared_;
    int depth_;
    bool plain_;  // no weights to be reached
    std::vector<Layer> layers_;
    Memory known_, old_;
    std::size_t known_bytes_ = 0, old_bytes_ = 0, most_bytes_;
    std::int64_t work_;  // for one bound
    std::vector<std::array<Tally, 64>> tally_;  // by layer and logarithm of the size

    double most_effort_ = 0, shared_effort_ = 0;
    bool together_ = false;
    int open_ = 0;

    double effort() const;
    Cost bound(const Set& x, int layer, int budget, Cost need);
    Answer state(int layer, int budget, Cost need, bool relaxed);
    Answer bottom(int layer, Cost need);
    bool solve_shared(int layer, Cost need, Answer& answer);
    Stump supported_stump(const Set& x, Cost below);
    bool bound_parts(int layer, Cost need);
    void list_candidates(int layer, int part, Cost need);
    void add_candidate(int layer, int part, Interval one);
    void list_range(int layer, int part, int begin, int end, Cost limit);
    bool bound_range(int layer, int part, Range& r, Cost limit, Cost& dropped);
    Cost range_bound(int layer, const Range& r, Cost limit);
    void try_tests(int layer, Cost lower, PlanPtr witness = nullptr);
    void bisect(int layer, int part, Cost lower, const PlanPtr& witness);
    void choose(int layer, int part, const Interval& one);
    PlanPtr probe(int layer, Cost dropped);
    bool still_holds(int layer, const PlanPtr& witness);
    Cost cost_of(const Plan& plan, const std::vector<Set>& sides) const;
    bool is_worth_probing(int layer, Cost dropped);
    Cost most_together(int layer) const;
    void begin_at_root(int tests);
    void part_by(const Set& x, const Interval& one, Set& left, Set& right) const;
    void part_by(const Set& x, int split, Set& left, Set& right) const;
    bool enough(const Set& x) const;
    Cost measure(const Set& x) const;
    bool reached(const Set& x) const;
    bool may_pass(int layer) const;
    bool moves_up(int layer) const;
    int most_nodes(int layer) const;
    void find_costs(int layer, int part, Interval& one, const Set& left, const Set& right);
    bool rule_out(int layer, ByNodes& sum);
    void search_tests(int layer);
    bool join_first(int layer, int parts, ByNodes& by_nodes);
    void choose_tests(int layer, int part, Cost lower, const ByNodes& by_nodes);
    void send_flows(int layer);
    Cost cost_of_first(int layer, int nodes, Cost others);
    void list_branches(int layer, int parts);
    void send_to(int layer, int nodes, Cost others);
    void send(int layer, std::size_t branch, Cost paid, Cost grouped);
    void join(int layer, std::size_t branch, int group, Cost paid, Cost grouped);
    void open(int layer, std::size_t branch, Cost paid, Cost grouped);
    Cost bound_group(int layer, const Group& group, Cost need);
    Cost known_bound(int layer, const Group& group) const;
    void descend(int layer, Cost paid);
    Set key_of(int layer, int budget, bool relaxed) const;
    Entry* recall(const Set& key);
    void remember(Set key, Entry what);
};

}  // namespace treeform::diagram
