#pragma once
// Least costs of trees on sets of points: the bounds of the diagram search. A diagram unrolls to a tree, so a tree of
// the same depth and of as many tests as the unrolled diagram can have costs no more.
//
// Branch and bound with memory. Along a feature the left sides of the tests are nested, so whatever bounds the cost of
// one left side bounds those of all larger ones, and the same for right sides: thresholds are bisected, and the spans
// between two of them left out when the two bounds add up to the upper bound. Answers are lower bounds, exact when
// they are below `need` and the work limit was not reached.
#include <memory>
#include <vector>

#include "conflict_sets.hpp"
#include "free_sets.hpp"
#include "instance.hpp"
#include "pairs.hpp"
#include "regions.hpp"
#include "table.hpp"

namespace treeform::diagram {

class Trees {
public:
    Trees(const Instance& in, const Settings& settings, const Control& control, Counters& counters)
        : in_(in), control_(control), counters_(counters),
          known_(in.words() + 1, settings.kept / 2, counters.evictions), pairs_(in, settings.use_pairs),
          regions_(in, control, settings.use_regions), conflicts_(in, settings.use_conflicts), free_(in), scratch_(std::size_t(in.view.planes) * in.words() + 1),
          stump_steps_(steps_of_stump(in.view)) {}

    /// A lower bound of the cost of trees of at most `depth` levels and `tests` tests on `x`; exact if it is below
    /// `need` and took no more work than it may. At most `work` searches for single tests are spent on it.
    Cost bound(const Word* x, int depth, std::int64_t tests, Cost need, std::int64_t work);
    /// The skeleton for `bound_unrolled`.
    void unroll(const std::vector<int>& widths);
    /// A lower bound of what a diagram costs on the points of a node of `layer` with `tests` tests in the layers below
    /// it: the least cost of the trees that it can unroll to (unrolled_bound.cpp).
    Cost bound_unrolled(const Word* x, int layer, int tests, Cost need, std::int64_t work);
    /// Searches for single tests, and as much as they take, so far.
    double spent() const { return double(spent_); }
    /// The best tree of at most one test; exact if below `need`.
    Stump stump(const Word* x, Cost need) {
        ++counters_.stumps, --work_, ++spent_;
        return in_.kernels->stump(in_.view, x, need, scratch_.data(), nullptr);
    }

private:
    /// What is below the two sides of a test: so many tests, or the side ends. Either in the layers of a diagram, from
    /// `first` on, or in trees of depth `first`.
    struct Below {
        static constexpr int kEnds = -1;
        int first, left, right;
        bool is_tree;
    };
    /// A test of a tree without a cost, and what is below it.
    struct Free {
        int split = -1;
        Below below{};
    };
    struct Frame {
        Set left, right;
        std::vector<Cost> by_feature;
        std::vector<int> turn;
        Cost stump = 0;  // the least cost of a single test
        std::vector<Cost> floor;  // bounds of T by number of tests, for the points of this level
        Free free;
    };
    struct Range {
        int lo, hi;
        Cost left, right, mass_lo, mass_hi;
    };
    /// Least costs of the trees with at most one, two and three tests, in at most two levels.
    struct DepthTwo {
        Cost one, chain, both;
    };
    /// Of the work, what conflict sets may take to be learnt, and what one question of it may take.
    static constexpr double kLearning = 0.2;
    static constexpr std::int64_t kLearningWork = 3000;
    /// Thrown when a bound takes more work than it may.
    struct TooLong {};
    /// A span with bounds from its other ends, and the largest costs of the left sides at them.
    struct Span : Range {
        Cost left_hi, right_lo, most_lo, most_hi;
    };
    const Instance& in_;
    const Control& control_;
    Counters& counters_;
    Table known_;
    Pairs pairs_;
    Regions regions_;
    ConflictSets conflicts_;
    FreeSets free_;
    bool is_learning_ = false;  // a conflict set
    std::int64_t learning_ = 0;  // what that took of `spent_`
    std::vector<Word> scratch_;
    std::vector<std::unique_ptr<Frame>> frames_;
    double stump_steps_;
    std::int64_t work_ = 0, spent_ = 0;
    std::vector<int> widths_;
    int pairs_from_ = 0;  // the first layer from which on every layer holds two nodes

