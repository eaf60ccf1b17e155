// A greedy tree where subtrees that are solved directly take long: triples of many columns cost their cube. It has the
// first candidate at each node down to the last two levels, which are solved from pairs.
#include "search.hpp"

namespace treeform::binary {

constexpr std::uint64_t kLong = 30'000'000;  // of work: some hundredths of a second

bool Search::takes_long(const Node& node) { return triples_work(node) / 16 > kLong; }

void Search::first_tree() {
    const std::int64_t tests = most_tests();
    if (settings_.depth < 3 || trivial(root_, settings_.depth, tests) || !takes_long(root_)) return;
    begin(nullptr, ~std::uint64_t(0));
    const Known found = greedy(root_, settings_.depth, tests);
    if (found.plan && found.upper < shared_.upper()) shared_.offer(found.upper, found.plan, writer_);
}

Search::Known Search::greedy(Node& node, int depth, std::int64_t tests) {
    control_.check();
    Known known{0, node.leaf, node.leaf < kNever ? Plan::a_leaf() : nullptr};
    if (trivial(node, depth, tests)) return known;
    const Known two = solve_directly(node, std::min(depth, 2), std::min(tests, full(2)));
    if (two.upper < known.upper) known = two;
    if (depth <= 2 || tests <= 1) return known;
    Frame frame;
    rank(node, frame);
    const auto can_be_tested = [&](int j) { return node.side_leaf[0][j] < kNever && node.side_leaf[1][j] < kNever; };
    const auto first = std::find_if(frame.order.begin(), frame.order.end(), can_be_tested);
    if (first == frame.order.end()) return known;
    const std::int64_t most = full(depth - 1), left = std::min(most, tests / 2), right = std::min(most, tests - 1 - left);
    Cost cost = settings_.node_penalty;
    PlanPtr plan[2];
    for (int value = 0; value < 2; ++value) {
        Node child;
        row_sets_.child(node, *first, side_of(node, *first, value), child, true);
        const Known part = greedy(child, depth - 1, value == 0 ? left : right);
        cost = plus(cost, part.upper), plan[value] = part.plan;
    }
    if (cost < known.upper) known = {0, cost, Plan::test(node.feature[*first], plan[0], plan[1])};
    return known;
}

}  // namespace treeform::binary
