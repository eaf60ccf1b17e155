#pragma once
// Trees of depth three and more (the paper's CT and Branch): the same interval search over thresholds, where the two
// sides of a split are subproblems of one level less.
//
// A node is first solved at one level less (its "seed"): that gives an incumbent, the bounds at the ends of every
// interval, and an order of the features. Then every feature gets a few bisection steps before any is finished
// ("warm-up"), which finds a bound close to the optimum early; features are finished in the order of the least bound
// found.
//
// A side is solved against a generous upper bound, UB - (bound of the other side) + (mass to the farther end of the
// interval), rather than the tight one: a subproblem that is cut off at the tight bound gives no bound for its
// neighbours, and it is the neighbours that cost the time. (The paper uses the same idea for the right side only.)
//
// This file is the recursion of one worker. The root of the tree, with its threads, is in root.hpp.
#include <memory>
#include <vector>

#include "../common/cold.hpp"
#include "depth_two.hpp"
#include "few_classes.hpp"
#include "ordering.hpp"
#include "stump.hpp"

namespace treeform::contree {

/// One split in work: what was known, and what came out.
template <class W>
struct SplitWork {
    using Cost = typename W::Cost;
    struct Part {
        const Node<W>* node = nullptr;
        std::int64_t budget = 0;
        Cost lower = 0;                 // of the side, requirements aside
        Cost supported = 0;                  // and with them
        std::vector<Cost> by;           // the same per root feature
        Test hint;
        Answer<Cost> reply;

        /// Take over a reply, with its bounds per root feature.
        void improve(const std::vector<Cost>& more) {
            lower = std::max(lower, reply.lower);
            supported = std::max({supported, lower, reply.proven});
            for (std::size_t f = 0; f < by.size(); ++f) by[f] = std::max(by[f], more[f]);
            const Test root = reply.as_test();
            if (reply.found && root.feature >= 0) hint = root;
        }
    };
    typename IntervalSearch<W>::Pick pick;
    Part left, right;
    Cost total = 0, proven = 0;         // lower bounds of the sum: whatever the support, and with it
    bool dropped = false;               // `proven` holds for the whole interval of the pick
    bool found = false;
    Cost value = 0;                     // of the sum, if found
    PlanPtr plan;

    /// Begin with the known bounds of the pick.
    void open(Cost room) {
        left.lower = pick.left, right.lower = pick.right;
        left.supported = pick.supported_left, right.supported = pick.supported_right;
        left.hint = pick.hint_left, right.hint = pick.hint_right;
        left.reply = right.reply = Answer<Cost>{};
        found = dropped = false, value = room;
        total = left.lower + right.lower, proven = left.supported + right.supported;
    }
    /// The trees of both sides, put together if they cost less than `value`.
    TREEFORM_COLD void take(Test test, const Answer<Cost>& a, const Answer<Cost>& b) {
        const Cost sum = a.value + b.value;
        if (sum >= value) return;
        found = true, value = sum;
        plan = std::make_shared<const Plan>(Plan{Plan::split, test, a.as_plan(), b.as_plan()});
    }
    typename IntervalSearch<W>::Found bounds() const {
        return {left.lower, right.lower, total, left.supported, right.supported, proven, left.hint, right.hint};
    }
    explicit SplitWork(int features) { left.by.resize(features), right.by.resize(features); }
};

template <class W>
class Search {
public:
    using Cost = typename W::Cost;
    using Reply = Answer<Cost>;
    using Task = Subproblem<W>;
    using Work = SplitWork<W>;
    static constexpr Cost kInf = IntervalSearch<W>::kInf;
    static constexpr int kWarmUp = 8;

    TREEFORM_COLD Search(const Table<W>& table, const Settings& rules, Control& control,
                         const ScanTable<typename W::Key, typename W::Sum>& scans)
        : table_(table), rules_(rules), control_(control), penalty_(static_cast<Cost>(rules.node_penalty)),
          two_(table, rules, control, counters_, scans), stump_(table), few_classes_(table, penalty_),
          divider_(choose_divider(rules.simd.c_str())) {}
    TREEFORM_COLD ~Search() = default;

