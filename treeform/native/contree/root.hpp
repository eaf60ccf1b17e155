#pragma once
// The root of the tree: the recursion of search.hpp once more, with threads, with reports of improvements, and with a
// tree that does not depend on timing.
//
// Tasks are single thresholds of root features. They form one sequence, the same for any number of workers: task k
// is chosen, and gets its upper bound, from what the tasks up to k - D came to, where D is the number that may be in
// flight (`room_for`). A result that is there earlier waits for its turn. So one worker and several do exactly the same
// work; several wait only when one task takes longer than D - 1 others. One worker loses little by the delay: the
// intervals that wait at the root are independent of each other but for the upper bound, which seldom moves after the
// beginning, when D is small.
//
// First come a few steps on every feature in turn ("warm-up"), then the features are put in the order of the least
// bound found. From there on the features are taken in this order, but only so far that their lower bound reaches a
// goal, a growing part of the best cost. The splits that a proof needs are the same in any order, but in this one the
// bound of the whole search rises steadily, and a search that is stopped has one to show.
#include <cmath>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>

#include "../common/cold.hpp"
#include "../common/workers.hpp"
#include "away.hpp"

namespace treeform::contree {

template <class W>
class Root {
public:
    using Cost = typename W::Cost;
    using Reply = Answer<Cost>;
    using Work = SplitWork<W>;
    static constexpr Cost kInf = IntervalSearch<W>::kInf;
    static constexpr int kWarmUp = 8;  // thresholds per feature
    static constexpr std::size_t kLargeTable = 50'000;  // cells: their splits of depth three pay for messages
    static constexpr int kGoals[] = {2, 4, 6, 8, 10, 12, 13, 14, 15, 16};  // sixteenths of the best cost

    TREEFORM_COLD Root(const Table<W>& table, const Node<W>& node, const Settings& rules, Control& control,
                       const ScanTable<typename W::Key, typename W::Sum>& scans, const Away& away)
        : table_(table), node_(node), rules_(rules), control_(control), away_(away),
          penalty_(static_cast<Cost>(rules.node_penalty)), support_(static_cast<Cost>(rules.min_support)),
          features_(table.features), searches_(table.features), turn_(table.features), seen_(table.features) {
        for (int t = 0; t < std::max(away ? away.callers : 1, rules.threads); ++t)
            workers_.push_back(std::make_unique<Search<W>>(table, rules, control, scans));
        if (has_orders_alone(table.n))
            for (auto& worker : workers_) worker->read_lists_of(node);
    }
    TREEFORM_COLD ~Root() = default;

    /// The best tree on all rows that costs less than `upper`. Improvements are published as they come.
    TREEFORM_COLD Reply solve(Cost upper) {
        std::vector<Cost> by_feature(features_);
        final_depth_ = static_cast<int>(std::min<std::int64_t>(rules_.depth, rules_.max_nodes));
        return solve(final_depth_, upper, by_feature);
    }

    /// The reply to a question of another process's root on the same table.
    TREEFORM_COLD Message evaluate(const Message& asked) {
        Search<W>& worker = *workers_[0];
        if (rules_.memory_limit != 0 && table_.bytes() + node_.bytes() + worker.bytes() > rules_.memory_limit) {
            worker.release();
            control_.check_memory(table_.bytes() + node_.bytes() + worker.bytes());
        }
        const Counters before = worker.counters();
        Work work(features_);
        Question<W> question;
        Numbers::read(asked, [&](Numbers& io) { question.exchange(io, work, features_); });
        worker.evaluate(0, {node_, question.depth, question.budget, question.upper, support_, 0, 0, nullptr, {}},
                        question.test, question.room, question.cutoff, work);
        Counters done = since(before, worker.counters());
        return Numbers::written([&](Numbers& io) { exchange(io, work, done, features_, question.depth); });
    }

    /// A true lower bound at any time, also after a stop.
    Cost lower() {
        const std::lock_guard guard(lock_);
        return lower_now();
    }

