#pragma once
// Of the trees of at most one test on the same rows that add the same to every row of totals, the cheapest: any other one
// can be replaced by it in a tree that satisfies the rows, at no more cost. A test counts as long as some labels of its
// leaves are the cheapest of their kind; of equal ones, the first.
#include <unordered_map>
#include <vector>

#include "levels.hpp"

namespace treeform::and_or {

class Undominated {
public:
    explicit Undominated(const totals::Table& table) : table_(table) {}

    void begin() { best_.clear(), kept_.clear(); }
    /// A leaf of all rows, which are `total` of each kind.
    void leaf(const Amount* total, int label) {
        sum_.assign(1 + table_.rows, 0);
        add_leaf(total, label);
        enter(kNoTest);
    }
    /// The next test, over leaves of so much of each kind with these labels.
    void test(int column, const Amount* low, int label_low, const Amount* high, int label_high) {
        sum_.assign(1 + table_.rows, 0);
        sum_[0] = table_.test_cost[column];
        for (int r = 0; r < table_.rows; ++r) sum_[1 + r] = table_.test_row[std::size_t(column) * table_.rows + r];
        add_leaf(low, label_low), add_leaf(high, label_high);
        enter(std::int64_t(kept_.size()));
    }
    /// The leaves of the test are complete.
    void end_of_test() { kept_.push_back(0); }
    /// Per test: how many of its labels are among the cheapest.
    const std::vector<std::int32_t>& kept() {
        for (const auto& [rows, best] : best_)
            if (best.second != kNoTest) ++kept_[best.second];
        return kept_;
    }

private:
    static constexpr std::int64_t kNoTest = -1;
    using RowSums = std::vector<Amount>;
    struct Hash {
        std::size_t operator()(const RowSums& rows) const {
            return mixed(reinterpret_cast<const std::uint64_t*>(rows.data()), rows.size());
        }
    };

    const totals::Table& table_;
    RowSums sum_, rows_;
    std::unordered_map<RowSums, std::pair<Amount, std::int64_t>, Hash> best_;
    std::vector<std::int32_t> kept_;

    void add_leaf(const Amount* total, int label) {
        for (int k = 0; k < table_.kinds; ++k) {
            if (total[k] == 0) continue;
            const std::size_t i = std::size_t(k) * table_.labels + label;
            sum_[0] += total[k] * table_.cost[i];
            for (int r = 0; r < table_.rows; ++r) sum_[1 + r] += total[k] * table_.row[i * table_.rows + r];
        }
        for (int r = 0; table_.leaf_row && r < table_.rows; ++r)
            sum_[1 + r] += table_.leaf_row[label * table_.rows + r];
    }
    void enter(std::int64_t test) {
        rows_.assign(sum_.begin() + 1, sum_.end());
        const auto [at, fresh] = best_.try_emplace(rows_, sum_[0], test);
        if (!fresh && sum_[0] < at->second.first) at->second = {sum_[0], test};
    }
};

}  // namespace treeform::and_or
