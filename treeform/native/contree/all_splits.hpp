#pragma once
// Trees of depth two again, but not the best one: every split of the root that some tree below a bound begins with. The
// search is that of depth_two.hpp with an upper bound that finding a tree does not lower.
#include <algorithm>
#include <functional>

#include "depth_two.hpp"

namespace treeform::contree {

template <class W>
class AllSplits : public DepthTwo<W> {
public:
    using Base = DepthTwo<W>;
    using Base::Base;
    using typename Base::Cost;
    using typename Base::Key;
    using typename Base::Task;

    /// A split of the whole node, and bounds of the best trees of at most one test on its sides, with the task's
    /// support. `by_left` and `by_right` are bounds per second feature, exact where they matter; with two labels and a
    /// support, of trees whose two leaves differ.
    struct Split {
        Test test;
        std::size_t rows;  // on the left
        Cost left, right;
        const Cost *by_left, *by_right;
    };

    /// Returns the upper bound from there on.
    using Visit = std::function<Cost(const Split&)>;

    /// Visit every split whose sides' best trees cost less than `upper` with it.
    void for_each(const Task& task, Cost upper, const Visit& visit) {
        begin(task);
        for (const int f : turn()) visit_feature(task, f, upper, visit);
    }

    /// The same feature by feature: `begin` first, then `visit_feature` for the features in `turn`, with nothing else
    /// in between.
    void begin(const Task& task) {
        this->control_.count(this->counters_.nodes);
        this->support_ = task.support;
        this->left_.weight = task.node.weight;
        this->left_.prepare(this->table_.losses, this->table_.cost);
        this->lanes_.lay_out(task.node, this->control_);
        Answer<Cost> ignored;
        ignored.value = Base::kInf;
        whole_node_ = this->whole_node(this->left_.leaf, ignored);
        order_features(this->turn_, task.inherited, this->whole_, task.hint);
    }
    const std::vector<int>& turn() const { return this->turn_; }

    /// Leave out splits where only trees of at most one test are below the bound: they are known. Where a support
    /// binds, most splits are such: two leaves of one label cost as much as one leaf, whatever the split.
    void leave_out_one_test(bool leave_out) { leave_out_ = leave_out; }
    void visit_feature(const Task& task, int f, Cost& upper, const Visit& visit) {
        if (task.inherited && task.inherited[f] >= upper) {
            ++this->counters_.pruned_features;
            return;
        }
        const Cost whole = whole_node_;
        auto& search = this->search_;
        auto &by_left = this->by_left_, &by_right = this->by_right_;
        search.cuts.take(this->table_, task.node, f, task.support);
        search.begin(this->rules_, this->table_.features, task.node.total_mass, whole, this->supported_whole_,
                     this->whole_.data());
        if (search.cuts.empty()) return;
        this->lanes_.forget_keys();
        this->prefixes_.begin(task.node, f);
        typename IntervalSearch<W>::Pick pick;
        while (search.next(upper - this->penalty_, pick, by_left.data(), by_right.data(), this->counters_)) {
            this->control_.check();
            Answer<Cost> at;
            at.value = upper;
            if (task.support > 0 && drop(task, f, pick, at)) continue;
            const auto found = this->evaluate(task, f, pick, at);
            search.settle(pick, upper - this->penalty_, found, by_left.data(), by_right.data(), this->counters_);
            if (!at.found) continue;
            const Cost room = upper - this->penalty_;
            const std::uint32_t key = search.cuts.key(pick.cut);
            const Cost least_left = std::max(found.left, found.supported_left),
                       least_right = std::max(found.right, found.supported_right);
            sharpen(f, static_cast<Key>(key), room - least_right, room - least_left);
            if (different()) {
                const typename Base::Keys keys(static_cast<Key>(key));
                differ(f, keys, true, room - least_right, by_left), differ(f, keys, false, room - least_left, by_right);
                if (leave_out_ && least_of_two(by_left, by_right) >= room) continue;
            }
            upper = visit(Split{{f, key},
                                static_cast<std::size_t>(pick.cut),
                                least_left,
                                least_right,
                                by_left.data(),
                                by_right.data()});
        }
    }

private:
    Cost whole_node_ = 0;
    bool leave_out_ = false;

    /// Whether bounds of trees whose two leaves differ are known: a support keeps them from being nearly one leaf.
    bool different() const { return this->support_ > 0 && this->table_.classes == 2; }

    /// The best test on feature g for one side whose leaves have different labels and the support, which is counted on
    /// the side of `weight`; kInf: there is none.
    Cost different_scan(int g, Key key, Key weight, bool left) {
        auto& lane = this->lanes_[g];
        if (!this->lanes_.confine(lane, weight, left, this->support_, this->confined_)) return Base::kInf;
        auto in = this->lanes_.input(lane, key, left, !left);
        if (in.step_bytes) return 0;
        in.valid = this->confined_.data(), in.cuts_only = true;
        ++this->counters_.scans;
        Extremes d;
        this->scans_.delta(in, d);
        if ((left ? d.most_left < d.least_left : d.most_right < d.least_right)) return Base::kInf;
        return this->penalty_
               + (left ? this->left_.with_test(0, 1, d.most_left, d.least_left, {})
                       : this->right_.with_test(0, 1, d.most_right, d.least_right, {}));
    }
    /// Bounds per second feature of a side that are not above `most` become those of such tests.
    void differ(int f, const typename Base::Keys& keys, bool left, Cost most, std::vector<Cost>& by) {
        for (int g = 0; g < this->table_.features; ++g) {
            if (by[g] > most) continue;
            this->lanes_.need_keys(f, g, this->counters_);
            by[g] = std::max(by[g], left ? different_scan(g, keys.left, keys.left_weight, true)
                                         : different_scan(g, keys.right, keys.right_weight, false));
        }
    }
    /// Of trees with a test on a side at least, from bounds per second feature.
    Cost least_of_two(const std::vector<Cost>& by_left, const std::vector<Cost>& by_right) const {
        const Cost left = least_of_one(by_left), right = least_of_one(by_right);
        return std::min(left + std::min(this->right_.leaf, right), this->left_.leaf + right);
    }

    /// DepthTwo::drop_interval, of trees with a test on a side at least where these alone are sought.
    bool drop(const Task& task, int f, const typename IntervalSearch<W>::Pick& pick, const Answer<Cost>& best) {
        if (!leave_out_ || !different()) return this->drop_interval(task, f, pick, best);
        const typename Base::Keys keys = this->weigh_common(task.node, pick);
        auto &left = this->open_left_, &right = this->open_right_;
        const Cost cutoff = best.value - this->penalty_;
        differ(f, keys, true, cutoff - this->right_.leaf, left);
        if (least_of_one(left) + std::min(this->right_.leaf, least_of_one(right)) < cutoff) return false;
        differ(f, keys, false, cutoff - this->left_.leaf, right);
        const Cost low = least_of_two(left, right);
        if (low < cutoff) return false;
        this->search_.drop(pick, low, this->counters_);
        return true;
    }
    static Cost least_of_one(const std::vector<Cost>& by) { return *std::min_element(by.begin(), by.end()); }

    /// Bounds per second feature below `left` and `right` become exact.
    void sharpen(int f, Key key, Cost left, Cost right) {
        for (int g = 0; g < this->table_.features; ++g) {
            if (this->by_left_[g] >= left && this->by_right_[g] >= right) continue;
            this->lanes_.need_keys(f, g, this->counters_);
            Cost best_left = left, best_right = right;
            this->scan_feature(g, key, best_left, best_right);
        }
    }
};

}  // namespace treeform::contree
