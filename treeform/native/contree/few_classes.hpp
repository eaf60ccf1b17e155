#pragma once
// A bound from the classes of a node alone. A tree of m leaves predicts at most m classes and has m - 1 tests. With
// s(a) for what predicting a everywhere saves, against the largest cost of every row, and p for the price of a test
//
//     cost >= (sum of the largest costs) - max over m of { s(a_1) + ... + s(a_m) - p (m - 1) },   s(a_1) >= s(a_2) >= ...
//
// as every row is in one leaf, and saves by one prediction. Beyond the first, a class that saves no more than p pays for
// no test. It takes no look at the features, and settles most splits where a test is dear and the classes are many.
#include <algorithm>
#include <functional>
#include <vector>

#include "table.hpp"

namespace treeform::contree {

template <class W>
class FewClasses {
public:
    using Cost = typename W::Cost;

    FewClasses(const Table<W>& table, Cost price) : table_(table), price_(price), saves_(table.predictions) {}

    /// No tree of that depth and with so many tests costs less on rows that weigh so much per class.
    Cost bound(const std::vector<Cost>& weight, int depth, std::int64_t tests) {
        const std::int64_t leaves = depth >= 40 ? tests + 1 : std::min(tests + 1, std::int64_t{1} << depth);
        Cost cost = 0;
        for (int y = 0; y < table_.classes; ++y) cost += weight[y] * static_cast<Cost>(table_.losses.worst[y]);
        for (int a = 0; a < table_.predictions; ++a) saves_[a] = saved_by(weight, a);
        std::sort(saves_.begin(), saves_.end(), std::greater<>());
        const auto many = std::min<std::int64_t>(leaves, table_.predictions);
        cost -= saves_[0];
        for (std::int64_t i = 1; i < many && saves_[i] > price_; ++i) cost -= saves_[i] - price_;
        return cost;
    }

private:
    const Table<W>& table_;
    Cost price_;
    std::vector<Cost> saves_;

    Cost saved_by(const std::vector<Cost>& weight, int a) const {
        if (const auto each = table_.losses.of_error; each > 0) return weight[a] * static_cast<Cost>(each);
        Cost saved = 0;
        for (int y = 0; y < table_.classes; ++y) {
            const auto worst = static_cast<Cost>(table_.losses.worst[y]);
            saved += weight[y] * (worst - table_.cost[static_cast<std::size_t>(y) * table_.predictions + a]);
        }
        return saved;
    }
};

}  // namespace treeform::contree
