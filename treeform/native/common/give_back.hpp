#pragma once
// Memory that was freed goes back to the system: the heap of a thread keeps it otherwise, in pieces too small for what is
// asked for next.
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