    /// Gives the scratch of all workers back, when they have ended.
    TREEFORM_COLD void release() {
        for (auto& worker : workers_) worker->release();
    }
    /// Before another search has its turn, where a node of this thread's worker is counted.
    TREEFORM_COLD void release_lanes() {
        const std::size_t cells = table_.n * static_cast<std::size_t>(features_);
        if (!has_lists(table_.n, static_cast<std::size_t>(features_)) || workers_[0]->bytes_of_lanes() < cells) return;
        workers_[0]->release_lanes(), give_freed_memory_back();
    }
    std::uint64_t work() const { return workers_[0]->work(); }  // see DepthTwo::work
    /// Of it, that of trees of less depth than asked for.
    std::uint64_t work_of_less_depth() const { return open_ ? of_less_depth_ : work(); }
    /// About what the whole search takes, once trees of depth three are proved; infinity before. A level takes some ten to
    /// hundred times the work of the one before, and the next one about half as many times.
    double expected_work() const { return expected_work_; }
    TREEFORM_COLD Counters counters() {
        Counters sum = counters_;
        for (auto& worker : workers_) count_in(sum, worker->counters());
        return sum;
    }

private:
    struct Task {  // one threshold of a root feature
        int feature = -1;
        Cost upper = 0, room = 0, cutoff = 0;  // a tree has to beat `upper`, the sum of its sides `room`
        Work work;
        bool done = false;

        explicit Task(int features) : work(features) {}
    };

    const Table<W>& table_;
    const Node<W>& node_;
    const Settings& rules_;
    Control& control_;
    const Away& away_;  // may be empty
    Cost penalty_, support_;
    int features_, final_depth_ = 0;
    std::vector<std::unique_ptr<Search<W>>> workers_;
    Counters counters_;

    std::uint64_t of_less_depth_ = 0;  // work
    double before_ = 0, expected_work_ = std::numeric_limits<double>::infinity();  // before the depth in work

    // of the depth in work
    bool open_ = false;  // the final depth: searches_ bound the answer
    int depth_ = 0;
    std::int64_t budget_ = 0;
    Cost gap_ = 0, whole_ = 0, supported_whole_ = 0;  // bounds of the depth before, whatever the support and with it
    std::vector<Cost> whole_by_;
    std::mutex lock_;  // for all that follows
    std::condition_variable changed_;
    bool failed_ = false;
    std::size_t active_ = 0;  // workers that have not left
    bool tight_ = false;  // the last worker has just released its scratch
    Reply best_;
    std::vector<IntervalSearch<W>> searches_;
    std::vector<int> turn_;  // the features in order
    std::vector<Cost> seen_;  // per feature: the least bound found
    std::deque<Task*> flight_;  // in the order of the sequence
    std::size_t shown_ = 0;  // of them, how many were reported
    std::vector<std::unique_ptr<Task>> tasks_;
    std::vector<Task*> idle_;
    std::size_t chosen_ = 0;  // tasks so far
    int round_ = 0, position_ = 0;  // of the warm-up
    std::size_t goal_ = 0;  // after it
    Test hint_;

    TREEFORM_COLD Reply solve(int depth, Cost upper, std::vector<Cost>& by_feature) {
        const std::int64_t budget = std::min(rules_.max_nodes, full_tree(depth));
        const Cost gap = depth == final_depth_ ? static_cast<Cost>(rules_.gap) : Cost{0};
        if (depth <= 2) {
            Reply reply = workers_[0]->solve(0, {node_, depth, budget, upper, support_, 0, 0, nullptr, {}},
                                             by_feature.data(), gap);
            publish(reply, 0);
            return reply;
        }
        std::vector<Cost> whole_by(features_);
        const Reply seed = solve(depth - 1, upper, whole_by);
        depth_ = depth, budget_ = budget, gap_ = gap, whole_ = seed.lower, supported_whole_ = seed.proven,
        whole_by_ = std::move(whole_by);
        best_ = seed;
        expect(depth);
        if (seed.value > 0) {
            begin(seed.found ? seed.as_test() : Test{});
            in_parallel();
        }
        return conclude(by_feature);
    }

    /// Trees of less than that depth are proved.
    TREEFORM_COLD void expect(int depth) {
        const auto now = static_cast<double>(std::max<std::uint64_t>(1, work()));
        if (depth > 3) expected_work_ = now * std::pow(std::max(1.0, now / before_ / 2), final_depth_ - depth + 1);
        before_ = now;
    }

    TREEFORM_COLD void begin(Test hint) {
        const std::lock_guard guard(lock_);
        order_features<Cost>(turn_, nullptr, whole_by_, hint);
        for (int f = 0; f < features_; ++f) {
            searches_[f].cuts.take(table_, node_, f, support_);
            searches_[f].begin(rules_, features_, node_.total_mass, whole_, supported_whole_, whole_by_.data());
        }
        std::fill(seen_.begin(), seen_.end(), kInf);
        chosen_ = goal_ = 0, round_ = position_ = 0, hint_ = hint;
        open_ = depth_ == final_depth_, tight_ = false;
        if (open_) of_less_depth_ = work();
    }

