#pragma once
// The search of one worker: the best tree of a subset, of any depth, with at most so many tests.
//
// Everything prunes by doubles with room for their rounding, so that no tree that is better than the best one known is
// lost; what may be better is evaluated exactly. A least weight of leaves or tests breaks the order opt(A) <= opt(B) on
// subsets, so bounds are those of trees without it, and only candidates obey it.
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "answer.hpp"
#include "control.hpp"
#include "intervals.hpp"
#include "stump.hpp"
#include "subset.hpp"

namespace treeform::regression {

template <class LossOf>
class Search {
public:
    Counters counters;
    const Subset* watched = nullptr;  // these rows' best tree is reported while it is sought,
    std::function<void(const Answer&)> on_improvement;  // at depth two

    Search(const Table& table, const Settings& settings, Control& control)
        : table_(table), settings_(settings), judge_(settings), control_(control),
          price_(static_cast<double>(settings.price.numerator) / static_cast<double>(settings.price.denominator)),
          loss_(table, settings, counters), side_of_(table.n + 1) {}

    /// The best tree if it costs less than `cutoff`; else some tree, and bounds of at least `cutoff`. `known` are
    /// bounds by root feature; null where none are known.
    Answer solve(const Subset& rows, int depth, std::int64_t budget, Hint hint, const std::vector<double>* known,
                 double cutoff = kInfinite);
    /// Evaluates the threshold of `parts.job`, at depth three or more, given the best value known: fills in the bounds,
    /// and returns a tree that may be better, or none.
    Answer evaluate(const Subset& rows, std::size_t feature, const Cut& cut, int depth, std::int64_t budget,
                    Parts& parts, double limit, std::pair<Hint, Hint>& hints);
    /// A tree grown from the top by best thresholds, as CART grows it; takes its tests out of the budget.
    Answer grown(const Subset& rows, int depth, std::int64_t& budget);
    Answer leaf(const Subset& rows);
    /// The best tree of at most one test; `by` gives the same rows with the order of a feature.
    template <class By>
    Answer best_test(const Subset& rows, const By& by);
    /// For each feature the best tree of depth two that begins with it, if it is better than the leaf.
    std::vector<RootTest> best_of_each(const Subset& rows);
    /// Gives what the last subset of many rows left back.
    void release() { loss_.release(), levels_.clear(); }
    /// Gives what is laid out for a scan back, where a node is counted: the next one lays out its own.
    void release_layouts() { loss_.release(); }
    std::size_t bytes_of_layouts() const { return loss_.bytes_to_release(); }
    bool bears_test(std::int64_t weight) const { return weight >= settings_.min_flow; }
    double price() const { return price_; }
    double tolerance(const Subset& rows) { return judge_.tolerance(loss_.leaf(rows).cost, rows.weight); }
    bool better(const Value& a, const Value& b, double tolerance) {
        return judge_.better(a, b, tolerance, counters.near_ties);
    }

private:
    using Known = const std::vector<double>*;
    struct Level {
        Parts parts;
        Intervals intervals;
    };
    /// The best child of at most one test.
    struct Child {
        Value value;
        PlanPtr plan;
    };

    const Table& table_;
    const Settings& settings_;
    Judge judge_;
    Control& control_;
    double price_;
    LossOf loss_;
    std::vector<std::uint8_t> side_of_;
    std::uint64_t made_ = 0;  // subsets
    std::vector<double> unexamined_[2];  // of both sides of a threshold: bounds of features, infinite once examined
    std::vector<std::unique_ptr<Level>> levels_;  // by depth

