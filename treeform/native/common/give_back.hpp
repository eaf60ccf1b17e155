#pragma once
// Returns freed memory to the system. Otherwise the heap of a thread keeps it, in pieces too small for the next large
// arrays.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace treeform {

/// Of a table whose memory goes back to the system after a search.
constexpr std::size_t kManyValues = 1'000'000;

inline void give_freed_memory_back() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/// Frees what a vector holds; to assign {} to it keeps its memory.
template <class T>
void give_back(std::vector<T>& all) {
    std::vector<T>().swap(all);
}

/// Room for so many elements; what a large vector held is lost. One that grows takes twice what it had, and holds both while
/// it copies. No call asks for more than `most`.
template <class T>
void renew(std::vector<T>& out, std::size_t size, std::size_t most = std::numeric_limits<std::size_t>::max()) {
    constexpr std::size_t kLarge = std::size_t{1} << 15;
    if (size > kLarge && size > out.capacity())
        give_back(out), out.reserve(std::max(size, std::min(size + size / 8, most)));
    out.resize(size);
}

}  // namespace treeform
