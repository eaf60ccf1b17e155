#pragma once
// Lists of the trees on a node whose price is within a limit; the heart of fronts.hpp.
#include <deque>
#include <functional>

#include "../common/cold.hpp"
#include "../contree/all_splits.hpp"
#include "../contree/search.hpp"
#include "stumps.hpp"

namespace treeform::continuous_totals {

using contree::Test;

/// What a run of the search uses throughout.
template <class W>
struct Workshop {
    Priced<W>& data;
    const Settings& settings;
    const contree::Settings& rules;
    Control& control;
    Counters& counters;
    contree::Search<W>& search;
    contree::AllSplits<W>& two;
};

template <class W, int K>
class Listing {
public:
    using Cost = typename W::Cost;
    using Node = contree::Node<W>;
    using Task = contree::Subproblem<W>;
    using Sums = typename Stumps<W, K>::Sums;
    using Split = typename contree::AllSplits<W>::Split;
    static constexpr Cost kStop = -1;

    struct Alive {  // a split whose fronts were listed, up to these limits
        Test test;
        const Node *left, *right;  // null where the sides are no nodes of their own
        Cost limit_left, limit_right;
    };
    struct Frame {  // the scratch of one level
        std::vector<contree::IntervalSearch<W>> searches;
        std::vector<Cost> whole_by;
        std::vector<int> turn;
        contree::SplitWork<W> work;
        Sums sums, left, right;
        Collector<K> own, a, b;

        TREEFORM_COLD explicit Frame(int features)
            : searches(features), whole_by(features), turn(features), work(features) {}
        TREEFORM_COLD ~Frame() = default;
    };

    TREEFORM_COLD Listing(Workshop<W> workshop, const std::vector<Active>& active)
        : shop(workshop), amounts(shop.data.samples, shop.data.prices, active, shop.settings.dominance),
          stumps(shop.data, shop.settings, amounts), penalty(shop.data.prices.test) {}
    TREEFORM_COLD ~Listing() = default;

    Workshop<W> shop;
    Amounts<K> amounts;
    Stumps<W, K> stumps;
    Cost penalty;  // of a test

    Frame& frame(int level) {
        if (frames_.size() <= static_cast<std::size_t>(level)) [[unlikely]]
            add_frames(level);
        return frames_[level];
    }

    void weigh(const Node& node, Sums& out) {
        out.weight.assign(shop.data.samples.kinds, 0);
        for (std::size_t k = 0; k < node.n; ++k) {
            const auto row = node.order(0)[k];
            out.weight[shop.data.samples.kind[row]] += shop.data.samples.weight_of(row);
        }
        stumps.sum(out);
    }
    static Cost leaf(const Sums& sums) {
        Cost low = static_cast<Cost>(sums.constant[0].excess);
        for (const auto& one : sums.constant) low = std::min(low, static_cast<Cost>(one.excess));
        return low;
    }

    /// The front of a node: its solutions within the limit.
    void list(int level, const Node& node, int depth, Cost limit, const Cost* inherited, Test hint, Collector<K>& out) {
        out.begin(amounts, shop.settings.memory);
        Sums& sums = frame(level).sums;
        weigh(node, sums);
        const typename Stumps<W, K>::Visit take = [&](const Solution<K>& s, const Stump&) { out.offer(s); };
        stumps.leaves(sums, limit, take);
        if (depth == 1 && node.n > 1)
            for (int g = 0; g < shop.data.table.features; ++g) stumps.tests(node, {}, sums, g, limit, take);
        if (depth >= 2)
            splits(level, node, depth, limit, inherited, hint, [&](const Alive& at, Front<K>& a, Front<K>& b) {
                for (const auto& u : a) {
                    const Solution<K> with_test = plus(u, amounts.test);
                    for (const auto& v : b) {
                        if (with_test.excess + v.excess > limit) break;
                        ++shop.counters.pairs;
                        if (amounts.may_meet(at.test.feature, u, v)) out.offer(plus(with_test, v));
                    }
                    if ((shop.counters.pairs & 0xFFF) < b.size()) shop.control.check();
                }
                return limit;
            });
        const auto size = out.finish().size();
        shop.control.count(shop.counters.fronts), shop.counters.kept += size;
        shop.counters.largest = std::max<std::uint64_t>(shop.counters.largest, size);
    }

