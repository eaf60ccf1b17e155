#pragma once
// The cached depth-first AND/OR search behind DL8.5 and CA-DL8.5. See search.cpp for how it works.
#include <deque>

#include "cache.hpp"
#include "control.hpp"
#include "outright.hpp"
#include "rules.hpp"

namespace treeform::binary {

class Search {
public:
    Search(Substrate& substrate, const Settings& settings, Control& control, Counters& counters);
    /// Runs to the end of the proof, or until the control says stop. Costs exclude the substrate's offset.
    void run(Outcome& out);

private:
    /// What is known of a subproblem: no tree costs less than `lower`; `plan` costs `upper`.
    struct Known {
        Cost lower = 0, upper = kNever;
        PlanPtr plan;
        bool exact() const { return lower >= upper; }
    };
    /// The two sides of a test while it is worked on.
    struct Sides {
        Known known[2];
        std::int64_t tests[2];
        bool made[2];      // whether their rows have been made
        bool all;          // no budget of tests to share
    };
    /// One node on the way from the root to where the search is.
    struct Frame {
        Known known;
        int feature = -1, side = 0;   // the test under work, and which value's side is being searched
        Cost other = kNever;          // cost of a tree for the opposite side
        PlanPtr other_plan;
        std::vector<Cost> lower;      // per column: proved for all trees with that root
        std::vector<Cost> side_lower[2];
        std::vector<int> order;
        std::vector<double> score, gain;
        std::vector<int> settled;     // columns whose two sides have bounds
        Node child[2];
        std::vector<std::uint64_t> probe;
    };

    Known explore(Node& node, int level, int depth, std::int64_t tests, Cost bound, const Rules::States& states);
    Known outright(Node& node, int depth, std::int64_t tests);
    void open(Node& node, int level, int depth, std::int64_t tests);
    void branch(Node& node, int level, int depth, std::int64_t tests, Cost bound, const Rules::States& states, int rank);
    Cost split(Node& node, int level, int depth, int column, Sides& sides, Cost bound, const Rules::States* const* states);
    void enter(Node& node, int level, int depth, int column, int side, Cost bound, const Rules::States& states, Sides& sides);
    void shallow(const Node& node, Frame& frame, int depth, int column, int side, Sides& sides);
    Cost note(const Node& node, int level, int column, const Sides& sides);
    Node& rows_of(const Node& node, Frame& frame, int depth, int column, int side, Sides& sides);
    Known probe(Frame& frame, const Node& node, int column, int side, int depth, std::int64_t tests);
    void similarity(Node& node, Frame& frame, int column);
    void rank(Node& node, Frame& frame);
    void improve(int level, Cost cost, PlanPtr plan);
    Cost frame_lower(const Frame& frame) const;
    void iterate();
    Cost outside();
    bool bottom(int depth) const { return depth <= settings_.exact_depth; }
    Context context(const Node& node, const Frame& frame, int column, int side, int rank, int level) const;

    Substrate& substrate_;
    const Settings& settings_;
    Control& control_;
    Counters& counters_;
    Cache cache_;
    Rules rules_;
    Scribe scribe_;
    Node root_;
    std::deque<Frame> frames_;
    Known best_;                 // of the whole problem
    Cost proved_ = 0;            // lower bound of the whole problem
    Cost wanted_ = kNever;       // only trees below this are of interest
    bool similarity_;
};

}  // namespace treeform::binary
