#pragma once
// The one place where the search and the outside meet: a stop flag that is read often, an upper bound that may
// tighten while the search runs, and the improvements found so far. Workers only read two atomics; clocks, signals
// and Python are the business of the calling thread.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "../watched.hpp"
#include "problem.hpp"

namespace treeform::contree {

struct Improvement {
    double seconds;
    std::int64_t upper, lower;
};

class Control : public Watched {
public:
    explicit Control(std::int64_t upper, std::size_t memory_limit = 0)
        : external_(upper), memory_limit_(memory_limit) {}

    void stop() { stopping.store(true, std::memory_order_relaxed); }
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

private:
    std::atomic<bool> out_of_memory_{false}, ready_{false};
    std::atomic<std::int64_t> external_;
    std::size_t memory_limit_;   // bytes; 0: none
    std::vector<Improvement> pending_;
    PlanPtr latest_;
    std::int64_t latest_cost_ = kNone;
};

}  // namespace treeform::contree
