// The tree of a minimum, found again from the minima of its subproblems.
#include "minima.hpp"

namespace treeform::totals {

FlatTree Minima::best_tree(Subset& root, int depth) {
    FlatTree tree;
    build(root, depth, tree, add_node(tree));
    return tree;
}

/// Writes a test over two leaves of that price.
void Minima::build_one(const Subset& node, Amount value, FlatTree& tree, int at) const {
    std::vector<Amount> part[2] = {node.total, node.total};
    for (int j = 0; j < rows_.columns; ++j) {
        int label[2] = {};
        if (one_test(node, j, part, label) > value) continue;
        tree.feature[at] = rows_.original[j];
        const int left = add_node(tree), right = add_node(tree);
        tree.left[at] = left, tree.right[at] = right;
        tree.label[left] = label[0], tree.label[right] = label[1];
        return;
    }
    leaf(node.total, node.weight, &tree.label[at]);
}

/// Writes a tree of the minimum's price: the tests are found again from the minima of their sides.
void Minima::build(Subset& node, int depth, FlatTree& tree, int at) {
    const Amount value = minimum(node, depth, kNone);
    int label = 0;
    if (leaf(node.total, node.weight, &label) <= value) {
        tree.label[at] = label;
        return;
    }
    if (depth == 1) return build_one(node, value, tree, at);
    Subset child[2];
    Sides two;
    if (depth == 2) sides(node, two);
    for (const int j : tests_of(node)) {
        const Amount held = node.with_weight(j, rows_.pad);
        if (!parts(held, node.weight - held)) continue;
        Amount price[2];
        if (depth == 2) {
            price[0] = two.least[0][j], price[1] = two.least[1][j];
            if (price[0] >= kNone || price[1] >= kNone || price[0] + price[1] + test_[j] > value) continue;
            for (int s = 0; s < 2; ++s) rows_.child(node, j, s, 1, child[s]);
        } else {
            const auto low = exact(node.key.with(j, 0)), high = exact(node.key.with(j, 1));
            if (low && high && (*low >= kNone || *high >= kNone || *low + *high + test_[j] > value)) continue;
            for (int s = 0; s < 2; ++s) rows_.child(node, j, s, depth - 1, child[s]);
            price[1] = minimum(child[1], depth - 1, value - test_[j] - floor(child[0].cover, depth - 1));
            if (price[1] >= kNone || price[1] + floor(child[0].cover, depth - 1) + test_[j] > value) continue;
            price[0] = minimum(child[0], depth - 1, value - test_[j] - price[1]);
            if (price[0] >= kNone || price[0] + price[1] + test_[j] > value) continue;
        }
        return build_sides(child, depth, j, tree, at);
    }
    tree.label[at] = label;  // prices below zero only: a test that separates nothing attains the minimum
}

void Minima::build_sides(Subset child[2], int depth, int column, FlatTree& tree, int at) {
    tree.feature[at] = rows_.original[column];
    const int left = add_node(tree), right = add_node(tree);
    tree.left[at] = left, tree.right[at] = right;
    build(child[0], depth - 1, tree, left);
    build(child[1], depth - 1, tree, right);
}

}  // namespace treeform::totals
