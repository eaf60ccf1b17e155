#include "run.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <system_error>

#include "joining_thread.hpp"

namespace treeform {
namespace {

/// The time until the next poll: first models come within milliseconds of each other.
double interval(const Stoppable& control) {
    return std::clamp(control.seconds() / 2, kFirstPollSeconds, kPollSeconds);
}

/// The time to sleep before the next reading: not beyond the time limit, unless that has passed already.
double pause(const Stoppable& control, double time_limit) {
    const double rest = time_limit - control.seconds();
    if (control.limits_memory()) return control.is_half_full() ? kMemorySeconds / 8 : kMemorySeconds;
    return rest <= 0 ? kPollSeconds : std::clamp(rest, 0.001, interval(control));
}

}  // namespace

void run_beside(Stoppable& control, double time_limit, const std::function<void()>& search,
                const std::function<bool()>& poll) {
    prepare_thread();
    std::exception_ptr from_search, from_poll;
    bool has_run = false;
    const auto run = [&] {
        has_run = true;
        try {
            search();
        } catch (const std::bad_alloc&) {
            control.stop_for_memory();
        } catch (...) {
            from_search = std::current_exception();
        }
        control.finish();
    };
    std::optional<JoiningThread> worker;
    if (control.is_brief() && time_limit > 2 * kPollSeconds) {
        run();
    } else {
        try {
            worker.emplace(run, [&control] { control.finish(); });
        } catch (const std::system_error&) {  // no memory for its stack, or too many threads
            control.finish();
        } catch (const std::bad_alloc&) {
            control.finish();
        }
    }
    double next_poll = kFirstPollSeconds;
    for (bool ended = false; !ended;) {
        if (control.seconds() >= time_limit) control.stop();
        ended = control.wait(pause(control, time_limit));
        if (!ended) control.watch_memory();
        const bool early = control.limits_memory() && control.seconds() < std::min(next_poll, time_limit);
        if (from_poll || (early && !ended)) continue;
        next_poll = control.seconds() + interval(control);
        try {
            if (poll()) control.stop();
        } catch (const std::bad_alloc&) {
            control.stop_for_memory();
        } catch (...) {  // the search has to end before the exception is thrown on
            from_poll = std::current_exception();
            control.stop();
        }
    }
    worker.reset();
    if (!has_run) {
        control.stop_for_memory();
        run();  // ends at once, with the answer of a search that was stopped
    }
    if (from_search) std::rethrow_exception(from_search);
    if (from_poll) std::rethrow_exception(from_poll);
}

}  // namespace treeform
