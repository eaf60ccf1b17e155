#pragma once
// What is asked of the engine, in whole numbers, and what it answers. No algorithm here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../common/flat_tree.hpp"

namespace treeform::continuous_totals {

using Amount = std::int64_t;
using Wide = __int128;
constexpr Amount kNone = std::numeric_limits<Amount>::max() / 4;  // "no bound", and the cost of what cannot be

/// The training table. Samples with the same contributions are of one kind: predicted label c, a unit of weight of kind
/// k adds cost[k * labels + c] to the cost and row[(k * labels + c) * rows + r] to row r; a test on any column adds
/// test_cost and test_row[r] (>= 0).
struct Samples {
    const double* x = nullptr;  // row-major
    std::size_t n = 0, features = 0;
    const std::int32_t* kind = nullptr;
    const Amount* weight = nullptr;  // null: every weight is one
    int kinds = 0, labels = 0, rows = 0;
    const Amount* cost = nullptr;
    const Amount* row = nullptr;
    Amount test_cost = 0;
    const Amount* test_row = nullptr;
    const Amount* lo = nullptr;  // per row; -kNone: no bound
    const Amount* hi = nullptr;  // per row; kNone: no bound
    /// Marks of a sample of kind k under label c, bit by bit at [k * labels + c]. No test of column f has one of
    /// clash_low[j] on its lower side and one of clash_high[j] on its upper side, clash_begin[f] <= j < clash_begin[f +
    /// 1].
    const Amount* mark = nullptr;
    const std::int32_t* clash_begin = nullptr;
    const Amount *clash_low = nullptr, *clash_high = nullptr;

    bool has_clashes() const { return clash_begin[features] > 0; }
    bool has_clashes(int f) const { return clash_begin[f] < clash_begin[f + 1]; }
    /// Whether subtrees with these marks may stand on the two sides of a test of column f.
    bool may_meet(int f, std::uint64_t lower, std::uint64_t upper) const {
        for (int j = clash_begin[f]; j < clash_begin[f + 1]; ++j)
            if ((lower & std::uint64_t(clash_low[j])) != 0 && (upper & std::uint64_t(clash_high[j])) != 0) return false;
        return true;
    }
    Amount weight_of(std::size_t i) const { return weight ? weight[i] : 1; }
};

/// A tree over ranks; children come after their parents. `key` counts the distinct values of the feature that go left.
struct Tree {
    std::vector<std::int32_t> feature, left, right, label;
    std::vector<std::uint32_t> key;
    bool empty() const { return feature.empty(); }
    int add() {
        feature.push_back(-1), left.push_back(-1), right.push_back(-1), label.push_back(-1), key.push_back(0);
        return static_cast<int>(feature.size()) - 1;
    }
};

struct Settings {
    int depth = 1;
    Amount min_support = 0;  // weight per leaf
    Amount min_flow = 0;  // weight per test
    Amount upper = kNone;  // only trees that cost less are wanted
    bool multipliers = true, lazy = true, steps = true, shallow = true, rough = true, roots = true, dominance = true;
    bool neighbourhood = true, shrinking = true, subinterval = true, features = true;
    int threads = 1;
    std::size_t memory = std::size_t(1) << 30;
    std::string simd = "auto";
    Tree start;  // may be empty
};

/// What the search did; the names are those that Python shows.
struct Counters {
    std::uint64_t prices = 0;  // multipliers at which a minimum was sought
    std::uint64_t nodes = 0;  // subproblems of depth two or more whose minimum was sought
    std::uint64_t splits = 0, scans = 0;  // of depth two, and scans for them
    std::uint64_t pruned_neighbourhood = 0, pruned_shrinking = 0, pruned_subinterval = 0, pruned_features = 0;
    std::uint64_t alive = 0;  // splits whose fronts were joined
    std::uint64_t walks = 0;  // features walked through for solutions of one test
    std::uint64_t fronts = 0, kept = 0, largest = 0;
    std::uint64_t pairs = 0;  // pairs of solutions joined
    std::uint64_t guesses = 0;  // passes with a guessed upper bound
    std::uint64_t activated = 0;  // sides of rows that had to become active

    /// What a worker lists and joins.
    void add(const Counters& o) {
        const std::uint64_t most = std::max(largest, o.largest);
        *this = combined(*this, o, std::plus<>());
        largest = most;
    }
};

struct Outcome {
    FlatTree tree;  // empty: none below `upper`, or none found in time
    Amount upper = kNone;  // its cost
    Amount lower = 0;  // no admissible tree costs less (or: less than min(lower, settings.upper))
    bool complete = false, memory_stop = false, too_many_active = false;
    bool infeasible = false;
    double seconds = 0;
    Counters counters;
    std::string simd;
    std::vector<Amount> multipliers;  // positive prices the upper side
    Amount multiplier_unit = 1;  // the weight of a unit of cost beside them; 0: none, they refute the rows alone
    std::vector<int> active;  // per row: 1, -1: its upper, its lower side took part; 2: both; 0: none
};

}  // namespace treeform::continuous_totals
