#include "moved_rows.hpp"

namespace treeform {

MovedRows move_rows(const FlatNodes& nodes, const double* x, std::size_t rows, std::size_t columns,
                    const std::int64_t* weight, std::size_t classes) {
    MovedRows out;
    out.leaf.resize(rows), out.carried.assign(2 * nodes.count * classes, 0);
    out.reaching.assign(nodes.count * classes, 0);
    const auto add = [classes](std::int64_t* to, const std::int64_t* more) {
        for (std::size_t k = 0; k < classes; ++k) to[k] += more[k];
    };
    for (std::size_t i = 0; i < rows; ++i, x += columns, weight += classes) {
        std::int32_t node = 0;
        while (nodes.feature[node] >= 0) {
            const bool right = !(x[nodes.feature[node]] <= nodes.threshold[node]);
            add(&out.carried[(2 * std::size_t(node) + right) * classes], weight);
            node = right ? nodes.right[node] : nodes.left[node];
        }
        out.leaf[i] = node;
        add(&out.reaching[std::size_t(node) * classes], weight);
    }
    for (std::size_t v = 0; v < nodes.count; ++v)  // what reaches a test is what leaves it
        if (nodes.feature[v] >= 0)
            for (std::size_t side = 0; side < 2; ++side)
                add(&out.reaching[v * classes], &out.carried[(2 * v + side) * classes]);
    return out;
}

}  // namespace treeform
