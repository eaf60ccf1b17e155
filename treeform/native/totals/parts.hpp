#pragma once
// The search of the root in parts, one for each test at the root, that are answered elsewhere (common/away.hpp). Two
// searches are shared out: the least price at some multipliers, and the fronts below a guessed cost. Prices and costs
// are exact whoever finds them, and the trees of a reply are those of a search that begins with it: so the answer does
// not depend on who answered, or on what else it was asked.
#include <memory>

#include "../common/away.hpp"
#include "fronts.hpp"

namespace treeform::totals {

/// A part: what is asked about which test of the root.
struct Part {
    enum Kind { price, front };
    Amount upper = 0;  // only prices, or costs, below it are wanted
    /// Least prices below the test and another one, as far as others found them: see `Parts::hints`.
    std::vector<Amount> hints;
    int kind = price, column = 0, depth = 0;
    Amount unit = 0;
    std::vector<Amount> multiplier;
    // Of fronts:
    Amount root_minimum = 0;
    int main = -1;
    std::vector<Active> active;

    template <class IO>
    void exchange(IO& io, const Table& table, int columns);
};

struct Reply {
    Amount settled = 0, cost = kNone;
    Amount loss = kNone;
    Counters counters;
    /// Of a price, for each other test: four bounds, twice the bound and 1 if it is exact, by the side of the other
    /// test and of this one.
    std::vector<Amount> pairs;
    FlatTree tree;  // empty where nothing was found

    template <class IO>
    void exchange(IO& io, const Table& table, int columns);
};

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
    std::vector<Amount> hints(int column) const;
    void note(int column, const std::vector<Amount>& pairs);
    Message question(Part part) const;
    Reply reply(const Message& in);

    const Away& away_;
    const Table& table_;
    const Settings& settings_;
    const Control& control_;
    Team& team_;
    Subset& root_;
    FlatTree tree_;
    std::vector<Amount> pairs_;  // [test][other test][4], as in a reply
    std::vector<Amount> price_;  // per test: no tree with it at the root is cheaper, at the present prices
};

/// Answers parts of one table; not for two threads at a time.
class PartSearch {
public:
    PartSearch(const Table& table, const Settings& settings, Control& control);
    /// The reply; a stop, and memory that runs out, are exceptions.
    Message evaluate(const Message& question);

private:
    void take_up(const Part& part);
    void take_hints(const Part& part);
    std::vector<Amount> pairs(int column) const;
    Reply find_price(const Part& part);
    Reply find_front(const Part& part);
    void make(const Part& part);
    Counters counted() const;

    const Table& table_;
    Settings settings_;
    Control& control_;
    Pricing pricing_;
    Store<Known> known_;
    Team team_;
    Subset root_;
    Part last_;
    std::unique_ptr<Fronts> fronts_;
};

}  // namespace treeform::totals
