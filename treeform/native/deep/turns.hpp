#pragma once
// Two searches on two threads of which one runs at a time: each hands over after its share of the work, so that what they
// find depends on the work alone, as if they were one program.
#include <condition_variable>
#include <mutex>

namespace treeform::deep {

class Turns {
public:
    enum Party { kProof = 0, kImprovement = 1 };

    /// Waits for the turn.
    void begin(Party me) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return turn_ == me || ended_[1 - me]; });
    }
    /// Gives the other one its turn, and waits for its own.
    void hand_over(Party me) {
        std::unique_lock lock(mutex_);
        if (ended_[1 - me]) return;
        turn_ = static_cast<Party>(1 - me);
        changed_.notify_all();
        changed_.wait(lock, [&] { return turn_ == me || ended_[1 - me]; });
    }
    void end(Party me) {
        const std::lock_guard lock(mutex_);
        ended_[me] = true;
        turn_ = static_cast<Party>(1 - me);
        changed_.notify_all();
    }
    bool has_ended(Party one) const {
        const std::lock_guard lock(mutex_);
        return ended_[one];
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Party turn_ = kProof;
    bool ended_[2] = {false, false};
};

}  // namespace treeform::deep
