#pragma once
// Trees of depth two on one node: for every root feature an interval search over its thresholds, for every threshold
// the best tree of at most one test on both sides at once (the paper's D2Split, by the scans of scan.hpp).
//
// A node is laid out once in the lanes of the scan, per second feature g: the rows in g's order, what they add to a
// scan, and which positions are cuts. For each root feature f the ranks of f are gathered into g's order when (f, g) is
// first scanned. Second features are taken by their lower bound, the lowest first; a feature whose bound is not below
// what the side already reached is not scanned, and the split is dropped as soon as the bounds of both sides prove
// that not even its neighbours within the interval can improve.
#include <algorithm>
#include <vector>

#include "../common/cold.hpp"
#include "control.hpp"
#include "intervals.hpp"
#include "lanes.hpp"
#include "lowest.hpp"
#include "ordering.hpp"
#include "prefixes.hpp"
#include "sides.hpp"
#include "subproblem.hpp"
#include "table.hpp"
#include "tolerance.hpp"

namespace treeform::contree {

template <class W>
class DepthTwo {
public:
    using Id = typename W::Id;
    using Key = typename W::Key;
    using Sum = typename W::Sum;
    using Cost = typename W::Cost;
    using In = ScanInput<Key, Sum>;
    using Task = Subproblem<W>;
    using Found = typename IntervalSearch<W>::Found;
    static constexpr Cost kInf = IntervalSearch<W>::kInf;
    struct Keys {  // keys that define the sides of a split, and those by which the weight of their leaves is counted
        Key left, left_weight, right, right_weight;
        explicit Keys(Key at) : left(at), left_weight(at), right(at), right_weight(at) {}
        Keys(Key l, Key lw, Key r, Key rw) : left(l), left_weight(lw), right(r), right_weight(rw) {}
    };
    struct Place {  // a cut of the root feature in work
        std::size_t rows;
        Key key;
    };

    TREEFORM_COLD DepthTwo(const Table<W>& table, const Settings& rules, Control& control, Counters& counters,
                           const ScanTable<Key, Sum>& scans)
        : table_(table), rules_(rules), control_(control), counters_(counters), scans_(scans),
          penalty_(static_cast<Cost>(rules.node_penalty)), lanes_(table, scans_), prefixes_(table),
          by_left_(table.features), by_right_(table.features), whole_(table.features), loose_by_(table.features),
          unused_(table.features), open_left_(table.features), open_right_(table.features), turn_(table.features) {
        left_.weight.resize(table.classes), right_.weight.resize(table.classes);
    }
    TREEFORM_COLD ~DepthTwo() = default;

    /// The best tree of depth at most two and at most task.budget tests that costs less than task.upper. `by_feature`
    /// receives lower bounds per root feature, whatever the support. With `guess` the tree is only a good one: the gap
    /// grows, and the cost of a side with a test is a bound for neighbours, which is valid only without a support.
    Answer<Cost> solve(const Task& task, Cost gap, Cost* by_feature, bool guess = false) {
        laid_out_ = false, guess_ = guess, gap_ = gap;
        if (task.support == 0) return search(task, by_feature);
        Task loose = task;
        loose.support = loose.supported = 0;
        Answer<Cost> reply = search(loose, loose_by_.data());
        std::copy(loose_by_.begin(), loose_by_.end(), by_feature);
        if (!reply.found) return reply;
        Task supported = task;
        supported.inherited = loose_by_.data(), supported.lower = reply.lower,
        supported.supported = std::max(task.supported, reply.lower);
        if (reply.kind == Plan::split) supported.hint = reply.test;
        const Cost lower = reply.lower;
        reply = search(supported, unused_.data());
        reply.lower = lower;
        return reply;
    }

