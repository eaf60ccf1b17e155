// A thread that is joined where it goes out of scope: std::jthread, which the standard library of clang lacks
// before 20.
#pragma once

#include <thread>
#include <utility>

namespace treeform {

class JoiningThread {
public:
    template <class Work>
    explicit JoiningThread(Work&& work) : thread_(std::forward<Work>(work)) {}
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
