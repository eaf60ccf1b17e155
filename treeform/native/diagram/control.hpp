#pragma once
// Where the search and the outside meet: a stop flag that is read often, and the improvements found so far. The search
// runs on a thread of its own; clocks, signals and Python are the business of the calling thread.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace treeform::diagram {

/// Thrown inside the search when it has been asked to stop; caught at its top.
struct Stopped {};

/// What is known of e(k), the least cost with at most k tests, by k.
struct Bounds {
    std::vector<Cost> lower, upper;
};

class Control {
public:
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> stopping{false};
    std::atomic<Cost> external{kNever};   // with one objective: only models whose value is below this are wanted

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    void check() const {
        if (stopping.load(std::memory_order_relaxed)) throw Stopped{};
    }
    void publish(Improvement news) {
        const std::lock_guard lock(mutex_);
        news.seconds = seconds();
        pending_.push_back(std::move(news));
    }
    void publish(const Bounds& bounds) {
        const std::lock_guard lock(mutex_);
        bounds_ = bounds, moved_ = true;
    }
    /// The improvements and bounds since the last call; `moved` says whether bounds changed.
    std::vector<Improvement> take(Bounds& bounds, bool& moved) {
        const std::lock_guard lock(mutex_);
        bounds = bounds_, moved = std::exchange(moved_, false);
        return std::exchange(pending_, {});
    }
    void finish() {
        {
            const std::lock_guard lock(mutex_);
            finished_ = true;
        }
        changed_.notify_all();
    }
    /// Sleep for at most that long; true once the search has ended.
    bool wait(double at_most) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::duration<double>(at_most), [this] { return finished_; });
    }

private:
    Clock::time_point start_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Improvement> pending_;
    Bounds bounds_;
    bool moved_ = false, finished_ = false;
};

}  // namespace treeform::diagram
