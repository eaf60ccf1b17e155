#pragma once
// The search of the root in parts, one for each test at the root, that are answered elsewhere (common/away.hpp). Two
// searches are shared out: the least price at some multipliers, and the fronts below a guessed cost. Prices and costs
// are exact whoever finds them, and the trees of a reply are those of a search that begins with it: so the answer does
// not depend on who answered, or on what else it was asked.
//
// A question is about a column, a depth, the unit and the multipliers, and for fronts about the root's minimum, the
// main row and the active rows.
#include <memory>

#include "../common/away.hpp"
#include "fronts.hpp"

namespace treeform::totals {

/// The tests at the root, asked of others.
class Parts {
public:
    Parts(const Away& away, const Table& table, const Settings& settings, const Control& control, Team& team,
          Subset& root)
        : away_(away), table_(table), settings_(settings), control_(control), team_(team), root_(root) {}
    /// Whether a test of the root pays for a message: by the steps that it may take.
    bool travel(int depth) const;
    /// The least price of a tree, and the first tree that has it; the team has the prices.
    Amount minimum(int depth);
    const FlatTree& best_tree() const { return tree_; }
    /// `make_fronts`, in parts; after `minimum` at the same prices.
    std::unique_ptr<Fronts> fronts(const FrontInput& input, const std::vector<Active>& active);
    Counters counters;  // of all replies

private:
    friend class FrontsInParts;
    Question question(Amount upper, int column, int depth, const Message& fronts) const;
    /// The tree of a reply is taken over if the reply counts.
    bool take(const Reply<Counters>& reply, LeastCost& least, LeastCost::Key key, FlatTree& tree) const;

    const Away& away_;
    const Table& table_;
    const Settings& settings_;
    const Control& control_;
    Team& team_;
    Subset& root_;
    FlatTree tree_;
    PairBounds pairs_;           // of prices: twice the bound, and 1 if it is exact
    std::vector<Amount> price_;  // per test: no tree with it at the root is cheaper, at the present prices
};

/// Answers parts of one table; not for two threads at a time.
class PartSearch {
public:
    PartSearch(const Table& table, const Settings& settings, Control& control);
    /// The reply; a stop, and memory that runs out, are exceptions.
    Message evaluate(const Message& question);

private:
    void take_up(const Message& prices);
    void make(const Message& fronts);
    void find_price(int column, const Question& asked, Reply<Counters>& reply);
    void find_front(int column, const Question& asked, Reply<Counters>& reply);

    const Table& table_;
    Settings settings_;
    Control& control_;
    Pricing pricing_;
    Store<Known> known_;
    Team team_;
    Subset root_;
    Message prices_, asked_fronts_;  // of the last question
    std::unique_ptr<Fronts> fronts_;
};

}  // namespace treeform::totals
