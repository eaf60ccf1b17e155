// A rule on paths makes a node of the graph a set of rows, a number of tests and a state: what the tests above allow. In
// a state where all may follow, the least price is that of the search for totals, which shares what it finds between
// nodes. Above such states every allowed test is tried, without a bound: rules are taken where these are few, as below a
// root that is given (treeform/engines/graph_paths.py counts them).
#include "path_states.hpp"

namespace treeform::and_or {

using namespace totals;

PathMinima::PathMinima(const PathStates& states, const Control& control, Rows& rows, Minima& minima)
    : states_(states), control_(control), rows_(rows), minima_(minima) {}

/// What both sides of an allowed test cost at least; false where it parts nothing, or no tree fits a side.
bool PathMinima::sides(Subset& node, int depth, std::int32_t state, int column, Cut& out) {
    const int original = rows_.original[column];
    if (!states_.allows(state, original)) return false;
    const Amount held = node.with_weight(column, rows_.pad);
    if (!minima_.parts(node.weight - held, held)) return false;
    out.column = column;
    for (int s = 0; s < 2; ++s) {
        Subset child;
        rows_.child(node, column, s, depth - 1, child);
        out.least[s] = least(child, depth - 1, states_.after(state, original, s));
        if (out.least[s] >= kNone) return false;
    }
    return true;
}

Amount PathMinima::least(Subset& node, int depth, std::int32_t state) {
    if (state == kFree) return minima_.minimum(node, depth, kNone);
    const Amount leaf = states_.ends(state) ? minima_.leaf(node.total, node.weight) : kNone;
    if (depth == 0 || !minima_.splits(node.weight)) return leaf;
    const auto found = known_.find({node.key, state});
    if (found != known_.end()) return found->second;
    control_.check();
    if (depth == 1) return std::min(leaf, one(node, state));
    Amount best = leaf;
    for (int j = 0; j < rows_.columns; ++j) {
        Cut cut;
        if (sides(node, depth, state, j, cut))
            best = std::min(best, cut.least[0] + cut.least[1] + minima_.test(j));
    }
    known_.emplace(Place{node.key, state}, best);
    return best;
}

/// The least price of an allowed test over two leaves.
Amount PathMinima::one(const Subset& node, std::int32_t state) {
    const std::vector<Amount>& price = minima_.prices_of_tests(node);
    Amount best = kNone;
    for (int j = 0; j < rows_.columns; ++j) {
        const int original = rows_.original[j];
        if (price[j] >= best || !states_.allows(state, original)) continue;
        if (states_.ends(states_.after(state, original, 0)) && states_.ends(states_.after(state, original, 1)))
            best = price[j];
    }
    return best;
}

std::vector<Cut> PathMinima::within(Subset& node, int depth, std::int32_t state, Amount limit) {
    std::vector<Cut> out;
    for (int j = 0; j < rows_.columns; ++j) {
        Cut cut;
        if (!sides(node, depth, state, j, cut)) continue;
        if (cut.least[0] + cut.least[1] + minima_.test(j) <= limit) out.push_back(cut);
    }
    return out;
}

FlatTree PathMinima::best_tree(Subset& node, int depth, std::int32_t state) {
    FlatTree tree;
    build(node, depth, state, tree, add_node(tree));
    return tree;
}

void PathMinima::build(Subset& node, int depth, std::int32_t state, FlatTree& tree, int at) {
    if (state == kFree) {
        const FlatTree part = minima_.best_tree(node, depth);
        const int first = int(tree.feature.size()) - 1;  // of the part's nodes after its root
        const auto place = [&](int v) { return v < 0 ? v : v == 0 ? at : first + v; };
        for (std::size_t v = 0; v < part.feature.size(); ++v) {
            const int to = v == 0 ? at : add_node(tree);
            tree.feature[to] = part.feature[v], tree.label[to] = part.label[v];
            tree.left[to] = place(part.left[v]), tree.right[to] = place(part.right[v]);
        }
        return;
    }
    const Amount value = least(node, depth, state);
    int label = 0;
    if (states_.ends(state) && minima_.leaf(node.total, node.weight, &label) <= value) {
        tree.label[at] = label;
        return;
    }
    for (int j = 0; j < rows_.columns; ++j) {
        Cut cut;
        if (!sides(node, depth, state, j, cut) || cut.least[0] + cut.least[1] + minima_.test(j) > value) continue;
        const int original = rows_.original[j];
        const int side[2] = {add_node(tree), add_node(tree)};
        tree.feature[at] = original, tree.left[at] = side[0], tree.right[at] = side[1];
        for (int s = 0; s < 2; ++s) {
            Subset child;
            rows_.child(node, j, s, depth - 1, child);
            build(child, depth - 1, states_.after(state, original, s), tree, side[s]);
        }
        return;
    }
    minima_.leaf(node.total, node.weight, &tree.label[at]);
}

}  // namespace treeform::and_or
