// The sequence itself: see sequence.hpp.
#include "sequence.hpp"

#include <algorithm>
#include <utility>

#include "../common/workers.hpp"

namespace treeform::continuous_totals {

namespace {

/// How many tasks may be in flight before task k: few while the limit still moves.
std::size_t room_for(std::size_t k) { return std::min<std::size_t>(3 + k / 64, 32); }

}  // namespace

Sequence::Sequence(Make make, Choose choose, Work work, Settle settle)
    : make_(std::move(make)), choose_(std::move(choose)), work_(std::move(work)), settle_(std::move(settle)) {}

Sequence::~Sequence() = default;

void Sequence::run(int workers, Control& control) {
    if (workers <= 1) return loop(0);
    run_workers(
        workers, [this](int w) { loop(w); },
        [&] {
            const std::lock_guard guard(lock_);
            failed_ = true;
            control.stop();
            changed_.notify_all();
        });
}

void Sequence::loop(int worker) {
    while (Slot* slot = take()) {
        work_(worker, *slot->task);
        const std::lock_guard guard(lock_);
        slot->done = true;
        changed_.notify_all();
    }
}

Sequence::Slot* Sequence::take() {
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

Sequence::Slot* Sequence::choose() {
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

}  // namespace treeform::continuous_totals
