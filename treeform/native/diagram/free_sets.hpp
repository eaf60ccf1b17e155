#pragma once
// Free sets: all points that a tree, found when T was asked for, predicts without a cost. T of a set within one is 0, as
// T of a set that holds a conflict set is not (conflict_sets.hpp).
#include <unordered_map>

#include "set_family.hpp"

namespace treeform::diagram {

class FreeSets {
public:
    explicit FreeSets(const Instance& in);

    /// The free set of a tree of that key that `x` is within; null if none is known.
    const Word* find(const Word* x, Word key);
    void add(Word key, const Set& set) { by_key_.try_emplace(key, in_).first->second.add(set, 0); }
    /// The points that the cheapest class of `x` costs nothing; null if that class costs something on `x`.
    const Word* of_leaf(const Word* x) const;

private:
    const Instance& in_;
    std::vector<Set> of_class_;
    std::unordered_map<Word, SetFamily> by_key_;
};

}  // namespace treeform::diagram
