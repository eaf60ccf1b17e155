#pragma once
// The test of the least Gini impurity, as CART chooses it.
#include <algorithm>
#include <vector>

#include "../contree/cuts.hpp"
#include "../contree/listed_rows.hpp"

namespace treeform::deep {

template <class W>
class Impurity {
public:
    using Cost = typename W::Cost;
    using Test = contree::Test;

    Impurity(const contree::Table<W>& table, contree::ListedRows<W>& listed)
        : table_(table), listed_(listed), below_(table.classes) {}

    /// The best test of a feature in place of `best`, if it is better: `most` is the sum over the classes of both sides of
    /// weight^2 / (weight of the side), which is the most where the impurity is the least.
    void improve(const contree::Node<W>& rows, int f, Cost support, double& most, Test& best) {
        const auto& sorted = listed_.by(rows, f);
        const auto* order = sorted.order(f);
        const auto* key = sorted.key(f);
        contree::Cuts<W> cuts;
        cuts.take_keys(table_, sorted, f, support);
        if (cuts.empty()) return;
        std::fill(below_.begin(), below_.end(), Cost{0});
        double low = 0, high = 0, low_squares = 0, high_squares = 0;
        for (std::size_t y = 0; y < below_.size(); ++y) {
            const auto w = static_cast<double>(rows.weight[y]);
            high += w, high_squares += w * w;
        }
        for (int k = 1; k <= cuts.last(); ++k) {
            const auto row = order[k - 1];
            const auto y = table_.label[row];
            const auto w = static_cast<double>(table_.weight_of(row));
            const auto l = static_cast<double>(below_[y]), h = static_cast<double>(rows.weight[y]) - l;
            below_[y] += table_.weight_of(row);
            low += w, high -= w;
            low_squares += w * (2 * l + w), high_squares -= w * (2 * h - w);
            if (k < cuts.first() || key[k] == key[k - 1]) continue;
            const double now = low_squares / low + high_squares / high;
            if (now > most) most = now, best = {f, key[k]};
        }
    }

private:
    const contree::Table<W>& table_;
    contree::ListedRows<W>& listed_;
    std::vector<Cost> below_;
};

}  // namespace treeform::deep
