#pragma once
// Trees of depth two on one node: for every root feature an interval search over its thresholds, for every threshold
// the best tree of at most one test on both sides at once (the paper's D2Split, by the scans of scan.hpp).
//
// A node is laid out once in the lanes of the scan, per second feature g: the rows in g's order, what they add to a
// scan, and which positions are cuts. For each root feature f the ranks of f are gathered into g's order when (f, g) is
// first scanned. Second features are taken by their lower bound, the lowest first; a feature whose bound is not below
// what the side already reached is not scanned, and the split is given up as soon as the bounds of both sides say
// that not even its neighbours within the interval can improve.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "control.hpp"
#include "intervals.hpp"
#include "lanes.hpp"
#include "prefixes.hpp"
#include "sides.hpp"
#include "stump.hpp"
#include "table.hpp"

namespace treeform::contree {

/// The result on one subproblem.
template <class Cost>
struct Answer {
    bool found = false;
    Cost value = 0;             // of the tree found, else the bound that it had to beat
    Cost lower = 0;             // no tree without requirements costs less
    Cost proven = 0;            // no admissible tree costs less
    Plan::Kind kind = Plan::leaf, left = Plan::leaf, right = Plan::leaf;
    Test test;
    PlanPtr plan;               // set by the deeper search

    Test as_test() const { return plan ? plan->test : kind == Plan::split ? test : Test{}; }
    PlanPtr as_plan() const {
        if (plan) return plan;
        if (kind != Plan::split) return Plan::of(kind);
        return std::make_shared<const Plan>(Plan{Plan::split, test, Plan::of(left), Plan::of(right)});
    }
};

template <class W>
class DepthTwo {
public:
    using Id = typename W::Id;
    using Key = typename W::Key;
    using Sum = typename W::Sum;
    using Cost = typename W::Cost;
    using Lane = typename Lanes<W>::Lane;
    static constexpr Cost kInf = IntervalSearch<W>::kInf;
    struct Place {   // a cut of the root feature in work
        std::size_t rows;
        Key key;
    };

    DepthTwo(const Table<W>& table, const Settings& rules, Control& control, Counters& counters,
             const ScanTable<Key, Sum>& scans)
        : table_(table), rules_(rules), control_(control), counters_(counters), scans_(scans), stump_(table),
          penalty_(static_cast<Cost>(rules.node_penalty)), support_(static_cast<Cost>(rules.min_support)),
          lanes_(table, scans_), prefixes_(table), by_left_(table.features), by_right_(table.features), whole_(table.features),
          open_left_(table.features), open_right_(table.features), turn_(table.features) {
        left_.weight.resize(table.classes), right_.weight.resize(table.classes);
    }

    /// The best tree of depth at most two and at most `budget` tests that costs less than `upper`. `lower` is a known
    /// lower bound, `inherited` one per root feature (or null). `by_feature` receives lower bounds per root feature.
    Answer<Cost> solve(const Node<W>& node, std::int64_t budget, Cost upper, Cost lower, const Cost* inherited,
                       Test hint, Cost gap, Cost* by_feature) {
        ++counters_.nodes;
        control_.check();
        Answer<Cost> best;
        best.value = upper;
        const Cost leaf = stump_leaf(node);
        improve(best, leaf, Plan::leaf);
        if (best.value <= lower || node.n <= 1 || budget < 1 || leaf == 0) {
            std::fill_n(by_feature, table_.features, lower);
            return settled(best, budget < 1 ? leaf : lower);
        }
        lanes_.lay_out(node, control_);
        const Cost whole = whole_node(node, leaf, best);
        if (budget < 2) {
            std::copy(whole_.begin(), whole_.end(), by_feature);
            best.lower = whole, best.proven = best.value;
            return best;
        }
        order_features(inherited, hint);
        Cost low = whole, proven = kInf;
        for (const int f : turn_) {
            const Cost known = inherited ? inherited[f] : Cost{0};
            by_feature[f] = std::max(known, lower);
            if (best.value > lower && by_feature[f] < best.value - gap) {
                search_feature(node, f, budget, whole, hint, gap, best);
                const Cost here = std::min<Cost>(whole, penalty_ + search_.lower());
                by_feature[f] = std::max(by_feature[f], here);
                proven = std::min(proven, std::max(by_feature[f], penalty_ + search_.proven()));
            } else {
                ++counters_.pruned_features;
                proven = std::min(proven, by_feature[f]);
            }
            low = std::min(low, by_feature[f]);
        }
        best.lower = std::max(lower, low);
        best.proven = std::max(lower, std::min(best.value, proven));
        if (support_ == 0 && best.found) best.lower = std::min(best.lower, best.value);
        return best;
    }