    Frame& frame(int level);
    Cost solve(int level, const Word* x, int depth, std::int64_t tests, Cost need);
    Cost search(int level, const Word* x, int depth, std::int64_t tests, Word number, Cost need);
    void branch(int level, const Word* x, int depth, std::int64_t tests, Cost& best);
    void search_regions(const Word* x, Cost& best);
    bool order_features(int level, const Word* x, Cost& best);
    bool depth_two(int level, const Word* x, DepthTwo& out);
    void sort_features(Frame& here);
    Cost store(const Word* x, Word number, Cost proved, bool whole);
    Word number_of(int layer, int& tests) const;
    std::int64_t leaves_of(int tests) const;
    void take_floors(const Word* x, int layer, int tests);
    Cost unrolled(int level, const Word* x, int layer, int tests, Cost need);
    // free_trees.cpp
    void keep_free(int level, const Word* x, Word number);
    bool add_free_side(const Word* side, int layer, int tests, const Word* split, Word flip, Set& free);
    Free free_of_pairs(int layer, bool can_part) const;

    Cost search_unrolled(int level, const Word* x, int layer, int tests, Word number, Cost need);
    void branch_unrolled(int level, const Word* x, int layer, int tests, Cost& best);
    Cost side(int level, const Word* points, Cost taken_out, const Below& below, int tests, Cost need);
    int even(const Word* x, int lo, int hi, Word* left, Word* right) const;
    void extend_sides(int level, int f, const Word* x, Cost mass, const Below& below, Cost& best);
    void end_side(int level, int f, const Word* x, const Span& r, int mid, const Below& below, Cost& best, Span* stack,
                  int& top);

    /// Whether conflict sets or free sets show what is asked for.
    bool settled_by_sets(const Word* x, Word number, Cost need, Cost& value) {
        if (!conflicts_.suits(need)) return false;
        value = conflicts_.bound(x, number, need);
        if (value >= need) {
            ++counters_.conflicts;
            return true;
        }
        if (value > 0 || !free_.find(x, number)) return false;
        ++counters_.free;
        return true;
    }

    /// What `prove` finds where these do not, and another conflict set, of points that are in none of those found.
    template <class Prove>
    Cost with_sets(const Word* x, Word number, Cost need, const Prove& prove) {
        if (Cost value = 0; settled_by_sets(x, number, need, value)) return value;
        if (!conflicts_.suits(need)) return prove(x, need);
        const Set rest(conflicts_.rest(), conflicts_.rest() + in_.words());
        const Cost proved = prove(x, need);
        if (proved >= need) learn_conflict(rest, number, prove);
        return proved;
    }

    /// A conflict set from `x`, if it costs something and the search can be afforded.
    template <class Prove>
    void learn_conflict(const Set& x, Word number, const Prove& prove) {
        if (is_learning_ || learning_ > kLearning * spent_) return;
        struct Learning {  // ends, whatever is thrown
            Trees& of;
            std::int64_t work = of.work_, spent = of.spent_;
            ~Learning() { of.is_learning_ = false, of.work_ = work, of.learning_ += of.spent_ - spent; }
        } const learning{*this};
        is_learning_ = true;
        const auto costs = [&](const Word* points) {
            work_ = kLearningWork;
            return prove(points, Cost{1}) > 0;
        };
        try {
            if (costs(x.data())) conflicts_.learn(x.data(), number, costs);
        } catch (const TooLong&) {}
    }

    /// Known bounds of `x`, or what `prove` finds within the work it may spend.
    template <class Prove>
    Cost limited(const Word* x, Word number, Cost need, std::int64_t work, const Prove& prove) {
        if (const Known* known = known_.find(x, number)) {
            const bool whole = known->tried == Known::kWhole;
            if (whole || known->lower >= need || known->tried >= work) {
                ++counters_.tree_hits;
                return known->lower;
            }
        }
        work_ = work;
        try {
            return prove(need);
        } catch (const TooLong&) {
            ++counters_.given_up;
            const Known* known = known_.find(x, number);
            Known what = known ? *known : Known{};
            if (what.tried != Known::kWhole) what.tried = std::max(what.tried, work);
            known_.put(x, number, what);
            return what.lower;
        }
    }
};

}  // namespace treeform::diagram
