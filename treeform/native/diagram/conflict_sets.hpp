#pragma once
// Conflict sets: points that no tree of so many tests predicts without a cost. Where T is asked for little more than
// nothing, most sets hold one of few points, so that its cost is known without a search: a tree costs no less on more
// points, and on disjoint conflict sets it pays for each.
//
// A conflict set is learnt from a set that has turned out to cost something. Points are taken out as long as what is left
// does, many at a time at first, and then one by one: no point of it could be missing (deletion filter; Chinneck and
// Dravnieks, ORSA Journal on Computing 1991, for infeasible linear programs).
#include <functional>
#include <unordered_map>
#include <vector>

#include "set_family.hpp"

namespace treeform::diagram {

class ConflictSets {
public:
    /// Whether a set costs something.
    using CostsSomething = std::function<bool(const Word* x)>;

    /// Without `used` none is looked for.
    ConflictSets(const Instance& in, bool used);

    /// Whether that much may be shown by so many of them that it pays to look.
    bool suits(Cost need) const { return least_ > 0 && need <= kMostDisjoint * least_; }
    /// A lower bound of what trees of that key cost on `x`, from disjoint conflict sets in it; no more are looked for once
    /// it is at least `need`.
    Cost bound(const Word* x, Word key, Cost need);
    /// After `bound`: the points of `x` that are in none of the conflict sets that it found.
    const Word* rest() const { return rest_.data(); }
    /// A conflict set from `x`, which costs something. Without one if `costs` throws.
    void learn(const Word* x, Word key, const CostsSomething& costs);

private:
    /// Disjoint sets that a bound is looked for with, at most.
    static constexpr int kMostDisjoint = 4;

    const Instance& in_;
    Cost least_ = 0;  // of all costs but zero
    std::vector<Cost> least_of_;  // the same by point
    std::unordered_map<Word, SetFamily> by_key_;
    Set rest_;
    std::uint64_t drawn_ = 0;

    std::vector<int> shuffled(const Word* x);
};

}  // namespace treeform::diagram