    Level& level(int depth);
    bool is_restricted() const { return settings_.min_support > 0 || settings_.min_flow > 0; }
    /// The bound of a feature that has been searched. `lowest` is what trees cost whatever their leaves weigh.
    double bound_of(double best, double lowest, Known known, std::size_t f) const {
        const double found = is_restricted() ? std::min(best, lowest) : best;
        return known ? std::max(found, (*known)[f]) : found;
    }
    void prepare(const Subset& rows) {
        if (control_.limits_memory()) control_.need(loss_.bytes_to_prepare(rows));
        loss_.prepare(rows);
    }
    Answer untested(const Subset& rows);
    Answer depth_one(const Subset& rows);
    Answer depth_two_by_scans(const Subset& rows, std::int64_t budget, Hint hint, Known known, double cutoff);
    Answer depth_two(const Subset& rows, std::int64_t budget, Hint hint, Known known, double cutoff);
    Answer deeper(const Subset& rows, int depth, std::int64_t budget, Hint hint, Known known, double cutoff);
    void within_budget(const Parts& parts, const Cut& cut, std::size_t feature, int depth, std::int64_t budget,
                       const Answer& left, const Answer& right, double limit, Answer& best);
    void bound_children(const Subset& rows, const Cut& cut, Bounds& bounds, double slack, double limit);
    Child leaf_child(Value&& leaf, std::int64_t weight) const;
    Child best_child(const Subset& rows, const Side& side, Child&& child, double leaf, std::vector<double>& lower,
                     double tolerance);
    void offer_children(const Subset& rows, const Cut& cut, std::size_t feature, std::int64_t budget, Bounds& bounds,
                        double tolerance, Answer& best);
    void offer(Answer& best, std::size_t feature, std::uint32_t key, const Value& left, const PlanPtr& left_plan,
               const Value& right, const PlanPtr& right_plan, double tolerance);
    std::vector<std::size_t> in_order(const std::vector<double>& lower, int first) const;
};

template <class LossOf>
typename Search<LossOf>::Level& Search<LossOf>::level(int depth) {
    const auto at = static_cast<std::size_t>(depth);
    if (levels_.size() <= at) levels_.resize(at + 1);
    if (!levels_[at]) levels_[at] = std::make_unique<Level>();
    return *levels_[at];
}

template <class LossOf>
std::vector<std::size_t> Search<LossOf>::in_order(const std::vector<double>& lower, int first) const {
    std::vector<std::size_t> order(table_.features);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lower[a] < lower[b]; });
    if (first >= 0) {
        const auto at = std::find(order.begin(), order.end(), static_cast<std::size_t>(first));
        std::rotate(order.begin(), at, at + 1);
    }
    return order;
}

template <class LossOf>
Answer Search<LossOf>::leaf(const Subset& rows) {
    Answer out;
    Value one = loss_.leaf(rows);
    out.lower = one.cost;
    out.by_feature.assign(table_.features, one.cost);
    if (rows.weight >= settings_.min_support) out.best = std::move(one), out.plan = leaf_plan();
    return out;
}

/// The leaf, where no test may stand for want of weight. Nothing is known of trees that may have one.
template <class LossOf>
Answer Search<LossOf>::untested(const Subset& rows) {
    Answer out = leaf(rows);
    out.lower = 0;
    std::fill(out.by_feature.begin(), out.by_feature.end(), 0.0);
    return out;
}

/// Keeps a test with these children if it is better than the best tree known.
template <class LossOf>
void Search<LossOf>::offer(Answer& best, std::size_t feature, std::uint32_t key, const Value& left,
                           const PlanPtr& left_plan, const Value& right, const PlanPtr& right_plan, double tolerance) {
    const double cost = left.cost + right.cost + price_;
    if (!(cost < kInfinite) || cost > best.best.cost + tolerance) return;
    Value both{cost, left.tests + right.tests + 1, left.leaves};
    both.leaves.insert(both.leaves.end(), right.leaves.begin(), right.leaves.end());
    if (!better(both, best.best, tolerance)) return;
    best.best = std::move(both), best.plan = test_plan(feature, key, left_plan, right_plan);
}

template <class LossOf>
Answer Search<LossOf>::solve(const Subset& rows, int depth, std::int64_t budget, Hint hint,
                             const std::vector<double>* known, double cutoff) {
    control_.check();
    if (depth > 0 && budget > 0 && !bears_test(rows.weight)) return untested(rows);
    if (depth == 0 || budget == 0 || rows.n <= 1 || is_pure(table_, rows)) return leaf(rows);
    if (depth == 1 || budget == 1) return depth_one(rows);
    return depth == 2 ? depth_two(rows, budget, hint, known, cutoff) : deeper(rows, depth, budget, hint, known, cutoff);
}

template <class LossOf>
Answer Search<LossOf>::depth_one(const Subset& rows) {
    if constexpr (LossOf::by_pairs)
        return loss_.one(rows, leaf(rows));
    else
        return best_test(rows, [&](std::size_t) -> const Subset& { return rows; });
}

template <class LossOf>
template <class By>
Answer Search<LossOf>::best_test(const Subset& rows, const By& by) {
    Answer out = leaf(rows);
    const double alone = out.lower, tolerance = judge_.tolerance(alone, rows.weight);
    loss_.enter(rows);
    for (std::size_t f = 0; f < table_.features; ++f) {
        control_.check();
        Stump found = loss_.stump(by(f), {}, f);
        out.by_feature[f] = std::min(alone, found.least + price_);
        out.lower = std::min(out.lower, out.by_feature[f]);
        if (!found.value.exists()) continue;
        found.value.cost += price_;
        if (!better(found.value, out.best, tolerance)) continue;
        out.best = std::move(found.value), out.plan = test_plan(f, found.key, leaf_plan(), leaf_plan());
    }
    return out;
}

