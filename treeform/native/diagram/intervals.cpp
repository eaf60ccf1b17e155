// Intervals of tests. The tests first .. last of a feature part a set x into left sides that grow. With the left side
// of the first and the right side of the last, the samples between them left out, the rest of the search proves a bound
// for all of them at once: a diagram with any of these tests costs on fewer samples no more. Where that bound does not
// reach what is asked for, the interval is bisected, and a single test is an interval without samples between.
//
// A state whose parts lack samples is *relaxed*. It asks whether some diagram costs less than a limit, and the first
// one will do. It has to allow for everything that a diagram of the whole problem does: a test that parts samples which
// are left out alone is a pass-through to those that remain. So (b) and (c) of search.cpp, which leave pass-throughs
// out, do not hold in it, and what is proved of a state that is not relaxed does not hold for one that is.
//
// How many samples may be between is learnt from how often intervals of that size were refuted.
#include <algorithm>
#include <bit>
#include <utility>

#include "search.hpp"

namespace treeform::diagram {
namespace {

/// Intervals of a size are looked at together until so many were, and as long as one in so many is refuted.
constexpr int kTrials = 6, kOneIn = 4;
/// One of so many intervals that are not looked at together is, as what can be refuted changes.
constexpr int kAgain = 32;
/// No interval leaves out more than that part of the samples.
constexpr int kWidest = 1;

int size_of(Cost dropped) { return int(std::bit_width(std::uint64_t(dropped))); }

}  // namespace

void Search::part_by(const Set& x, const Interval& one, Set& left, Set& right) const {
    part_by(x, one.first, left, right);
    if (one.is_wide()) without(x.data(), in_.split(one.last), right.data(), in_.words());
}

/// The tests of a part, each with a lower bound, that may lead to less than `need` for the whole state.
void Search::list_candidates(int layer, int part, Cost need) {
    Layer& here = layers_[layer];
    auto& list = here.candidates[part];
    list.clear();
    const Cost limit = need - (here.lower_sum - here.lower[part]);
    const Set& x = here.part[part];
    for (int f = 0; f < in_.view.features; ++f)
        list_range(layer, part, in_.view.first[f], in_.view.first[f + 1], limit);
    if (may_pass(layer)) {
        const Cost lower = bound(x, layer + 1, here.budget - 1, limit);
        if (lower < limit) {
            part_by(x, Plan::kPass, here.left, here.right);
            add_candidate(layer, part, {Plan::kPass, Plan::kPass, std::max(lower, here.lower[part])});
        }
    }
    counters_.candidates += list.size();
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.lower < b.lower; });
}

/// Tests of one feature, in intervals. What lies outside of the range parts the points as the tests next to it do.
void Search::list_range(int layer, int part, int begin, int end, Cost limit) {
    if (begin == end) return;
    Layer& here = layers_[layer];
    const Cost together = most_together(layer);
    Range stack[80];
    int top = 0;
    stack[top++] = {begin, end - 1, 0, 0};
    while (top > 0) {
        control_.check();
        if (effort() > most_effort_) throw TooMuch{};
        Range r = stack[--top];
        Cost dropped = 0;
        if (!bound_range(layer, part, r, limit, dropped)) continue;
        if (dropped > together) {
            const int mid = r.first + (r.last - r.first) / 2;
            stack[top++] = {mid + 1, r.last, r.left, r.right};
            stack[top++] = {r.first, mid, r.left, r.right};
            continue;
        }
        const Cost lower = range_bound(layer, r, limit);
        if (lower < limit) add_candidate(layer, part, {r.first, r.last, std::max(lower, here.lower[part])});
    }
}

/// `left` and `right` of the layer are its sides. A part alone has no other to share the next layer with.
void Search::add_candidate(int layer, int part, Interval one) {
    Layer& here = layers_[layer];
    if (here.parts > 1) find_costs(layer, part, one, here.left, here.right);
    here.candidates[part].push_back(one);
}

/// Bounds of the sides of a range; false if all of its tests can be left out. Tests between whose sides no sample lies
/// count once. `left` and `right` of the layer are the sides.
bool Search::bound_range(int layer, int part, Range& r, Cost limit, Cost& dropped) {
    if (r.left + r.right >= limit) return false;
    Layer& here = layers_[layer];
    const Set& x = here.part[part];
    part_by(x, {r.first, r.last, 0}, here.left, here.right);
    const Cost all = measure(x), left = measure(here.left), right = measure(here.right);
    dropped = all - left - right;
    if (left == all || right == all) return false;  // one side of each of the tests is empty
    if (dropped == 0) r.last = r.first;
    if (const Cost least = settings_.min_support; least > 0) {
        const Cost weight = in_.weight_of(x.data());
        if (weight - in_.weight_of(here.left.data()) < least || weight - in_.weight_of(here.right.data()) < least)
            return false;
    }
    r.left = std::max(r.left, bound(here.left, layer + 1, here.budget - 1, limit - r.right));
    if (r.left + r.right >= limit) return false;
    r.right = std::max(r.right, bound(here.right, layer + 1, here.budget - 1, limit - r.left));
    return r.left + r.right < limit;
}

/// After `bound_range`: a bound for the two sides of its tests, which share the tests below: one of them ends, or both
/// take a node each. `left` and `right` are their bounds when each has all but one of the tests to itself.
Cost Search::range_bound(int layer, const Range& r, Cost limit) {
    Cost left = r.left, right = r.right;
    if (!settings_.use_trees || settings_.is_tree) return left + right;
    Layer& here = layers_[layer];
    const Cost one_ends = std::min(left + in_.leaf(here.right.data()), in_.leaf(here.left.data()) + right);
    if (here.budget < 2 || settings_.widths[layer + 1] < 2) return one_ends;
    left = std::max(left, bound(here.left, layer + 1, here.budget - 2, limit - right));
    if (left + right < limit) right = std::max(right, bound(here.right, layer + 1, here.budget - 2, limit - left));
    return std::min(one_ends, left + right);
}

