#pragma once
// Where the search and the outside meet: a stop flag that is read often, and the improvements found so far. The search
// runs on a thread of its own; clocks, signals and Python are the business of the calling thread.
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "../watched.hpp"
#include "problem.hpp"

namespace treeform::diagram {

/// What is known of e(k), the least cost with at most k tests, by k.
struct Bounds {
    std::vector<Cost> lower, upper;
};

/// Thrown when a search that asked for it has gone on for a while; nothing that it knows is lost.
struct Late {};

class Control : public Watched {
public:
    static constexpr double kPatience = 1.0;    // seconds until it is late
    std::atomic<bool> late{false};
    bool heeds_late = false;                    // of the worker alone

    void check() const {
        Watched::check();
        if (heeds_late && late.load(std::memory_order_relaxed)) throw Late{};
    }
    std::atomic<Cost> external{kNever};   // with one objective: only models whose value is below this are wanted

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

private:
    std::vector<Improvement> pending_;
    Bounds bounds_;
    bool moved_ = false;
};

}  // namespace treeform::diagram
