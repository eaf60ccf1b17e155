#include "outright.hpp"

namespace treeform::binary {

int Scribe::add(FlatTree& tree) {
    tree.feature.push_back(-1);
    tree.left.push_back(-1);
    tree.right.push_back(-1);
    tree.label.push_back(-1);
    return int(tree.feature.size()) - 1;
}

FlatTree Scribe::write(const PlanPtr& plan) {
    FlatTree tree;
    std::vector<std::uint64_t> all(substrate_.words, ~std::uint64_t(0));
    if (substrate_.points % 64) all.back() = (std::uint64_t(1) << (substrate_.points % 64)) - 1;
    tree.cost = substrate_.offset + lay(plan, all, tree, add(tree));
    return tree;
}

Cost Scribe::lay_leaf(Node& node, FlatTree& tree, int at) {
    tree.label[at] = substrate_.label(node);
    return node.leaf;
}

Cost Scribe::lay_test(int feature, const PlanPtr& zero, const PlanPtr& one, const std::vector<std::uint64_t>& cover,
                      FlatTree& tree, int at) {
    std::vector<std::uint64_t> part[2] = {cover, cover};
    const auto& ones = substrate_.literal[feature];
    for (int w = 0; w < substrate_.words; ++w) part[0][w] &= ~ones[w], part[1][w] &= ones[w];
    tree.feature[at] = feature;
    const int left = add(tree), right = add(tree);
    tree.left[at] = left, tree.right[at] = right;
    const Cost a = lay(zero, part[0], tree, left), b = lay(one, part[1], tree, right);
    return plus(plus(a, b), settings_.node_penalty);
}

Cost Scribe::lay(const PlanPtr& plan, const std::vector<std::uint64_t>& cover, FlatTree& tree, int at) {
    if (plan->kind == Plan::split) return lay_test(plan->feature, plan->child[0], plan->child[1], cover, tree, at);
    Node node;
    substrate_.restrict_to(cover, node, true);
    if (plan->kind == Plan::leaf) return lay_leaf(node, tree, at);
    const Solved s = plan->depth == 1 ? solve_one(node, plan->tests, settings_.node_penalty)
                                      : solve_two(substrate_, node, plan->tests, settings_.node_penalty);
    if (s.column < 0) return lay_leaf(node, tree, at);
    PlanPtr with = Plan::outright(plan->depth - 1, s.tests[0]), without = Plan::outright(plan->depth - 1, s.tests[1]);
    if (node.flip[s.column]) std::swap(with, without);
    return lay_test(node.feature[s.column], without, with, cover, tree, at);
}

}  // namespace treeform::binary
