#pragma once
// Equal rows of a matrix, found by hashing and compared in full.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace treeform {

struct RowGroups {
    std::vector<std::int64_t> group;  // of each row, numbered in order of first appearance
    std::vector<std::int64_t> first;  // row of each group
};

/// Rows of 64-bit words are equal when all their words are.
RowGroups group_rows(const std::uint64_t* x, std::size_t rows, std::size_t columns);

}  // namespace treeform
