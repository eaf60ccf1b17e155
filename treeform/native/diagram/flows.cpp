// Where the flows out of the tests of a layer go: to a terminal, to a node of the next layer of their own, or into one
// together with others. Ways to send them on that have the same sides in a node ask for the same bound, and so do ways
// that differ in the tests of other parts: these bounds are kept.
#include <algorithm>
#include <numeric>
#include <utility>

#include "search.hpp"

namespace treeform::diagram {
namespace {

/// Bounds of groups are kept where a layer has no more sides than that.
constexpr int kFewSides = 10;

/// Of more sides than bits none is asked for.
std::uint64_t side_bit(int side) { return side < kFewSides ? std::uint64_t{1} << side : 0; }

}  // namespace

/// The tests are chosen: every number of nodes in the next layer that their bounds allow.
void Search::send_flows(int layer) {
    Layer& here = layers_[layer];
    ByNodes sum{};
    for (int j = 0; j < here.parts; ++j) {
        Interval& one = here.chosen[j];
        if (!one.has_costs) find_costs(layer, j, one, here.side[2 * j], here.side[2 * j + 1]);
        for (int n = 0; n <= kMostCounted; ++n) sum[n] += one.by_nodes[n];
    }
    const int most = most_nodes(layer);
    for (int nodes = 0, listed = false; nodes <= most; ++nodes) {
        if (sum[std::min(nodes, kMostCounted)] >= here.best.value) continue;
        if (!std::exchange(listed, true)) list_branches(layer, here.parts);
        here.limit = here.best.value, here.complete = true;
        if (nodes <= int(here.branch.size())) send_to(layer, nodes, 0);
    }
}

/// What the first parts with their chosen tests and the others with any test cost at least, if it is less than the state
/// needs.
Cost Search::cost_of_first(int layer, int nodes, Cost others) {
    Layer& here = layers_[layer];
    here.limit = here.best.value, here.complete = false;
    send_to(layer, nodes, others);
    return here.limit;
}

/// The flows out of the first parts that need not end at a terminal.
void Search::list_branches(int layer, int parts) {
    Layer& here = layers_[layer];
    here.branch.clear();
    here.way.assign(2 * here.parts, Plan::kTerminal);
    const bool fillers = !plain_ && !settings_.is_tree;  // what costs nothing can still help a node to its weight
    for (int i = 0; i < 2 * parts; ++i) {
        const Cost leaf = here.chosen[i / 2].side(i).leaf;
        if (leaf > 0 || (fillers && !empty(here.side[i].data(), in_.words())))
            here.branch.push_back({&here.side[i], i, leaf, 0});
    }
    const int most = most_nodes(layer);
    here.group.resize(std::max<std::size_t>(here.group.size(), most));
    here.undo.resize(std::max(here.undo.size(), here.branch.size()));
    if (2 * here.parts <= kFewSides) {
        const std::size_t bounds = std::size_t(most + 1) << (2 * here.parts);
        if (here.joined_bounds.size() < bounds) here.joined_bounds.resize(bounds);
    }
}

/// All ways to send the flows on to so many nodes. `others`: a bound of the parts whose flows are not among them.
void Search::send_to(int layer, int nodes, Cost others) {
    Layer& here = layers_[layer];
    const int counted = std::min(nodes, kMostCounted), branches = int(here.branch.size());
    here.rest.assign(branches + 1, others);
    for (int i = branches; i-- > 0;) {
        Branch& one = here.branch[i];
        const Interval& test = here.chosen[one.part / 2];
        one.lower = test.side(one.part).on[counted];
        const bool both_sides = i + 1 < branches && here.branch[i + 1].part / 2 == one.part / 2;
        here.rest[i] = one.part % 2 == 0 ? test.by_nodes[counted] + here.rest[i + 1 + both_sides]
                                         : std::min(one.leaf, one.lower) + here.rest[i + 1];
    }
    here.groups = 0, here.nodes = nodes;
    send(layer, 0, 0, 0);
}

/// Where flows from `branch` on go. `paid`: at terminals; `grouped`: bounds of the groups so far.
void Search::send(int layer, std::size_t branch, Cost paid, Cost grouped) {
    Layer& here = layers_[layer];
    const Cost lower = paid + grouped + here.rest[branch];
    if (lower >= here.limit) return;
    if (here.complete && here.groups + int(here.branch.size() - branch) < here.nodes) return;
    if (branch == here.branch.size()) {
        if (here.complete)
            descend(layer, paid);
        else
            here.limit = lower;
        return;
    }
    ++counters_.groupings;
    const Branch& one = here.branch[branch];
    open(layer, branch, paid, grouped);
    if (!settings_.is_tree)
        for (int g = 0; g < here.groups; ++g) join(layer, branch, g, paid, grouped);
    here.way[one.part] = Plan::kTerminal;
    if (here.chosen[one.part / 2].first != Plan::kPass) send(layer, branch + 1, paid + one.leaf, grouped);
}

/// A node of its own.
void Search::open(int layer, std::size_t branch, Cost paid, Cost grouped) {
    Layer& here = layers_[layer];
    if (here.groups == here.nodes) return;
    const Branch& one = here.branch[branch];
    Group& group = here.group[here.groups++];
    group.set = *one.set, group.parts = std::uint64_t{1} << (one.part / 2);
    group.sides = side_bit(one.part), group.since = here.since[one.part / 2];
    group.has_pass = here.chosen[one.part / 2].first == Plan::kPass;
    group.lower = one.lower;
    here.way[one.part] = here.groups - 1;
    send(layer, branch + 1, paid, grouped + group.lower);
    --here.groups;
}

/// Into a node together with other flows.
void Search::join(int layer, std::size_t branch, int g, Cost paid, Cost grouped) {
    Layer& here = layers_[layer];
    const Branch& one = here.branch[branch];
    Group& group = here.group[g];
    const std::uint64_t bit = std::uint64_t{1} << (one.part / 2);
    const Cost others = paid + grouped - group.lower + here.rest[branch + 1];
    const bool passes = here.chosen[one.part / 2].first == Plan::kPass;
    if ((group.parts & bit) || (passes && group.has_pass && !here.relaxed)) return;
    if (others + group.lower + one.lower >= here.limit) return;
    const std::uint64_t since = group.since;
    group.sides |= side_bit(one.part), group.since = std::max(since, here.since[one.part / 2]);
    const Cost lower = group.lower, known = known_bound(layer, group);
    if (others + std::max(lower + one.lower, known) < here.limit) {
        Set& before = here.undo[branch];
        before = group.set;
        for (int w = 0; w < in_.words(); ++w) group.set[w] |= (*one.set)[w];
        group.lower = std::max(lower + one.lower, bound_group(layer, group, here.limit - others));
        group.parts |= bit, group.has_pass |= passes;
        here.way[one.part] = g;
        send(layer, branch + 1, paid, grouped - lower + group.lower);
        group.set = before, group.lower = lower, group.parts &= ~bit, group.has_pass ^= passes;
    }
    group.sides &= ~side_bit(one.part), group.since = since;
}

/// A bound of a group. Other ways to send flows on ask for the same sides again, and so do other tests of other parts.
Cost Search::bound_group(int layer, const Group& group, Cost need) {
    Layer& here = layers_[layer];
    const int tests = here.budget - here.nodes;
    if (2 * here.parts > kFewSides) return bound(group.set, layer + 1, tests, need);
    Joined& known = here.joined_bounds[std::size_t(here.nodes) << (2 * here.parts) | group.sides];
    if (known.round < group.since) known = {};
    if (known.lower < need && known.asked < need)
        known = {here.round, std::max(known.lower, bound(group.set, layer + 1, tests, need)), need};
    return known.lower;
}

/// Known bounds of the sides of a group, without a look at its points.
Cost Search::known_bound(int layer, const Group& group) const {
    const Layer& here = layers_[layer];
    if (2 * here.parts > kFewSides) return 0;
    const Joined& known = here.joined_bounds[std::size_t(here.nodes) << (2 * here.parts) | group.sides];
    return known.round < group.since ? 0 : known.lower;
}

/// All flows have a target: solve the next layer.
void Search::descend(int layer, Cost paid) {
    Layer& here = layers_[layer];
    for (int g = 0; g < here.groups; ++g)
        if (!reached(here.group[g].set)) return;
    Answer below{0, nullptr};
    std::vector<int> order(here.groups), place(here.groups);
    if (here.groups > 0) {
        Layer& next = layers_[layer + 1];
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int a, int b) { return here.group[a].set < here.group[b].set; });
        next.parts = here.groups;
        next.part.resize(std::max<std::size_t>(next.part.size(), here.groups));
        for (int i = 0; i < here.groups; ++i) next.part[i] = here.group[order[i]].set, place[order[i]] = i;
        below = state(layer + 1, here.budget - here.groups, here.best.value - paid, here.relaxed || here.probing);
    }
    if (paid + below.value >= here.best.value) return;
    here.found = true;
    auto plan = std::make_shared<Plan>();
    for (const auto& one : here.chosen) plan->split.push_back(one.first);
    for (const int way : here.way) plan->target.push_back(way < 0 ? Plan::kTerminal : place[way]);
    plan->next = below.plan;
    // Of a relaxed state that is all that was asked.
    here.best = {here.relaxed || here.probing ? 0 : paid + below.value, std::move(plan)};
    here.limit = here.best.value;
}

}  // namespace treeform::diagram