    /// What one worker does: take a task, evaluate it, and so on.
    TREEFORM_COLD void run(Search<W>& worker) {
        while (fits(worker)) {
            Task* task = take();
            if (!task) return;
            control_.check();
            if (goes_away(*task))
                ask(*task, worker.counters());
            else
                evaluate(worker, *task);
            const std::lock_guard guard(lock_);
            task->done = true;
            show(*task);
            changed_.notify_all();
        }
    }

    /// Reports trees in the order of the sequence. A tree that meets a known bound ends the search, and which of
    /// several trees that is must not depend on the fastest worker. A tree that is not reported yet is the answer after
    /// a stop.
    TREEFORM_COLD void show(const Task& last) {
        if (last.work.found) control_.keep(penalty_ + last.work.value + table_.losses.offset, last.work.plan);
        for (; shown_ < flight_.size() && flight_[shown_]->done; ++shown_)
            if (flight_[shown_]->work.found) publish(as_reply(flight_[shown_]->work), lower_now());
    }

    TREEFORM_COLD void evaluate(Search<W>& worker, Task& task) {
        const Question<W> question = question_of(task);
        worker.evaluate(0, {node_, depth_, budget_, task.upper, support_, 0, 0, nullptr, {}}, question.test, task.room,
                        task.cutoff, task.work);
    }
    Question<W> question_of(const Task& task) const {
        return {depth_,    budget_,     task.upper,
                task.room, task.cutoff, {task.feature, searches_[task.feature].cuts.key(task.work.pick.cut)}};
    }

    /// Whether the splits of the depth in work are evaluated elsewhere. Those of depth three take a millisecond or
    /// more on large tables only.
    bool goes_away() const {
        return away_ && (depth_ >= std::min(final_depth_, 4) || node_.n * std::size_t(features_) >= kLargeTable);
    }

    /// Nor does a split that needs no search.
    bool goes_away(const Task& task) const {
        return goes_away() && task.work.pick.supported_left + task.work.pick.supported_right < task.cutoff;
    }
    TREEFORM_COLD void ask(Task& task, Counters& counters) {
        Question<W> question = question_of(task);
        const Message reply =
            away_.ask(Numbers::written([&](Numbers& io) { question.exchange(io, task.work, features_); }));
        if (reply.empty()) throw Stopped{};
        Counters more;
        task.work.plan = nullptr;
        Numbers::read(reply, [&](Numbers& io) { exchange(io, task.work, more, features_, depth_); });
        count_in(counters, more);
    }
    /// How many tasks may be in flight before task k: few while the upper bound still moves.
    std::size_t room_for(std::size_t k) const {
        const auto ahead = static_cast<std::size_t>(std::max(3, rules_.ahead));
        return std::min(3 + k * ahead / 2048, ahead);
    }

    /// The next task of the sequence; null when there is none any more.
    TREEFORM_COLD Task* take() {
        std::unique_lock guard(lock_);
        for (;;) {
            if (failed_) throw Stopped{};
            if (flight_.size() < room_for(chosen_))
                if (Task* task = choose()) {
                    ++chosen_;
                    flight_.push_back(task);
                    return task;
                }
            if (flight_.empty()) {
                changed_.notify_all();
                return nullptr;
            }
            Task* first = flight_.front();
            if (!first->done) {  // another worker has it, and may settle it before this one wakes up
                changed_.wait(guard);
                continue;
            }
            flight_.pop_front();
            --shown_;
            settle(*first);
            idle_.push_back(first);
        }
    }

    /// The next step of the sequence; null when that depends on a task in flight, or at the end.
    TREEFORM_COLD Task* choose() {
        for (; round_ < kWarmUp; ++round_, position_ = 0, hint_ = {})
            for (; position_ < features_; ++position_) {
                const auto& one = searches_[turn_[position_]];
                if (Task* task = step(turn_[position_], kInf)) {
                    ++position_;
                    return task;
                }
                if (!one.done()) return nullptr;
            }
        if (goal_ == 0) put_in_order();
        for (std::size_t goal = goal_; goal <= std::size(kGoals); ++goal) {
            const Cost bound = goal < std::size(kGoals) ? best_.value / 16 * kGoals[goal - 1] : kInf;
            for (const int f : turn_)
                if (Task* task = step(f, bound)) return task;
            if (flight_.empty()) reach(goal + 1);
        }
        return nullptr;
    }

    void put_in_order() {
        sort_features<Cost>(turn_, nullptr, seen_.data());
        goal_ = 1;
    }
    void reach(std::size_t goal) {
        goal_ = goal;
        if (open_) control_.publish_bound(lower_now() + table_.losses.offset);
    }

