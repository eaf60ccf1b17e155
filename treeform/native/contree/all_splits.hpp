#pragma once
// Trees of depth two again, but not the best one: every split of the root that some tree below a bound begins with. The
// search is that of depth_two.hpp with an upper bound that finding a tree does not lower.
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
    /// support. `by_left` and `by_right` are bounds per second feature without it, exact where they matter.
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
            if (task.support > 0 && this->drop_interval(task, f, 0, pick, at)) continue;
            const auto found = this->evaluate(task, f, 0, pick, at);
            search.settle(pick, upper - this->penalty_, found, by_left.data(), by_right.data(), this->counters_);
            if (!at.found) continue;
            const Cost room = upper - this->penalty_;
            const std::uint32_t key = search.cuts.key(pick.cut);
            const Cost least_left = std::max(found.left, found.supported_left),
                       least_right = std::max(found.right, found.supported_right);
            sharpen(f, static_cast<Key>(key), room - least_right, room - least_left);
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
