#pragma once
// What is asked of the engine, in whole numbers, and what it answers. No algorithm here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../common/counters.hpp"
#include "../common/flat_tree.hpp"

namespace treeform::totals {

using Amount = std::int64_t;
constexpr int kMostLabels = 38;
constexpr Amount kNone = std::numeric_limits<Amount>::max() / 4;  // "no bound", and the price of what cannot be

/// Distinct rows of 0/1 columns. Samples with the same contributions are of one kind; count[p * kinds + k] is the
/// weight of kind k at point p. Predicted label c, a unit of kind k adds cost[k * labels + c] to the cost and row[(k *
/// labels + c) * rows + r] to row r; a test on column f adds test_cost[f] and test_row[f * rows + r]; a leaf of label c by
/// itself leaf_row[c * rows + r].
struct Table {
    const std::uint8_t* x = nullptr;  // row-major; 0: the lower side of the test
    std::size_t points = 0, columns = 0;
    const Amount* count = nullptr;
    const Amount* unit = nullptr;  // per kind: what a unit of its count weighs, where weights stand in several digits
    int kinds = 0, labels = 0, rows = 0;
    const Amount* cost = nullptr;
    const Amount* row = nullptr;
    const Amount* test_cost = nullptr;
    const Amount* test_row = nullptr;
    const Amount* leaf_row = nullptr;  // null: nothing
    const Amount* lo = nullptr;  // per row; -kNone: no bound
    const Amount* hi = nullptr;  // per row; kNone: no bound
    const std::int32_t* source = nullptr;  // per column: the feature that a budget of features counts
    // A leaf carries the marks of its samples, a subtree those of its leaves: [kind * labels + label], one bit each;
    // null: no marks. A test is not allowed where its lower side carries some mark of `low` and its upper side some of
    // `high`.
    const std::uint64_t* mark = nullptr;
    const std::int32_t* clash_begin = nullptr;  // per column: its clashes are those from here to the next one's
    const std::uint64_t *clash_low = nullptr, *clash_high = nullptr;
};

struct Settings {
    int depth = 1;
    Amount min_support = 0;  // weight per leaf
    Amount min_flow = 0;  // weight per test
    int max_features = 0;  // distinct features used; 0: no limit
    Amount upper = kNone;  // only trees that cost less are wanted
    std::vector<Amount>
        multipliers;  // not empty: per row, in 1 / multiplier_unit of a unit of cost; no search for them
    Amount multiplier_unit = 1;
    bool use_multipliers = true, use_lazy = true, use_steps = true, use_shallow = true, use_rough = true,
         use_similarity = true, use_dominance = true;
    int threads = 1;
    double least_steps = 2e7;  // of a part that is answered elsewhere: some milliseconds
    std::size_t memory = std::size_t(1) << 30;
    std::string simd = "auto";
    FlatTree start;  // may be empty

    /// Whether rows of that weight may have a test over two leaves. Twice the support may be more than an Amount holds.
    bool splits(Amount weight) const { return weight >= min_flow && weight - min_support >= min_support; }
};

/// What the search did; the names are those that Python shows.
struct Counters {
    std::uint64_t prices = 0;  // multipliers at which a minimum was computed
    std::uint64_t depth_two = 0;  // subproblems of depth two, minima from pair counts
    std::uint64_t subproblems = 0;  // deeper ones
    std::uint64_t cache_hits = 0, pruned_bound = 0, pruned_similarity = 0;
    std::uint64_t fronts = 0, kept = 0, largest = 0;  // fronts, solutions in them, the largest
    std::uint64_t pairs = 0;  // pairs of solutions joined
    std::uint64_t guesses = 0;  // rounds with a guessed upper bound
    std::uint64_t activated = 0;  // sides of rows that had to become active

    /// What several workers did.
    void add(const Counters& c) {
        const std::uint64_t most = std::max(largest, c.largest);
        *this = combined(*this, c, std::plus<>());
        largest = most;
    }
};

struct Outcome {
    FlatTree tree;  // empty: none below `upper`, or none found in time
    Amount upper = kNone;  // its cost
    Amount lower = 0;  // no admissible tree costs less (or: less than min(lower, settings.upper))
    Amount relaxed = 0;  // the bound of the multipliers alone
    bool complete = false, memory_stop = false;
    bool infeasible = false;  // no tree of the shape satisfies all rows and conditions
    double seconds = 0;
    Counters counters;
    std::string simd;
    std::vector<Amount> multipliers;  // at the end, oriented as rows are: positive prices the upper side
    Amount multiplier_unit = 1;
    std::vector<int> active;  // per row: 1, -1: its upper, its lower side took part; 2: both; 0: none
    int columns = 0;
};

}  // namespace treeform::totals
