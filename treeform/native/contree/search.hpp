#pragma once
// Trees of depth three and more (the paper's CT and Branch): the same interval search over thresholds, where the two
// sides of a split are subproblems of one level less.
//
// A node is first solved at one level less (its "seed"): that gives an incumbent, the bounds at the ends of every
// interval, and an order of the features. Then every feature gets a few bisection steps before any is finished
// ("warm-up"), which finds a bound close to the optimum early; features are finished in the order of what they showed.
//
// A side is solved against a generous upper bound, UB - (bound of the other side) + (mass to the farther end of the
// interval), rather than the tight one: a subproblem that is cut off at the tight bound says nothing about its
// neighbours, and it is the neighbours that cost the time. (The paper uses the same idea for the right side only.)
#include <deque>

#include "depth_two.hpp"

namespace treeform::contree {

inline std::int64_t full_tree(int depth) { return depth >= 40 ? kNone : (std::int64_t{1} << depth) - 1; }

template <class W>
class Search {
public:
    using Cost = typename W::Cost;
    using Reply = Answer<Cost>;
    static constexpr Cost kInf = IntervalSearch<Cost>::kInf;
    static constexpr int kWarmUp = 8;

    Search(const Table<W>& table, const Settings& rules, Control& control, Counters& counters,
           const ScanTable<typename W::Key, typename W::Sum>& scans)
        : table_(table), rules_(rules), control_(control), counters_(counters),
          penalty_(static_cast<Cost>(rules.node_penalty)), support_(static_cast<Cost>(rules.min_support)),
          two_(table, rules, control, counters, scans), stump_(table) {}

    /// The best tree on all rows. Improvements are published as they come.
    Reply solve_root(const Node<W>& root, Cost upper) {
        std::vector<Cost> by_feature(table_.features);
        root_depth_ = static_cast<int>(std::min<std::int64_t>(rules_.depth, rules_.max_nodes));
        return solve(0, root, rules_.depth, rules_.max_nodes, upper, 0, nullptr, {}, by_feature.data(), true);
    }

    /// A true lower bound while the root is being searched, also after a stop.
    Cost root_lower() const {
        if (!root_open_) return 0;
        Cost low = root_best_;
        for (std::size_t f = 0; f < frames_[0].searches.size(); ++f) {
            const auto& search = frames_[0].searches[f];
            low = std::min(low, search.open ? penalty_ + search.proven() : Cost{0});
        }
        return std::max(low, Cost{0});
    }

private:
    struct Frame {   // the scratch of one level of the recursion
        std::vector<IntervalSearch<Cost>> searches;
        std::vector<Cost> by_left, by_right, whole_by, child_by, seen;
        std::vector<int> turn;
        std::vector<std::uint8_t> goes_left;
        Node<W> left, right;

        explicit Frame(int features)
            : searches(features), by_left(features), by_right(features), whole_by(features), child_by(features),
              seen(features), turn(features) {}
    };
    /// A subproblem in work: everything that its parts need to know.
    struct Task {
        int level;
        const Node<W>& node;
        int depth;
        std::int64_t budget;
        Cost gap;
        bool root;
        Frame& frame;
        Reply best;
    };
    struct SideWork {   // one side of a split in work
        const Node<W>* node = nullptr;
        std::int64_t budget = 0;
        Cost lower = 0;
        Cost* by = nullptr;
        Test hint;
        Reply reply;
    };

    const Table<W>& table_;
    const Settings& rules_;
    Control& control_;
    Counters& counters_;
    Cost penalty_, support_;
    DepthTwo<W> two_;
    StumpScan<W> stump_;
    std::deque<Frame> frames_;
    int root_depth_ = 0;
    bool root_open_ = false;
    Cost root_best_ = 0;

    Frame& frame(int level) {
        while (frames_.size() <= static_cast<std::size_t>(level)) frames_.emplace_back(table_.features);
        return frames_[level];
    }

    Reply solve(int level, const Node<W>& node, int depth, std::int64_t budget, Cost upper, Cost lower,
                const Cost* inherited, Test hint, Cost* by_feature, bool root) {
        depth = static_cast<int>(std::min<std::int64_t>(depth, budget));
        budget = std::min(budget, full_tree(depth));
        const Cost gap = root && depth == root_depth_ ? static_cast<Cost>(rules_.gap) : Cost{0};
        if (depth <= 2) {
            if (root && depth == root_depth_) root_open_ = false;
            Reply reply = two_.solve(node, budget, upper, lower, inherited, hint, gap, by_feature);
            if (root) publish(reply);
            return reply;
        }
        ++counters_.nodes;
        control_.check();
        Task task{level, node, depth, budget, gap, root, frame(level), {}};
        const Cost leaf = stump_.leaf(node.weight);
        task.best.value = upper;
        if (leaf < upper) task.best.found = true, task.best.value = leaf;
        if (root) publish(task.best);
        if (task.best.value <= lower || node.n <= 1 || leaf == 0) {
            std::fill_n(by_feature, table_.features, lower);
            task.best.lower = task.best.proven = lower;
            task.best.proven = std::min(task.best.proven, task.best.value);
            return task.best;
        }
        const Cost whole = seed(task, leaf, lower, hint);
        return search(task, whole, lower, inherited, hint, by_feature);
    }

