#pragma once
// The cached depth-first AND/OR search behind DL8.5 and CA-DL8.5. See search.cpp for how it works.
#include <deque>

#include "cache.hpp"
#include "rules.hpp"
#include "shared_incumbent.hpp"
#include "tree_writer.hpp"

namespace treeform::binary {

/// A test at the root, and the known bounds of the trees that begin with it.
struct RootTest {
    int feature = -1;
    Cost upper = kNever;         // only trees that cost less are wanted
    Cost lower[2] = {0, 0};      // of the sides where the feature is 0 and 1
    Cost cost = kNever;          // of `plan`
    PlanPtr plan;
    std::vector<Cost> pairs = {};  // of this test and each other one, as in `with_bounds_of_pairs`; may be empty

    Cost bound(Cost penalty) const { return plus(plus(lower[0], lower[1]), penalty); }
    /// Of one side of it.
    Cost* pairs_of(int value) { return pairs.data() + std::size_t(value) * (pairs.size() / 2); }
};

/// One worker. Costs exclude the offset of the row sets.
class Search {
public:
    Search(std::unique_ptr<RowSets> row_sets, const Settings& settings, SharedIncumbent& shared, const Control& control,
           std::size_t memory);
    /// Search the root tests that no worker has taken, under these rules (null: without). Stops early when its work
    /// exceeds `most`.
    void pass(const Rules* rules, std::uint64_t most);
    /// Submits the best tree with the upper tests of a given one, its last levels solved again.
    void follow(const FlatTree& start);
    /// Submits a greedy tree where a table of triples takes long.
    void first_tree();
    static bool takes_long(const Node& node);
    /// Replace the subtrees of `tree` that have at most `exact` levels by the best there are. Pauses like pass().
    void local_search(const PlanPtr& tree, int exact, std::uint64_t most);
    /// All trees that begin with a test of the root; what earlier calls have found or were given stays. Without a search
    /// where nothing costs less than its upper bound.
    void solve_root_test(RootTest& part);
    /// The tests at the root, in the order of the search.
    std::vector<RootTest> root_tests();
    FlatTree write(const PlanPtr& plan) { return writer_.write(plan); }
    /// Gives the cache back; nothing may be searched after that.
    void release() { cache_.release(); }
    /// Per root test: no tree that begins with it costs less. Empty: nothing was searched.
    const std::vector<Cost>& root_lower() const { return frames_[0].order.empty() ? none_ : frames_[0].lower; }
    /// The root's bound when it needed no search.
    Cost root_known() const { return root_known_; }

    Counters counters;
    Rules::Needs needs = Rules::nothing();  // what the rules left out, since it was last taken
    bool paused = false;
    const RowSets& row_sets() const { return *holder_; }

private:
    /// Known bounds of a subproblem: no tree costs less than `lower`; `plan` costs `upper`.
    struct Known {
        Cost lower = 0, upper = kNever;
        PlanPtr plan;
        bool exact() const { return lower >= upper; }
    };
    /// The two sides of a test while it is searched.
    struct Sides {
        Known known[2];
        std::int64_t tests[2];
        bool made[2];  // whether their rows have been made
        bool all;  // no budget of tests to share
    };
    /// One node on the path from the root to the present subproblem.
    struct Frame {
        Known known;
        int feature = -1, side = 0;  // the present test, and which value's side is being searched
        Cost other = kNever;  // cost of a tree for the opposite side
        PlanPtr other_plan;
        std::vector<Cost> lower;  // per column: proved for all trees with that root
        std::vector<Cost> side_lower[2];
        std::vector<int> order;
        std::vector<double> score, gain;
        std::vector<int> settled;  // columns whose two sides have bounds
        Node child[2];
        std::vector<std::uint64_t> look_up;
    };

    Known explore(Node& node, int level, int depth, std::int64_t tests, Cost bound, const Rules::States& states);
    Known solve_directly(Node& node, int depth, std::int64_t tests);
    void open(Node& node, int level, int depth, std::int64_t tests);
    void branch(Node& node, int level, int depth, std::int64_t tests, Cost bound, const Rules::States& states,
                int rank);
    Cost split(Node& node, int level, int depth, int column, Sides& sides, Cost bound,
               const Rules::States* const* states);
    void search_side(Node& node, int level, int depth, int column, int side, Cost bound, const Rules::States& states,
                     Sides& sides);
    void shallow(const Node& node, Frame& frame, int depth, int column, int side, Sides& sides);
    Cost record_bounds(const Node& node, int level, int column, const Sides& sides);
    Node& rows_of(const Node& node, Frame& frame, int depth, int column, int side, Sides& sides);
    Known look_up(Frame& frame, const Node& node, int column, int side, int depth, std::int64_t tests);
    void similarity(Node& node, Frame& frame, int column);
    void begin_side(const Node& node, Frame& frame);
    void end_side(const Node& node, const Frame& frame);
    void rank(Node& node, Frame& frame);
    void improve(int level, Cost cost, PlanPtr plan);
    void search_root(Cost bound, const Rules::States& states);
    bool trivial(const Node& node, int depth, std::int64_t tests) const {
        return depth == 0 || tests == 0 || node.columns == 0 || node.leaf <= settings_.node_penalty;
    }
    /// Pairs cost columns^2 words, triples as much per column.
    static std::uint64_t pairs_work(const Node& node) {
        return std::uint64_t(node.columns) * std::uint64_t(node.columns) * (std::uint64_t(node.chunks) + 4);
    }
    static std::uint64_t triples_work(const Node& node) {
        return pairs_work(node) * (std::uint64_t(node.columns) / 4 + 1);
    }
    void count_work(const Node& node, int depth);
    std::int64_t most_tests() const { return std::min(settings_.max_nodes, full(settings_.depth)); }
    void begin(const Rules* rules, std::uint64_t most);
    Known valued(const PlanPtr& tree, Node& node);
    Known refine(const PlanPtr& tree, Node& node, int level, int depth, int exact);
    Known greedy(Node& node, int depth, std::int64_t tests);
    Known along(const FlatTree& start, int at, Node& node, int depth, std::int64_t tests);
    Cost frame_lower(const Frame& frame) const;
    bool bottom(int depth) const { return depth <= settings_.exact_depth; }
    Context context(const Node& node, const Frame& frame, int column, int side, int rank, int level) const;

    std::unique_ptr<RowSets> holder_;
    RowSets& row_sets_;
    const Settings& settings_;
    SharedIncumbent& shared_;
    const Control& control_;
    Cache cache_;
    TreeWriter writer_;
    const Rules* rules_ = nullptr;
    std::uint64_t most_work_ = 0;
    RootTest* part_ = nullptr;  // one root test is searched
    Node root_;
    std::deque<Frame> frames_;
    std::vector<Cost> none_;
    Cost root_known_ = 0;
    bool similarity_;
};

}  // namespace treeform::binary
