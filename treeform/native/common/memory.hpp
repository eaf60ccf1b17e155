#pragma once
// What the process and the machine have of memory, as the system counts it.
#include <cstddef>

namespace treeform {

/// Bytes of this process that are in main memory now; 0 where the system does not tell.
std::size_t resident_bytes();

/// Bytes of main memory of the machine; 0 where the system does not tell.
std::size_t physical_bytes();

}  // namespace treeform
