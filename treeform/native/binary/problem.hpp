#pragma once
// Input and output of the engine, in whole numbers. No algorithm here.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../common/control.hpp"
#include "../common/counters.hpp"

namespace treeform::binary {

using Cost = std::int64_t;
constexpr Cost kNever = kNoBound;

/// The training table: distinct rows of 0/1 features; value[p * labels + c] = cost of predicting c on all of row p.
struct Points {
    const std::uint8_t* x = nullptr;  // row-major
    std::size_t rows = 0, features = 0;
    const Cost* value = nullptr;
    int labels = 0;
    const Cost* weight = nullptr;     // for the minimum support
};

struct Settings {
    int depth = 1;
    std::int64_t max_nodes = std::numeric_limits<std::int32_t>::max();
    Cost min_support = 0;      // weight per leaf
    Cost node_penalty = 0;
    Cost upper = kNever;       // only trees that cost less are wanted
    std::string strategy = "dl85";       // "dl85", "beam", "blossom"
    std::vector<std::string> rules;      // of "beam"
    std::string relaxation = "monotonic";
    double step = 0;                     // of the relaxation; 0: the rule's own
    std::string order = "gini";          // "gini", "gain", "error", "lookahead"
    int exact_depth = 3;                 // subtrees of this depth (2 or 3) are solved directly
    std::size_t memory = std::size_t(1) << 30;  // bytes, for tables and cache
    int threads = 1;
    FlatTree start;            // a tree to begin with; may be empty
    bool cache = true, similarity = true, warm_up = true;
    std::string simd = "auto";
};

/// What the search did; the names are those that Python shows.
struct Counters {
    std::uint64_t nodes = 0;         // subproblems opened
    std::uint64_t depth_two = 0;     // subproblems of depth two solved from a pair table
    std::uint64_t depth_three = 0;   // subproblems of depth three solved by triples
    std::uint64_t rows = 0;          // rows (root tests) of those
    std::uint64_t cache_hits = 0, cache_stores = 0, cache_evictions = 0;
    std::uint64_t pruned_similarity = 0, pruned_bound = 0;
    std::uint64_t restarts = 0;      // relaxations of the rule
    std::uint64_t work = 0;          // words that counting touched, about; the unit in which turns are measured
};

struct Outcome {
    FlatTree tree;                 // empty: no tree costs less than `upper`, or none was found in time
    Cost lower = 0;                // no tree costs less (or: no tree costs less than min(lower, upper))
    bool complete = false;
    bool memory_stop = false;
    double seconds = 0;
    Counters counters;
    std::string simd;
    int columns = 0, rows = 0, planes = 0, lane_bits = 0;  // after preprocessing
};

}  // namespace treeform::binary
