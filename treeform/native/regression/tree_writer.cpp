#include "tree_writer.hpp"

#include <algorithm>
#include <numeric>

namespace treeform::regression {
namespace {

void write(const Table& table, const Plan& plan, std::vector<Row>&& rows, std::size_t at, FlatTree& tree) {
    if (plan.feature < 0) {
        tree.label[at] = 0;
        return;
    }
    const auto f = static_cast<std::size_t>(plan.feature);
    const auto& rank = table.rank[f];
    std::vector<Row> right;
    std::uint32_t low = 0, high = static_cast<std::uint32_t>(table.values[f].size() - 1);
    for (const Row i : rows) {
        if (rank[i] < plan.key) {
            low = std::max(low, rank[i]);
        } else {
            high = std::min(high, rank[i]);
            right.push_back(i);
        }
    }
    std::erase_if(rows, [&](Row i) { return rank[i] >= plan.key; });
    tree.feature[at] = plan.feature, tree.low[at] = table.values[f][low], tree.high[at] = table.values[f][high];
    const auto add = [&] {
        tree.low.push_back(0), tree.high.push_back(0);
        return tree.add();
    };
    const int left_at = add(), right_at = add();
    tree.left[at] = left_at, tree.right[at] = right_at;
    write(table, *plan.left, std::move(rows), static_cast<std::size_t>(left_at), tree);
    write(table, *plan.right, std::move(right), static_cast<std::size_t>(right_at), tree);
}

}  // namespace

FlatTree write_tree(const Table& table, const Plan& plan) {
    FlatTree tree;
    tree.add(), tree.low.push_back(0), tree.high.push_back(0);
    std::vector<Row> rows(table.n);
    std::iota(rows.begin(), rows.end(), Row{0});
    write(table, plan, std::move(rows), 0, tree);
    return tree;
}

}  // namespace treeform::regression
