#pragma once
// The one place where the search and the outside meet: a stop flag that is read often, an upper bound that may
// tighten while the search runs, and the improvements found so far. Workers only read two atomics; clocks, signals
// and Python are the business of the calling thread.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace treeform::contree {

/// Thrown inside the search when it has been asked to stop; caught at its top.
struct Stopped {};

struct Improvement {
    double seconds;
    std::int64_t upper, lower;
};

class Control {
public:
    using Clock = std::chrono::steady_clock;

    explicit Control(std::int64_t upper, std::size_t memory_limit = 0)
        : start_(Clock::now()), external_(upper), memory_limit_(memory_limit) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    void check() const {
        if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
    }
    bool stopping() const { return stop_.load(std::memory_order_relaxed); }
    void stop() { stop_.store(true, std::memory_order_relaxed); }
    /// Stop if that many bytes are more than allowed.
    void check_memory(std::size_t bytes) {
        if (memory_limit_ == 0 || bytes <= memory_limit_) return;
        stop_for_memory();
        throw Stopped{};
    }
    void stop_for_memory() {
        out_of_memory_.store(true);
        stop();
    }
    bool out_of_memory() const { return out_of_memory_.load(); }
    /// From here on the search can be asked for trees.
    void set_ready() { ready_.store(true, std::memory_order_release); }
    bool ready() const { return ready_.load(std::memory_order_acquire); }
    std::int64_t external_upper() const { return external_.load(std::memory_order_relaxed); }
    void tighten(std::int64_t upper) {
        auto now = external_.load();
        while (upper < now && !external_.compare_exchange_weak(now, upper)) {}
    }

    void publish(std::int64_t upper, std::int64_t lower, PlanPtr plan) {
        const std::lock_guard lock(mutex_);
        if (latest_ && upper >= latest_cost_) return;
        latest_ = std::move(plan);
        latest_cost_ = upper;
        pending_.push_back({seconds(), upper, lower});
    }
    /// A better lower bound for the tree published last.
    void publish_bound(std::int64_t lower) {
        const std::lock_guard lock(mutex_);
        if (latest_) pending_.push_back({seconds(), latest_cost_, std::min(lower, latest_cost_)});
    }
    /// Another tree of the cost published last.
    void replace(std::int64_t upper, PlanPtr plan) {
        const std::lock_guard lock(mutex_);
        if (latest_cost_ == upper) latest_ = std::move(plan);
    }
    /// The improvements since the last call, and the best plan; empty when there is nothing new.
    std::vector<Improvement> take(PlanPtr& plan) {
        const std::lock_guard lock(mutex_);
        plan = latest_;
        return std::exchange(pending_, {});
    }
    PlanPtr best(std::int64_t& cost) const {
        const std::lock_guard lock(mutex_);
        cost = latest_cost_;
        return latest_;
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
    Clock::time_point start_;
    std::atomic<bool> stop_{false}, out_of_memory_{false}, ready_{false};
    std::atomic<std::int64_t> external_;
    std::size_t memory_limit_;   // bytes; 0: none
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Improvement> pending_;
    PlanPtr latest_;
    std::int64_t latest_cost_ = kNone;
    bool finished_ = false;
};

}  // namespace treeform::contree
