#include "interleave.hpp"

#include <atomic>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "../common/joining_thread.hpp"
#include "turns.hpp"

namespace treeform::deep {
namespace {

/// Runs one party; tells the other that it has ended, whatever happens.
template <class Run>
void take_part(Turns& turns, Turns::Party me, const Run& run) {
    turns.begin(me);
    try {
        run();
    } catch (...) {
        turns.end(me);
        throw;
    }
    turns.end(me);
}

/// `prove` here, and the improvement search on another thread from when `prove` calls what it is given; `otherwise` there,
/// if it has no memory.
void run_both(Stoppable& control, const std::function<void(const std::function<void()>&)>& prove,
              const std::function<void()>& improve, const std::function<void()>& otherwise) {
    std::exception_ptr failure, of_improvement;
    {
        const auto work = [&] {
            try {
                improve();
            } catch (const Stopped&) {
            } catch (const std::bad_alloc&) {
                control.stop_for_memory();
            } catch (...) {
                of_improvement = std::current_exception();
                control.stop();
            }
        };
        std::optional<JoiningThread> other;
        try {
            prove([&] { other.emplace(work, [&] { otherwise(); }); });
        } catch (...) {
            failure = std::current_exception();
        }
    }
    if (of_improvement) std::rethrow_exception(of_improvement);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

void side_by_side(Stoppable& control, Improver& improver, std::uint64_t work_limit,
                  const std::function<void()>& prove) {
    std::atomic<bool> ended{false};
    const auto is_over = [&] { return work_limit > 0 && improver.work() >= work_limit; };
    improver.pace = [&] {
        if (ended.load(std::memory_order_relaxed) || is_over()) throw Stopped{};
    };
    improver.tells = false;
    const auto until_the_end = [&](const std::function<void()>& begin) {
        if (!is_over()) begin();
        try {
            prove();
        } catch (...) {
            ended = true;
            throw;
        }
        ended = true;
    };
    run_both(control, until_the_end, [&] { improver.run(); }, [] {});
    improver.pace = {};
}

void in_turns(Stoppable& control, Improver& improver, const std::function<double()>& allowed,
              const std::function<void()>& prove, const std::function<void()>& rest) {
    Turns turns;
    const auto proof = std::this_thread::get_id();
    improver.pace = [&] {
        if (turns.has_ended(Turns::kProof)) throw Stopped{};
        if (static_cast<double>(improver.work()) >= allowed()) turns.hand_over(Turns::kImprovement);
        control.check();
    };
    const auto both = [&](const std::function<void()>& begin) {
        // A turn is some part of its work: a change of threads takes longer than sixteen nodes of a small table.
        constexpr double kWithNext = 1.02;
        const auto give_turn = [&, begun = false]() mutable {
            if (std::this_thread::get_id() != proof) return;
            if (kWithNext * static_cast<double>(improver.work()) >= allowed()) return;
            if (!std::exchange(begun, true)) begin();
            rest();
            turns.hand_over(Turns::kProof);
        };
        control.at_group = give_turn;
        take_part(turns, Turns::kProof, [&] { control.at_group(), prove(); });
    };
    run_both(
        control, both, [&] { take_part(turns, Turns::kImprovement, [&] { improver.run(); }); },
        [&] { turns.end(Turns::kImprovement); });
    control.at_group = {};
    improver.pace = {};
}

}  // namespace treeform::deep
