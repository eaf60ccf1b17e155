#pragma once
// What the search shares with the thread that started it: beside the stop flag and an upper bound (with one objective)
// the bounds for every number of tests.
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "../common/control.hpp"
#include "problem.hpp"

namespace treeform::diagram {

/// What is known of e(k), the least cost with at most k tests, by k.
struct Bounds {
    std::vector<Cost> lower, upper;
};

/// Thrown when a search that asked for it has gone on for a while; nothing that it knows is lost.
struct Late {};

class Control : public ReportingControl<Improvement> {
public:
    static constexpr double kPatience = 1.0;    // seconds until it is late
    std::atomic<bool> late{false};
    bool heeds_late = false;                    // of the worker alone

    using ReportingControl::ReportingControl;

    void check() const {
        Stoppable::check();
        if (heeds_late && late.load(std::memory_order_relaxed)) throw Late{};
    }
    void publish(Improvement news) {
        const std::lock_guard lock(mutex_);
        news.seconds = seconds();
        pending_.push_back(std::move(news));
    }
    void publish(const Bounds& bounds) {
        const std::lock_guard lock(mutex_);
        bounds_ = bounds, changed_ = true;
    }
    using ReportingControl::take;
    /// The bounds; true if they have changed since the last call.
    bool take(Bounds& bounds) {
        const std::lock_guard lock(mutex_);
        bounds = bounds_;
        return std::exchange(changed_, false);
    }

private:
    Bounds bounds_;
    bool changed_ = false;
};

}  // namespace treeform::diagram