    /// Elements that were read so far, about: a measure of time that is the same in every run.
    std::uint64_t work() const { return work_ + lanes_.work(); }
    /// Also between two nodes of a search above it, and where it counts a node.
    TREEFORM_COLD void release() { lanes_.release(), laid_out_ = false; }
    void read_lists(ListedRows<W>& lists) { lanes_.lists = &lists; }
    TREEFORM_COLD std::size_t bytes() const { return lanes_.bytes() + search_.bytes(); }

protected:
    const Table<W>& table_;
    const Settings& rules_;
    Control& control_;
    Counters& counters_;
    ScanTable<Key, Sum> scans_;
    Cost penalty_, support_ = 0, supported_whole_ = 0, gap_ = 0;
    Clash clash_;  // of the root feature in work
    Cost low_leaf_ = 0, high_leaf_ = 0;  // of the sides of the cut in work, without the labels that may clash
    Tolerance<Cost> tolerance_;
    bool laid_out_ = false, guess_ = false;  // whether the node is in the lanes; see `solve`
    std::uint64_t work_ = 0;  // of the scans
    Lanes<W> lanes_;
    Prefixes<W> prefixes_;
    std::vector<Cost> by_left_, by_right_, whole_;
    std::vector<Cost> loose_by_, unused_;
    std::vector<Cost> open_left_, open_right_;  // bounds of the features not scanned yet on a split, else kInf
    Lowest<Cost> lowest_;
    std::vector<int> turn_;
    int best_feature_left_ = -1, best_feature_right_ = -1;  // of the sides of the cut in work
    std::vector<Sum> scratch_, by_class_;
    std::vector<std::uint32_t> confined_;
    Side<Cost> left_, right_;
    IntervalSearch<W> search_;

    Answer<Cost> search(const Task& task, Cost* by_feature) {
        control_.count(counters_.nodes);
        control_.check();
        support_ = task.support;
        const auto& node = task.node;
        left_.weight = node.weight, left_.prepare(table_.losses, table_.cost);
        const Cost leaf = left_.leaf, known = std::max(task.lower, task.supported);
        Answer<Cost> best;
        best.value = task.upper;
        improve(best, leaf, Plan::leaf);
        const bool only_leaf = task.budget < 1 || (support_ > 0 && support_of(table_, node) - support_ < support_);
        if (best.value <= known || node.n <= 1 || leaf == 0 || only_leaf) {
            std::fill_n(by_feature, table_.features, task.lower);
            return settled(best, only_leaf ? leaf : known);
        }
        if (!laid_out_) lanes_.lay_out(node, control_), laid_out_ = true;
        const bool grows = guess_ && support_ + penalty_ > 0;  // most cuts cost about the same
        tolerance_.begin(gap_, grows ? leaf : 0, 1.0 * table_.features * table_.features, counters_.scans);
        const Cost whole = whole_node(leaf, best);
        if (task.budget < 2) {
            std::copy(whole_.begin(), whole_.end(), by_feature);
            best.lower = whole, best.proven = best.value;
            return best;
        }
        order_features(turn_, task.inherited, whole_, task.hint);
        Cost low = whole, proven = kInf;
        for (const int f : turn_) {
            const Cost inherited = task.inherited ? task.inherited[f] : Cost{0};
            by_feature[f] = std::max(inherited, task.lower);
            if (best.value > known && std::max(by_feature[f], known) < best.value - gap()) {
                search_feature(task, f, whole, best);
                by_feature[f] = std::max(by_feature[f], std::min<Cost>(whole, penalty_ + search_.lower()));
                proven = std::min(proven, std::max(by_feature[f], penalty_ + search_.proven()));
            } else {
                ++counters_.pruned_features;
                proven = std::min(proven, by_feature[f]);
            }
            low = std::min(low, by_feature[f]);
        }
        best.lower = std::max(task.lower, low), best.proven = std::max(known, std::min(best.value, proven));
        if (support_ == 0 && best.found) best.lower = std::min(best.lower, best.value);
        return best;
    }

    static void improve(Answer<Cost>& best, Cost value, Plan::Kind kind) {
        if (value >= best.value) return;
        best.found = true, best.value = value, best.kind = kind;
    }
    static Answer<Cost> settled(Answer<Cost> best, Cost lower) {
        best.lower = lower, best.proven = std::min(best.value, std::max(lower, Cost{0}));
        return best;
    }