    Counters& counters() { return counters_; }
    /// Nodes are parts of these rows, large ones lists of them.
    TREEFORM_COLD void read_lists_of(const Node<W>& root) {
        lists_ = std::make_unique<ListedRows<W>>(table_, root, control_);
        two_.read_lists(*lists_);
    }
    /// Both sides that `evaluate` left at that level with the orders, keys and labels of all features.
    void write_out_sides(int level) {
        if (!lists_) return;
        for (auto* side : {&frame(level).left, &frame(level).right})
            lists_->write_out(*side), add_keys(table_, *side, control_);
    }
    /// Trees of depth two are those of such lists, too.
    void read_lists(ListedRows<W>& lists) { two_.read_lists(lists); }
    /// `evaluate` will be asked about another node at that level.
    void turn_to_another(int level) { frame(level).outer.forget(); }
    /// Memory held, for the rough account of the root.
    TREEFORM_COLD std::size_t bytes() const {
        std::size_t sum = two_.bytes() + (lists_ ? lists_->bytes() : 0);
        for (const auto& here : frames_) {
            sum += here->left.bytes() + here->right.bytes() + here->outer.bytes();
            for (const auto& one : here->searches) sum += one.bytes();
        }
        return sum;
    }

    /// See DepthTwo::work.
    std::uint64_t work() const { return two_.work() + work_ + (lists_ ? lists_->work() : 0); }
    /// Give the lanes back, where a node is counted: the next one lays out its own.
    TREEFORM_COLD void release_lanes() { two_.release(); }
    TREEFORM_COLD std::size_t bytes_of_lanes() const { return two_.bytes(); }
    /// Give the scratch back.
    TREEFORM_COLD void release() {
        frames_.clear(), two_.release();
        if (lists_) lists_->release();
    }

    /// Solve a subproblem; `by_feature` receives lower bounds per root feature, whatever the support. With a minimum
    /// support the problem is first solved without (see depth_two.hpp). `gap` and `guess` are for depth two at most.
    Reply solve(int level, Task task, Cost* by_feature, Cost gap = 0, bool guess = false) {
        task.depth = static_cast<int>(std::min<std::int64_t>(task.depth, task.budget));
        task.budget = std::min(task.budget, full_tree(task.depth));
        const Cost few = few_classes_.bound(task.node.weight, task.depth, task.budget);
        task.lower = std::max(task.lower, few), task.supported = std::max(task.supported, few);
        if (task.depth <= 2) return two_.solve(task, gap, by_feature, guess);
        if (task.support == 0) return solve_one(level, task, by_feature);
        Task loose = task;
        loose.support = loose.supported = 0;
        Reply reply = solve_one(level, loose, by_feature);
        if (!reply.found) return reply;
        task.inherited = by_feature, task.lower = reply.lower, task.supported = std::max(task.supported, reply.lower);
        if (reply.as_test().feature >= 0) task.hint = reply.as_test();
        const Cost lower = reply.lower;
        reply = solve_one(level, task, frame(level).unused_by.data());
        reply.lower = lower;
        return reply;
    }

    /// Solve both sides of the split `work.pick` of task.node into less than `room`; `cutoff` (at most room) is what
    /// bounds have to reach. Fills in `work`.
    void evaluate(int level, const Task& task, Test test, Cost room, Cost cutoff, Work& work) {
        auto &left = work.left, &right = work.right;
        work.open(room);
        if (work.proven >= cutoff) {
            ++counters_.bounded;
            return;
        }
        if (task.support > 0 && drop_interval(level, task, test.feature, cutoff, work)) return;
        Frame& here = frame(level);
        left.node = &here.left, right.node = &here.right;
        const bool listed = has_listed_sides(task.node);
        if (listed)
            lists_->list_sides(task.node, test, here.left, here.right);
        else
            weigh_sides(table_, task.node, test, here.left, here.right);
        if (settled_by_classes(task, cutoff, work)) {
            ++counters_.bounded;
            return;
        }
        work_ += 2 * task.node.n * static_cast<std::size_t>(table_.features);
        if (!listed)
            divide_rows(table_, task.node, test, here.outer, divider_, here.left, here.right, &control_);
        else if (task.depth > 3)
            for (auto* side : {&here.left, &here.right}) lists_->write_out(*side, side->n > table_.n / 4);
        solve_sides(level, task, work, cutoff);
        work.total = left.lower + right.lower;
        work.proven = left.supported + right.supported;
        combine(level, task, test, work);
    }

