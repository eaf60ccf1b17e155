#pragma once
// Input and output of the engine for regression trees, in whole numbers. No algorithm here.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../common/flat_tree.hpp"

namespace treeform::regression {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 4;

enum class Loss { squared, absolute };

/// Whether depth two is solved by tables of all pairs of thresholds.
enum class PairTables { automatic, always, never };

/// The training table as it arrives: row-major float64, and targets as whole multiples of one unit, less a whole
/// centre. The sum of weight * |target| is at most 2^53.
struct Rows {
    const double* x = nullptr;
    std::size_t n = 0, stride = 0;  // the table's rows and columns
    std::vector<std::size_t> columns;  // those that are features
    const std::int64_t* target = nullptr;
    const std::int64_t* weight = nullptr;  // null: every weight is one
};

/// The price of a test: numerator / denominator, in units of the loss. Whole where the loss is.
struct Price {
    std::int64_t numerator = 0, denominator = 1;
};

struct Settings {
    Loss loss = Loss::squared;
    int depth = 1;
    std::int64_t max_nodes = kNoLimit;
    std::int64_t min_support = 0;  // weight of a leaf
    std::int64_t min_flow = 0;     // weight that reaches a test
    Price price;
    int threads = 1;
    std::size_t memory_limit = 0;  // bytes, about; 0: none
    std::string simd = "auto";
    PairTables pairs = PairTables::automatic;
    bool improve = false;    // search for better trees beside the proof; see ../deep
    std::uint64_t seed = 0;  // of that search
    FlatTree start;          // it begins with that, too; may be empty
};

/// What the search did; the names are those that Python shows.
struct Counters {
    std::uint64_t nodes = 0;     // subproblems of depth two or more
    std::uint64_t splits = 0;    // thresholds of outer tests that were evaluated
    std::uint64_t scans = 0;     // depth-one scans that give bounds
    std::uint64_t exact = 0;     // depth-one scans in whole numbers
    std::uint64_t bounded = 0;   // thresholds settled by bounds alone
    std::uint64_t pairs = 0;     // tables of all pairs of thresholds that were counted
    std::uint64_t near_ties = 0; // pairs of trees that were compared as fractions
};

/// A tree as the search stores it. A test is `rank(feature) < key`: true goes left. A leaf has feature -1.
struct Plan {
    int feature = -1;
    std::uint32_t key = 0;
    std::shared_ptr<const Plan> left, right;
};
using PlanPtr = std::shared_ptr<const Plan>;

/// An improvement: a better tree, or a better bound (then the tree is empty). Bounds are rounded downwards.
struct News {
    double seconds, lower;
    FlatTree tree;
};

struct Outcome {
    FlatTree tree;
    double lower = 0;       // no tree costs less; rounded downwards
    bool complete = false;  // the tree is the cheapest one, exactly
    double seconds = 0;
    Counters counters;
};

}  // namespace treeform::regression