    /// Trees of one test on the whole node, which is in left_; returns a lower bound, in `whole_` per
    /// feature, in supported_whole_ with the support.
    Cost whole_node(Cost leaf, Answer<Cost>& best) {
        const auto everything = static_cast<Key>(~Key{0});
        Cost low = leaf;
        supported_whole_ = leaf;
        for (int g = 0; g < table_.features; ++g) {
            Cost value = leaf, lower = 0, ignored = 0;
            In in = lanes_.input(lanes_[g], everything, true, false);
            scan(g, in, kInf, kInf, value, lower, ignored, ignored);
            whole_[g] = std::min<Cost>(leaf, penalty_ + lower);
            low = std::min(low, whole_[g]);
            if (support_ > 0) {
                value = whole_[g] < best.value ? leaf : kInf;
                if (value == leaf) supported_scan(g, everything, everything, true, kInf, value);
            }
            supported_whole_ =
                std::min(supported_whole_, std::max<Cost>(whole_[g], value == kInf ? 0 : penalty_ + value));
            improve(best, penalty_ + value, Plan::best_stump);
        }
        return low;
    }

    void search_feature(const Task& task, int f, Cost whole, Answer<Cost>& best) {
        const Node<W>& sorted = lanes_.sorted(task.node, f);
        search_.cuts.take(table_, sorted, f, task.support);
        clash_ = rules_.clash_of(f);
        const Cost least = guesses() ? supported_whole_ : whole;
        search_.begin(rules_, table_.features, task.node.total_mass, least, supported_whole_, whole_.data());
        if (search_.cuts.empty()) return;
        lanes_.forget_keys();
        prefixes_.begin(sorted, f);
        typename IntervalSearch<W>::Pick pick;
        std::uint32_t wish = task.hint.feature == f ? task.hint.key : 0;
        while (search_.next(best.value - penalty_ - gap(), pick, by_left_.data(), by_right_.data(), counters_, wish)) {
            wish = 0;
            control_.check();
            if (support_ > 0 && !guess_ && task.budget > 2 && drop_interval(task, f, pick, best)) continue;
            const Found found = evaluate(task, f, pick, best);
            search_.settle(pick, best.value - penalty_ - gap(), found, by_left_.data(), by_right_.data(), counters_);
        }
    }

    /// Try to settle a whole interval of splits at once. Its trees cost at least what they cost on the rows that are on
    /// the same side in all of these splits; and a leaf of enough weight in one of them has it, too, when the rows in
    /// between are counted on both sides. The best trees in this sense bound all: the sub-interval rule with a support.
    bool drop_interval(const Task& task, int f, const typename IntervalSearch<W>::Pick& pick,
                       const Answer<Cost>& best) {
        if (pick.interval.from == pick.interval.to) return false;
        const Keys keys = weigh_common(task.node, pick);
        const Cost cutoff = best.value - penalty_ - gap();
        Cost low_left = left_.leaf, low_right = right_.leaf;
        if (!scan_features(f, keys, true, cutoff, 0, low_left, low_right, true)) return false;
        low_left = rest(low_left, open_left_), low_right = rest(low_right, open_right_);
        if (low_left + low_right < cutoff) return false;
        search_.drop(pick, low_left + low_right, counters_);
        return true;
    }

    /// The rows and the bounds per second feature that all splits of a pick's interval share on each side.
    Keys weigh_common(const Node<W>& node, const typename IntervalSearch<W>::Pick& pick) {
        const auto& cuts = search_.cuts;
        const int from = pick.interval.from, to = pick.interval.to;
        prefixes_.below(static_cast<std::size_t>(from), left_.weight);
        prefixes_.below(static_cast<std::size_t>(to), right_.weight);
        for (int y = 0; y < table_.classes; ++y) right_.weight[y] = node.weight[y] - right_.weight[y];
        left_.prepare(table_.losses, table_.cost), right_.prepare(table_.losses, table_.cost);
        search_.common(pick, open_left_.data(), open_right_.data());
        return {static_cast<Key>(cuts.key(from)), static_cast<Key>(cuts.key(to)), static_cast<Key>(cuts.key(to)),
                static_cast<Key>(cuts.key(from))};
    }

