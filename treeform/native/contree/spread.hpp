#pragma once
// From sorted arrays to the lane tables of scan.hpp: lane l gets the l-th of 32 contiguous stretches.
#include <cstddef>

namespace treeform::contree {

/// `n` sorted elements of 16 or 32 bits into a lane table of `rows` rows; the rest is `padding`.
template <class T>
void spread(const T* sorted, std::size_t n, std::size_t rows, T padding, T* table);

}  // namespace treeform::contree
