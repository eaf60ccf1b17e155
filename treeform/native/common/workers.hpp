#pragma once
// Workers of a search, each on a thread of its own.
#include <cstddef>
#include <functional>

namespace treeform {

/// Calls work(0) on this thread, and work(1), ..., work(count - 1) each on a thread of its own. Where the system starts
/// no further thread, the calls that are left follow work(0) on this one: threads change how long a search takes and
/// nothing else, so that fewer of them are no error. Where a call ends by an exception, `failed` is called at once, so
/// that the others can end; the first exception is thrown again when all have ended.
void run_workers(int count, const std::function<void(int)>& work, const std::function<void()>& failed = {});

/// Calls work(thread, index) for all indices, in order as far as one thread goes. The first exception is thrown again.
void share_out(int threads, std::size_t count, const std::function<void(int, std::size_t)>& work);

}  // namespace treeform
