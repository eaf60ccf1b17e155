#pragma once
// Checks of what enters the core: sizes, ranges and sums. Each throws what Python sees as a ValueError.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace treeform {

/// Weights of all rows, and costs of all rows at their worst, sum to at most that: a few such sums can be added.
constexpr std::int64_t kLargestSum = std::int64_t{1} << 60;
/// Amounts of linear constraints over sums, and their bounds.
constexpr std::int64_t kLargestAmount = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kAnyAmount = std::numeric_limits<std::int64_t>::max();
/// The deepest tree (treeform/shape.py), and the most threads (treeform/engines/checks.py).
constexpr int kDeepestTree = 30, kMostThreads = 1024;

inline void require(bool condition, const char* otherwise) {
    if (!condition) throw std::invalid_argument(otherwise);
}

/// The value, if it is within a range; `name` stands in the error.
std::int64_t require_between(std::int64_t value, std::int64_t least, std::int64_t most, const char* name);
void require_all_between(const std::int64_t* values, std::size_t count, std::int64_t least, std::int64_t most,
                         const char* name);
/// No entry is below `least`, and the largest magnitudes of the rows sum to at most `most`.
void require_sum(const std::int64_t* values, std::size_t rows, std::size_t columns, std::int64_t least,
                 std::int64_t most, const char* name);
/// No entry is NaN, for which no order is defined.
void require_ordered(const double* values, std::size_t count);

}  // namespace treeform
