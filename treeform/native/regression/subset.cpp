#include "subset.hpp"

#include <algorithm>
#include <numeric>

#include "../common/give_back.hpp"
#include "../contree/ranks.hpp"

namespace treeform::regression {
namespace {

using Wide = __int128;

/// The nearest whole number to a / b, b positive, or one of the two.
std::int64_t nearest(std::int64_t a, std::int64_t b) {
    const std::int64_t down = a / b - (a % b < 0);
    return 2 * (a - down * b) > b ? down + 1 : down;
}

/// Weight, centre, sum and sum of squares of the rows in `order`.
void set_sums(const Table& table, const std::vector<Row>& order, std::size_t n, Subset& out) {
    std::int64_t weight = 0, sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        weight += table.weight[order[k]];
        sum += table.weight[order[k]] * table.target[order[k]];
    }
    out.n = n, out.weight = weight, out.centre = weight > 0 ? nearest(sum, weight) : 0;
    out.sum = sum - out.centre * weight;
    Wide squares = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::int64_t d = table.target[order[k]] - out.centre;
        squares += Wide(table.weight[order[k]]) * d * d;
    }
    out.squares = static_cast<double>(squares);
}

/// Room for the order of so many rows, and one more. Large ones have hardly more than that: both parts of a table together
/// take what its orders take.
void make_room(std::vector<Row>& order, std::size_t rows) {
    constexpr std::size_t kLarge = std::size_t{1} << 14;
    const bool wasteful = order.size() > kLarge && order.size() > rows + rows / 4;
    if (order.size() > rows && !wasteful) return;
    give_back(order), order.resize(rows + 1);
}

std::vector<Row> by_target(const Table& table) {
    std::vector<Row> order(table.n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Row a, Row b) { return table.target[a] < table.target[b]; });
    return order;
}

}  // namespace

bool is_pure(const Table& table, const Subset& rows) {
    const auto& order = rows.order[0];
    for (std::size_t k = 1; k < rows.n; ++k)
        if (table.target[order[k]] != table.target[order[0]]) return false;
    return true;
}

Table table_of(const Rows& rows, Loss loss, const Stoppable& control) {
    Table table;
    table.x = rows.x, table.n = rows.n, table.stride = rows.stride, table.columns = rows.columns;
    table.features = rows.columns.size(), table.loss = loss, table.target = rows.target;
    if (!rows.weight) table.ones.assign(rows.n, 1);
    table.weight = rows.weight ? rows.weight : table.ones.data();
    table.weighted = std::any_of(table.weight, table.weight + rows.n, [](std::int64_t w) { return w != 1; });
    contree::RankSorter sorter;
    std::vector<std::uint32_t> order(rows.n), rank;
    for (const std::size_t column : rows.columns) {
        control.check();
        table.distinct.push_back(sorter.rank(rows.x + column, rows.n, rows.stride, order.data(), rank));
        table.rank.push_back(rank);
    }
    if (loss == Loss::absolute) {
        const std::vector<Row> order = by_target(table);
        table.place.resize(table.n);
        for (std::uint32_t k = 0; k < table.n; ++k) table.place[order[k]] = k;
    }
    return table;
}

Subset all_rows(const Table& table) {
    Subset all;
    if (!table.ordered) {
        all.order.emplace_back(table.n);
        std::iota(all.order[0].begin(), all.order[0].end(), Row{0});
    }
    for (std::size_t f = 0; table.ordered && f < table.features; ++f) {
        // A counting sort by rank; equal values keep the order of the rows.
        std::vector<std::uint32_t> start(table.distinct[f] + 1, 0);
        for (const auto rank : table.rank[f]) ++start[rank + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<Row> order(table.n);
        for (Row i = 0; i < table.n; ++i) order[start[table.rank[f][i]]++] = i;
        all.order.push_back(std::move(order));
    }
    if (table.loss == Loss::absolute) all.order.push_back(by_target(table));
    set_sums(table, all.order[0], table.n, all);
    return all;
}

void part(const Table& table, const Subset& from, std::size_t feature, std::uint32_t key, Subset& left, Subset& right,
          std::vector<std::uint8_t>& scratch, Orders orders) {
    const auto& rank = table.rank[feature];
    std::size_t below = 0;
    for (std::size_t k = 0; k < from.n; ++k) {
        const Row i = from.order[0][k];
        scratch[i] = rank[i] < key;
        below += scratch[i];
    }
    divide(table, from, scratch, below, left, right, orders);
}

void divide(const Table& table, const Subset& from, const std::vector<std::uint8_t>& scratch, std::size_t below,
            Subset& left, Subset& right, Orders orders) {
    const std::size_t first = orders == Orders::all ? 0 : from.order.size() - 1;
    left.order.resize(from.order.size() - first), right.order.resize(from.order.size() - first);
    for (std::size_t f = first; f < from.order.size(); ++f) {
        auto &a = left.order[f - first], &b = right.order[f - first];
        make_room(a, below), make_room(b, from.n - below);
        // Without branches: each row is written to both, and one of the two places moves on.
        std::size_t x = 0, y = 0;
        for (std::size_t k = 0; k < from.n; ++k) {
            const Row i = from.order[f][k];
            a[x] = i, b[y] = i;
            const std::size_t goes_left = scratch[i];
            x += goes_left, y += 1 - goes_left;
        }
    }
    set_sums(table, left.order[0], below, left);
    set_sums(table, right.order[0], from.n - below, right);
}

void cuts_of(const Table& table, const Subset& rows, std::size_t feature, Cuts& cuts) {
    const auto& rank = table.rank[feature];
    const std::size_t values = table.distinct[feature], most = std::min(rows.n, values);
    cuts.begin(most, !table.ordered || values < table.n, !table.ordered || rows.n < table.n);
    if (!table.ordered) {
        std::vector<std::uint32_t> count(values, 0);
        for (std::size_t k = 0; k < rows.n; ++k) ++count[rank[rows.order[0][k]]];
        std::uint32_t below = 0;
        for (std::uint32_t key = 0; key < count.size(); ++key) {
            if (count[key] && below) cuts.add(below, key);
            below += count[key];
        }
        return;
    }
    const auto& order = rows.order[feature];
    for (std::size_t k = 1; k < rows.n; ++k)
        if (rank[order[k]] != rank[order[k - 1]]) cuts.add(k, rank[order[k]]);
}

}  // namespace treeform::regression
