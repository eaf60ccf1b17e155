#pragma once
// Least costs of trees on sets of points: the bounds of the diagram search. A diagram unrolls to a tree, so a tree of
// the same depth and of as many tests as the unrolled diagram can have costs no more.
//
// Branch and bound with memory. Along a feature the left sides of the tests are nested, so whatever bounds the cost of
// one left side bounds those of all larger ones, and the same for right sides: thresholds are bisected, and the spans
// between two of them left out when the two bounds add up to the upper bound. Answers are lower bounds, exact when
// they are below `need` and the work limit was not met.
#include <memory>
#include <vector>

#include "instance.hpp"
#include "table.hpp"

namespace treeform::diagram {

class Trees {
public:
    Trees(const Instance& in, const Control& control, Counters& counters, std::size_t memory)
        : in_(in), control_(control), counters_(counters), known_(in.words() + 1, memory, counters.evictions),
          scratch_(std::size_t(in.view.planes) * in.words() + 1) {}

    /// A lower bound of the cost of trees of at most `depth` levels and `tests` tests on `x`. It is exact if it is
    /// below `need` and `exact` is set. At most `work` searches for single tests are spent on it.
    Cost bound(const Word* x, int depth, std::int64_t tests, Cost need, std::int64_t work, bool* exact = nullptr);
    /// The best tree of at most one test; exact if below `need`.
    Stump stump(const Word* x, Cost need) {
        ++counters_.stumps, --work_;
        return in_.kernels->stump(in_.view, x, need, scratch_.data(), nullptr);
    }

private:
    struct Frame {
        Set left, right;
        std::vector<Cost> by_feature;
        std::vector<int> turn;
    };
    struct Range {
        int lo, hi;
        Cost left, right, mass_lo, mass_hi;
    };
    const Instance& in_;
    const Control& control_;
    Counters& counters_;
    Table known_;
    std::vector<Word> scratch_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::int64_t work_ = 0;

    Frame& frame(int level);
    Cost solve(int level, const Word* x, int depth, std::int64_t tests, Cost need);
    void branch(int level, const Word* x, int depth, std::int64_t tests, Cost& best);
    void feature(int level, int f, const Word* x, Cost mass, int depth, std::int64_t tests, Cost& best);
    Cost divide(int level, int depth, std::int64_t tests, Cost best);
};

}  // namespace treeform::diagram
