#include "tree_writer.hpp"

#include <algorithm>
#include <iterator>
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
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(right), [&](Row i) { return rank[i] >= plan.key; });
    std::erase_if(rows, [&](Row i) { return rank[i] >= plan.key; });
    const auto less = [&](Row a, Row b) { return rank[a] < rank[b]; };
    tree.feature[at] = plan.feature;
    tree.low[at] = table.value(*std::max_element(rows.begin(), rows.end(), less), f);
    tree.high[at] = table.value(*std::min_element(right.begin(), right.end(), less), f);
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