    /// A task on feature f, if an interval is left that may cost less than the best tree and is bounded below `goal`.
    TREEFORM_COLD Task* step(int f, Cost goal) {
        auto& one = searches_[f];
        // Bounds of lower depths serve the last one better where they go beyond what is wanted in the end.
        const std::int64_t outside =
            !open_ || control_.external_upper() == kNone ? kInf : control_.external_upper() - table_.losses.offset;
        const Cost upper = static_cast<Cost>(std::max<std::int64_t>(0, std::min<std::int64_t>(best_.value, outside)));
        const Cost cutoff = upper - penalty_ - gap_;
        if (one.front() >= goal && one.front() < cutoff) return nullptr;  // enough for this round
        if (idle_.empty()) idle_.push_back(tasks_.emplace_back(std::make_unique<Task>(features_)).get());
        Task& task = *idle_.back();
        auto& work = task.work;
        if (!one.next(cutoff, work.pick, work.left.by.data(), work.right.by.data(), counters_,
                      hint_.feature == f ? hint_.key : 0))
            return nullptr;
        idle_.pop_back();
        task.feature = f, task.upper = upper, task.room = upper - penalty_, task.cutoff = cutoff, task.done = false;
        return &task;
    }

    /// Take over the result of a task, in its turn.
    TREEFORM_COLD void settle(Task& task) {
        auto& work = task.work;
        const Cost after = work.found ? work.value - gap_ : task.cutoff;
        Search<W>::settle(searches_[task.feature], after, work, counters_);
        seen_[task.feature] = std::min(seen_[task.feature], work.proven);
        if (!work.found || penalty_ + work.value >= best_.value) return;
        best_ = as_reply(work);
        control_.replace(best_.value + table_.losses.offset, best_.plan);
    }
    Reply as_reply(const Work& work) const {
        Reply reply;
        reply.found = true, reply.value = penalty_ + work.value, reply.plan = work.plan;
        return reply;
    }

    TREEFORM_COLD Cost lower_now() const {
        if (!open_) return 0;
        Cost low = best_.value;
        for (const auto& one : searches_) low = std::min(low, penalty_ + one.proven());
        return std::max(low, Cost{0});
    }

    /// Whether the worker may go on. Over the memory limit it ends if there are others, which do its share of the
    /// sequence; the last one releases its scratch, and stops only if its next task exceeds the limit, too.
    TREEFORM_COLD bool fits(Search<W>& worker) {
        if (rules_.memory_limit == 0) return true;
        const std::lock_guard guard(lock_);
        if (bytes(worker) <= rules_.memory_limit) {
            tight_ = false;
            return true;
        }
        worker.release();
        if (active_ > 1) {
            --active_;
            return false;
        }
        if (std::exchange(tight_, true)) {
            control_.stop_for_memory();
            throw Stopped{};
        }
        return true;
    }

    /// About what the run holds, seen from one worker; the searches of other features count by their cuts alone.
    TREEFORM_COLD std::size_t bytes(const Search<W>& worker) const {
        std::size_t sum = table_.bytes() + node_.bytes() + worker.bytes() * active_;
        for (const auto& one : searches_) sum += one.cuts.bytes();
        return sum;
    }

    TREEFORM_COLD Reply conclude(std::vector<Cost>& by_feature) {
        Cost low = whole_, proven = kInf;
        for (int f = 0; f < features_; ++f) {
            by_feature[f] = 0;
            if (best_.value > 0) {
                by_feature[f] = std::min<Cost>(whole_, penalty_ + searches_[f].lower());
                proven = std::min(proven, penalty_ + searches_[f].proven());
            }
            low = std::min(low, by_feature[f]);
        }
        best_.lower = support_ == 0 && best_.found ? std::min(low, best_.value) : low;
        best_.proven = std::min(best_.value, proven);
        return best_;
    }

    /// Run on all workers; the first failure stops the others and is thrown here.
    TREEFORM_COLD void in_parallel() {
        active_ = goes_away() ? away_.callers : std::max(1, rules_.threads);
        run_workers(
            static_cast<int>(active_), [&](int w) { run(*workers_[w]); },
            [&] {
                const std::lock_guard guard(lock_);
                failed_ = true;
                control_.stop();
                changed_.notify_all();
            });
    }

    TREEFORM_COLD void publish(const Reply& best, Cost lower) {
        if (!best.found) return;
        const auto offset = table_.losses.offset;
        control_.publish(best.value + offset, std::min(lower, best.value) + offset, best.as_plan());
    }
};

}  // namespace treeform::contree
