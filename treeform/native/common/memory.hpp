#pragma once
// What the process and the machine have of memory, as the system and the allocator count it.
#include <cstddef>

namespace treeform {

/// Bytes of this process that are in main memory now; 0 where the system does not tell.
std::size_t resident_bytes();

/// Bytes that the allocator has handed out and not got back; 0 where it does not tell (another C library than glibc
/// 2.33 or newer, or Apple's). It looks at each free block, so asking takes longer the more of them there are.
std::size_t allocated_bytes();

/// Bytes of main memory of the machine; 0 where the system does not tell.
std::size_t physical_bytes();

/// By how much the process has grown since a moment.
///
/// The resident bytes alone would depend on what the process did before: what it freed is mostly kept by the
/// allocator, and to fill it again is no growth. The allocated bytes alone would not count what other libraries map.
/// So the larger growth of the two counts.
class Growth {
public:
    Growth() : resident_(resident_bytes()), allocated_(allocated_bytes()) {}

    std::size_t bytes() const;
    /// The same, or less where only the allocator knows better and was asked a moment ago: a thread that looks again
    /// and again must not hold up those that allocate. For one thread.
    std::size_t glance();

private:
    std::size_t resident_, allocated_;
    std::size_t seen_ = 0;         // by the allocator, when it was last asked
    double cost_ = 0, asked_ = 0;  // seconds: what asking took, and when
};

}  // namespace treeform
