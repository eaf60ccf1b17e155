#include "memory.hpp"

#include <algorithm>
#include <chrono>

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <psapi.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#include <malloc/malloc.h>
#include <sys/sysctl.h>
#else
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#endif

namespace treeform {

#if defined(_WIN32)

std::size_t resident_bytes() {
    PROCESS_MEMORY_COUNTERS counters{};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters)) ? counters.WorkingSetSize : 0;
}

std::size_t allocated_bytes() { return 0; }

std::size_t physical_bytes() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof(status);
    return GlobalMemoryStatusEx(&status) ? static_cast<std::size_t>(status.ullTotalPhys) : 0;
}

#elif defined(__APPLE__)

std::size_t resident_bytes() {
    mach_task_basic_info info{};
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    const auto state = task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count);
    return state == KERN_SUCCESS ? info.resident_size : 0;
}

std::size_t allocated_bytes() {
    malloc_statistics_t all{};
    malloc_zone_statistics(nullptr, &all);
    return all.size_in_use;
}

std::size_t physical_bytes() {
    unsigned long long bytes = 0;
    std::size_t size = sizeof(bytes);
    return sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

#else

std::size_t resident_bytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (!file) return 0;
    unsigned long total = 0, resident = 0;
    const int read = std::fscanf(file, "%lu %lu", &total, &resident);
    std::fclose(file);
    return read == 2 ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::size_t allocated_bytes() {
    struct Info {  // glibc's struct mallinfo2, which wheels for older versions cannot name
        std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
    };
    static const auto ask = reinterpret_cast<Info (*)()>(dlsym(RTLD_DEFAULT, "mallinfo2"));
    if (!ask) return 0;
    const Info info = ask();
    return info.uordblks + info.hblkhd;
}

std::size_t physical_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(size) : 0;
}

#endif

namespace {

std::size_t beyond(std::size_t now, std::size_t before) { return now > before ? now - before : 0; }

/// Seconds between two questions to the allocator, as a multiple of what one takes.
constexpr double kApart = 50;

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::size_t Growth::bytes() const {
    return std::max(beyond(resident_bytes(), resident_), beyond(allocated_bytes(), allocated_));
}

std::size_t Growth::glance() {
    const double start = seconds_now();
    if (start - asked_ >= kApart * cost_) {
        seen_ = beyond(allocated_bytes(), allocated_);
        asked_ = seconds_now();
        cost_ = asked_ - start;
    }
    return std::max(beyond(resident_bytes(), resident_), seen_);
}

}  // namespace treeform
