#include "tree_writer.hpp"

namespace treeform::binary {

int TreeWriter::add(FlatTree& tree) {
    tree.feature.push_back(-1);
    tree.left.push_back(-1);
    tree.right.push_back(-1);
    tree.label.push_back(-1);
    return int(tree.feature.size()) - 1;
}

FlatTree TreeWriter::write(const PlanPtr& plan) {
    FlatTree tree;
    std::vector<std::uint64_t> all(row_sets_.words, ~std::uint64_t(0));
    if (row_sets_.points % 64) all.back() = (std::uint64_t(1) << (row_sets_.points % 64)) - 1;
    tree.cost = row_sets_.offset + write_part(plan, all, tree, add(tree));
    return tree;
}

Cost TreeWriter::write_leaf(Node& node, FlatTree& tree, int at) {
    tree.label[at] = row_sets_.label(node);
    return node.leaf;
}

Cost TreeWriter::write_test(int feature, const PlanPtr& zero, const PlanPtr& one,
                            const std::vector<std::uint64_t>& cover, FlatTree& tree, int at) {
    std::vector<std::uint64_t> part[2] = {cover, cover};
    const auto& ones = row_sets_.literal[feature];
    for (int w = 0; w < row_sets_.words; ++w) part[0][w] &= ~ones[w], part[1][w] &= ones[w];
    tree.feature[at] = feature;
    const int left = add(tree), right = add(tree);
    tree.left[at] = left, tree.right[at] = right;
    const Cost a = write_part(zero, part[0], tree, left), b = write_part(one, part[1], tree, right);
    return plus(plus(a, b), settings_.node_penalty);
}

Cost TreeWriter::write_part(const PlanPtr& plan, const std::vector<std::uint64_t>& cover, FlatTree& tree, int at) {
    if (plan->kind == Plan::split) return write_test(plan->feature, plan->child[0], plan->child[1], cover, tree, at);
    Node node;
    row_sets_.restrict_to(cover, node, true);
    if (plan->kind == Plan::leaf) return write_leaf(node, tree, at);
    const Solved s = plan->depth == 1 ? solve_one(node, plan->tests, settings_.node_penalty)
                                      : solve_two(row_sets_, node, plan->tests, settings_.node_penalty);
    if (s.column < 0) return write_leaf(node, tree, at);
    PlanPtr with = Plan::solve_directly(plan->depth - 1, s.tests[0]),
            without = Plan::solve_directly(plan->depth - 1, s.tests[1]);
    if (node.flip[s.column]) std::swap(with, without);
    return write_test(node.feature[s.column], without, with, cover, tree, at);
}

}  // namespace treeform::binary
