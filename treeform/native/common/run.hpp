#pragma once
// Running a search beside the thread that started it. All work happens on a thread of its own, so that the time limit
// and an interrupt are obeyed in every phase; the calling thread sleeps and polls.
#include <functional>

#include "stoppable.hpp"

namespace treeform {

/// Between two polls: half of the time so far, within these bounds.
constexpr double kFirstPollSeconds = 0.004, kPollSeconds = 0.05;
/// Between two readings of the memory of the process, where it is limited: what a search can fill in that time is
/// little.
constexpr double kMemorySeconds = 0.004;

/// Runs `search` on a new thread and calls `poll` about twenty times a second, at first more often, and once after the
/// end. The search is asked to stop when `time_limit` seconds have passed, the memory is used up, `poll` returns true, or
/// `poll` throws. Returns when the search has ended; an exception of the search, or else of `poll`, is thrown here, but
/// for std::bad_alloc: memory is used up then (`Stoppable::out_of_memory`), also where no thread can be started, and what
/// has been found is the answer. A search that is known to be brief runs on the calling thread, whose caches then hold
/// what comes next, and is polled after its end.
void run_beside(Stoppable& control, double time_limit, const std::function<void()>& search,
                const std::function<bool()>& poll);

}  // namespace treeform
