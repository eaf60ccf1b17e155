#pragma once
// All trees worth considering below a guessed cost, on ConTree's interval search.
//
// Guess that some tree that satisfies the rows costs less than U. Its price is at most a limit (prices.hpp). The interval
// search with that limit as a fixed upper bound comes upon every split whose two sides, at their least prices, stay within it:
// such a split is "alive". Only there are trees listed: those of the left side within the limit less the least price of the
// right side, and the other way round, again by the same search. What another solution makes needless, because it costs no more
// and is no higher on any active row, is dropped. If no pair at the root is found, no tree costs less than U, whatever
// the multipliers are; if one is, the limit falls. So one pass is bound, proof and closing of the gap at once.
//
// A minimum support takes effect where leaves are listed; the bounds that prune are those without it, and stay true.
#include <deque>
#include <functional>
#include <stdexcept>

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

class AnyFronts {
public:
    virtual ~AnyFronts() = default;
    /// Whether some tree of that depth that satisfies the active rows costs less than `upper`; the cheapest is kept. `progress`
    /// receives lower bounds of the price of trees not yet seen.
    virtual bool below(int depth, Amount upper, Test hint, const std::function<void(Amount)>& progress) = 0;
    /// The same for trees with that root test.
    virtual bool below_at(int depth, Amount upper, Test root) = 0;
    virtual Amount cost() const = 0;
    virtual Tree tree() = 0;
};

template <class W, int K>
class Fronts final : public AnyFronts {
public:
    using Cost = typename W::Cost;
    using Node = contree::Node<W>;
    using Task = contree::Subproblem<W>;
    using Sums = typename Stumps<W, K>::Sums;

    Fronts(Workshop<W> shop, const std::vector<Active>& active)
        : shop_(shop), amounts_(shop.data.samples, shop.data.prices, active, shop.settings.dominance),
          stumps_(shop.data, shop.settings, amounts_), penalty_(shop.data.prices.test) {}

    bool below(int depth, Amount upper, Test hint, const std::function<void(Amount)>& progress) override {
        progress_ = &progress;
        begin(depth, upper);
        const Node& root = shop_.data.root;
        Sums& sums = frame(0).sums;
        weigh(root, sums);
        const auto consider = [&](const Solution<K>& s) { offer({}, s, {}, {}, 0, 0); };
        stumps_.leaves(sums, limit_, [&](const Solution<K>& s, const Stump&) { consider(s); });
        if (depth == 1)
            for (int g = 0; g < shop_.data.table.features; ++g)
                stumps_.tests(root, {}, sums, g, limit_, [&](const Solution<K>& s, const Stump&) { consider(s); });
        if (depth >= 2) splits(0, root, depth, limit_, nullptr, hint, [&](const Alive& at, Front<K>& a, Front<K>& b) {
            return query(at, a, b);
        });
        return found_;
    }

    bool below_at(int depth, Amount upper, Test root) override {
        begin(depth, upper);
        Node left, right;
        divide(root, left, right);
        if (left.n == 0 || right.n == 0) return false;
        const Cost least_left = least(left, depth - 1), least_right = least(right, depth - 1), room = limit_ - penalty_;
        if (least_left + least_right > room) return false;
        Frame& here = frame(0);
        list(1, left, depth - 1, room - least_right, nullptr, {}, here.a);
        list(1, right, depth - 1, room - least_left, nullptr, {}, here.b);
        query({root, nullptr, nullptr, room - least_right, room - least_left}, here.a.list, here.b.list);
        return found_;
    }

    Amount cost() const override { return best_.cost; }

    /// The tree found. The fronts that led to it are listed once more.
    Tree tree() override {
        Tree out;
        if (root_.feature < 0) {
            trace(0, shop_.data.root, std::min(depth_, 1), best_limit_, best_, out);
            return out;
        }
        Node left, right;
        divide(root_, left, right);
        const int here = out.add();
        out.feature[here] = root_.feature, out.key[here] = root_.key;
        const Solution<K> a = left_, b = right_;
        const int l = trace(1, left, depth_ - 1, limit_left_, a, out);
        const int r = trace(1, right, depth_ - 1, limit_right_, b, out);
        out.left[here] = l, out.right[here] = r;
        return out;
    }

private:
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

