#pragma once
// The search over the thresholds of one feature (Brita, van der Linden and Demirovic, AAAI 2025, Algorithm 1).
//
// z(c) is the mass left of cut c (see cuts.hpp) of feature f in a node. For a split at c let L(c) and R(c) be the best
// costs of the two sides and T(c) = L(c) + R(c). Moving rows of total mass q from one set to another changes the best
// cost by at most q, and a subset never costs more than the whole. Hence for evaluated cuts u < w < v
//
//   neighbourhood (Theorem 1)      T(w) >= T(u) - (z(w) - z(u)),   T(w) >= T(v) - (z(v) - z(w))
//   sub-interval (Theorem 3)       T(w) >= L(u) + R(v)
//   Theorem 2                      T(w) >= L(u),  T(w) >= R(v)      (the halves of Theorem 3)
//   crossed                        T(w) >= L(v) + R(u) - (z(v) - z(u))
//
// The last is both first lines taken side by side, and is counted with the sub-intervals. Everything stays true when
// L, R and T are lower bounds of the best costs, and that is what a Record stores; so a subproblem that was stopped at
// its upper bound still prunes. Two virtual records stand at the ends: nothing on the left (L = 0, R = whole node at
// one level less), and nothing on the right.
//
// With requirements on the leaves (a minimum support) a subset may cost more than the whole: taking one row away may
// empty a leaf below its minimum, and cost as much as that whole leaf. A tree that is admissible stays so when rows are
// added. So with L', R' the constrained costs of the sides (and L, R, without the requirement, below them) for u < w <
// v
//
//   R'(w) >= R'(u) - (z(w) - z(u)),   L'(w) >= L'(v) - (z(v) - z(w)),   L'(w) >= L(u),   R'(w) >= R(v)
//
// and what follows by adding a bound for either side: half of the neighbourhood rule in each direction, the
// sub-interval rule for L and R, the crossed one for L' and R'. A side that weighs less than twice the support is a leaf,
// which costs no more on fewer rows: so L'(w) >= L'(u) where that holds for the left sides of all w, and R'(w) >= R'(v)
// for the right ones. Records hold both kinds of costs; without requirements the two are the same.
//
// Intervals of cuts not yet settled wait in a heap, the lowest bound first. The middle (by mass) of the best interval
// is evaluated next. With second-feature bounds a Record also holds, for every feature g, lower bounds of the sides'
// best trees that test g first; they obey the same lines and let whole features be skipped inside a side.
#include <algorithm>
#include <limits>
#include <vector>

#include "../common/cold.hpp"
#include "cuts.hpp"
#include "problem.hpp"

namespace treeform::contree {

template <class W>
class IntervalSearch {
public:
    using Cost = typename W::Cost;
    static constexpr Cost kInf = std::numeric_limits<Cost>::max() / 4;

    struct Record {
        Cost z, left, right, total;  // without requirements
        Cost supported_left, supported_right;  // with them
        Test hint_left, hint_right;
    };
    struct Interval {
        Cost lower, loose;  // bounds of a split in it, with requirements and without
        int u, v;  // records at its ends
        int from, to;  // its cuts
    };
    /// A cut to evaluate, with the known bounds of it.
    struct Pick {
        int cut = -1;
        Interval interval{};
        Cost reach = 0;  // mass to the farther end of the interval: slack added to the upper bound of the sides
        Cost left = 0, right = 0;  // lower bounds of the sides without requirements
        Cost supported_left = 0, supported_right = 0;  // and with them
        Test hint_left, hint_right;  // root tests of the sides of the nearest evaluated cut
        std::uint32_t first = 0, last = 0;  // keys of the first and the last cut of the interval
        Cost common_left = 0, common_right = 0;  // bounds of the sides, without requirements, that all its cuts share
        Cost support_cost_left = 0,
             support_cost_right = 0;  // by how much requirements raised those of the nearest cuts
    };

