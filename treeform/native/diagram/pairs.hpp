#pragma once
// Trees of two levels by counts of pairs: a set is packed (its points alone, and of the splits those that part it), and
// for every two splits the costs of the four cells are counted. All trees of at most three tests come out at once,
// where a search would look for the best single test of both sides of every split.
#include <vector>

#include "instance.hpp"

namespace treeform::diagram {

class Pairs {
public:
    /// Most splits of a set: beyond it a search that leaves splits out is faster.
    static constexpr int kMostSplits = 2048;
    /// Most elementary steps. Beyond it single tests of both sides are faster, as few sides need one where bounds are
    /// known (banknote-authentication: T of five tests 2.0 s with 4e6 and .36 s with 1e6); with 3e5 trees of many
    /// columns of few values are slower (statlog-german-credit).
    static constexpr double kMostSteps = 1e6;

    /// Without `used` nothing is counted.
    Pairs(const Instance& in, bool used);

    /// Count the pairs of `x`; false if there would be too many.
    bool count(const Word* x);
    /// The points of `x` alone, its splits and what their sides cost as leaves; false if there would be too many pairs.
    bool pack(const Word* x);
    const Packed& packed() const { return at_; }
    const Cost* left_leaves() const { return left_leaf_.data(); }
    const Cost* right_leaves() const { return right_leaf_.data(); }
    /// The number of splits that part the set, and their numbers.
    int size() const { return at_.splits; }
    int split(int i) const { return at_.split[i]; }
    /// The least cost of the sides of a split, as leaves, and with at most one test each.
    Cost left_leaf(int i) const { return left_leaf_[i]; }
    Cost right_leaf(int i) const { return right_leaf_[i]; }
    Cost left(int i) const { return left_[i]; }
    Cost right(int i) const { return right_[i]; }
    /// What all pairs of the last set take, in searches for a single test.
    std::int64_t work() const { return work_; }

private:
    const Instance& in_;
    Packed at_;
    std::vector<Word> column_, plane_;
    std::vector<Cost> by_, total_, left_, right_, left_leaf_, right_leaf_;
    std::vector<int> split_, from_, to_;
    std::int64_t work_ = 0;
    double stump_steps_, words_per_point_;

    int most_splits(int points) const;
};

/// Words of all planes that hold points.
double words_of_planes(const View& v);
/// Elementary steps of a search for the best single test, about.
double steps_of_stump(const View& v);

}  // namespace treeform::diagram