    static void settle(IntervalSearch<W>& one, Cost cutoff, const Work& work, Counters& counters) {
        if (work.dropped)
            one.drop(work.pick, work.proven, counters);
        else
            one.settle(work.pick, cutoff, work.bounds(), work.left.by.data(), work.right.by.data(), counters);
    }

private:
    struct Frame {  // the scratch of one level of the recursion
        std::vector<IntervalSearch<W>> searches;
        std::vector<Cost> whole_by, child_by, unused_by, seen;
        std::vector<int> turn;
        Outer<W> outer;
        Node<W> left, right;
        Work work;

        TREEFORM_COLD explicit Frame(int features)
            : searches(features), whole_by(features), child_by(features), unused_by(features), seen(features),
              turn(features), work(features) {}
        TREEFORM_COLD ~Frame() = default;
    };

    const Table<W>& table_;
    const Settings& rules_;
    Control& control_;
    Counters counters_;
    Cost penalty_;
    DepthTwo<W> two_;
    StumpScan<W> stump_;
    FewClasses<W> few_classes_;
    Divider divider_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::unique_ptr<ListedRows<W>> lists_;  // null: no node is a list
    std::uint64_t work_ = 0;  // of dividing rows

    /// Of smaller nodes the sides take little beside the table; in a list no row is without a label.
    bool has_listed_sides(const Node<W>& node) const {
        return lists_ && node.unlabelled_weight == 0 && (node.keys.empty() || node.n > table_.n / 4);
    }
    Frame& frame(int level) {
        if (frames_.size() <= static_cast<std::size_t>(level)) [[unlikely]]
            add_frames(level);
        return *frames_[level];
    }
    TREEFORM_COLD void add_frames(int level) {
        while (frames_.size() <= static_cast<std::size_t>(level))
            frames_.push_back(std::make_unique<Frame>(table_.features));
    }

    Reply solve_one(int level, Task task, Cost* by_feature) {
        control_.count(counters_.nodes);
        control_.check();
        Reply best;
        const Cost leaf = stump_.leaf(task.node.weight), known = std::max(task.lower, task.supported);
        best.value = task.upper;
        if (leaf < best.value) best.found = true, best.value = leaf;
        const bool only_leaf =
            task.node.n <= 1 || leaf == 0 || (task.support > 0 && support_of(table_, task.node) - task.support < task.support);
        if (best.value <= known || only_leaf) {
            std::fill_n(by_feature, table_.features, task.lower);
            best.lower = task.lower, best.proven = std::min(only_leaf ? leaf : known, best.value);
            return best;
        }
        Frame& here = frame(level);
        const Reply whole = seed(level, here, task, leaf, best);
        return search(level, here, task, whole, best, by_feature);
    }

    /// Solve the node at one level less. Returns its bounds.
    Reply seed(int level, Frame& here, Task& task, Cost leaf, Reply& best) {
        Task below{task.node,  task.depth - 1, task.budget, leaf + 1, task.support,
                   task.lower, task.supported, nullptr,     task.hint};
        Reply reply = solve(level + 1, below, here.whole_by.data());
        for (auto& bound : here.whole_by) bound = std::min(bound, leaf);
        if (reply.found && reply.value < best.value) {
            best.found = true, best.value = reply.value;
            best.plan = reply.as_plan();
            if (task.hint.feature < 0) task.hint = best.plan->test;
        }
        reply.lower = std::min(reply.lower, leaf), reply.proven = std::min(std::max(reply.proven, reply.lower), leaf);
        return reply;
    }

