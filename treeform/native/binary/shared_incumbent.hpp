#pragma once
// What the workers of one run share: the best tree, the proved bound, and the next root test to be searched. Each
// worker has its own rows, cache and recursion. Improvements are rare and published under a lock.
#include <atomic>
#include <mutex>

#include "control.hpp"
#include "tree_writer.hpp"

namespace treeform::binary {

/// Thrown inside a search whose share of work is spent; the pass is over, the run is not.
struct Paused {};

class SharedIncumbent {
public:
    SharedIncumbent(const RowSets& row_sets, const Settings& settings, Control& control)
        : offset_(row_sets.offset), control_(control),
          wanted_(settings.upper >= kNever ? kNever : settings.upper - row_sets.offset) {}

    std::atomic<std::size_t> next{0};     // rank of the next root test
    std::atomic<Cost> proved{0};          // no tree costs less

    Cost upper() const { return upper_.load(std::memory_order_relaxed); }
    PlanPtr plan() const { return plan_; }

    /// Only trees that cost less are wanted. Reads the bound from outside, which may have fallen.
    Cost wanted() {
        const Cost external = control_.external.load(std::memory_order_relaxed);
        Cost now = wanted_.load(std::memory_order_relaxed);
        if (external < kNever && external - offset_ < now) {
            const std::lock_guard lock(mutex_);
            wanted_ = now = std::min(wanted_.load(), external - offset_);
        }
        return now;
    }
    Cost limit() { return std::min(upper(), wanted()); }

    /// A tree of that cost; true when it is the best so far.
    bool offer(Cost cost, const PlanPtr& plan, TreeWriter& writer) {
        const std::lock_guard lock(mutex_);
        if (cost >= upper_) return false;
        upper_ = cost, plan_ = plan;
        if (cost < wanted_)
            control_.publish(cost + offset_, std::min<Cost>(cost, proved) + offset_, writer.write(plan));
        return true;
    }
    /// Nothing better than the best tree (or than what is wanted) is left to find.
    bool settled() { return proved >= limit(); }
    void prove(Cost lower) { proved = std::max<Cost>(proved, lower); }

private:
    const Cost offset_;
    Control& control_;
    std::mutex mutex_;
    std::atomic<Cost> upper_{kNever}, wanted_;
    PlanPtr plan_;
};

}  // namespace treeform::binary
