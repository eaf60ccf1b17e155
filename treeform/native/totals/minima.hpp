#pragma once
// The least price of a tree, per subproblem: see minima.cpp.
#include <deque>
#include <optional>
#include <vector>

#include "control.hpp"
#include "kernel.hpp"
#include "prices.hpp"
#include "store.hpp"
#include "subset.hpp"
#include "tree.hpp"

namespace treeform::totals {

/// What the two sides of each column cost at least, with at most one more test on a side; kNone: not possible.
struct Sides {
    std::vector<Amount> least[2];
};

/// What an earlier search of a subproblem left.
struct Known {
    Amount lower;
    bool exact;
};

class Minima {
public:
    Minima(const Table&, Rows&, const Settings&, const Control&, Counters&, Store<Known>&);
    /// Other prices, or another depth. The store is to be cleared once for all who share it.
    void set(const Prices& prices);
    const Prices& prices() const { return prices_; }
    Amount test(int column) const { return test_[column]; }
    /// The least price of a tree of at most that depth when it is at most `limit`, else a bound above `limit`.
    Amount minimum(Subset& node, int depth, Amount limit);
    /// The sides of a node's tests when a side may have one more test; exact.
    void sides(Subset& node, Sides& out);
    /// Per column: the least price of a test over two leaves; kNone: not possible. Good until the next call.
    const std::vector<Amount>& prices_of_tests(const Subset& node);
    Amount leaf(const std::vector<Amount>& total, Amount weight, int* label = nullptr) const;
    /// A bound of a tree of at most that depth: per point the price of its best label, and tests that have a price below 0.
    Amount floor(const std::vector<std::uint64_t>& cover, int depth) const;
    bool splits(Amount weight) const { return settings_.splits(weight); }
    bool parts(Amount a, Amount b) const {
        return a > 0 && b > 0 && a >= settings_.min_support && b >= settings_.min_support;
    }
    /// A tree of that price; tests are columns of the rows.
    FlatTree best_tree(Subset& root, int depth);
    /// Root tests by the price of their best trees of depth two.
    std::vector<int> ranked(Subset& root, Amount* least = nullptr);
    std::vector<int> only;  // root tests of a rough search; empty: all
    /// The least price of a subproblem, where a search has found it.
    std::optional<Amount> exact(const Key& key) const {
        const auto found = known_.find(key);
        return found && found->exact ? std::optional<Amount>(found->lower) : std::nullopt;
    }
    /// What another search found.
    void learn(const Key& key, const Known& known) { keep(key, known.lower, known.exact); }
    std::size_t bytes() const { return known_.size() * 64; }

    // The root of a deep tree, whose tests several workers share:
    bool known(const Subset& root) const { return known_.find(root.key).has_value(); }
    /// The tests to try, and the least price that is known without them.
    std::vector<int> order_of_root(Subset& root, Amount& from);
    void forget_settled(int depth) { level(depth).settled.clear(); }
    /// The least price of a tree with that test when it is at most `limit`, else a bound above `limit`.
    Amount with_test(const Subset& node, int depth, int column, Amount limit);
    /// A tree of that price, after a search that found it.
    FlatTree tree_with_test(Subset& root, int depth, int column);
    void keep_root(const Subset& root, Amount value) {
        if (only.empty()) keep(root.key, value, true);
    }

private:
    void keep(const Key& key, Amount lower, bool exact) {
        known_.put(key, {lower, exact},
                   [](const Known& a, const Known& b) { return !b.exact && (a.exact || a.lower > b.lower); });
    }
    struct Settled {
        std::vector<std::uint64_t> cover;
        Amount excess;
    };
    struct Level {
        Subset child[2];
        std::vector<double> with, all, with_small, with_big, all_small, all_big, best[2][2], parent;
        Sides sides;
        std::vector<Settled> settled;
        std::vector<std::uint64_t> cover[2];
    };
    Level& level(int depth);
    void find_floors() const;
    int differences() const { return table_.labels - 1; }
    int arrays() const { return differences() + supported_; }
    void weigh(const std::int32_t* with, const std::vector<Amount>& total, std::vector<double>& out,
               std::vector<double>& all) const;
    Amount one(const Subset& node);
    Amount one_test(const Subset& node, int column, std::vector<Amount>* part, int* label) const;
    Amount two(const double* with, const double* all, Amount base, Amount weight, const double* none,
               const double* held, const Subset* node, int column, int side, Sides* sides) const;
    void prepare(Subset& node, Level& l, bool keep);
    Amount three(Subset& node, Level& l);
    const std::vector<int>& tests_of(const Subset& node);
    Amount deep(Subset& node, int depth, Amount limit, bool root);
    Subset& counted_child(Subset& node, Level& l, int column, int side);
    void both_children(Subset& node, Level& l, int column, Amount value[2]);
    Amount base(const std::vector<Amount>& total) const;
    Amount similar(const Level& l, const std::vector<std::uint64_t>& cover, Amount floor) const;
    void build(Subset& node, int depth, FlatTree& tree, int at);
    void build_sides(Subset child[2], int depth, int column, FlatTree& tree, int at);
    void build_one(const Subset& node, Amount value, FlatTree& tree, int at) const;

    const Table& table_;
    Rows& rows_;
    const Settings& settings_;
    const Control& control_;
    Counters& counters_;
    PairKernel kernel_;
    bool supported_, similarity_;
    Prices prices_;
    std::vector<double> delta_, test_price_;
    std::vector<double> pair_price_;           // of a test and two leaves of label 0
    std::vector<double> start_;                // per difference: what a leaf of that label costs by itself beyond label 0
    double first_ = 0;                         // a leaf of label 0 by itself
    Amount least_test_ = 0;                    // at most 0
    bool labels_have_prices_ = false;
    std::vector<double> weighed_, weighed_all_, price_sum_;  // scratch of `prices_of_tests`
    std::vector<Amount> price_;
    std::vector<int> every_;                 // column of the rows
    std::vector<Amount> test_;                // per column of the rows
    mutable std::vector<Amount> floor_, regret_;  // per point; empty until they are asked for
    Store<Known>& known_;
    std::deque<Level> levels_;
    std::vector<Subset> root_child_;          // per column: the smaller side, counted
};

}  // namespace treeform::totals
