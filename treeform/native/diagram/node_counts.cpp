// Bounds by the number of nodes in the next layer. The parts of a state share its nodes and the tests below: with n nodes
// in the next layer, b - n of b tests are left for the layers further down. A part alone would have the number that suits
// it best, but n is the same for all parts. So what a test costs is bounded for every n,
//
//     c(0) = leaf + leaf
//     c(1) = min { leaf + leaf, T(left, b - 1) + leaf, leaf + T(right, b - 1) }
//     c(n) = min { leaf, T(left, b - n) } + min { leaf, T(right, b - n) }    for n >= 2,
//
// as both sides of a test never lead to one node, and the state costs at least the least over n of the sums over its
// parts. A test that is too dear for every n, whatever the other parts choose, is left out.
#include <algorithm>
#include <utility>

#include "search.hpp"

namespace treeform::diagram {

int Search::most_nodes(int layer) const {
    const Layer& here = layers_[layer];
    return std::min({settings_.widths[layer + 1], here.budget, 2 * here.parts});
}

/// What a test of a part costs, with these sides. Bounds go as far as the state needs them.
void Search::find_costs(int layer, int part, Interval& one, const Set& left, const Set& right) {
    const Layer& here = layers_[layer];
    const Cost limit = here.best.value - (here.lower_sum - here.lower[part]);
    const bool passes = one.first == Plan::kPass;
    SideCosts &l = one.left, &r = one.right;
    l = {in_.leaf(left.data()), {}}, r = {in_.leaf(right.data()), {}};
    one.has_costs = true;
    one.by_nodes.fill(kDead);
    if (!passes) one.by_nodes[0] = l.leaf + r.leaf;
    const auto raise = [&](const Set& set, SideCosts& side, int nodes, Cost need) {
        side.on[nodes] = side.on[nodes - 1];
        if (side.on[nodes] < std::min(side.leaf, need))
            side.on[nodes] = std::max(side.on[nodes],
                                      bound(set, layer + 1, here.budget - nodes, std::min(side.leaf, need)));
    };
    const int most = std::min(most_nodes(layer), kMostCounted);
    for (int n = 1; n <= most; ++n) {
        raise(left, l, n, limit - (n == 1 ? r.leaf : std::min(r.leaf, r.on[n - 1])));
        const Cost left_costs = std::min(l.leaf, l.on[n]);
        raise(right, r, n, limit - (n == 1 ? l.leaf : left_costs));
        const Cost right_costs = std::min(r.leaf, r.on[n]);
        if (passes)
            one.by_nodes[n] = l.on[n];
        else if (n == 1)
            one.by_nodes[n] = std::min(l.leaf + right_costs, left_costs + r.leaf);
        else
            one.by_nodes[n] = left_costs + right_costs;
    }
}

/// The combinations of tests.
void Search::search_tests(int layer) {
    const Layer& here = layers_[layer];
    ByNodes sum{};
    if (here.parts > 1 && !rule_out(layer, sum)) return;
    choose_tests(layer, 0, here.lower_sum, sum);
}

/// Leaves out the tests that are too dear for every number of nodes; false if that settles the state. `sum`: of what the
/// cheapest tests cost.
bool Search::rule_out(int layer, ByNodes& sum) {
    Layer& here = layers_[layer];
    for (bool again = true; again;) {
        again = false;
        sum.fill(0), here.least.resize(here.parts);
        for (int j = 0; j < here.parts; ++j) {
            ByNodes& least = here.least[j];
            least.fill(kDead);
            for (const Interval& one : here.candidates[j])
                for (int n = 0; n <= kMostCounted; ++n) least[n] = std::min(least[n], one.by_nodes[n]);
            for (int n = 0; n <= kMostCounted; ++n) sum[n] += least[n];
        }
        if (*std::min_element(sum.begin(), sum.end()) >= here.best.value) return false;
        for (int j = 0; j < here.parts; ++j) {
            const auto is_too_dear = [&](const Interval& one) {
                for (int n = 0; n <= kMostCounted; ++n)
                    if (sum[n] - here.least[j][n] + one.by_nodes[n] < here.best.value) return false;
                return true;
            };
            again |= std::erase_if(here.candidates[j], is_too_dear) > 0;
        }
    }
    return true;
}

/// The first parts have tests: bounds with their flows joined; false if that settles the combination.
bool Search::join_first(int layer, int parts, ByNodes& by_nodes) {
    Layer& here = layers_[layer];
    list_branches(layer, parts);
    const int most = most_nodes(layer);
    bool is_open = most > kMostCounted;
    for (int n = 0; n <= std::min(most, kMostCounted); ++n) {
        if (by_nodes[n] >= here.best.value) continue;
        Cost others = 0;
        for (int j = parts; j < here.parts; ++j) others += here.least[j][n];
        by_nodes[n] = std::max(by_nodes[n], cost_of_first(layer, n, others));
        is_open |= by_nodes[n] < here.best.value;
    }
    return is_open;
}

/// Every combination of tests, one for each part from `part` on. `lower`: bounds of the chosen and of the other parts;
/// `by_nodes`: the same, by the number of nodes in the next layer.
void Search::choose_tests(int layer, int part, Cost lower, const ByNodes& by_nodes) {
    Layer& here = layers_[layer];
    if (part == here.parts) {
        const bool passes =
            std::all_of(here.chosen.begin(), here.chosen.end(), [](const auto& s) { return s.first == Plan::kPass; });
        if (!passes || here.relaxed || !moves_up(layer)) try_tests(layer, lower);
        return;
    }
    int open = 0;
    if (layer == 0)
        for (const Interval& one : here.candidates[part]) open += one.tests();
    for (const Interval& one : here.candidates[part]) {
        if (layer == 0) open_ = std::exchange(open, open - one.tests());
        const Cost with = lower - here.lower[part] + one.lower;
        if (with >= here.best.value) return;
        ByNodes now{};
        if (here.parts > 1) {
            for (int n = 0; n <= kMostCounted; ++n) now[n] = by_nodes[n] - here.least[part][n] + one.by_nodes[n];
            if (*std::min_element(now.begin(), now.end()) >= here.best.value) continue;
        }
        choose(layer, part, one);
        if (part > 0 && part + 1 < here.parts && !join_first(layer, part + 1, now)) continue;
        choose_tests(layer, part + 1, with, now);
        if (here.best.value <= here.lower_sum) return;
    }
}

}  // namespace treeform::diagram
