#pragma once
// What the search shares with the thread that started it: beside the stop flag and the upper bound from outside, a
// limit on memory, and the best tree so far as a plan. Workers only read two atomics.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "../common/control.hpp"
#include "problem.hpp"

namespace treeform::contree {

class Control : public ReportingControl<Improvement> {
public:
    explicit Control(std::int64_t upper, std::size_t memory_limit = 0)
        : ReportingControl(upper), memory_limit_(memory_limit) {
        limit_memory(memory_limit);
    }

    /// Stop if that many bytes are more than allowed.
    void check_memory(std::size_t bytes) {
        if (memory_limit_ == 0 || bytes <= memory_limit_) return;
        note_refused(bytes);
        stop_for_memory();
        throw Stopped{};
    }
    /// From here on plans can be converted to trees.
    void set_ready() { ready_.store(true, std::memory_order_release); }
    bool ready() const { return ready_.load(std::memory_order_acquire); }
    std::int64_t external_upper() const { return external.load(std::memory_order_relaxed); }

    void publish(std::int64_t upper, std::int64_t lower, PlanPtr plan) {
        const std::lock_guard lock(mutex_);
        if (best_ && upper >= best_cost_) return;
        best_ = std::move(plan);
        best_cost_ = upper;
        pending_.push_back({seconds(), upper, lower, {}});
    }
    /// A better lower bound for the tree published last.
    void publish_bound(std::int64_t lower) {
        const std::lock_guard lock(mutex_);
        if (best_) pending_.push_back({seconds(), best_cost_, std::min(lower, best_cost_), {}});
    }
    /// Another search publishes at the same time, and which of two equal trees comes first depends on it: the proof's is
    /// the answer. Everywhere else the first one is, in a run that ends at a bound that was known, too.
    void expect_others() { others_ = true; }
    /// Another tree of the cost published last.
    void replace(std::int64_t upper, PlanPtr plan) {
        const std::lock_guard lock(mutex_);
        if (others_ && best_cost_ == upper) best_ = std::move(plan);
    }
    /// Keeps a tree that is published later.
    void keep(std::int64_t upper, PlanPtr plan) {
        const std::lock_guard lock(mutex_);
        if (upper < kept_cost_) kept_ = std::move(plan), kept_cost_ = upper;
    }
    /// The best tree published.
    PlanPtr best(std::int64_t& cost) const {
        const std::lock_guard lock(mutex_);
        cost = best_cost_;
        return best_;
    }
    /// The best of all trees; of equals, the one that was published.
    PlanPtr answer(std::int64_t& cost) const {
        const std::lock_guard lock(mutex_);
        cost = std::min(best_cost_, kept_cost_);
        return kept_cost_ < best_cost_ ? kept_ : best_;
    }

private:
    std::atomic<bool> ready_{false};
    bool others_ = false;
    std::size_t memory_limit_;   // bytes; 0: none
    PlanPtr best_, kept_;
    std::int64_t best_cost_ = kNone, kept_cost_ = kNone;
};

}  // namespace treeform::contree
