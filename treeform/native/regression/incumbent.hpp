#pragma once
// The best tree and the best bound that are known for all rows, shared by the workers.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "chains.hpp"
#include "control.hpp"
#include "tree_writer.hpp"
#include "value.hpp"

namespace treeform::regression {

class Incumbent {
public:
    /// Trees are over the chains where there are any, and are told over the table.
    Incumbent(const Table& table, const Chains* chains, const Settings& settings, Control& control)
        : table_(table), chains_(chains), control_(control), judge_(settings) {}

    void set_tolerance(double tolerance) { tolerance_ = tolerance; }
    double tolerance() const { return tolerance_; }
    /// Only bounds below it leave room for a better tree.
    double limit() const { return limit_.load(std::memory_order_relaxed); }
    /// Keeps a better tree.
    void offer(const Value& value, const PlanPtr& plan) {
        if (!plan) return;
        const std::lock_guard lock(mutex_);
        std::uint64_t near_ties = 0;
        if (plan_ && !judge_.better(value, value_, tolerance_, near_ties)) return;
        value_ = value, plan_ = plan;
        limit_.store(Judge::limit(value_, tolerance_), std::memory_order_relaxed);
        control_.publish(lower_, written());
    }
    /// No tree costs less, but for rounding.
    void raise(double lower) {
        const std::lock_guard lock(mutex_);
        const double safe = std::max(0.0, std::min(lower, value_.cost) - tolerance_);
        // Each report costs time; a rise by less than a thousandth is not worth one.
        if (safe < lower_ + 1e-3 * (value_.exists() ? value_.cost - lower_ : 1) || safe <= lower_) return;
        lower_ = safe;
        control_.publish(lower_, {});
    }
    Value value() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }
    PlanPtr plan() const {
        const std::lock_guard lock(mutex_);
        return plan_;
    }
    /// The best tree as arrays; empty while there is none.
    FlatTree tree() const {
        const std::lock_guard lock(mutex_);
        return plan_ ? written() : FlatTree{};
    }
    double lower() const {
        const std::lock_guard lock(mutex_);
        return lower_;
    }

private:
    const Table& table_;
    const Chains* chains_;
    Control& control_;
    Judge judge_;
    double tolerance_ = 0, lower_ = 0;
    std::atomic<double> limit_{kInfinite};
    Value value_;
    PlanPtr plan_;
    mutable std::mutex mutex_;

    FlatTree written() const { return write_tree(table_, chains_ ? *chains_->over_columns(plan_) : *plan_); }
};

}  // namespace treeform::regression