    std::size_t bytes() const { return lanes_.bytes() + search_.bytes(); }

private:
    const Table<W>& table_;
    const Settings& rules_;
    Control& control_;
    Counters& counters_;
    ScanTable<Key, Sum> scans_;
    StumpScan<W> stump_;
    Cost penalty_, support_;
    Lanes<W> lanes_;
    Prefixes<W> prefixes_;
    std::vector<Cost> by_left_, by_right_, whole_;
    std::vector<Cost> open_left_, open_right_;   // bounds of the features not scanned yet on a split, else kInf
    std::vector<int> turn_;
    std::vector<Sum> scratch_;
    Side<W> left_, right_;
    IntervalSearch<W> search_;

    Cost stump_leaf(const Node<W>& node) const { return stump_.leaf(node.weight); }

    static void improve(Answer<Cost>& best, Cost value, Plan::Kind kind) {
        if (value >= best.value) return;
        best.found = true, best.value = value, best.kind = kind;
    }
    static Answer<Cost> settled(Answer<Cost> best, Cost lower) {
        best.lower = lower;
        best.proven = std::min(best.value, std::max(lower, Cost{0}));
        return best;
    }

    /// Trees of one test on the whole node; returns a lower bound, and per feature in `whole_`.
    Cost whole_node(const Node<W>& node, Cost leaf, Answer<Cost>& best) {
        left_.weight = node.weight;
        left_.prepare(table_);
        Cost low = leaf;
        for (int g = 0; g < table_.features; ++g) {
            Cost value_left = leaf, lower_left = 0, ignored = 0;
            scan(lanes_[g], static_cast<Key>(~Key{0}), true, false, kInf, kInf, value_left, lower_left, ignored, ignored);
            whole_[g] = std::min<Cost>(leaf, penalty_ + lower_left);
            low = std::min(low, whole_[g]);
            if (support_ == 0) improve(best, penalty_ + value_left, Plan::best_stump);
        }
        if (support_ > 0 && low < best.value) {
            Stump<Cost> stump;
            for (int g = 0; g < table_.features; ++g)
                if (whole_[g] < best.value) stump_.improve(node, g, {}, true, node.weight, support_, stump);
            improve(best, penalty_ + stump.cost, Plan::best_stump);
        }
        return low;
    }

    void order_features(const Cost* inherited, Test hint) {
        std::iota(turn_.begin(), turn_.end(), 0);
        std::stable_sort(turn_.begin(), turn_.end(), [&](int a, int b) {
            if (inherited && inherited[a] != inherited[b]) return inherited[a] < inherited[b];
            return whole_[a] < whole_[b];
        });
        if (hint.feature < 0) return;
        const auto it = std::find(turn_.begin(), turn_.end(), hint.feature);
        std::rotate(turn_.begin(), it, it + 1);
    }

    void search_feature(const Node<W>& node, int f, std::int64_t budget, Cost whole, Test hint, Cost gap,
                        Answer<Cost>& best) {
        search_.cuts.take(table_, node, f);
        search_.begin(rules_, table_.features, node.total_mass, whole, whole_.data());
        if (search_.cuts.empty()) return;
        lanes_.forget_keys();
        prefixes_.begin(node, f);
        typename IntervalSearch<W>::Pick pick;
        std::uint32_t wish = hint.feature == f ? hint.key : 0;
        while (search_.next(best.value - penalty_ - gap, pick, by_left_.data(), by_right_.data(), counters_, wish)) {
            wish = 0;
            control_.check();
            evaluate(node, f, budget, gap, pick, best);
        }
    }

    void weigh_sides(const Node<W>& node, const Place& cut) {
        prefixes_.below(cut.rows, left_.weight);
        for (int y = 0; y < table_.classes; ++y) right_.weight[y] = node.weight[y] - left_.weight[y];
        left_.prepare(table_), right_.prepare(table_);
    }

