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

/// Known bounds of e(k), the least cost with at most k tests, by k.
struct Bounds {
    std::vector<Cost> lower, upper;
};

/// Thrown inside a search that runs longer than kPatience, if it allows that; its tables stay valid.
struct Overdue {};

class Control : public ReportingControl<Improvement> {
public:
    static constexpr double kPatience = 1.0;    // seconds until a run is overdue
    std::atomic<bool> overdue{false};
    bool throws_when_overdue = false;                    // of the worker alone

    using ReportingControl::ReportingControl;

    void check() const {
        Stoppable::check();
        if (throws_when_overdue && overdue.load(std::memory_order_relaxed)) throw Overdue{};
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
