#pragma once
// What the search shares with the thread that started it: the news since the last report, and a limit on memory.
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "../common/stoppable.hpp"
#include "problem.hpp"

namespace treeform::regression {

class Control : public Stoppable {
public:
    explicit Control(std::size_t memory_limit) : memory_limit_(memory_limit) { limit_memory(memory_limit); }

    /// Stop if that many bytes are more than allowed.
    void check_memory(std::size_t bytes) {
        if (memory_limit_ == 0 || bytes <= memory_limit_) return;
        stop_for_memory();
        throw Stopped{};
    }
    void publish(double lower, FlatTree tree) {
        const std::lock_guard lock(mutex_);
        news_.push_back({seconds(), lower, std::move(tree)});
    }
    std::vector<News> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(news_, {});
    }

private:
    std::size_t memory_limit_;
    std::vector<News> news_;  // guarded by mutex_
};

}  // namespace treeform::regression