    /// One split {rank_f < key}: bounds for both sides, and a tree if it is good.
    void evaluate(const Node<W>& node, int f, std::int64_t budget, Cost gap,
                  const typename IntervalSearch<W>::Pick& pick, Answer<Cost>& best) {
        const Place cut{static_cast<std::size_t>(pick.cut), search_.cuts.key(pick.cut)};
        const Cost cutoff = best.value - penalty_ - gap;
        Cost low_left = pick.left, low_right = pick.right;
        if (low_left + low_right >= cutoff) {
            ++counters_.bounded;
            search_.settle(pick, cutoff, low_left, low_right, low_left + low_right, low_left + low_right,
                           by_left_.data(), by_right_.data(), {}, {}, counters_);
            return;
        }
        ++counters_.splits;
        weigh_sides(node, cut);
        Cost best_left = left_.leaf, best_right = right_.leaf;
        scan_features(f, static_cast<Key>(cut.key), cutoff, pick.reach, best_left, best_right);
        Cost rest_left = best_left, rest_right = best_right;
        for (int g = 0; g < table_.features; ++g)
            rest_left = std::min(rest_left, open_left_[g]), rest_right = std::min(rest_right, open_right_[g]);
        low_left = std::max(low_left, rest_left), low_right = std::max(low_right, rest_right);
        Cost total = low_left + low_right;
        if (budget < 3) total = std::min(left_.leaf + low_right, low_left + right_.leaf);
        Cost proven = total;
        if (left_.total < support_ || right_.total < support_) {
            proven = kInf;
        } else if (total < best.value - penalty_) {
            if (support_ > 0) proven = supported_split(node, f, cut, budget, best_left, best_right);
            take(f, cut, budget, best_left, best_right, best);
        }
        search_.settle(pick, best.value - penalty_ - gap, low_left, low_right, total, proven, by_left_.data(),
                       by_right_.data(), {}, {}, counters_);
    }

    void take(int f, const Place& cut, std::int64_t budget, Cost best_left, Cost best_right, Answer<Cost>& best) {
        Cost value = best_left + best_right;
        bool test_left = true, test_right = true;
        if (budget < 3) {
            test_left = best_left + right_.leaf <= left_.leaf + best_right;
            test_right = !test_left;
            value = test_left ? best_left + right_.leaf : left_.leaf + best_right;
        }
        if (penalty_ + value >= best.value) return;
        best.found = true, best.value = penalty_ + value, best.kind = Plan::split;
        best.test = {f, cut.key};
        best.left = test_left && best_left < left_.leaf ? Plan::best_stump : Plan::leaf;
        best.right = test_right && best_right < right_.leaf ? Plan::best_stump : Plan::leaf;
    }

    /// The same split with the minimum support on all leaves; overwrites the bests, returns the constrained total.
    Cost supported_split(const Node<W>& node, int f, const Place& cut, std::int64_t budget, Cost& best_left,
                         Cost& best_right) {
        const Test outer{f, cut.key};
        Stump<Cost> stump_left, stump_right;
        for (int g = 0; g < table_.features; ++g) {
            if (by_left_[g] < std::min<Cost>(left_.leaf, penalty_ + stump_left.cost))
                stump_.improve(node, g, outer, true, left_.weight, support_, stump_left);
            if (by_right_[g] < std::min<Cost>(right_.leaf, penalty_ + stump_right.cost))
                stump_.improve(node, g, outer, false, right_.weight, support_, stump_right);
        }
        best_left = std::min<Cost>(left_.leaf, penalty_ + stump_left.cost);
        best_right = std::min<Cost>(right_.leaf, penalty_ + stump_right.cost);
        if (budget < 3) return std::min(left_.leaf + best_right, best_left + right_.leaf);
        return best_left + best_right;
    }

    /// Scan second features, most promising first, until no side can gain or the split is hopeless.
    void scan_features(int f, Key key, Cost cutoff, Cost reach, Cost& best_left, Cost& best_right) {
        const int features = table_.features;
        std::copy(by_left_.begin(), by_left_.end(), open_left_.begin());
        std::copy(by_right_.begin(), by_right_.end(), open_right_.begin());
        for (;;) {
            Cost low_left = kInf, low_right = kInf;
            int at_left = -1, at_right = -1;
            for (int g = 0; g < features; ++g) {
                if (open_left_[g] < low_left) low_left = open_left_[g], at_left = g;
                if (open_right_[g] < low_right) low_right = open_right_[g], at_right = g;
            }
            const bool want_left = low_left < best_left, want_right = low_right < best_right;
            if (!want_left && !want_right) return;
            if (std::min(best_left, low_left) + std::min(best_right, low_right) - reach >= cutoff) return;
            const bool by_left = want_left && (!want_right || best_left - low_left >= best_right - low_right);
            const int g = by_left ? at_left : at_right;
            scan_feature(f, g, key, best_left, best_right);
            open_left_[g] = open_right_[g] = kInf;
        }
    }

