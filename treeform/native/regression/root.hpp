#pragma once
// The search over all rows: depth after depth, and from depth three on by several workers that share the intervals of
// all features. The interval with the least bound is next, so that the least bound of all rises evenly.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "../common/give_back.hpp"
#include "../common/workers.hpp"
#include "../contree/listed_rows.hpp"
#include "incumbent.hpp"
#include "first_trees.hpp"

namespace treeform::regression {

template <class LossOf>
class Root {
public:
    Root(const Table& table, const Settings& settings, Control& control, Incumbent& incumbent)
        : table_(table), settings_(settings), control_(control), incumbent_(incumbent), all_(all_rows(table)),
          search_(table, settings, control) {}

    /// Finds first trees, a `grown` one among them; true if there is more to search. Throws Stopped when it was asked to
    /// stop, as `prove` does.
    bool begin(bool grown) {
        const double alone = search_.leaf(all_).lower;
        incumbent_.set_tolerance(search_.tolerance(all_));
        search_.watched = &all_;
        search_.on_improvement = [&](const Answer& found) { incumbent_.offer(found.best, found.plan); };
        if (all_.weight < settings_.min_support) return false;
        offer(search_.leaf(all_));
        const int depth = settings_.depth;
        const std::int64_t budget = std::min(settings_.max_nodes, full_tree(depth));
        if (grown && depth > 1) {
            std::int64_t tests = budget;
            offer(search_.grown(all_, depth, tests));
        }
        return true;
    }
    /// Proves the best tree.
    void prove() {
        const double alone = search_.leaf(all_).lower;
        const int depth = settings_.depth;
        const std::int64_t budget = std::min(settings_.max_nodes, full_tree(depth));
        Answer last = search_.solve(all_, std::min(depth, 2), budget, {}, nullptr);
        offer(last);
        if (!search_.bears_test(all_.weight) || is_pure(table_, all_) || budget <= 1
            || search_.price() >= alone + incumbent_.tolerance())
            return;
        if constexpr (!LossOf::by_pairs)  // the scans of sides take less than those of all rows
            if (contree::has_orders_alone(table_.n)) search_.release(), give_freed_memory_back();
        for (int d = 3; d <= depth; ++d) last = parallel(d, budget, last);
    }
    /// Before another search has its turn, where a node is counted.
    void release_layouts() {
        if (!contree::has_orders_alone(table_.n) || search_.bytes_of_layouts() < table_.n * table_.features) return;
        search_.release_layouts(), give_freed_memory_back();
    }
    const Subset& rows() const { return all_; }
    /// Elements that the proof has read, about.
    std::uint64_t work() const { return (search_.counters.scans + search_.counters.exact) * all_.n * 4; }
    Counters counters() const {
        Counters all = search_.counters;
        count_in(all, of_workers_);
        return all;
    }

private:
    struct Feature {
        Intervals intervals;
        Hints hints;
        double lowest = kInfinite;  // of the thresholds evaluated
    };
    struct Task {
        std::size_t feature = 0;
        Cut cut{};
        double limit = 0;
        std::pair<Hint, Hint> hints;
    };

    const Table& table_;
    const Settings& settings_;
    Control& control_;
    Incumbent& incumbent_;
    Subset all_;
    Search<LossOf> search_;
    Counters of_workers_;
    // The state of one depth, guarded by the mutex.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Feature> features_;
    std::vector<double> at_work_;  // by worker: the bound of its interval
    bool is_last_ = false;

    void offer(const Answer& found) { incumbent_.offer(found.best, found.plan); }

    Answer parallel(int depth, std::int64_t budget, const Answer& before) {
        features_.clear();
        features_.resize(table_.features);
        const Hint first = before.hint();
        for (std::size_t f = 0; f < table_.features; ++f) {
            Cuts cuts;
            cuts_of(table_, all_, f, cuts);
            features_[f].intervals.begin(std::move(cuts), table_.n, before.by_feature, before.lower, search_.price(),
                                         first.feature == static_cast<int>(f) ? first.key : -1);
        }
        is_last_ = depth == settings_.depth;
        const int threads = std::max(1, settings_.threads);
        at_work_.assign(static_cast<std::size_t>(threads), kInfinite);
        if (threads == 1) {
            work(search_, 0, depth, budget);
            return concluded(before);
        }
        run_workers(
            threads,
            [&](int t) {
                Search<LossOf> own(table_, settings_, control_);
                work(own, static_cast<std::size_t>(t), depth, budget);
                const std::lock_guard lock(mutex_);
                count_in(of_workers_, own.counters);
            },
            [&] {
                const std::lock_guard lock(mutex_);
                control_.stop();
                changed_.notify_all();
            });
        return concluded(before);
    }

    /// What this depth tells the next one: bounds by the feature at the root.
    Answer concluded(const Answer& before) const {
        Answer out;
        out.best = incumbent_.value(), out.plan = incumbent_.plan();
        for (std::size_t f = 0; f < features_.size(); ++f) {
            double lower = out.best.cost;
            if (settings_.min_support > 0 || settings_.min_flow > 0)
                lower = std::min({lower, features_[f].lowest, before.by_feature[f]});
            out.by_feature.push_back(lower);
        }
        out.lower = *std::min_element(out.by_feature.begin(), out.by_feature.end());
        return out;
    }

    void work(Search<LossOf>& search, std::size_t worker, int depth, std::int64_t budget) {
        Parts parts;
        Task task;
        while (take(worker, parts.job, task)) {
            if (parts.job.bounds.sum() + search.price() >= task.limit) {
                ++search.counters.bounded;
            } else {
                Answer found =
                    search.evaluate(all_, task.feature, task.cut, depth, budget, parts, task.limit, task.hints);
                if (found.plan) offer(found);
            }
            give_back(worker, parts.job, task);
        }
    }

    /// Takes the interval with the least bound; waits while there is none but others may still divide theirs.
    bool take(std::size_t worker, Job& job, Task& task) {
        std::unique_lock lock(mutex_);
        for (;;) {
            control_.check();
            task.limit = incumbent_.limit();
            const auto least = std::min_element(features_.begin(), features_.end(), [](const auto& a, const auto& b) {
                return a.intervals.lower() < b.intervals.lower();
            });
            if (least->intervals.lower() < task.limit) {
                task.feature = static_cast<std::size_t>(least - features_.begin());
                least->intervals.next(job);
                task.cut = least->intervals.cut(job);
                task.hints = nearest_hints(least->hints, task.cut.below);
                at_work_[worker] = job.lower;
                return true;
            }
            if (*std::min_element(at_work_.begin(), at_work_.end()) == kInfinite) {
                changed_.notify_all();
                return false;
            }
            changed_.wait_for(lock, std::chrono::milliseconds(20));
        }
    }

    void give_back(std::size_t worker, const Job& job, const Task& task) {
        const std::lock_guard lock(mutex_);
        Feature& own = features_[task.feature];
        own.lowest = std::min(own.lowest, job.bounds.sum() + search_.price());
        own.intervals.done(job, incumbent_.limit());
        own.hints[task.cut.below] = task.hints;
        at_work_[worker] = kInfinite;
        std::size_t bytes = 0;
        double lower = *std::min_element(at_work_.begin(), at_work_.end());
        for (const Feature& one : features_) {
            lower = std::min(lower, one.intervals.lower());
            bytes += one.intervals.bytes();
        }
        if (is_last_) incumbent_.raise(lower);
        changed_.notify_all();
        control_.check_memory(bytes);
    }
};

}  // namespace treeform::regression