    /// Called as join(alive, left front, right front) at every split that is alive; returns the limit from there on, or
    /// kStop. Not a template's parameter: the search would be compiled once per caller.
    using Join = std::function<Cost(const Alive&, Front<K>&, Front<K>&)>;
    bool splits(int level, const Node& node, int depth, Cost limit, const Cost* inherited, Test hint,
                const Join& join) {
        Frame& here = frame(level);
        if (node.n <= 1 || limit < 0 || here.sums.total < std::max(shop.settings.min_flow, Amount(1))) return true;
        return depth == 2 ? splits_of_two(here, node, limit, inherited, hint, join)
                          : splits_above(level, here, node, depth, limit, inherited, hint, join);
    }

    /// Join the fronts of a split of a tree of depth two; returns the limit from there on, or kStop.
    Cost at_split_of_two(Frame& here, const Node& node, const Split& split, Cost limit, const Join& join) {
        const Cost room = limit - penalty;
        const Alive at{split.test, nullptr, nullptr, room - split.right, room - split.left};
        if (!both_sides(here, node, split, at)) return limit;
        ++shop.counters.alive;
        return join(at, here.a.list, here.b.list);
    }

    struct Whole {  // bounds of a node at one level less
        Cost loose, supported;  // whatever the support, and with it
    };
    /// Bounds of the node at one level less, and the order of its features.
    Whole prepare(int level, Frame& here, const Node& node, int depth, const Cost* inherited, Test& hint) {
        const Cost constant = leaf(here.sums);
        const auto whole = shop.search.solve(
            level + 1,
            {node, depth - 1, contree::full_tree(depth - 1), constant + 1, shop.data.support, 0, 0, nullptr, hint},
            here.whole_by.data());
        for (auto& bound : here.whole_by) bound = std::min(bound, constant);
        if (hint.feature < 0) hint = whole.as_test();
        contree::order_features(here.turn, inherited, here.whole_by, hint);
        shop.search.turn_to_another(level);
        for (auto& one : here.searches) one.open = false;
        const Cost loose = std::min(whole.lower, constant);
        return {loose, std::min(std::max(whole.proven, loose), constant)};
    }
    /// Start on feature f unless that has been done; returns a cut to begin with, or 0.
    std::uint32_t open(contree::IntervalSearch<W>& one, const Node& node, int f, Whole whole,
                       const std::vector<Cost>& whole_by, Test hint) const {
        if (one.open) return 0;
        one.cuts.take(shop.data.table, node, f, shop.data.support);
        one.begin(shop.rules, shop.data.table.features, node.total_mass, whole.loose, whole.supported, whole_by.data());
        return hint.feature == f ? hint.key : 0;
    }
    /// Evaluate the split that `work` was picked for, and join its fronts if it is alive. Returns the limit from there
    /// on, or kStop.
    Cost at_split(int level, Frame& here, const Node& node, int depth, Test test, Cost limit,
                  contree::SplitWork<W>& work, const Join& join) {
        const Cost room = limit + 1 - penalty;
        shop.control.check();
        shop.search.evaluate(level,
                             {node, depth, contree::full_tree(depth), limit + 1, shop.data.support, 0, 0, nullptr, {}},
                             test, room, room, work);
        return work.found ? fronts_at(level, here, depth, test, limit, work, join) : limit;
    }

private:
    std::deque<Frame> frames_;

    TREEFORM_COLD void add_frames(int level) {
        while (frames_.size() <= static_cast<std::size_t>(level)) frames_.emplace_back(shop.data.table.features);
    }

    bool splits_of_two(Frame& here, const Node& node, Cost limit, const Cost* inherited, Test hint, const Join& join) {
        const Task task{node, 2, contree::full_tree(2), limit + 1, shop.data.support, 0, 0, inherited, hint};
        bool stopped = false;
        shop.two.for_each(task, limit + 1, [&](const Split& split) -> Cost {
            if (stopped) return 0;
            const Cost next = at_split_of_two(here, node, split, limit, join);
            stopped = next == kStop;
            limit = stopped ? limit : next;
            return stopped ? 0 : limit + 1;
        });
        return !stopped;
    }