    /// Solve the node at one level less. Returns a lower bound of that.
    Cost seed(Task& task, Cost leaf, Cost lower, Test& hint) {
        auto& by = task.frame.whole_by;
        const Cost upper = task.root ? task.best.value : leaf + 1;  // what the root finds is published
        Reply below = solve(task.level + 1, task.node, task.depth - 1, task.budget, upper, lower, nullptr, hint,
                            by.data(), task.root);
        for (auto& bound : by) bound = std::min(bound, leaf);
        if (below.found && below.value < task.best.value) {
            task.best.found = true, task.best.value = below.value;
            task.best.plan = below.as_plan();
            if (hint.feature < 0) hint = task.best.plan->test;
        }
        return std::min(below.lower, leaf);
    }

    Reply search(Task& task, Cost whole, Cost lower, const Cost* inherited, Test hint, Cost* by_feature) {
        Frame& frame = task.frame;
        order_features(frame, inherited, hint);
        for (auto& one : frame.searches) one.open = false;
        if (task.root && task.depth == root_depth_) root_open_ = true, root_best_ = task.best.value;
        std::fill(frame.seen.begin(), frame.seen.end(), kInf);
        const auto known = [&](int f) { return std::max(lower, inherited ? inherited[f] : Cost{0}); };
        for (int phase = 0; phase < 2; ++phase) {
            if (phase == 1)
                std::stable_sort(frame.turn.begin(), frame.turn.end(),
                                 [&](int a, int b) { return frame.seen[a] < frame.seen[b]; });
            for (const int f : frame.turn) {
                if (task.best.value <= lower) break;
                if (known(f) >= task.best.value - task.gap) continue;
                run_feature(task, f, whole, hint, phase == 0 ? kWarmUp : std::numeric_limits<int>::max());
            }
        }
        return conclude(task, whole, known, by_feature);
    }

    template <class Known>
    Reply conclude(Task& task, Cost whole, const Known& known, Cost* by_feature) {
        Cost low = whole, proven = kInf;
        for (int f = 0; f < table_.features; ++f) {
            const auto& one = task.frame.searches[f];
            by_feature[f] = known(f);
            if (one.open && one.done()) {
                by_feature[f] = std::max(by_feature[f], std::min<Cost>(whole, penalty_ + one.lower()));
                proven = std::min(proven, std::max(known(f), penalty_ + one.proven()));
            } else {
                ++counters_.pruned_features;
                proven = std::min(proven, by_feature[f]);
            }
            low = std::min(low, by_feature[f]);
        }
        Reply& best = task.best;
        best.lower = low;
        if (support_ == 0 && best.found) best.lower = std::min(best.lower, best.value);
        best.proven = std::min(best.value, proven);
        return best;
    }

    void order_features(Frame& frame, const Cost* inherited, Test hint) {
        auto& turn = frame.turn;
        std::iota(turn.begin(), turn.end(), 0);
        std::stable_sort(turn.begin(), turn.end(), [&](int a, int b) {
            if (inherited && inherited[a] != inherited[b]) return inherited[a] < inherited[b];
            return frame.whole_by[a] < frame.whole_by[b];
        });
        if (hint.feature < 0) return;
        const auto it = std::find(turn.begin(), turn.end(), hint.feature);
        std::rotate(turn.begin(), it, it + 1);
    }

    /// At most `steps` thresholds of root feature f.
    void run_feature(Task& task, int f, Cost whole, Test hint, int steps) {
        auto& one = task.frame.searches[f];
        std::uint32_t wish = 0;
        if (!one.open) {
            find_cuts(table_, task.node, f, one.cuts);
            one.begin(rules_, table_.features, task.node.total_mass, whole, task.frame.whole_by.data());
            if (hint.feature == f) wish = hint.key;
        }
        typename IntervalSearch<Cost>::Pick pick;
        Frame& frame = task.frame;
        for (int step = 0; step < steps; ++step) {
            const Cost cutoff = task.best.value - penalty_ - task.gap;
            if (!one.next(cutoff, pick, frame.by_left.data(), frame.by_right.data(), counters_, wish)) break;
            wish = 0;
            control_.check();
            evaluate(task, f, pick);
            if (task.root && task.depth == root_depth_) root_best_ = task.best.value;
        }
    }

