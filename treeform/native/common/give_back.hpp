#pragma once
// Returns freed memory to the system. Otherwise the heap of a thread keeps it, in pieces too small for the next large
// arrays.
#include <cstdlib>
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

}  // namespace treeform
