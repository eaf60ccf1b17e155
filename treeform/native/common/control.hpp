#pragma once
// What a search shares with the thread that started it: beside the stop flag an upper bound from outside, which only
// falls, and the improvements that have not been reported yet.
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "flat_tree.hpp"
#include "stoppable.hpp"

namespace treeform {

/// "No bound": adding three of them does not overflow.
constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max() / 4;

/// A better tree, or a better bound (then the tree is empty).
struct Improvement {
    double seconds;
    std::int64_t upper, lower;
    FlatTree tree;
};

template <class News>
class ReportingControl : public Stoppable {
public:
    explicit ReportingControl(std::int64_t upper = kNoBound) : external(upper) {}

    std::atomic<std::int64_t> external;  // only models that cost less are wanted

    void tighten(std::int64_t upper) {
        auto now = external.load();
        while (upper < now && !external.compare_exchange_weak(now, upper)) {}
    }
    /// What has been published since the last call.
    std::vector<News> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(pending_, {});
    }

protected:
    std::vector<News> pending_;  // guarded by mutex_
};

/// The control of a search for one tree.
class TreeControl : public ReportingControl<Improvement> {
public:
    using ReportingControl::ReportingControl;

    void publish(std::int64_t upper, std::int64_t lower, FlatTree tree) {
        tree.cost = upper;
        const std::lock_guard lock(mutex_);
        pending_.push_back({seconds(), upper, lower, std::move(tree)});
    }
};

}  // namespace treeform