/// Brackets the best child of at most one test on both sides, as far as it matters: features with the least bounds
/// first, until neither side can change, or the sum of both is beyond the limit by the slack.
template <class LossOf>
void Search<LossOf>::bound_children(const Subset& rows, const Cut& cut, Bounds& bounds, double slack, double limit) {
    const double leaf[2] = {loss_.left_leaf(cut.below).cost, loss_.right_leaf(cut.below).cost};
    // What a child may cost at most, beside the least cost of the other one: beyond that it is of no use here, nor at
    // thresholds between this one and the ends of its interval, where the other child costs no less.
    const double most[2] = {Judge::beside(limit, bounds.right_least), Judge::beside(limit, bounds.left_least)};
    double highest[2] = {std::min(leaf[0], most[0]), std::min(leaf[1], most[1])};
    std::vector<double>* lower[2] = {&bounds.left, &bounds.right};
    for (int s = 0; s < 2; ++s) unexamined_[s] = *lower[s];
    for (;;) {
        std::size_t at[2];
        double least[2];
        for (int s = 0; s < 2; ++s) {
            const auto first = std::min_element(unexamined_[s].begin(), unexamined_[s].end());
            at[s] = static_cast<std::size_t>(first - unexamined_[s].begin()), least[s] = *first;
        }
        const bool open[2] = {least[0] < highest[0], least[1] < highest[1]};
        if (!open[0] && !open[1]) break;
        if (std::min(highest[0], least[0]) + std::min(highest[1], least[1]) - slack >= limit) break;
        const int side = open[0] && (!open[1] || highest[0] - least[0] >= highest[1] - least[1]) ? 0 : 1;
        const std::size_t f = at[side];
        const bool both = loss_.both_sides();
        const bool want[2] = {side == 0 || (both && (*lower[0])[f] < highest[0]),
                              side == 1 || (both && (*lower[1])[f] < highest[1])};
        double low[2], high[2];
        loss_.bound(rows, cut, f, want, low, high);
        for (int s = 0; s < 2; ++s) {
            if (both || want[s]) unexamined_[s][f] = kInfinite;
            if (!want[s]) continue;
            (*lower[s])[f] = std::max((*lower[s])[f], std::min(leaf[s], low[s] + price_));
            highest[s] = std::min(highest[s], high[s] + price_);
        }
    }
    bounds.update();
}

template <class LossOf>
typename Search<LossOf>::Child Search<LossOf>::leaf_child(Value&& leaf, std::int64_t weight) const {
    if (weight < settings_.min_support) return {};
    return {std::move(leaf), leaf_plan()};
}

/// The best child of at most one test, exactly, given the leaf.
template <class LossOf>
typename Search<LossOf>::Child Search<LossOf>::best_child(const Subset& rows, const Side& side, Child&& child,
                                                          double leaf, std::vector<double>& lower, double tolerance) {
    std::vector<double>& unexamined = unexamined_[side.left ? 0 : 1];
    unexamined = lower;
    for (;;) {
        const auto first = std::min_element(unexamined.begin(), unexamined.end());
        if (*first >= Judge::limit(child.value, tolerance)) return child;
        const auto f = static_cast<std::size_t>(first - unexamined.begin());
        *first = kInfinite;
        Stump found = loss_.stump(rows, side, f);
        lower[f] = std::max(lower[f], std::min(leaf, found.least + price_));
        if (!found.value.exists()) continue;
        found.value.cost += price_;
        if (!better(found.value, child.value, tolerance)) continue;
        child = {std::move(found.value), test_plan(f, found.key, leaf_plan(), leaf_plan())};
    }
}

template <class LossOf>
void Search<LossOf>::offer_children(const Subset& rows, const Cut& cut, std::size_t feature, std::int64_t budget,
                                    Bounds& bounds, double tolerance, Answer& best) {
    const Side left{static_cast<int>(feature), cut.key, true}, right{static_cast<int>(feature), cut.key, false};
    const std::int64_t weight = loss_.left_weight(cut.below);
    const Child left_leaf = leaf_child(loss_.left_leaf(cut.below), weight);
    const Child right_leaf = leaf_child(loss_.right_leaf(cut.below), rows.weight - weight);
    const double left_cost = loss_.left_leaf(cut.below).cost, right_cost = loss_.right_leaf(cut.below).cost;
    const auto part = [&](const Side& side, const Child& alone, double cost, std::int64_t own,
                          std::vector<double>& lower) {
        return bears_test(own) ? best_child(rows, side, Child(alone), cost, lower, tolerance) : alone;
    };
    const Child a = part(left, left_leaf, left_cost, weight, bounds.left);
    const Child b = part(right, right_leaf, right_cost, rows.weight - weight, bounds.right);
    const auto pair = [&](const Child& one, const Child& other) {
        offer(best, feature, cut.key, one.value, one.plan, other.value, other.plan, tolerance);
    };
    if (budget >= 3 || a.value.tests + b.value.tests < 2) return pair(a, b);
    pair(a, right_leaf);  // one of the two tests has to go
    pair(left_leaf, b);
}

