// A thread that is joined where it goes out of scope: std::jthread, which the standard library of clang lacks
// before 20.
#pragma once

#include <thread>
#include <utility>

namespace treeform {

/// To be called where a thread begins; false where memory is used up, and then nothing may be thrown in it. What
/// exceptions and thread_local objects need of each thread is allocated where it is first asked for, and the C library
/// ends the process if that fails. So it is asked for before there is something to throw.
bool prepare_thread() noexcept;

class JoiningThread {
public:
    /// Calls `work` on a new thread, or `otherwise` where that thread has no memory.
    template <class Work, class Otherwise>
    JoiningThread(Work&& work, Otherwise&& otherwise)
        : thread_([work = std::forward<Work>(work), otherwise = std::forward<Otherwise>(otherwise)]() mutable {
              if (prepare_thread())
                  work();
              else
                  otherwise();
          }) {}
    JoiningThread(JoiningThread&&) noexcept = default;
    JoiningThread& operator=(JoiningThread&&) = delete;
    ~JoiningThread() { join(); }

    void join() {
        if (thread_.joinable()) thread_.join();
    }

private:
    std::thread thread_;
};

}  // namespace treeform