    /// What an evaluated cut came to, in lower bounds.
    struct Found {
        Cost left = 0, right = 0, total = 0;  // without requirements
        Cost supported_left = 0, supported_right = 0, supported_total = 0;  // with them
        Test hint_left, hint_right;
    };

    Cuts<W> cuts;
    bool open = false;

    /// Start on `cuts`. `whole` is a lower bound of the node without this split (which is also what a split that sends
    /// all rows one way costs), `supported` one with requirements, `whole_by` as `whole` per feature (size F).
    void begin(const Settings& rules, int features, Cost mass, Cost whole, Cost supported, const Cost* whole_by) {
        rules_ = &rules, features_ = features, open = true;
        in_flight_.clear();
        proven_ = kInf, closed_ = whole;
        records_.clear(), arena_.clear(), heap_.clear();
        const Test none{};
        records_.push_back({0, 0, whole, whole, 0, supported, none, none});
        records_.push_back({mass, whole, 0, whole, supported, 0, none, none});
        arena_.assign(4 * static_cast<std::size_t>(features), 0);
        std::copy(whole_by, whole_by + features, arena_.begin() + features);
        std::copy(whole_by, whole_by + features, arena_.begin() + 2 * features);
        if (!cuts.empty()) heap_.push_back(within({0, 0, 0, 1, cuts.first(), cuts.last()}));
    }

    /// The next cut that may cost less than `cutoff`; false when there is none. Several may be evaluated at a time.
    /// `by_left` and `by_right` receive the bounds per second feature. `wish` is a preferred key, or 0.
    bool next(Cost cutoff, Pick& pick, Cost* by_left, Cost* by_right, Counters& counters, std::uint32_t wish = 0) {
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            Interval iv = heap_.back();
            heap_.pop_back();
            if (iv.lower >= cutoff) {
                close(iv);
                if (!rules_->subinterval) continue;
                close_all(iv, counters);
                return false;
            }
            if (rules_->shrinking) shrink(iv, cutoff, counters.pruned_shrinking);
            if (iv.from > iv.to) continue;
            pick.interval = iv;
            pick.cut = wish ? cuts.nearest(wish, iv.from, iv.to) : cuts.middle(iv.from, iv.to);
            wish = 0;
            pick.first = cuts.key(iv.from), pick.last = cuts.key(iv.to);
            pick.common_left = records_[iv.u].left, pick.common_right = records_[iv.v].right;
            pick.support_cost_left = records_[iv.v].supported_left - records_[iv.v].left;
            pick.support_cost_right = records_[iv.u].supported_right - records_[iv.u].right;
            bound_sides(pick, by_left, by_right);
            in_flight_.push_back(iv.lower);
            return true;
        }
        return false;
    }

    /// Settle a picked cut.
    void settle(const Pick& pick, Cost cutoff, const Found& found, const Cost* by_left, const Cost* by_right,
                Counters& counters) {
        const int id = static_cast<int>(records_.size());
        records_.push_back({cuts.z(pick.cut), found.left, found.right, found.total,
                            std::max(found.left, found.supported_left), std::max(found.right, found.supported_right),
                            found.hint_left, found.hint_right});
        arena_.insert(arena_.end(), by_left, by_left + features_);
        arena_.insert(arena_.end(), by_right, by_right + features_);
        closed_ = std::min(closed_, found.total);
        proven_ = std::min(proven_, std::max(found.total, found.supported_total));
        const auto& iv = pick.interval;
        in_flight_.erase(std::find(in_flight_.begin(), in_flight_.end(), iv.lower));
        push(part(iv, iv.u, id, iv.from, cuts.before(pick.cut - 1, iv.from)), cutoff, counters);
        push(part(iv, id, iv.v, cuts.after(pick.cut + 1, iv.to), iv.to), cutoff, counters);
    }

