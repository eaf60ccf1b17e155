#pragma once
// Tasks that one worker or several do with the same result.
//
// They form one sequence: task k is chosen from what the tasks up to k - D came to, where D is the number that may be
// in flight. What is there earlier waits for its turn. So the choices, and with them everything found, do not depend on
// the number of workers, nor on how fast each of them is. (ConTree's root does the same, contree/root.hpp.)
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../common/joining_thread.hpp"
#include "control.hpp"

namespace treeform::continuous_totals {

template <class Task>
class Sequence {
public:
    using Make = std::function<std::unique_ptr<Task>()>;
    /// Fill in the next task; false when that depends on a task in flight, or at the end. `idle`: none is in flight.
    using Choose = std::function<bool(Task&, bool idle)>;
    using Work = std::function<void(int worker, Task&)>;
    using Settle = std::function<void(Task&)>;

    /// `choose` and `settle` are called by one worker at a time, `settle` in the order of the sequence.
    Sequence(Make make, Choose choose, Work work, Settle settle)
        : make_(std::move(make)), choose_(std::move(choose)), work_(std::move(work)), settle_(std::move(settle)) {}

    /// All tasks; the first failure stops the others through `control` and is thrown here.
    void run(int workers, Control& control) {
        if (workers <= 1) return loop(0);
        std::exception_ptr failure;
        {
            std::vector<JoiningThread> threads;
            for (int w = 0; w < workers; ++w)
                threads.emplace_back([this, w, &failure, &control] {
                    try {
                        loop(w);
                    } catch (...) {
                        const std::lock_guard guard(lock_);
                        if (!failure) failure = std::current_exception();
                        failed_ = true;
                        control.stop();
                        changed_.notify_all();
                    }
                });
        }
        if (failure) std::rethrow_exception(failure);
    }

private:
    struct Slot {
        std::unique_ptr<Task> task;
        bool done = false;
    };

    Make make_;
    Choose choose_;
    Work work_;
    Settle settle_;
    std::mutex lock_;  // for all that follows
    std::condition_variable changed_;
    bool failed_ = false;
    std::size_t chosen_ = 0;
    std::deque<std::unique_ptr<Slot>> slots_;
    std::vector<Slot*> idle_;
    std::deque<Slot*> flight_;

    /// How many tasks may be in flight before task k: few while the limit still moves.
    static std::size_t room_for(std::size_t k) { return std::min<std::size_t>(3 + k / 64, 32); }

    void loop(int worker) {
        while (Slot* slot = take()) {
            work_(worker, *slot->task);
            const std::lock_guard guard(lock_);
            slot->done = true;
            changed_.notify_all();
        }
    }

    Slot* take() {
        std::unique_lock guard(lock_);
        for (;;) {
            if (failed_) throw Stopped{};
            if (flight_.size() < room_for(chosen_))
                if (Slot* slot = choose()) return slot;
            if (flight_.empty()) {
                changed_.notify_all();
                return nullptr;
            }
            if (!flight_.front()->done) {  // another worker has it
                changed_.wait(guard);
                continue;
            }
            Slot* first = flight_.front();
            flight_.pop_front();
            settle_(*first->task);
            idle_.push_back(first);
        }
    }

    Slot* choose() {
        if (idle_.empty()) {
            slots_.push_back(std::make_unique<Slot>());
            slots_.back()->task = make_();
            idle_.push_back(slots_.back().get());
        }
        Slot* slot = idle_.back();
        if (!choose_(*slot->task, flight_.empty())) return nullptr;
        idle_.pop_back();
        slot->done = false;
        ++chosen_;
        flight_.push_back(slot);
        return slot;
    }
};

}  // namespace treeform::continuous_totals