    Reply search(int level, Frame& here, const Task& task, const Reply& whole, Reply& best, Cost* by_feature) {
        order_features(here.turn, task.inherited, here.whole_by, task.hint);
        for (auto& one : here.searches) one.open = false;
        here.outer.forget();
        std::fill(here.seen.begin(), here.seen.end(), kInf);
        const auto known = [&](int f) { return std::max(task.lower, task.inherited ? task.inherited[f] : Cost{0}); };
        const int first_steps = rules_.steps > 0 ? rules_.steps : kWarmUp;
        for (int phase = 0; phase < (rules_.steps > 0 ? 1 : 2); ++phase) {
            if (phase == 1) sort_features<Cost>(here.turn, nullptr, here.seen.data());
            for (const int f : here.turn) {
                if (best.value <= std::max(task.lower, task.supported)) break;
                if (known(f) >= best.value) continue;
                run_feature(level, here, task, f, whole, phase == 0 ? first_steps : std::numeric_limits<int>::max(),
                            best);
            }
        }
        Cost low = whole.lower, proven = kInf;
        for (int f = 0; f < table_.features; ++f) {
            const auto& one = here.searches[f];
            by_feature[f] = known(f);
            if (one.open && one.done()) {
                by_feature[f] = std::max(by_feature[f], std::min<Cost>(whole.lower, penalty_ + one.lower()));
                proven = std::min(proven, std::max(known(f), penalty_ + one.proven()));
            } else {
                ++counters_.pruned_features;
                proven = std::min(proven, by_feature[f]);
            }
            low = std::min(low, by_feature[f]);
        }
        best.lower = task.support == 0 && best.found ? std::min(low, best.value) : low;
        best.proven = std::min(best.value, std::max(task.supported, proven));
        return best;
    }

    /// At most `steps` thresholds of root feature f.
    void run_feature(int level, Frame& here, const Task& task, int f, const Reply& whole, int steps, Reply& best) {
        auto& one = here.searches[f];
        std::uint32_t wish = 0;
        if (!one.open) {
            one.cuts.take(table_, task.node, f, task.support);
            one.begin(rules_, table_.features, task.node.total_mass, whole.lower, whole.proven, here.whole_by.data());
            if (task.hint.feature == f) wish = task.hint.key;
        }
        Work& work = here.work;
        for (int step = 0; step < steps; ++step) {
            const Cost room = best.value - penalty_;
            if (!one.next(room, work.pick, work.left.by.data(), work.right.by.data(), counters_, wish)) break;
            wish = 0;
            control_.check();
            evaluate(level, task, {f, one.cuts.key(work.pick.cut)}, room, room, work);
            if (work.found) {
                best.found = true, best.value = penalty_ + work.value;
                best.plan = std::move(work.plan);
            }
            here.seen[f] = std::min(here.seen[f], work.total);
            settle(one, best.value - penalty_, work, counters_);
        }
    }

    /// Settle all splits of the pick's interval at once, if their common sides cost enough; see
    /// DepthTwo::drop_interval. The rows in between have no label on both sides.
    bool drop_interval(int level, const Task& task, int f, Cost cutoff, Work& work) {
        const auto& pick = work.pick;
        if (pick.first == pick.last || pick.support_cost_left + pick.support_cost_right <= 0) return false;
        Cost left = pick.common_left, right = pick.common_right;
        const bool left_first = pick.support_cost_left >= pick.support_cost_right;
        for (const bool at_left : {left_first, !left_first}) {
            Frame& here = frame(level);
            auto& side = at_left ? here.left : here.right;
            auto& low = at_left ? left : right;
            const Test test{f, at_left ? pick.last : pick.first};
            const bool listed = has_listed_sides(task.node);
            if (listed)
                lists_->list_sides(task.node, test, here.left, here.right);
            else
                partition(table_, task.node, test, here.outer, divider_, here.left, here.right, &control_);
            if (listed && task.depth > 3) lists_->write_out(side);
            if (listed && task.depth == 3)
                lists_->hide_labels(side, {f, pick.first, pick.last});
            else
                hide_labels(table_, side, f, pick.first, pick.last);
            const std::int64_t budget = std::min(full_tree(task.depth - 1), task.budget - 1);
            const Cost cap = cutoff - (at_left ? right : left);
            const Reply reply = solve(level + 1,
                                      {side, task.depth - 1, budget, cap, task.support, low, low, nullptr,
                                       at_left ? pick.hint_left : pick.hint_right},
                                      here.child_by.data());
            low = std::max(low, reply.proven);
            if (left + right >= cutoff) break;
        }
        work.dropped = left + right >= cutoff;
        if (work.dropped) work.proven = left + right;
        return work.dropped;
    }

