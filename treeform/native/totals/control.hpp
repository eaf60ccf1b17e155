#pragma once
// Where the search and the outside meet: a stop flag, an upper bound from outside, and the improvements found so far.
#include <atomic>
#include <utility>
#include <vector>

#include "../watched.hpp"
#include "problem.hpp"

namespace treeform::totals {

class Control : public Watched {
public:
    std::atomic<Amount> external{kNone};  // only trees that cost less are wanted

    void publish(Amount upper, Amount lower, FlatTree tree) {
        const std::lock_guard lock(mutex_);
        pending_.push_back({seconds(), upper, lower, std::move(tree)});
    }
    std::vector<Improvement> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(pending_, {});
    }

private:
    std::vector<Improvement> pending_;
};

/// Thrown when the solutions held need more memory than is allowed; caught at the top.
struct OutOfMemory {};

}  // namespace treeform::totals