    /// The fronts of both sides of a split of a tree of depth two; false when one is empty.
    bool both_sides(Frame& here, const Node& node, const Split& split, const Alive& at) {
        here.left.weight.assign(shop.data.samples.kinds, 0);
        const auto* order = node.order(split.test.feature);
        for (std::size_t k = 0; k < split.rows; ++k)
            here.left.weight[shop.data.samples.kind[order[k]]] += shop.data.samples.weight_of(order[k]);
        here.right.weight = here.sums.weight;
        for (int m = 0; m < shop.data.samples.kinds; ++m) here.right.weight[m] -= here.left.weight[m];
        const Cost room = at.limit_left + split.left;
        if (!amounts.within(split.test.feature, here.left.weight, here.right.weight, split.left, split.right, room))
            return false;
        stumps.sum(here.left), stumps.sum(here.right);
        return one_side(node, {split.test, true}, here.left, split.by_left, at.limit_left, here.a)
               && one_side(node, {split.test, false}, here.right, split.by_right, at.limit_right, here.b);
    }
    bool one_side(const Node& node, const Part& part, const Sums& sums, const Cost* by, Cost limit, Collector<K>& out) {
        out.begin(amounts, shop.settings.memory);
        const typename Stumps<W, K>::Visit take = [&](const Solution<K>& s, const Stump&) { out.offer(s); };
        stumps.leaves(sums, limit, take);
        for (int g = 0; g < shop.data.table.features; ++g) {
            if (by[g] > limit) continue;
            ++shop.counters.walks;
            stumps.tests(node, part, sums, g, limit, take);
        }
        return !out.finish().empty();
    }

    bool splits_above(int level, Frame& here, const Node& node, int depth, Cost limit, const Cost* inherited, Test hint,
                      const Join& join) {
        const Whole whole = prepare(level, here, node, depth, inherited, hint);
        for (const int f : here.turn) {
            if (inherited && inherited[f] > limit) continue;
            auto& one = here.searches[f];
            if (!run_feature(level, here, node, depth, f, open(one, node, f, whole, here.whole_by, hint), limit, join))
                return false;
        }
        return true;
    }

    bool run_feature(int level, Frame& here, const Node& node, int depth, int f, std::uint32_t wish, Cost& limit,
                     const Join& join) {
        auto& one = here.searches[f];
        auto& work = here.work;
        for (;; wish = 0) {
            const Cost room = limit + 1 - penalty;
            if (!one.next(room, work.pick, work.left.by.data(), work.right.by.data(), shop.search.counters(), wish))
                return true;
            const Cost next = at_split(level, here, node, depth, {f, one.cuts.key(work.pick.cut)}, limit, work, join);
            if (next == kStop) return false;
            contree::Search<W>::settle(one, room, work, shop.search.counters());
            limit = next;
        }
    }

    /// The fronts of both sides of a split that is alive, the smaller one first.
    Cost fronts_at(int level, Frame& here, int depth, Test test, Cost limit, contree::SplitWork<W>& work,
                   const Join& join) {
        shop.search.write_out_sides(level);
        auto &left = work.left, &right = work.right;
        const Cost room = limit - penalty;
        Alive at{test, left.node, right.node, room - right.reply.value, room - left.reply.value};
        if (shop.data.samples.has_clashes(test.feature)) {
            weigh(*left.node, here.left), weigh(*right.node, here.right);
            if (!amounts.within(test.feature, here.left.weight, here.right.weight, left.reply.value, right.reply.value,
                                room))
                return limit;
        }
        const bool left_first = left.node->n <= right.node->n;
        for (const bool at_left : {left_first, !left_first}) {
            auto& side = at_left ? left : right;
            auto& out = at_left ? here.a : here.b;
            list(level + 1, *side.node, depth - 1, at_left ? at.limit_left : at.limit_right, side.by.data(), side.hint,
                 out);
            if (out.list.empty()) return limit;
        }
        ++shop.counters.alive;
        return join(at, here.a.list, here.b.list);
    }
};

}  // namespace treeform::continuous_totals