    void weigh_sides(const Node<W>& node, const Place& cut) {
        prefixes_.below(cut.rows, left_.weight);
        for (int y = 0; y < table_.classes; ++y) right_.weight[y] = node.weight[y] - left_.weight[y];
        left_.prepare(table_.losses, table_.cost), right_.prepare(table_.losses, table_.cost);
        low_leaf_ = clash_.any() ? leaf_without(left_.as_leaf, clash_.below) : left_.leaf;
        high_leaf_ = clash_.any() ? leaf_without(right_.as_leaf, clash_.above) : right_.leaf;
    }
    /// Whether both sides of the cut in work may have tests.
    bool both_may_have_tests(std::int64_t budget) const { return budget >= 3 && !clash_.any(); }
    /// What the cut in work costs with sides of so much.
    Cost sum_of(Cost left, Cost right, std::int64_t budget) const {
        return both_may_have_tests(budget) ? left + right : std::min(low_leaf_ + right, left + high_leaf_);
    }

    /// One split {rank_f < key}: bounds for both sides, and a tree if it is good.
    Found evaluate(const Task& task, int f, const typename IntervalSearch<W>::Pick& pick, Answer<Cost>& best) {
        const Place cut{static_cast<std::size_t>(pick.cut), search_.cuts.key(pick.cut)};
        const Cost cutoff = best.value - penalty_ - gap();
        Found out{pick.left, pick.right, pick.left + pick.right, pick.supported_left, pick.supported_right,
                  pick.supported_left + pick.supported_right, {}, {}};
        if (std::max(out.total, out.supported_total) >= cutoff) {
            ++counters_.bounded;
            return out;
        }
        ++counters_.splits;
        weigh_sides(task.node, cut);
        Cost best_left = left_.leaf, best_right = right_.leaf;
        const Keys keys(static_cast<Key>(cut.key));
        const bool left_is_leaf = search_.cuts.left_is_leaf(pick.cut),
                   right_is_leaf = search_.cuts.right_is_leaf(pick.cut);
        open_sides(left_is_leaf, right_is_leaf);
        scan_features(f, keys, false, cutoff, pick.reach, best_left, best_right);
        if (left_is_leaf)
            out.supported_left = left_.leaf;
        else
            out.left = std::max(out.left, rest(best_left, open_left_));
        if (right_is_leaf)
            out.supported_right = right_.leaf;
        else
            out.right = std::max(out.right, rest(best_right, open_right_));
        out.total = sum_of(out.left, out.right, task.budget);
        out.supported_left = std::max(out.left, out.supported_left),
        out.supported_right = std::max(out.right, out.supported_right);
        const bool hold = support_ > 0 && out.supported_left + out.supported_right - pick.reach < cutoff;
        if (hold) {
            best_left = left_.leaf, best_right = right_.leaf;
            open_sides(left_is_leaf, right_is_leaf);
            scan_features(f, keys, true, cutoff, pick.reach, best_left, best_right);
            out.supported_left = std::max(out.supported_left, rest(best_left, open_left_));
            out.supported_right = std::max(out.supported_right, rest(best_right, open_right_));
        }
        out.supported_total = sum_of(out.supported_left, out.supported_right, task.budget);
        if (support_ == 0 || hold) take(f, cut, task.budget, best_left, best_right, best);
        if (guesses()) {  // leaves aside: a row more may allow a test
            if (!left_is_leaf) out.left = out.supported_left;
            if (!right_is_leaf) out.right = out.supported_right;
            out.total = std::max(out.total, out.left + out.right);
        }
        return out;
    }
    bool guesses() const { return guess_ && support_ > 0; }
    Cost gap() const { return tolerance_.at(counters_.scans); }
    /// Second features may be scanned for the sides that may have a test.
    void open_sides(bool left_is_leaf, bool right_is_leaf) {
        open_left_ = by_left_, open_right_ = by_right_;
        if (left_is_leaf) std::fill(open_left_.begin(), open_left_.end(), kInf);
        if (right_is_leaf) std::fill(open_right_.begin(), open_right_.end(), kInf);
    }
    static Cost rest(Cost low, const std::vector<Cost>& open) {
        for (const Cost bound : open) low = std::min(low, bound);
        return low;
    }