    /// Bounds of the sides from their classes, before their rows are divided; true if they reach the cutoff.
    bool settled_by_classes(const Task& task, Cost cutoff, Work& work) {
        for (auto* side : {&work.left, &work.right}) {
            const Cost few = few_classes_.bound(side->node->weight, task.depth - 1, task.budget - 1);
            side->lower = std::max(side->lower, few), side->supported = std::max(side->supported, few);
        }
        work.total = work.left.lower + work.right.lower;
        work.proven = work.left.supported + work.right.supported;
        return work.proven >= cutoff;
    }

    void solve_sides(int level, const Task& task, Work& work, Cost cutoff) {
        auto &left = work.left, &right = work.right;
        left.budget = right.budget = std::min(full_tree(task.depth - 1), task.budget - 1);
        auto& first = left.node->n >= right.node->n ? left : right;
        auto& second = &first == &left ? right : left;
        const Cost reach = work.pick.reach;
        solve_side(level, task, first, cutoff - second.supported + reach);
        if (left.supported + right.supported - reach >= cutoff) return;
        solve_side(level, task, second, cutoff - first.supported + reach);
    }

    /// Solve one side against `cap`, and improve its bounds.
    void solve_side(int level, const Task& task, typename Work::Part& side, Cost cap) {
        if (cap <= side.supported) return;
        auto& by = frame(level).child_by;
        side.reply = solve(level + 1,
                           {*side.node, task.depth - 1, side.budget, cap, task.support, side.lower, side.supported,
                            side.by.data(), side.hint},
                           by.data());
        side.improve(by);
    }

    /// Put the trees of the sides together. With a budget of tests all ways to share it are tried.
    void combine(int level, const Task& task, Test test, Work& work) {
        auto &left = work.left, &right = work.right;
        if (rules_.clash_of(test.feature).any()) return combine_clashing(test, work);
        const std::int64_t rest = task.budget - 1;
        if (left.budget + right.budget <= rest) {
            if (left.reply.found && right.reply.found) work.take(test, left.reply, right.reply);
            return;
        }
        if (work.proven >= work.value) return;
        Cost shared = kInf;
        for (std::int64_t l = std::min(left.budget, rest); l >= 0 && rest - l <= right.budget; --l) {
            const Reply a = with_budget(level, task, left, l, work.value - right.supported);
            const Reply b = with_budget(level, task, right, rest - l, work.value - left.supported);
            if (a.found && b.found) work.take(test, a, b);
            shared = std::min(shared, std::max(left.supported, a.proven) + std::max(right.supported, b.proven));
        }
        if (task.support == 0) work.total = std::max(work.total, shared);
        work.proven = std::max(work.proven, shared);
    }
    /// One of the sides becomes a leaf; see clash.hpp. It takes no account of a budget of tests.
    void combine_clashing(Test test, Work& work) {
        auto &left = work.left, &right = work.right;
        const Clash clash = rules_.clash_of(test.feature);
        Reply low, high;
        low.found = high.found = true;
        low.value = stump_.leaf(left.node->weight, nullptr, clash.below);
        high.value = stump_.leaf(right.node->weight, nullptr, clash.above);
        if (right.reply.found) work.take(test, low, right.reply);
        if (left.reply.found) work.take(test, left.reply, high);
        work.total = std::min(low.value + right.lower, left.lower + high.value);
        work.proven = std::min(low.value + right.supported, left.supported + high.value);
    }
    Reply with_budget(int level, const Task& task, typename Work::Part& side, std::int64_t budget, Cost cap) {
        if (budget == side.budget && side.reply.found) return side.reply;
        Reply none;
        none.value = cap, none.proven = side.supported;
        if (cap <= side.supported) return none;
        return solve(level + 1,
                     {*side.node, task.depth - 1, budget, cap, task.support, side.lower, side.supported, side.by.data(),
                      side.hint},
                     frame(level).child_by.data());
    }
};

}  // namespace treeform::contree