    /// One split of the node: both sides are solved one level down.
    void evaluate(Task& task, int f, const typename IntervalSearch<Cost>::Pick& pick) {
        Frame& frame = task.frame;
        auto& one = frame.searches[f];
        const Test test{f, one.cuts[pick.cut].key};
        const Cost room = task.best.value - penalty_, cutoff = room - task.gap;
        SideWork left, right;
        left.lower = pick.left, right.lower = pick.right;
        left.by = frame.by_left.data(), right.by = frame.by_right.data();
        Cost total = left.lower + right.lower, proven = total;
        if (total >= cutoff) {
            ++counters_.bounded;
        } else {
            partition(table_, task.node, test, frame.left, frame.right, frame.goes_left);
            const auto& near = one.record(pick.near);
            left.node = &frame.left, right.node = &frame.right;
            left.hint = near.hint_left, right.hint = near.hint_right;
            const bool admissible = frame.left.total_weight >= support_ && frame.right.total_weight >= support_;
            solve_sides(task, left, right, cutoff, pick.reach);
            total = left.lower + right.lower;
            proven = admissible ? std::max(total, proven_of(left) + proven_of(right)) : kInf;
            if (admissible) proven = combine(task, test, left, right, total, proven);
        }
        one.settle(pick, task.best.value - penalty_ - task.gap, left.lower, right.lower, total, proven, left.by, right.by,
                   left.hint, right.hint, counters_);
    }

    static Cost proven_of(const SideWork& side) { return std::max(side.lower, side.reply.proven); }

    void solve_sides(Task& task, SideWork& left, SideWork& right, Cost cutoff, Cost reach) {
        const std::int64_t full = full_tree(task.depth - 1);
        left.budget = right.budget = std::min(full, task.budget - 1);
        SideWork& first = left.node->n >= right.node->n ? left : right;
        SideWork& second = &first == &left ? right : left;
        solve_side(task, first, cutoff - second.lower + reach);
        if (left.lower + right.lower - reach >= cutoff) return;
        solve_side(task, second, cutoff - first.lower + reach);
    }

    /// Solve one side against `cap`, and improve its bounds.
    void solve_side(Task& task, SideWork& side, Cost cap) {
        if (cap <= side.lower) return;
        auto& by = task.frame.child_by;
        side.reply = solve(task.level + 1, *side.node, task.depth - 1, side.budget, cap, side.lower, side.by, side.hint,
                           by.data(), false);
        side.lower = std::max(side.lower, side.reply.lower);
        for (int f = 0; f < table_.features; ++f) side.by[f] = std::max(side.by[f], by[f]);
        if (side.reply.found && side.reply.as_test().feature >= 0) side.hint = side.reply.as_test();
    }

    /// Put the trees of the sides together. With a budget of tests all ways to share it are tried. Returns a lower
    /// bound of the admissible trees; raises `total` where the budget allows.
    Cost combine(Task& task, Test test, SideWork& left, SideWork& right, Cost& total, Cost proven) {
        const std::int64_t rest = task.budget - 1;
        if (left.budget + right.budget <= rest) {
            if (left.reply.found && right.reply.found)
                take(task, test, left.reply, right.reply);
            return proven;
        }
        if (total >= task.best.value - penalty_) return proven;
        Cost shared = kInf;
        for (std::int64_t l = std::min(left.budget, rest); l >= 0 && rest - l <= right.budget; --l) {
            const Reply a = with_budget(task, left, l, right.lower), b = with_budget(task, right, rest - l, left.lower);
            if (a.found && b.found) take(task, test, a, b);
            shared = std::min(shared, std::max(left.lower, a.proven) + std::max(right.lower, b.proven));
        }
        if (support_ == 0) total = std::max(total, shared);
        return std::max(proven, shared);
    }
    Reply with_budget(Task& task, SideWork& side, std::int64_t budget, Cost other) {
        if (budget == side.budget && side.reply.found) return side.reply;
        const Cost cap = task.best.value - penalty_ - other;
        Reply none;
        none.value = cap, none.proven = std::max(side.lower, Cost{0});
        if (cap <= side.lower) return none;
        return solve(task.level + 1, *side.node, task.depth - 1, budget, cap, side.lower, side.by, side.hint,
                     task.frame.child_by.data(), false);
    }

    void take(Task& task, Test test, const Reply& left, const Reply& right) {
        const Cost value = penalty_ + left.value + right.value;
        if (value >= task.best.value) return;
        task.best.found = true, task.best.value = value;
        task.best.plan = std::make_shared<const Plan>(Plan{Plan::split, test, left.as_plan(), right.as_plan()});
        if (task.root) {
            if (task.depth == root_depth_) root_best_ = value;
            publish(task.best);
        }
    }

    void publish(const Reply& best) {
        if (!best.found) return;
        const auto offset = table_.losses.offset;
        control_.publish(best.value + offset, std::min(root_lower(), best.value) + offset, best.as_plan());
    }
};

}  // namespace treeform::contree
