// Trees over few of the columns, for very many sets of columns: the least price of a tree over each set. Few tests tell
// few points apart, so that the points of a set are merged first, and its dynamic program is one over some cells.
#include "column_sets.hpp"

#include <unordered_map>

#include "../totals/minima.hpp"

namespace treeform::and_or {

using namespace totals;
constexpr std::size_t kMostKeyed = 64;  // tests whose results at a point are one number

namespace {

/// The points of the table as some tests tell them apart.
class Cells {
public:
    explicit Cells(const Table& table) : table_(table) {}

    Table over(const std::int32_t* tests, std::size_t number) {
        const std::size_t kinds = table_.kinds;
        x_.clear(), count_.clear(), cell_.clear();
        for (std::size_t p = 0; p < table_.points; ++p) {
            const std::uint8_t* row = table_.x + p * table_.columns;
            const std::size_t at = number <= kMostKeyed ? cell_of(row, tests, number) : x_.size() / number;
            if (at * kinds == count_.size()) {
                for (std::size_t j = 0; j < number; ++j) x_.push_back(row[tests[j]] != 0);
                count_.resize(count_.size() + kinds, 0);
            }
            for (std::size_t k = 0; k < kinds; ++k) count_[at * kinds + k] += table_.count[p * kinds + k];
        }
        Table out = table_;
        out.x = x_.data(), out.count = count_.data();
        out.points = count_.size() / kinds, out.columns = number;
        return out;
    }

private:
    std::size_t cell_of(const std::uint8_t* row, const std::int32_t* tests, std::size_t number) {
        std::uint64_t key = 0;
        for (std::size_t j = 0; j < number; ++j) key |= std::uint64_t(row[tests[j]] != 0) << j;
        return cell_.try_emplace(key, cell_.size()).first->second;
    }
    const Table& table_;
    std::vector<std::uint8_t> x_;
    std::vector<Amount> count_;
    std::unordered_map<std::uint64_t, std::size_t> cell_;
};

}  // namespace

std::vector<Amount> least_over_sets(const Table& table, const Settings& settings, Control& control,
                                    const Prices& prices, const std::vector<std::int64_t>& begin,
                                    const std::vector<std::int32_t>& tests) {
    std::vector<Amount> out;
    Cells cells(table);
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
        control.check();
        const std::int32_t* first = tests.data() + begin[i];
        const Table here = cells.over(first, std::size_t(begin[i + 1] - begin[i]));
        Prices own = prices;
        own.test.clear();
        for (std::size_t j = 0; j < here.columns; ++j) own.test.push_back(prices.test[first[j]]);
        Counters counters;
        Store<Known> known;
        Rows rows(here, settings.simd, false);
        Minima minima(here, rows, settings, control, counters, known);
        minima.set(own);
        Subset root;
        rows.root(root);
        out.push_back(minima.minimum(root, settings.depth, kNone));
    }
    return out;
}

}  // namespace treeform::and_or