template <class LossOf>
Answer Search<LossOf>::depth_two(const Subset& rows, std::int64_t budget, Hint hint, Known known, double cutoff) {
    control_.count(counters.nodes);
    if constexpr (LossOf::by_pairs)
        return loss_.two(rows, budget, leaf(rows));
    else
        return depth_two_by_scans(rows, budget, hint, known, cutoff);
}

template <class LossOf>
Answer Search<LossOf>::depth_two_by_scans(const Subset& rows, std::int64_t budget, Hint hint, Known known,
                                          double cutoff) {
    Answer out = depth_one(rows);
    const double alone = loss_.leaf(rows).cost, tolerance = judge_.tolerance(alone, rows.weight), least = out.lower;
    if (price_ >= Judge::limit_of_leaf(alone, tolerance)) return out;  // no test saves its price
    prepare(rows);
    const std::vector<double> whole = out.by_feature;
    const auto limit_of = [&](const Answer& best) { return std::min(Judge::limit(best.best, tolerance), cutoff); };
    Level& own = level(2);
    Job& job = own.parts.job;
    const double slack = 2 * (out.best.exists() ? out.best.cost : alone) / static_cast<double>(rows.n);
    for (const std::size_t f : in_order(known ? *known : whole, hint.feature)) {
        if (known && (*known)[f] >= limit_of(out)) {
            out.by_feature[f] = (*known)[f];
            continue;
        }
        Cuts cuts = own.intervals.take_cuts();
        cuts_of(table_, rows, f, cuts);
        loss_.outer(rows, f);
        own.intervals.begin(std::move(cuts), rows.n, whole, least, price_,
                            hint.feature == static_cast<int>(f) ? hint.key : -1);
        double lowest = kInfinite;  // of the thresholds evaluated, whatever their leaves weigh
        while (own.intervals.lower() < limit_of(out)) {
            control_.check();
            own.intervals.next(job);
            const Cut cut = own.intervals.cut(job);
            const double limit = limit_of(out) - price_;
            if (job.bounds.sum() >= limit) {
                ++counters.bounded;
            } else {
                ++counters.splits;
                bound_children(rows, cut, job.bounds, slack * job.reach, limit);
                if (job.bounds.sum() < limit) {
                    const PlanPtr before = out.plan;
                    offer_children(rows, cut, f, budget, job.bounds, tolerance, out);
                    job.bounds.update();
                    if (watched == &rows && out.plan != before) on_improvement(out);
                }
            }
            lowest = std::min(lowest, job.bounds.sum() + price_);
            own.intervals.done(job, limit_of(out));
        }
        out.by_feature[f] = bound_of(std::min(out.best.cost, cutoff), std::min(alone, lowest), known, f);
    }
    out.lower = *std::min_element(out.by_feature.begin(), out.by_feature.end());
    return out;
}