        explicit Frame(int features) : searches(features), whole_by(features), turn(features), work(features) {}
    };

    Workshop<W> shop_;
    Amounts<K> amounts_;
    Stumps<W, K> stumps_;
    Cost penalty_;
    std::deque<Frame> frames_;
    const std::function<void(Amount)>* progress_ = nullptr;

    int depth_ = 0;
    Amount upper_ = kNone;
    Cost limit_ = 0;
    bool found_ = false;
    Test root_;
    Solution<K> best_{}, left_{}, right_{};
    Cost limit_left_ = 0, limit_right_ = 0, best_limit_ = 0;

    Frame& frame(int level) {
        while (frames_.size() <= static_cast<std::size_t>(level)) frames_.emplace_back(shop_.data.table.features);
        return frames_[level];
    }

    void begin(int depth, Amount upper) {
        depth_ = depth, upper_ = upper, found_ = false;
        limit_ = static_cast<Cost>(shop_.data.prices.limit(upper - 1));
        shop_.search.turn_to_another(0);
    }

    void divide(Test test, Node& left, Node& right) {
        contree::Outer<W> outer;
        contree::partition(shop_.data.table, shop_.data.root, test, outer,
                           contree::choose_divider(shop_.rules.simd.c_str()), left, right, &shop_.control);
    }

    void weigh(const Node& node, Sums& out) {
        out.weight.assign(shop_.data.samples.kinds, 0);
        for (std::size_t k = 0; k < node.n; ++k) {
            const auto row = node.order(0)[k];
            out.weight[shop_.data.samples.kind[row]] += shop_.data.samples.weight_of(row);
        }
        stumps_.sum(out);
    }
    static Cost leaf(const Sums& sums) {
        Cost low = static_cast<Cost>(sums.constant[0].excess);
        for (const auto& one : sums.constant) low = std::min(low, static_cast<Cost>(one.excess));
        return low;
    }

    Cost least(const Node& node, int depth) {
        Sums sums;
        weigh(node, sums);
        std::vector<Cost> by(shop_.data.table.features);
        return shop_.search
            .solve(1, {node, depth, contree::full_tree(depth), leaf(sums) + 1, 0, 0, 0, nullptr, {}}, by.data())
            .value;
    }

    /// A tree of the whole table: kept if it is the cheapest so far that satisfies the active rows.
    void offer(Test root, const Solution<K>& s, const Solution<K>& left, const Solution<K>& right, Cost limit_left,
               Cost limit_right) {
        if (s.cost >= upper_ || !amounts_.satisfied(s)) return;
        found_ = true, best_ = s, root_ = root, left_ = left, right_ = right, best_limit_ = limit_;
        limit_left_ = limit_left, limit_right_ = limit_right;
        upper_ = s.cost;
        limit_ = std::min(limit_, static_cast<Cost>(shop_.data.prices.limit(upper_ - 1)));
    }

    /// The best pair for a split of the root.
    Cost query(const Alive& at, Front<K>& a, Front<K>& b) {
        if (amounts_.order.equal.empty() && amounts_.order.upper.size() <= 1)
            query_stairs(at, a, b);
        else
            query_all(at, a, b);
        return limit_;
    }
    void query_all(const Alive& at, const Front<K>& a, const Front<K>& b) {
        for (const auto& u : a) {
            if (b.empty() || u.excess + b[0].excess + penalty_ > limit_) break;
            for (const auto& v : b) {
                if (u.excess + v.excess + penalty_ > limit_) break;
                ++shop_.counters.pairs;
                if (u.cost + v.cost + amounts_.test.cost < upper_) offer_pair(at, u, v);
            }
        }
    }
    /// With one row, on one side, a front is a staircase: the row falls where the cost rises. For each solution of one side the
    /// cheapest partner is the one whose row is as high as may be.
    void query_stairs(const Alive& at, Front<K>& a, Front<K>& b) {
        const auto by_row = [](const Solution<K>& x, const Solution<K>& y) {
            return x.row[0] != y.row[0] ? x.row[0] < y.row[0] : x.cost > y.cost;
        };
        std::sort(a.begin(), a.end(), by_row), std::sort(b.begin(), b.end(), by_row);
        std::size_t to = b.size();
        for (const auto& u : a) {
            const Amount room = amounts_.hi[0] - amounts_.test.row[0] - u.row[0];
            while (to > 0 && b[to - 1].row[0] > room) --to;
            if (to == 0) break;
            ++shop_.counters.pairs;
            if (u.cost + b[to - 1].cost + amounts_.test.cost < upper_) offer_pair(at, u, b[to - 1]);
        }
    }
    void offer_pair(const Alive& at, const Solution<K>& u, const Solution<K>& v) {
        offer(at.test, plus(plus(u, amounts_.test), v), u, v, at.limit_left, at.limit_right);
    }

    /// The front of a node: its solutions within the limit.
    void list(int level, const Node& node, int depth, Cost limit, const Cost* inherited, Test hint,
              Collector<K>& out) {
        out.begin(amounts_.order, shop_.settings.memory);
        Sums& sums = frame(level).sums;
        weigh(node, sums);
        const auto take = [&](const Solution<K>& s, const Stump&) { out.offer(s); };
        stumps_.leaves(sums, limit, take);
        if (depth == 1 && node.n > 1)
            for (int g = 0; g < shop_.data.table.features; ++g) stumps_.tests(node, {}, sums, g, limit, take);
        if (depth >= 2)
            splits(level, node, depth, limit, inherited, hint, [&](const Alive&, Front<K>& a, Front<K>& b) {
                for (const auto& u : a) {
                    const Solution<K> with_test = plus(u, amounts_.test);
                    for (const auto& v : b) {
                        if (with_test.excess + v.excess > limit) break;
                        ++shop_.counters.pairs;
                        out.offer(plus(with_test, v));
                    }
                    if ((shop_.counters.pairs & 0xFFF) < b.size()) shop_.control.check();
                }
                return limit;
            });
        const auto size = out.finish().size();
        ++shop_.counters.fronts, shop_.counters.kept += size;
        shop_.counters.largest = std::max<std::uint64_t>(shop_.counters.largest, size);
    }

    /// `join(alive, left front, right front)` at every split that is alive; it returns the limit from there on, or kStop.
    template <class Join>
    bool splits(int level, const Node& node, int depth, Cost limit, const Cost* inherited, Test hint,
                const Join& join) {
        Frame& here = frame(level);
        if (node.n <= 1 || limit < 0 || here.sums.total < std::max(shop_.settings.min_flow, Amount(1))) return true;
        return depth == 2 ? splits_of_two(here, node, limit, inherited, hint, join)
                          : splits_above(level, here, node, depth, limit, inherited, hint, join);
    }

    template <class Join>
    bool splits_of_two(Frame& here, const Node& node, Cost limit, const Cost* inherited, Test hint, const Join& join) {
        const Task task{node, 2, contree::full_tree(2), limit + 1, 0, 0, 0, inherited, hint};
        bool stopped = false;
        shop_.two.for_each(task, limit + 1, [&](const auto& split) -> Cost {
            if (stopped) return 0;
            const Cost room = limit - penalty_;
            const Alive at{split.test, nullptr, nullptr, room - split.right, room - split.left};
            if (!both_sides(here, node, split, at)) return limit + 1;
            ++shop_.counters.alive;
            const Cost next = join(at, here.a.list, here.b.list);
            stopped = next == kStop;
            limit = stopped ? limit : next;
            return stopped ? 0 : limit + 1;
        });
        return !stopped;
    }

    /// The fronts of both sides of a split of a tree of depth two; false when one is empty.
    template <class Split>
    bool both_sides(Frame& here, const Node& node, const Split& split, const Alive& at) {
        here.left.weight.assign(shop_.data.samples.kinds, 0);
        const auto* order = node.order(split.test.feature);
        for (std::size_t k = 0; k < split.rows; ++k)
            here.left.weight[shop_.data.samples.kind[order[k]]] += shop_.data.samples.weight_of(order[k]);
        here.right.weight = here.sums.weight;
        for (int m = 0; m < shop_.data.samples.kinds; ++m) here.right.weight[m] -= here.left.weight[m];
        stumps_.sum(here.left), stumps_.sum(here.right);
        return one_side(node, {split.test, true}, here.left, split.by_left, at.limit_left, here.a)
               && one_side(node, {split.test, false}, here.right, split.by_right, at.limit_right, here.b);
    }
    bool one_side(const Node& node, const Part& part, const Sums& sums, const Cost* by, Cost limit, Collector<K>& out) {
        out.begin(amounts_.order, shop_.settings.memory);
        const auto take = [&](const Solution<K>& s, const Stump&) { out.offer(s); };
        stumps_.leaves(sums, limit, take);
        for (int g = 0; g < shop_.data.table.features; ++g) {
            if (by[g] > limit) continue;
            ++shop_.counters.walks;
            stumps_.tests(node, part, sums, g, limit, take);
        }
        return !out.finish().empty();
    }

    template <class Join>
    bool splits_above(int level, Frame& here, const Node& node, int depth, Cost limit, const Cost* inherited, Test hint,
                      const Join& join) {
        const Cost constant = leaf(here.sums);
        auto whole = shop_.search.solve(
            level + 1, {node, depth - 1, contree::full_tree(depth - 1), constant + 1, 0, 0, 0, nullptr, hint},
            here.whole_by.data());
        whole.lower = std::min(whole.lower, constant);
        for (auto& bound : here.whole_by) bound = std::min(bound, constant);
        if (hint.feature < 0) hint = whole.as_test();
        contree::order_features(here.turn, inherited, here.whole_by, hint);
        shop_.search.turn_to_another(level);
        for (auto& one : here.searches) one.open = false;
        // At the root the features are taken in turn, so that the least bound of what is left rises.
        const int rounds = level == 0 ? 8 : 1;
        for (int round = 1; round <= rounds; ++round) {
            for (const int f : here.turn) {
                if (inherited && inherited[f] > limit) continue;
                const Cost goal = round < rounds ? limit / rounds * round : contree::IntervalSearch<W>::kInf;
                if (!run_feature(level, here, node, depth, f, whole.lower, goal, hint, limit, join)) return false;
            }
            if (level == 0 && progress_) report(here, limit);
        }
        return true;
    }
    void report(const Frame& here, Cost limit) const {
        Cost low = limit + 1;
        for (const auto& one : here.searches) low = std::min(low, penalty_ + one.front());
        (*progress_)(low);
    }

    template <class Join>
    bool run_feature(int level, Frame& here, const Node& node, int depth, int f, Cost whole, Cost goal, Test hint,
                     Cost& limit, const Join& join) {
        auto& one = here.searches[f];
        std::uint32_t wish = 0;
        if (!one.open) {
            one.cuts.take(shop_.data.table, node, f, 0);
            one.begin(shop_.rules, shop_.data.table.features, node.total_mass, whole, whole, here.whole_by.data());
            if (hint.feature == f) wish = hint.key;
        }
        auto& work = here.work;
        while (one.front() < goal) {
            const Cost room = limit + 1 - penalty_;
            if (!one.next(room, work.pick, work.left.by.data(), work.right.by.data(), shop_.search.counters(), wish))
                break;
            wish = 0;
            shop_.control.check();
            const Test test{f, one.cuts.key(work.pick.cut)};
            shop_.search.evaluate(level, {node, depth, contree::full_tree(depth), limit + 1, 0, 0, 0, nullptr, {}}, test,
                                  room, room, work);
            contree::Search<W>::settle(one, room, work, shop_.search.counters());
            if (!work.found) continue;
            const Cost next = fronts_at(level, here, depth, test, limit, join);
            if (next == kStop) return false;
            limit = next;
        }
        return true;
    }

    /// The fronts of both sides of a split that is alive, the smaller one first.
    template <class Join>
    Cost fronts_at(int level, Frame& here, int depth, Test test, Cost limit, const Join& join) {
        auto &left = here.work.left, &right = here.work.right;
        const Cost room = limit - penalty_;
        Alive at{test, left.node, right.node, room - right.reply.value, room - left.reply.value};
        const bool left_first = left.node->n <= right.node->n;
        for (const bool at_left : {left_first, !left_first}) {
            auto& side = at_left ? left : right;
            auto& out = at_left ? here.a : here.b;
            list(level + 1, *side.node, depth - 1, at_left ? at.limit_left : at.limit_right, side.by.data(), side.hint,
                 out);
            if (out.list.empty()) return limit;
        }
        ++shop_.counters.alive;
        return join(at, here.a.list, here.b.list);
    }

    /// Find a tree on the node that is as good as `target`, and append it; returns its place.
    int trace(int level, const Node& node, int depth, Cost limit, const Solution<K>& target, Tree& out) {
        Sums& sums = frame(level).sums;
        weigh(node, sums);
        int place = leaf_or_stump(node, {}, sums, depth >= 1, limit, target, out);
        if (place >= 0) return place;
        splits(level, node, depth, limit, nullptr, {}, [&](const Alive& at, Front<K>& a, Front<K>& b) -> Cost {
            Solution<K> u, v;
            if (!pair(a, b, target, u, v)) return limit;
            place = out.add();
            out.feature[place] = at.test.feature, out.key[place] = at.test.key;
            const int l = at.left ? trace(level + 1, *at.left, depth - 1, at.limit_left, u, out)
                                  : on_side(level, node, {at.test, true}, at.limit_left, u, out);
            const int r = at.right ? trace(level + 1, *at.right, depth - 1, at.limit_right, v, out)
                                   : on_side(level, node, {at.test, false}, at.limit_right, v, out);
            out.left[place] = l, out.right[place] = r;
            return kStop;
        });
        if (place < 0) throw std::logic_error("a solution cannot be found again");
        return place;
    }
    bool pair(const Front<K>& a, const Front<K>& b, const Solution<K>& target, Solution<K>& u, Solution<K>& v) const {
        for (const auto& one : a)
            for (const auto& other : b)
                if (good_as(plus(plus(one, other), amounts_.test), target)) {
                    u = one, v = other;
                    return true;
                }
        return false;
    }
    bool good_as(const Solution<K>& s, const Solution<K>& target) const {
        return totals::dominates(s, target, amounts_.order);
    }
    int on_side(int level, const Node& node, const Part& part, Cost limit, const Solution<K>& target, Tree& out) {
        Frame& here = frame(level);
        const int place = leaf_or_stump(node, part, part.left ? here.left : here.right, true, limit, target, out);
        if (place < 0) throw std::logic_error("a solution of one test cannot be found again");
        return place;
    }
    int leaf_or_stump(const Node& node, const Part& part, const Sums& sums, bool tests, Cost limit,
                      const Solution<K>& target, Tree& out) {
        bool any = false;
        Stump found;
        const auto look = [&](const Solution<K>& s, const Stump& stump) {
            if (!any && good_as(s, target)) any = true, found = stump;
        };
        stumps_.leaves(sums, limit, look);
        for (int g = 0; tests && !any && g < shop_.data.table.features; ++g)
            stumps_.tests(node, part, sums, g, limit, look);
        if (!any) return -1;
        const int here = out.add();
        if (found.test.feature < 0) {
            out.label[here] = found.labels[0];
            return here;
        }
        out.feature[here] = found.test.feature, out.key[here] = found.test.key;
        const int l = out.add(), r = out.add();
        out.left[here] = l, out.right[here] = r;
        out.label[l] = found.labels[0], out.label[r] = found.labels[1];
        return here;
    }
};

constexpr int kMostActive = 8;

/// Null when more rows are active than solutions can carry.
template <class W>
std::unique_ptr<AnyFronts> make_fronts(const Workshop<W>& shop, const std::vector<Active>& active) {
    if (active.size() <= 1) return std::make_unique<Fronts<W, 1>>(shop, active);
    if (active.size() == 2) return std::make_unique<Fronts<W, 2>>(shop, active);
    if (active.size() <= kMostActive) return std::make_unique<Fronts<W, kMostActive>>(shop, active);
    return nullptr;
}

}  // namespace treeform::continuous_totals