/// The tests, or intervals of them, are chosen. `lower`: the sum of their bounds; `witness`: what the intervals that
/// these are part of were not refuted by, or null.
void Search::try_tests(int layer, Cost lower, PlanPtr witness) {
    Layer& here = layers_[layer];
    Cost dropped = 0, most = 0;
    int widest = -1;
    for (int j = 0; j < here.parts; ++j) {
        if (!here.chosen[j].is_wide()) continue;
        const Cost between = measure(here.part[j]) - measure(here.side[2 * j]) - measure(here.side[2 * j + 1]);
        dropped += between;
        if (widest < 0 || between > most) widest = j, most = between;
    }
    if (witness && !still_holds(layer, witness)) witness = nullptr;
    if (widest < 0) {
        if (here.relaxed && witness)
            here.found = true, here.best = {0, std::move(witness)};
        else
            send_flows(layer);
        return;
    }
    if (!witness && is_worth_probing(layer, dropped)) {
        witness = probe(layer, dropped);
        if (!witness) return;
    }
    bisect(layer, widest, lower, witness);
}

/// Whether the diagram costs less than what is asked for with the chosen intervals too.
bool Search::still_holds(int layer, const PlanPtr& witness) {
    const Layer& here = layers_[layer];
    ++counters_.witnesses;
    return cost_of(*witness, here.side) < here.best.value;
}

/// What the diagram costs on the sides of the tests of its first layer.
Cost Search::cost_of(const Plan& plan, const std::vector<Set>& sides) const {
    Cost sum = 0;
    std::vector<Set> below;
    for (std::size_t i = 0; i < plan.target.size(); ++i) {
        const int to = plan.target[i];
        if (to == Plan::kTerminal) {
            sum += in_.leaf(sides[i].data());
            continue;
        }
        if (std::size_t(to) >= below.size()) below.resize(to + 1, Set(in_.words()));
        for (int w = 0; w < in_.words(); ++w) below[to][w] |= sides[i][w];
    }
    if (below.empty()) return sum;
    std::vector<Set> next(2 * below.size(), Set(in_.words()));
    for (std::size_t j = 0; j < below.size(); ++j) {
        if (plan.next->has_test(j))
            part_by(below[j], plan.next->split[j], next[2 * j], next[2 * j + 1]);
        else
            next[2 * j] = below[j];
    }
    return sum + cost_of(*plan.next, next);
}

/// Both halves of the interval of a part.
void Search::bisect(int layer, int part, Cost lower, const PlanPtr& witness) {
    Layer& here = layers_[layer];
    const Interval whole = here.chosen[part];
    const Cost others = lower - whole.lower;
    const int mid = whole.first + (whole.last - whole.first) / 2;
    const int open = open_;
    for (Range r : {Range{whole.first, mid, 0, 0}, Range{mid + 1, whole.last, 0, 0}}) {
        if (layer == 0) open_ = open - (r.first - whole.first);
        const Cost limit = here.best.value - others;
        Cost dropped = 0;
        if (whole.lower >= limit) break;
        if (!bound_range(layer, part, r, limit, dropped)) continue;
        const Cost own = std::max(whole.lower, range_bound(layer, r, limit));
        if (own >= limit) continue;
        choose(layer, part, {r.first, r.last, own});
        try_tests(layer, others + own, witness);
    }
    choose(layer, part, whole);
}

void Search::choose(int layer, int part, const Interval& one) {
    Layer& here = layers_[layer];
    here.chosen[part] = one;
    here.since.resize(std::max<std::size_t>(here.since.size(), part + 1));
    here.since[part] = ++here.round;
    part_by(here.part[part], one, here.side[2 * part], here.side[2 * part + 1]);
}

/// A diagram with the chosen intervals that costs less than the limit of the state; null if there is none.
PlanPtr Search::probe(int layer, Cost dropped) {
    Layer& here = layers_[layer];
    Answer best{here.best.value, nullptr};
    std::swap(best, here.best);
    const bool found = std::exchange(here.found, false);
    here.probing = true;
    ++counters_.intervals;
    send_flows(layer);
    here.probing = false;
    PlanPtr witness = here.found ? here.best.plan : nullptr;
    std::swap(best, here.best), here.found = found;
    Tally& tally = tally_[layer][size_of(dropped)];
    ++tally.tried, tally.refuted += !witness;
    counters_.refuted += !witness;
    return witness;
}

bool Search::is_worth_probing(int layer, Cost dropped) {
    Tally& tally = tally_[layer][size_of(dropped)];
    if (tally.tried < kTrials || tally.refuted * kOneIn >= tally.tried) return true;
    return ++tally.skipped % kAgain == 0;
}

bool Search::takes_intervals() const { return settings_.use_intervals && plain_ && !settings_.is_tree; }

/// Intervals with more samples between are not listed.
Cost Search::most_together(int layer) const {
    if (!together_) return 0;
    for (int size = size_of(measure(in_.all) / kWidest); size > 0; --size) {
        const Tally& tally = tally_[layer][size];
        if (tally.tried < kTrials || tally.refuted * kOneIn >= tally.tried) return (Cost{1} << size) - 1;
    }
    return 0;
}

}  // namespace treeform::diagram
