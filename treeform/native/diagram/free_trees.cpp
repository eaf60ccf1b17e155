// The free sets of trees without a cost, when T has found that there is one. Of such a tree the bound knows the root and
// what is below it. The trees of its sides were found before, and their free sets are kept (free_sets.hpp); a side that
// takes one test more is searched for it again.
#include "tree_bounds.hpp"

namespace treeform::diagram {

/// The free set of the tree in the frame, whose cost on `x` is 0.
void Trees::keep_free(int level, const Word* x, Word number) {
    const Free& root = frame(level).free;
    if (root.split < 0 || !conflicts_.suits(1)) return;
    const int words = in_.words();
    const Word* split = in_.split(root.split);
    Set side(words), free(words);
    both(x, split, side.data(), words);
    if (!add_free_side(side.data(), root.below.first, root.below.left, split, 0, free)) return;
    without(x, split, side.data(), words);
    if (add_free_side(side.data(), root.below.first, root.below.right, split, ~Word{0}, free)) free_.add(number, free);
}

/// Adds to `free` what the tree below one side of a test predicts without a cost; false if that tree is not known.
bool Trees::add_free_side(const Word* side, int layer, int tests, const Word* split, Word flip, Set& free) {
    const int words = in_.words();
    const auto add = [&](const Word* points) {
        for (int w = 0; w < words; ++w) free[w] |= points[w] & (split[w] ^ flip);
    };
    const Word* known = free_.of_leaf(side);
    if (!known && tests > 0) known = free_.find(side, number_of(layer, tests));
    if (known) {
        add(known);
        return true;
    }
    const Stump one = tests == Below::kEnds ? Stump{1, -1} : stump(side, 1);
    if (one.value > 0) return false;
    Set end(words), below(words);
    for (const bool is_left : {true, false}) {
        const Word turn = is_left ? 0 : ~Word{0};
        for (int w = 0; w < words; ++w) end[w] = side[w] & (in_.split(one.split)[w] ^ turn);
        const Word* points = free_.of_leaf(end.data());
        for (int w = 0; w < words; ++w) below[w] |= points[w] & (in_.split(one.split)[w] ^ turn);
    }
    add(below.data());
    return true;
}

/// After a count of pairs: the root of a tree of two levels without a cost.
Trees::Free Trees::free_of_pairs(int layer, bool can_part) const {
    for (int i = 0; i < pairs_.size(); ++i) {
        const bool left_ends = pairs_.left_leaf(i) == 0, right_ends = pairs_.right_leaf(i) == 0;
        const bool left = pairs_.left(i) == 0, right = pairs_.right(i) == 0;
        if (!left || !right || !(can_part || left_ends || right_ends)) continue;
        const int ends = Below::kEnds;
        return {pairs_.split(i), {layer + 1, left_ends ? ends : 0, right_ends ? ends : 0, false}};
    }
    return {};
}

}  // namespace treeform::diagram
