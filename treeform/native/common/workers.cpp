#include "workers.hpp"

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

}  // namespace treeform