    /// Settle the whole interval of a pick: no split in it costs less than `proven`.
    void drop(const Pick& pick, Cost proven, Counters& counters) {
        const auto& iv = pick.interval;
        in_flight_.erase(std::find(in_flight_.begin(), in_flight_.end(), iv.lower));
        counters.pruned_subinterval += static_cast<std::uint64_t>(iv.to - iv.from + 1);
        closed_ = std::min(closed_, iv.loose), proven_ = std::min(proven_, proven);
    }
    /// Per second feature, bounds of the sides that all splits of the pick's interval share, whatever the support.
    void common(const Pick& pick, Cost* by_left, Cost* by_right) const {
        const Cost* p = arena_.data() + 2 * static_cast<std::size_t>(features_) * pick.interval.u;
        const Cost* q = arena_.data() + 2 * static_cast<std::size_t>(features_) * pick.interval.v + features_;
        std::copy(p, p + features_, by_left), std::copy(q, q + features_, by_right);
    }

    /// No tree with this root feature costs less, requirements aside; nor on any larger set of rows.
    Cost lower() const {
        Cost low = closed_;
        for (const auto& iv : heap_) low = std::min(low, iv.loose);
        return low;
    }
    /// No admissible tree with this root feature, other than those found, costs less.
    Cost proven() const { return std::min(proven_, waiting()); }
    bool done() const { return heap_.empty() && in_flight_.empty(); }
    /// The bound of the interval that `next` would take; kInf if there is none.
    Cost front() const { return heap_.empty() ? kInf : heap_.front().lower; }
    TREEFORM_COLD std::size_t bytes() const {
        return cuts.bytes() + records_.capacity() * sizeof(Record) + arena_.capacity() * sizeof(Cost)
               + heap_.capacity() * sizeof(Interval);
    }

private:
    const Settings* rules_ = nullptr;
    int features_ = 0;
    std::vector<Record> records_;
    std::vector<Cost> arena_;  // per record: F bounds of the left side, F of the right
    std::vector<Interval> heap_;
    std::vector<Cost> in_flight_;  // lower bounds of the intervals whose cut is being evaluated
    Cost closed_ = kInf, proven_ = kInf;

    Cost waiting() const {
        Cost low = kInf;
        for (const Cost lower : in_flight_) low = std::min(low, lower);
        for (const auto& iv : heap_) low = std::min(low, iv.lower);
        return low;
    }
    void close(const Interval& iv) { closed_ = std::min(closed_, iv.loose), proven_ = std::min(proven_, iv.lower); }

    static bool later(const Interval& a, const Interval& b) {
        return a.lower != b.lower ? a.lower > b.lower : a.from > b.from;
    }

    Interval part(const Interval& of, int u, int v, int from, int to) const {
        return within({of.lower, of.loose, u, v, from, to});
    }
    /// With the bounds from the records at its ends; there may be no cuts in it.
    Interval within(Interval iv) const {
        const Cost loose = loose_bound(iv.u, iv.v);
        iv.loose = std::max(iv.loose, loose), iv.lower = std::max(iv.lower, loose);
        if (!rules_->subinterval || iv.from > iv.to) return iv;
        const auto &a = records_[iv.u], &b = records_[iv.v];
        const Cost left = left_of_all(iv), right = right_of_all(iv);
        iv.lower = std::max(iv.lower, left + right);
        if (rules_->neighbourhood)
            iv.lower = std::max(iv.lower, std::max({b.supported_left + a.supported_right, left + a.supported_right,
                                                    b.supported_left + right})
                                              - (b.z - a.z));
        return iv;
    }
    /// Bounds of the sides, with requirements, of all splits in an interval.
    Cost left_of_all(const Interval& iv) const {
        return cuts.left_is_leaf(iv.to) ? records_[iv.u].supported_left : records_[iv.u].left;
    }
    Cost right_of_all(const Interval& iv) const {
        return cuts.right_is_leaf(iv.from) ? records_[iv.v].supported_right : records_[iv.v].right;
    }
    Cost loose_bound(int u, int v) const {
        const auto &a = records_[u], &b = records_[v];
        Cost low = 0;
        if (rules_->subinterval) {
            low = a.left + b.right;
            if (rules_->neighbourhood) low = std::max(low, b.left + a.right - (b.z - a.z));
        }
        if (rules_->shrinking) low = std::max({low, a.left, b.right});
        return low;
    }

