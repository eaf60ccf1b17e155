#pragma once
// Squared errors on a table with few thresholds: depth two by weights and sums of all pairs of tests.
//
// Each row has a test for each feature whose value is not the first one: those between its value and the one below. A
// row is counted at all pairs of its tests; running sums over the values of both features give the samples beyond any
// two thresholds. Weights and sums are whole numbers below 2^53, exact in doubles, and so one child's tables are the
// parent's less the other child's. Source of pair counts: Demirovic et al., JMLR 2022, for classification.
#include <cstdint>
#include <limits>
#include <vector>

#include "aligned.hpp"
#include "answer.hpp"
#include "scan.hpp"
#include "subset.hpp"

namespace treeform::regression {

/// Sums of all pairs stay exact up to it: the sum of weight * |target|.
constexpr double kLargestForPairs = 0x1p51;

class Pairs {
public:
    static constexpr bool by_pairs = true;

    Pairs(const Table& table, const Settings& settings, Counters& counters);

    /// About what the tables of so many tests take.
    static std::size_t bytes(std::size_t tests) { return tests * (tests + 8) * 64; }

    Value leaf(const Subset& rows) const;
    /// The best tree of at most one test, given the leaf.
    Answer one(const Subset& rows, Answer&& leaf);
    /// The best tree of depth two, of at most so many tests.
    Answer two(const Subset& rows, std::int64_t budget, Answer&& leaf);
    /// Counts the pairs of the smaller part; those of the larger one are what remains.
    void divide(const Subset& rows, const Subset& left, const Subset& right);

private:
    struct Sample {
        double weight = 0, sum = 0;

        Sample operator-(const Sample& other) const { return {weight - other.weight, sum - other.sum}; }
        LeafSum leaf() const { return {static_cast<std::int64_t>(sum), static_cast<std::int64_t>(weight)}; }
    };
    /// The tables of one subset. Element t * stride + u is about the samples beyond t and u.
    struct Sums {
        std::uint64_t id = std::numeric_limits<std::uint64_t>::max(), used = 0;
        Aligned<double> weight, sum, own_weight, own_sum;
        Sample all;
    };
    /// A subtree of at most one test, or a whole tree.
    struct Tree {
        Value value;
        PlanPtr plan;
    };
    /// One side of an outer test.
    struct Side {
        std::size_t test;
        bool far;
    };

    const Table& table_;
    Counters& counters_;
    Judge judge_;
    std::int64_t min_support_, min_flow_;
    double price_;
    PairScan scan_;
    std::size_t tests_ = 0, stride_ = 0;
    std::vector<std::uint32_t> feature_, key_;  // by test
    std::vector<std::int32_t> first_, next_;    // by test: the first one of its feature, and of the next feature
    std::vector<std::size_t> start_;            // by row: where its tests begin
    std::vector<std::uint32_t> of_row_;
    std::vector<Sample> sample_;                // by row
    std::vector<Sample> cells_;                 // while pairs are counted; 0 otherwise
    Sums sums_[3];                              // a node, and both of its parts
    Sums single_;                               // of a node without pairs
    std::vector<Sample> by_test_;
    std::vector<double> worth_, worth_of_part_;  // the least cost with a test
    std::uint64_t clock_ = 0;
    Aligned<double> kept_[4];                   // as in PairOutput
    // Of the subset that is solved.
    const Sums* now_ = nullptr;
    double centre_ = 0, tolerance_ = 0;

    Sums& place(std::uint64_t id);
    const Sums& sums_of(const Subset& rows);
    void count(const Subset& rows, Sums& to);
    void run_sums(Sums& to);
    PairOutput scanned(const Sums& sums);
    void add_own_pairs(const PairOutput& out) const;
    double explained(const Sample& of) const;
    Sample own(std::size_t test) const { return {now_->own_weight.data()[test], now_->own_sum.data()[test]}; }
    Sample both(std::size_t a, std::size_t b) const;
    Sample side(const Side& of) const { return of.far ? own(of.test) : now_->all - own(of.test); }
    bool divides(std::size_t test) const;
    bool allows(const Sample& leaf) const { return leaf.weight >= static_cast<double>(min_support_); }
    bool bears_test(const Sample& of) const { return of.weight >= static_cast<double>(min_flow_); }
    Tree leaf_of(const Sample& of) const;
    Tree best_part(const Side& of);
    Tree joined(std::size_t test, const Tree& near, const Tree& far) const;
    Tree best_with(std::size_t test, std::int64_t budget);
    void offer(Tree&& tree, Tree& best);
    double cost_of(const Subset& rows, const Plan& plan) const;
    template <class Free, class Allowed>
    Answer concluded(const Subset& rows, Answer&& leaf, std::int64_t budget, const Free& free, const Allowed& allowed);
};

}  // namespace treeform::regression
