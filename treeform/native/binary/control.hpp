#pragma once
// Where the search and the outside meet: a stop flag that is read often, and the improvements found so far. The search
// runs on a thread of its own; clocks, signals and Python are the business of the calling thread.
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "../watched.hpp"
#include "problem.hpp"

namespace treeform::binary {

class Control : public Watched {
public:
    std::atomic<Cost> external{kNever};  // an upper bound from outside: only trees below it are wanted

    void publish(Cost upper, Cost lower, FlatTree tree) {
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

}  // namespace treeform::binary
