#pragma once
// Rows that move through a decision graph from its root to a leaf.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace treeform {

/// A decision graph over the columns of a matrix: a node with a feature sends rows of at most its threshold to the
/// left. Children come after their parents; a node without a feature (-1) is a leaf.
struct FlatNodes {
    const std::int32_t* feature;
    const double* threshold;
    const std::int32_t *left, *right;
    std::size_t count;
};

struct MovedRows {
    std::vector<std::int32_t> leaf;  // of each row
    std::vector<std::int64_t> carried;  // weight of each class on each arc: [2 * node + side][class]
    std::vector<std::int64_t> reaching;  // weight of each class that reaches each node: [node][class]
};

/// Moves all rows, each with a weight of each class.
MovedRows move_rows(const FlatNodes& nodes, const double* x, std::size_t rows, std::size_t columns,
                    const std::int64_t* weight, std::size_t classes);

}  // namespace treeform