    void push(Interval iv, Cost cutoff, Counters& counters) {
        if (rules_->neighbourhood && !rules_->shrinking) shrink(iv, cutoff, counters.pruned_neighbourhood);
        if (iv.from > iv.to) return;
        if (iv.lower >= cutoff) {
            close(iv);
            counters.pruned_subinterval += static_cast<std::uint64_t>(iv.to - iv.from + 1);
            return;
        }
        heap_.push_back(iv);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    void close_all(const Interval& iv, Counters& counters) {
        counters.pruned_subinterval += static_cast<std::uint64_t>(iv.to - iv.from + 1);
        for (const auto& other : heap_)
            counters.pruned_subinterval += static_cast<std::uint64_t>(other.to - other.from + 1);
        heap_.clear();
    }

    /// Drop the cuts at both ends that the neighbourhood of the records there rules out.
    void shrink(Interval& iv, Cost cutoff, std::uint64_t& pruned) {
        const auto &a = records_[iv.u], &b = records_[iv.v];
        const int before = iv.to - iv.from + 1;
        const Cost rightwards = std::max(a.total, left_of_all(iv) + a.supported_right),
                   leftwards = std::max(b.total, b.supported_left + right_of_all(iv));
        if (rightwards >= cutoff) iv.from = cuts.above(a.z + (rightwards - cutoff), iv.from, iv.to);
        if (leftwards >= cutoff && iv.from <= iv.to) iv.to = cuts.below(b.z - (leftwards - cutoff), iv.from, iv.to);
        const int gone = before - std::max(0, iv.to - iv.from + 1);
        if (gone > 0) {
            pruned += static_cast<std::uint64_t>(gone);
            const Cost extra = std::max(rightwards - a.total, leftwards - b.total);
            closed_ = std::min(closed_, std::max(iv.loose, cutoff - extra)), proven_ = std::min(proven_, cutoff);
        }
    }

    /// Bounds of the sides of the picked cut, from the records at both ends; also per second feature.
    void bound_sides(Pick& pick, Cost* by_left, Cost* by_right) const {
        const auto& iv = pick.interval;
        const auto &a = records_[iv.u], &b = records_[iv.v];
        const Cost z = cuts.z(pick.cut), from_a = z - a.z, to_b = b.z - z;
        pick.reach = std::max(z - cuts.z(iv.from), cuts.z(iv.to) - z);
        const auto& near = from_a <= to_b ? a : b;
        pick.hint_left = near.hint_left, pick.hint_right = near.hint_right;
        pick.left = pick.right = pick.supported_left = pick.supported_right = 0;
        if (!rules_->features) {
            std::fill_n(by_left, features_, 0), std::fill_n(by_right, features_, 0);
            return;
        }
        const Cost* p = arena_.data() + 2 * static_cast<std::size_t>(features_) * iv.u;
        const Cost* q = arena_.data() + 2 * static_cast<std::size_t>(features_) * iv.v;
        Cost left = kInf, right = kInf;
        for (int f = 0; f < features_; ++f) {
            const Cost l = std::max<Cost>(p[f], q[f] - to_b);
            const Cost r = std::max<Cost>(q[features_ + f], p[features_ + f] - from_a);
            by_left[f] = l, by_right[f] = r;
            left = std::min(left, l), right = std::min(right, r);
        }
        pick.left = std::max(left, Cost{0}), pick.right = std::max(right, Cost{0});
        pick.supported_left = std::max<Cost>({pick.left, b.supported_left - to_b, left_of_all(iv)});
        pick.supported_right = std::max<Cost>({pick.right, a.supported_right - from_a, right_of_all(iv)});
    }
};

}  // namespace treeform::contree