    void take(int f, const Place& cut, std::int64_t budget, Cost best_left, Cost best_right, Answer<Cost>& best) {
        const bool both = both_may_have_tests(budget), test_left = both || best_left + high_leaf_ <= low_leaf_ + best_right,
                   test_right = both || !test_left;
        const Cost value = sum_of(best_left, best_right, budget);
        if (penalty_ + value >= best.value) return;
        best.found = true, best.value = penalty_ + value, best.kind = Plan::split;
        best.test = {f, cut.key};
        best.left_feature = best_feature_left_, best.right_feature = best_feature_right_;
        best.left = test_left && best_left < left_.leaf ? Plan::best_stump : Plan::leaf;
        best.right = test_right && best_right < right_.leaf ? Plan::best_stump : Plan::leaf;
    }

    /// Scan second features, the lowest bound first, until no side can improve or the bounds exclude the split. With
    /// `supported` the trees of the sides keep the minimum support. With `doubt` it returns false as soon as the sides
    /// may sum up to less than the cutoff.
    bool scan_features(int f, const Keys& keys, bool supported, Cost cutoff, Cost reach, Cost& best_left,
                       Cost& best_right, bool doubt = false) {
        lowest_.begin();
        for (;;) {
            control_.check();
            const auto [low_left, low_right, at_left, at_right] = lowest_.find(open_left_, open_right_, kInf);
            const bool want_left = low_left < best_left, want_right = low_right < best_right;
            if (doubt && best_left + best_right < cutoff) return false;
            if (!want_left && !want_right) return true;
            if (std::min(best_left, low_left) + std::min(best_right, low_right) - reach >= cutoff) return true;
            const bool by_left = want_left && (!want_right || best_left - low_left >= best_right - low_right);
            const int g = by_left ? at_left : at_right;
            lanes_.need_keys(f, g, counters_);
            if (supported) {
                Cost value = kInf;
                const Cost least =
                    supported_scan(g, by_left ? keys.left : keys.right, by_left ? keys.left_weight : keys.right_weight,
                                   by_left, (by_left ? best_left : best_right) - penalty_, value);
                if (guess_) {
                    Cost& bound = (by_left ? by_left_ : by_right_)[g];
                    bound = std::max(bound, std::min<Cost>(by_left ? left_.leaf : right_.leaf, penalty_ + least));
                }
                by_left ? lower(best_left, best_feature_left_, value, g)
                        : lower(best_right, best_feature_right_, value, g);
                (by_left ? open_left_ : open_right_)[g] = kInf;
            } else {
                scan_feature(g, keys.left, best_left, best_right, open_left_[g] < kInf, open_right_[g] < kInf);
                open_left_[g] = open_right_[g] = kInf;
            }
        }
    }

    /// The best single test on feature g for one side of the split, with the minimum support, which is counted
    /// on the side of `weight_key`; `value` stays if there is none. Returns a lower bound.
    Cost supported_scan(int g, Key key, Key weight_key, bool left, Cost beat, Cost& value) {
        if (!lanes_.confine(lanes_[g], weight_key, left, support_, confined_)) return kInf;
        In in = lanes_.input(lanes_[g], key, left, !left);
        in.valid = confined_.data();
        Cost lower = 0, ignored = 0;
        scan(g, in, beat, beat, left ? value : ignored, lower, left ? ignored : value, lower);
        return lower;
    }

    void scan_feature(int g, Key key, Cost& best_left, Cost& best_right, bool may_left = true, bool may_right = true) {
        const bool want_left = may_left && by_left_[g] < best_left, want_right = may_right && by_right_[g] < best_right;
        Cost value_left = kInf, value_right = kInf, lower_left = 0, lower_right = 0;
        In in = lanes_.input(lanes_[g], key, want_left, want_right);
        scan(g, in, best_left - penalty_, best_right - penalty_, value_left, lower_left, value_right, lower_right);
        if (want_left) {
            by_left_[g] = std::max(by_left_[g], std::min<Cost>(left_.leaf, penalty_ + lower_left));
            lower(best_left, best_feature_left_, value_left, g);
        }
        if (want_right) {
            by_right_[g] = std::max(by_right_[g], std::min<Cost>(right_.leaf, penalty_ + lower_right));
            lower(best_right, best_feature_right_, value_right, g);
        }
    }
    /// A test on feature g costs `value` without its price.
    void lower(Cost& best, int& feature, Cost value, int g) const {
        if (penalty_ + value < best) best = penalty_ + value, feature = g;
    }

