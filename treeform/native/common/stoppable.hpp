#pragma once
// What a search that runs on a thread of its own shares with the thread that started it: a stop flag that is read
// often, a clock, a limit on memory, a lock for what is handed over, and a condition variable that is signalled when
// the search ends.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include <optional>

#include "memory.hpp"

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
        if (own % kGroup >= more) return;
        nodes_.fetch_add(kGroup, std::memory_order_relaxed);
        if (at_group) [[unlikely]]
            at_group();
    }
    /// Called by the search itself after each group of nodes, where that is wanted: at the same nodes in every run. May
    /// be empty.
    std::function<void()> at_group;
    /// The nodes so far, less those of the groups that are not full.
    std::int64_t nodes() const { return nodes_.load(std::memory_order_relaxed); }
    /// At most how many steps of about a nanosecond the search can take, whatever is in the table. Few of them end
    /// between two polls, so that no thread beside the search is needed to stop it.
    void expect_steps(double most) { brief_ = most <= kBriefSteps; }
    bool is_brief() const { return brief_ && memory_limit_ == 0; }
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

    /// From here on the process may grow by that many bytes; 0: no limit. Less than `kLeastMemory` counts as that:
    /// smaller amounts are lost among what the allocator keeps.
    void limit_memory(std::size_t bytes) {
        memory_limit_ = bytes ? std::max(bytes, kLeastMemory) : 0;
        if (!memory_limit_) return;
        growth_.emplace();
        largest_table_ = memory_limit_;
    }
    bool limits_memory() const { return memory_limit_ > 0; }
    bool is_half_full() const { return half_full_; }
    /// Ends the search if the process has grown beyond the limit; called by the thread that waits for the search.
    void watch_memory() {
        if (memory_limit_ == 0) return;
        const std::size_t grown = growth_->glance();
        half_full_ = grown > memory_limit_ / 2;
        if (grown > memory_limit_ - std::min(kept_free_.load(), memory_limit_ / 2)) stop_for_memory();
    }
    /// What comes after the search, such as writing the tree, needs that many bytes of the limit.
    void keep_free(std::size_t bytes) { kept_free_.store(bytes); }
    /// To be called before a table of that many bytes is built, which is refused if it cannot fit: into the limit, or
    /// into the machine where there is none.
    void check_table(std::size_t bytes) const {
        if (bytes <= largest_table_) return;
        note_refused(bytes);
        throw std::bad_alloc();
    }
    /// To be called before about so many bytes more are used: ends the search where the process would grow beyond the
    /// limit. The thread that waits may look too late where much is taken at once.
    void need(std::size_t bytes) {
        if (memory_limit_ == 0 || bytes < kWorthAsking) return;
        if (growth_->bytes() + bytes <= memory_limit_) return;
        stop_for_memory();
        throw Stopped{};
    }
    void note_refused(std::size_t bytes) const { refused_.store(bytes); }
    void stop_for_memory() {
        out_of_memory_.store(true);
        stop();
    }
    bool out_of_memory() const { return out_of_memory_.load() || refused_.load() > 0; }
    /// Bytes of the table that was refused; 0: none.
    std::size_t refused() const { return refused_.load(); }

protected:
    mutable std::mutex mutex_;

private:
    static constexpr std::uint64_t kGroup = 16;
    static constexpr double kBriefSteps = 2e7;
    static constexpr std::size_t kLeastMemory = std::size_t{1} << 25;
    static constexpr std::size_t kWorthAsking = std::size_t{1} << 20;
    /// Three quarters of the machine; everything where the system does not tell. Asked once: it is a system call.
    static std::size_t largest_without_limit() {
        const std::size_t machine = physical_bytes();
        return machine ? machine / 4 * 3 : std::numeric_limits<std::size_t>::max();
    }

    std::size_t memory_limit_ = 0, largest_table_ = largest_without_limit();
    std::optional<Growth> growth_;  // since the limit was set
    bool brief_ = false;
    bool half_full_ = false;  // of the thread that watches
    std::atomic<bool> out_of_memory_{false};
    mutable std::atomic<std::size_t> refused_{0};
    std::atomic<std::size_t> kept_free_{0};
    mutable std::atomic<std::int64_t> nodes_{0};
    Clock::time_point start_ = Clock::now();
    std::condition_variable changed_;
    bool finished_ = false;
};

}  // namespace treeform
