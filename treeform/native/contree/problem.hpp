#pragma once
// Input and output of the engine, in whole numbers. No algorithm here.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../common/away.hpp"
#include "../common/flat_tree.hpp"
#include "clash.hpp"

namespace treeform::contree {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// The training table as it arrives: row-major float64, class codes, integer weights.
struct Rows {
    const double* x = nullptr;
    std::size_t n = 0, features = 0;
    const std::int32_t* label = nullptr;
    const std::int64_t* weight = nullptr;  // null: every weight is one
    const std::int64_t* supporting = nullptr;  // what it counts for a minimum support; null: its weight
    int classes = 0;
    std::vector<std::int64_t> cost;        // classes x classes, cost[true * classes + predicted]
};

struct Settings {
    int depth = 1;
    std::int64_t max_nodes = kNone;
    std::int64_t min_support = 0;   // weight units per leaf
    std::int64_t node_penalty = 0;
    std::int64_t upper = kNone;     // only trees that cost less are wanted
    std::int64_t gap = 0;
    bool neighbourhood = true, shrinking = true, subinterval = true, features = true;
    int threads = 1;
    int ahead = 32;  // splits of the root that may be in work at a time, whoever evaluates them
    int steps = 0;  // not 0: so many thresholds of a feature above depth two; finds trees, proves nothing
    std::size_t memory_limit = 0;   // bytes, about; 0: none
    std::string simd = "auto";
    bool improve = false;  // search for better trees beside the proof; see ../deep
    bool prove = true;     // else nothing but that
    std::uint64_t seed = 0, work_limit = 0;  // of the improvement search; a limit only without a proof, and 0: none
    FlatTree start;  // it begins with that, too; may be empty
    std::vector<Clash> clashes;  // per feature, and empty for none; only of the improvement search

    Clash clash_of(int feature) const { return clashes.empty() ? Clash{} : clashes[static_cast<std::size_t>(feature)]; }
};

/// What the search did; the names are those that Python shows.
struct Counters {
    std::uint64_t nodes = 0;              // subproblems of depth two or more
    std::uint64_t splits = 0;             // root splits of depth-two subproblems that were evaluated (D2Split)
    std::uint64_t scans = 0;              // depth-one scans
    std::uint64_t gathers = 0;            // re-orderings of one feature's ranks by another
    std::uint64_t bounded = 0;            // splits settled by bounds alone
    std::uint64_t pruned_neighbourhood = 0, pruned_shrinking = 0, pruned_subinterval = 0;  // thresholds
    std::uint64_t pruned_features = 0;    // second features skipped, root features never opened
    std::uint64_t raised = 0;             // not a count: the bound of hard rows, without what no tree avoids
};

/// A test `rank(feature) < key`: true goes left.
struct Test {
    int feature = -1;
    std::uint32_t key = 0;
};

/// A tree as the search stores it. The lowest tests are not stored: `best_stump` stands for "the best tree of
/// at most one test", which `rebuild` finds again with one plain scan.
struct Plan {
    enum Kind { leaf, best_stump, split } kind = leaf;
    Test test;
    std::shared_ptr<const Plan> left, right;
    int label = -1;  // of a leaf; -1: the cheapest one

    static std::shared_ptr<const Plan> of(Kind kind) {
        static const auto a_leaf = std::make_shared<const Plan>(Plan{leaf, {}, {}, {}});
        static const auto a_stump = std::make_shared<const Plan>(Plan{best_stump, {}, {}, {}});
        return kind == leaf ? a_leaf : a_stump;
    }
};
using PlanPtr = std::shared_ptr<const Plan>;

struct Outcome {
    FlatTree tree;                 // with the cheapest leaf when stopped early; empty: none costs less than `upper`
    std::int64_t lower = 0;        // no tree costs less
    bool complete = false;         // the search ran to its end
    double seconds = 0;
    Counters counters;
    std::string simd, width;
    std::uint64_t work = 0, moves = 0;  // of the improvement search
    std::vector<std::string> stages;    // of it, that ran to their ends
};

}  // namespace treeform::contree
