#pragma once
// Returns freed memory to the system. Otherwise the heap of a thread keeps it, in pieces too small for the next large
// arrays.
#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace treeform {

inline void give_freed_memory_back() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace treeform