    void scan_feature(int f, int g, Key key, Cost& best_left, Cost& best_right) {
        lanes_.need_keys(f, g, counters_);
        const auto& lane = lanes_[g];
        const bool want_left = by_left_[g] < best_left, want_right = by_right_[g] < best_right;
        Cost value_left = kInf, value_right = kInf, lower_left = 0, lower_right = 0;
        scan(lane, key, want_left, want_right, best_left - penalty_, best_right - penalty_, value_left, lower_left,
             value_right, lower_right);
        if (want_left) {
            by_left_[g] = std::max(by_left_[g], std::min<Cost>(left_.leaf, penalty_ + lower_left));
            best_left = std::min<Cost>(best_left, penalty_ + value_left);
        }
        if (want_right) {
            by_right_[g] = std::max(by_right_[g], std::min<Cost>(right_.leaf, penalty_ + lower_right));
            best_right = std::min<Cost>(best_right, penalty_ + value_right);
        }
    }

    /// The best single test on the lane's feature for the wanted sides: what was found, and a lower bound. Pairs of
    /// predictions that cannot beat `beat_*` are left out.
    void scan(const Lane& lane, Key key, bool want_left, bool want_right, Cost beat_left, Cost beat_right,
              Cost& value_left, Cost& lower_left, Cost& value_right, Cost& lower_right) {
        Extremes d;
        if (table_.classes == 2) {
            ++counters_.scans;
            const auto in = lanes_.input(lane, key, want_left, want_right);
            scans_.delta(in, d);
            if (want_left) lower_left = value_left = pair_value(left_, 0, 1, d.most_left, d.least_left);
            if (want_right) lower_right = value_right = pair_value(right_, 0, 1, d.most_right, d.least_right);
            return;
        }
        if (want_left) left_.rewind(table_), value_left = left_.leaf;
        if (want_right) right_.rewind(table_), value_right = right_.leaf;
        typename Side<W>::Pair p{}, q{};
        for (;;) {
            const bool l = want_left && left_.next(std::min(beat_left, value_left), p);
            const bool r = want_right && right_.next(std::min(beat_right, value_right), q);
            if (!l && !r) break;
            ++counters_.scans;
            scan_pairs(lane, key, l, r, p, q, d);
            if (l) value_left = std::min(value_left, pair_value(left_, p.a, p.b, d.most_left, d.least_left));
            if (r) value_right = std::min(value_right, pair_value(right_, q.a, q.b, d.most_right, d.least_right));
        }
        if (want_left) lower_left = std::min(value_left, left_.rest());
        if (want_right) lower_right = std::min(value_right, right_.rest());
    }

    static Cost pair_value(const Side<W>& side, int a, int b, std::int64_t most, std::int64_t least) {
        return std::min(static_cast<Cost>(side.as_leaf[b] + least), static_cast<Cost>(side.as_leaf[a] - most));
    }

    void scan_pairs(const Lane& lane, Key key, bool l, bool r, const typename Side<W>::Pair& p,
                    const typename Side<W>::Pair& q, Extremes& d) {
        if (table_.plain) {
            auto in = lanes_.input(lane, key, l, r);
            in.pairs[0] = p.a, in.pairs[1] = p.b, in.pairs[2] = q.a, in.pairs[3] = q.b;
            scans_.pair(in, d);
            return;
        }
        if (l) weighted_pair(lane, key, p, kLeft, d);
        if (r) weighted_pair(lane, key, q, kRight, d);
    }
    void weighted_pair(const Lane& lane, Key key, const typename Side<W>::Pair& p, int side, Extremes& d) {
        const int k = table_.classes;
        const std::size_t size = lanes_.size();
        scratch_.resize(size);
        for (std::size_t i = 0; i < size; ++i) {
            const auto y = lane.label[i];
            const Cost* row = table_.cost.data() + (y == kNoLabel ? 0 : static_cast<std::size_t>(y) * k);
            scratch_[i] = static_cast<Sum>(lane.step[i] * static_cast<Sum>(row[p.a] - row[p.b]));
        }
        Extremes one;
        auto in = lanes_.input(lane, key, side == kLeft, side == kRight);
        in.step = scratch_.data();
        scans_.delta(in, one);
        if (side == kLeft) d.most_left = one.most_left, d.least_left = one.least_left;
        else d.most_right = one.most_right, d.least_right = one.least_right;
    }
};

}  // namespace treeform::contree
