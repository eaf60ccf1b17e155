#include "workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <vector>

#include "joining_thread.hpp"

namespace treeform {

void run_workers(int count, const std::function<void(int)>& work, const std::function<void()>& failed) {
    std::mutex mutex;
    std::exception_ptr failure;
    std::vector<char> has_run(count, 0);
    const auto run = [&](int worker) {
        has_run[worker] = 1;
        try {
            work(worker);
        } catch (...) {
            {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
            if (failed) failed();
        }
    };
    {
        std::vector<JoiningThread> others;
        int started = 1;
        try {
            others.reserve(count);
            for (; started < count; ++started) others.emplace_back([&run, started] { run(started); }, [] {});
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {}
        run(0);
    }
    for (int worker = 1; worker < count; ++worker)
        if (!has_run[worker]) run(worker);
    if (failure) std::rethrow_exception(failure);
}

void share_out(int threads, std::size_t count, const std::function<void(int, std::size_t)>& work) {
    if (threads <= 1 || count < 2) {
        for (std::size_t i = 0; i < count; ++i) work(0, i);
        return;
    }
    std::atomic<std::size_t> next{0};
    run_workers(
        static_cast<int>(std::min(static_cast<std::size_t>(threads), count)),
        [&](int thread) {
            for (std::size_t i; (i = next++) < count;) work(thread, i);
        },
        [&] { next = count; });
}

}  // namespace treeform
