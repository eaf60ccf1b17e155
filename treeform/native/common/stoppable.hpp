#pragma once
// What a search that runs on a thread of its own shares with the thread that started it: a stop flag that is read
// often, a clock, a lock for what is handed over, and a condition variable that is signalled when the search ends.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace treeform {

/// Thrown inside a search that has been asked to stop; caught where the search begins.
struct Stopped {};

class Stoppable {
public:
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> stopping{false};

    void stop() { stopping.store(true, std::memory_order_relaxed); }
    /// Seconds since the run began.
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    void check() const {
        if (stopping.load(std::memory_order_relaxed)) throw Stopped{};
    }
    /// Counts nodes of the search in the caller's own counter, and passes them on in groups: threads that count
    /// into one place hold each other up.
    void count(std::uint64_t& own, std::uint64_t more = 1) const {
        own += more;
        if (own % kGroup < more) nodes_.fetch_add(kGroup, std::memory_order_relaxed);
    }
    /// The nodes so far, less those of the groups that are not full.
    std::int64_t nodes() const { return nodes_.load(std::memory_order_relaxed); }
    /// The search has ended.
    void finish() {
        {
            const std::lock_guard lock(mutex_);
            finished_ = true;
        }
        changed_.notify_all();
    }
    /// Sleep for at most that many seconds; true once the search has ended.
    bool wait(double at_most) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::duration<double>(at_most), [this] { return finished_; });
    }

protected:
    mutable std::mutex mutex_;

private:
    static constexpr std::uint64_t kGroup = 16;
    mutable std::atomic<std::int64_t> nodes_{0};
    Clock::time_point start_ = Clock::now();
    std::condition_variable changed_;
    bool finished_ = false;
};

}  // namespace treeform
