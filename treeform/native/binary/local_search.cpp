// Search in the neighbourhood of a tree: its upper tests stay, and everything below them is searched.
//
// It starts from a given tree (follow) or from the incumbent (local_search). The subtrees of the lowest `exact` levels
// are replaced by the best ones there are for their rows; with `exact` one less than the depth this is all trees that
// share the root test. What is found goes to the incumbent at once, and into the cache.
#include <algorithm>

#include "search.hpp"

namespace treeform::binary {

void Search::follow(const FlatTree& start) {
    begin(nullptr, ~std::uint64_t(0));
    const Known known = along(start, 0, root_, settings_.depth, most_tests());
    if (known.plan && known.upper < shared_.upper()) shared_.offer(known.upper, known.plan, writer_);
}

/// The given tests while more levels are left than are solved directly; then the best subtree.
Search::Known Search::along(const FlatTree& start, int at, Node& node, int depth, std::int64_t tests) {
    Known known{0, node.leaf, node.leaf < kNever ? Plan::a_leaf() : nullptr};
    if (trivial(node, depth, tests)) return known;
    if (bottom(depth)) return solve_directly(node, depth, tests);
    const int column = start.feature[at] < 0 ? -1 : column_of(node, start.feature[at]);
    if (column < 0) return known;  // a leaf, or a test that tells nothing apart
    const std::int64_t left = std::min(full(depth - 1), tests - 1), right = std::min(full(depth - 1), tests - 1 - left);
    const int below[2] = {start.left[at], start.right[at]};
    Known part[2];
    for (int value = 0; value < 2; ++value) {
        Node child;
        row_sets_.child(node, column, side_of(node, column, value), child, true);
        part[value] = along(start, below[value], child, depth - 1, value == 0 ? left : right);
    }
    const Cost cost = plus(plus(part[0].upper, part[1].upper), settings_.node_penalty);
    if (cost < known.upper) known.upper = cost, known.plan = Plan::test(start.feature[at], part[0].plan, part[1].plan);
    return known;
}

void Search::local_search(const PlanPtr& tree, int exact, std::uint64_t most) {
    if (most_tests() < full(settings_.depth)) return;  // with a budget of tests the subtrees depend on each other
    begin(nullptr, most);
    try {
        const Known found = refine(tree, root_, 0, settings_.depth, exact);
        if (found.plan && found.upper < shared_.upper()) shared_.offer(found.upper, found.plan, writer_);
    } catch (const Paused&) {
        paused = true;
    }
}

/// What a tree costs on these rows.
Search::Known Search::valued(const PlanPtr& tree, Node& node) {
    Known known{0, node.leaf, tree};
    if (tree->kind == Plan::solved)
        known.upper = tree->depth == 1 ? solve_one(node, tree->tests, settings_.node_penalty).cost
                                       : solve_two(row_sets_, node, tree->tests, settings_.node_penalty).cost;
    if (tree->kind != Plan::split) return known;
    const int column = column_of(node, tree->feature);
    if (column < 0) return {0, kNever, nullptr};
    known.upper = settings_.node_penalty;
    for (int value = 0; value < 2; ++value) {
        Node child;
        row_sets_.child(node, column, side_of(node, column, value), child, true);
        known.upper = plus(known.upper, valued(tree->child[value], child).upper);
    }
    return known;
}

Search::Known Search::refine(const PlanPtr& tree, Node& node, int level, int depth, int exact) {
    Known now = valued(tree, node);
    if (now.upper >= kNever || trivial(node, depth, full(depth))) return now;
    if (depth <= exact) {
        const Known found = explore(node, level, depth, full(depth), now.upper, {});
        return found.upper < now.upper ? found : now;
    }
    if (tree->kind != Plan::split) return now;
    const int column = column_of(node, tree->feature);
    Frame& frame = frames_[level];
    Known part[2];
    for (int value = 0; value < 2; ++value) {
        Node& child = frame.child[side_of(node, column, value)];
        row_sets_.child(node, column, side_of(node, column, value), child, true);
        part[value] = valued(tree->child[value], child);
    }
    const int first = part[0].upper >= part[1].upper ? 0 : 1;  // where there is more to gain
    for (const int value : {first, 1 - first}) {
        frame.known = now;
        frame.feature = tree->feature, frame.side = value;
        frame.other = part[1 - value].upper, frame.other_plan = part[1 - value].plan;
        const Known found =
            refine(tree->child[value], frame.child[side_of(node, column, value)], level + 1, depth - 1, exact);
        if (found.upper >= part[value].upper) continue;
        part[value] = found;
        now.upper = plus(plus(part[0].upper, part[1].upper), settings_.node_penalty);
        now.plan = Plan::test(tree->feature, part[0].plan, part[1].plan);
    }
    frame.feature = -1, frame.other = kNever, frame.other_plan = nullptr;
    return now;
}

}  // namespace treeform::binary