template <class LossOf>
Answer Search<LossOf>::evaluate(const Subset& rows, std::size_t feature, const Cut& cut, int depth, std::int64_t budget,
                                Parts& parts, double limit, std::pair<Hint, Hint>& hints) {
    Answer out;
    ++counters.splits;
    if (parts.left.order.empty()) control_.need(rows.bytes());
    part(table_, rows, feature, cut.key, parts.left, parts.right, side_of_);
    parts.left.id = ++made_, parts.right.id = ++made_;
    const auto light = [&](const Subset& side) { return side.weight < settings_.min_support; };
    if (light(parts.left) || light(parts.right)) return out;
    if constexpr (LossOf::by_pairs)
        if (depth == 3) loss_.divide(rows, parts.left, parts.right);
    Bounds& bounds = parts.job.bounds;
    const std::int64_t most = std::min(budget - 1, full_tree(depth - 1));
    // Beside the least cost of the other child in the whole interval, a child that costs more is of no use at any
    // threshold between this one and the other end of it.
    const double cutoffs[2] = {Judge::beside(limit - price_, bounds.right_least),
                               Judge::beside(limit - price_, bounds.left_least)};
    const auto child = [&](const Subset& side, Hint& hint, std::vector<double>& lower, double& least) {
        Answer found = solve(side, depth - 1, most, hint, &lower, cutoffs[&side == &parts.left ? 0 : 1]);
        for (std::size_t f = 0; f < lower.size(); ++f) lower[f] = std::max(lower[f], found.by_feature[f]);
        least = std::max(least, found.lower);
        if (found.hint().feature >= 0) hint = found.hint();
        return found;
    };
    const auto of_left = [&] { return child(parts.left, hints.first, bounds.left, bounds.left_least); };
    const auto of_right = [&] { return child(parts.right, hints.second, bounds.right, bounds.right_least); };
    Answer left, right;
    const bool left_first = parts.left.n >= parts.right.n;
    (left_first ? left : right) = left_first ? of_left() : of_right();
    // Both are solved to the end, whatever the first one shows: their bounds are what prunes neighbouring thresholds.
    (left_first ? right : left) = left_first ? of_right() : of_left();
    if (left.best.tests + right.best.tests < budget)
        offer(out, feature, cut.key, left.best, left.plan, right.best, right.plan, 0);
    else
        within_budget(parts, cut, feature, depth, budget, left, right, limit, out);
    return out;
}

/// The best way to share the tests between both children.
template <class LossOf>
void Search<LossOf>::within_budget(const Parts& parts, const Cut& cut, std::size_t feature, int depth,
                                   std::int64_t budget, const Answer& left, const Answer& right, double limit,
                                   Answer& best) {
    const std::int64_t full = full_tree(depth - 1), most = std::min(budget - 1, full);
    const double alone = loss_.leaf(parts.left).cost + loss_.leaf(parts.right).cost;
    const double tolerance = judge_.tolerance(alone, parts.left.weight + parts.right.weight);
    for (std::int64_t own = 0; own < budget; ++own) {
        const std::int64_t other = budget - 1 - own;
        if (own > full || other > full) continue;
        const Answer a = own == most ? left : solve(parts.left, depth - 1, own, left.hint(), nullptr);
        if (a.lower + right.lower + price_ >= std::min(limit, Judge::limit(best.best, tolerance))) continue;
        const Answer b = other == most ? right : solve(parts.right, depth - 1, other, right.hint(), nullptr);
        offer(best, feature, cut.key, a.best, a.plan, b.best, b.plan, tolerance);
    }
}

template <class LossOf>
Answer Search<LossOf>::deeper(const Subset& rows, int depth, std::int64_t budget, Hint hint, Known known,
                              double cutoff) {
    control_.count(counters.nodes);
    Answer out = solve(rows, depth - 1, budget, hint, nullptr, cutoff);
    const double alone = loss_.leaf(rows).cost, tolerance = judge_.tolerance(alone, rows.weight), least = out.lower;
    if (price_ >= Judge::limit_of_leaf(alone, tolerance)) return out;
    const std::vector<double> whole = out.by_feature;
    const Hint first = out.hint();
    const auto limit_of = [&](const Answer& best) { return std::min(Judge::limit(best.best, tolerance), cutoff); };
    Level& own = level(depth);
    Job& job = own.parts.job;
    for (const std::size_t f : in_order(whole, first.feature)) {
        if (known && (*known)[f] >= limit_of(out)) {
            out.by_feature[f] = (*known)[f];
            continue;
        }
        Cuts cuts = own.intervals.take_cuts();
        cuts_of(table_, rows, f, cuts);
        own.intervals.begin(std::move(cuts), rows.n, whole, least, price_,
                            first.feature == static_cast<int>(f) ? first.key : -1);
        Hints hints;
        double lowest = kInfinite;
        while (own.intervals.lower() < limit_of(out)) {
            own.intervals.next(job);
            const Cut cut = own.intervals.cut(job);
            const double limit = limit_of(out);
            if (job.bounds.sum() + price_ >= limit) {
                ++counters.bounded;
            } else {
                auto near = nearest_hints(hints, cut.below);
                Answer found = evaluate(rows, f, cut, depth, budget, own.parts, limit, near);
                hints[cut.below] = near;
                if (found.plan && better(found.best, out.best, tolerance))
                    out.best = std::move(found.best), out.plan = std::move(found.plan);
            }
            lowest = std::min(lowest, job.bounds.sum() + price_);
            own.intervals.done(job, limit_of(out));
        }
        out.by_feature[f] = bound_of(std::min(out.best.cost, cutoff), std::min(alone, lowest), known, f);
    }
    out.lower = *std::min_element(out.by_feature.begin(), out.by_feature.end());
    return out;
}

}  // namespace treeform::regression
