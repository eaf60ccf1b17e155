#include "free_sets.hpp"

namespace treeform::diagram {

FreeSets::FreeSets(const Instance& in) : in_(in), of_class_(in.view.classes, Set(in.words())) {
    const std::size_t classes = in.view.classes;
    for (std::size_t i = 0; i < in.weight.size(); ++i)
        for (std::size_t k = 0; k < classes; ++k)
            if (in.cost[i * classes + k] == 0) of_class_[k][i / 64] |= Word{1} << i % 64;
}

const Word* FreeSets::find(const Word* x, Word key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    SetFamily& family = found->second;
    const int i = family.find_around(x);
    return i < family.size() ? family.points(family.raise(i)) : nullptr;
}

const Word* FreeSets::of_leaf(const Word* x) const {
    Cost cost = 0;
    const int label = in_.label(x, cost);
    return cost == 0 ? of_class_[label].data() : nullptr;
}

}  // namespace treeform::diagram