    /// The best single test for the sides in `in`: what was found, and a lower bound. Pairs of predictions that cannot
    /// beat `beat_*` are left out.
    void scan(int g, In& in, Cost beat_left, Cost beat_right, Cost& value_left, Cost& lower_left, Cost& value_right,
              Cost& lower_right) {
        const bool want_left = in.sides & kLeft, want_right = in.sides & kRight;
        const Clash clash = rules_.clash_of(g);
        Extremes d;
        if (table_.classes == 2) {
            ++counters_.scans, work_ += lanes_.size();
            scans_.delta(in, d);
            if (want_left) lower_left = value_left = left_.with_test(0, 1, d.most_left, d.least_left, clash);
            if (want_right) lower_right = value_right = right_.with_test(0, 1, d.most_right, d.least_right, clash);
            return;
        }
        if (want_left) left_.rewind(table_.losses, table_.cost), value_left = left_.leaf;
        if (want_right) right_.rewind(table_.losses, table_.cost), value_right = right_.leaf;
        typename Side<Cost>::Pair p{}, q{};
        for (;;) {
            const bool l = want_left && left_.next(std::min(beat_left, value_left), p);
            const bool r = want_right && right_.next(std::min(beat_right, value_right), q);
            if (!l && !r) break;
            ++counters_.scans, work_ += lanes_.size();
            in.sides = (l ? kLeft : 0) | (r ? kRight : 0);
            scan_pairs(in, p, q, d);
            if (l) value_left = std::min(value_left, left_.with_test(p.a, p.b, d.most_left, d.least_left, clash));
            if (r) value_right = std::min(value_right, right_.with_test(q.a, q.b, d.most_right, d.least_right, clash));
        }
        if (want_left) lower_left = std::min(value_left, left_.rest());
        if (want_right) lower_right = std::min(value_right, right_.rest());
    }

    void scan_pairs(In& in, const typename Side<Cost>::Pair& p, const typename Side<Cost>::Pair& q, Extremes& d) {
        const std::int64_t of_error = table_.losses.of_error;
        if (of_error > 0) {
            in.pairs[0] = p.a, in.pairs[1] = p.b, in.pairs[2] = q.a, in.pairs[3] = q.b;
            table_.losses.unit_weight ? scans_.pair(in, d) : scans_.weighted_pair(in, d);
            d.most_left *= of_error, d.least_left *= of_error, d.most_right *= of_error, d.least_right *= of_error;
            return;
        }
        if (in.sides & kLeft) priced_pair(in, p, kLeft, d);
        if (in.sides & kRight) priced_pair(in, q, kRight, d);
    }
    /// A pair of predictions whose costs depend on the class.
    void priced_pair(In in, const typename Side<Cost>::Pair& p, int side, Extremes& d) {
        const std::size_t size = lanes_.size();
        by_class_.resize(table_.classes), scratch_.resize(size);
        for (int y = 0; y < table_.classes; ++y) {
            const Cost* row = table_.cost.data() + static_cast<std::size_t>(y) * table_.predictions;
            by_class_[y] = static_cast<Sum>(row[p.a] - row[p.b]);
        }
        for (std::size_t i = 0; i < size; ++i) {
            const auto y = in.label[i];
            scratch_[i] = static_cast<Sum>(in.step[i] * by_class_[y == kNoLabel ? 0 : y]);
        }
        Extremes one;
        in.step = scratch_.data(), in.sides = side;
        scans_.delta(in, one);
        if (side == kLeft)
            d.most_left = one.most_left, d.least_left = one.least_left;
        else
            d.most_right = one.most_right, d.least_right = one.least_right;
    }
};

}  // namespace treeform::contree
