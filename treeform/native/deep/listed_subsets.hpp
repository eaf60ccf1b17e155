#pragma once
// As contree/listed_rows.hpp, for the subsets of regression trees: a large part of a large table is a list of its rows, in the
// order of the targets for absolute errors.
#include <cstdint>
#include <vector>

#include "../regression/subset.hpp"
#include "../contree/listed_rows.hpp"

namespace treeform::deep {

class ListedSubsets {
public:
    using Rows = regression::Subset;
    using Row = regression::Row;
    using Test = contree::Test;

    ListedSubsets(const regression::Table& table, const Rows& root) : table_(table), root_(root), here_(table.n + 1) {}

    /// Whether the rows are a list, of which no feature has its order.
    bool is_list(const Rows& rows) const { return rows.order.size() < root_.order.size(); }
    /// Elements that were read.
    std::uint64_t work() const { return work_; }

    /// The sides of a test: of many rows lists, or whole where they are small.
    void divide(const Rows& rows, Test test, Rows& left, Rows& right) {
        const bool listed = contree::has_orders_alone(root_.n) && rows.n > most();
        const auto orders = listed ? regression::Orders::last : regression::Orders::all;
        work_ += 4 * rows.n * (listed ? 1 : table_.features);
        part(rows, test, left, right, orders);
        for (Rows* side : {&left, &right})
            if (listed && side->n <= most()) write_out(*side);
    }
    /// The sides as lists, for what their leaves cost.
    void list_sides(const Rows& rows, Test test, Rows& left, Rows& right) {
        work_ += 4 * rows.n;
        part(rows, test, left, right, regression::Orders::last);
    }
    /// The rows of `rows` that are taken, whole.
    template <class Taken>
    void choose(const Rows& rows, const Taken& taken, Rows& out) {
        std::size_t below = 0;
        for (std::size_t k = 0; k < rows.n; ++k) {
            const Row row = rows.order.back()[k];
            below += sides_[row] = taken(row);
        }
        regression::divide(table_, rows, sides_, below, out, rest_, regression::Orders::last);
        write_out(out);
    }

    /// The same rows with the orders of all features, which stay until the next call.
    const Rows& whole(const Rows& rows) {
        if (!is_list(rows)) return rows;
        column_ = rest_ = {};
        return whole_.of(rows, root_.n, [this](Rows& list) { write_out(list); });
    }
    /// Gives what `whole` returned back.
    void release() { whole_.release(); }

    /// The same rows with the order of one feature; they stay until the next call.
    const Rows& by(const Rows& rows, std::size_t feature) {
        if (!is_list(rows)) return rows;
        take_numbers(rows, column_);
        column_.order.resize(root_.order.size());
        column_.order.back() = rows.order[0];
        std::swap(column_.order[feature], column_.order[held_]);
        held_ = feature;
        mark(rows.order[0], rows.n, 1);
        pick(feature, rows.n, column_.order[feature]);
        mark(rows.order[0], rows.n, 0);
        return column_;
    }

private:
    const regression::Table& table_;
    const Rows& root_;
    contree::WrittenOut<Rows> whole_;
    Rows column_, rest_;
    std::size_t held_ = 0;  // the feature whose order `column_` has
    std::vector<std::uint8_t> here_, sides_ = std::vector<std::uint8_t>(table_.n + 1);  // [row]; `here_` is clear between calls
    std::uint64_t work_ = 0;

    std::size_t most() const { return root_.n / 16; }
    static void take_numbers(const Rows& from, Rows& to) {
        to.id = from.id, to.n = from.n, to.weight = from.weight;
        to.centre = from.centre, to.sum = from.sum, to.squares = from.squares;
    }
    void part(const Rows& rows, Test test, Rows& left, Rows& right, regression::Orders orders) {
        regression::part(table_, rows, static_cast<std::size_t>(test.feature), test.key, left, right, sides_, orders);
    }
    void mark(const std::vector<Row>& rows, std::size_t n, std::uint8_t value) {
        for (std::size_t k = 0; k < n; ++k) here_[rows[k]] = value;
    }
    void pick(std::size_t feature, std::size_t n, std::vector<Row>& rows) {
        if (rows.size() < n + 1) rows.resize(n + 1);
        work_ += root_.n + n;
        contree::take_marked(root_.order[feature].data(), root_.n, here_, rows.data());
    }
    void write_out(Rows& rows) {
        if (!is_list(rows)) return;
        const std::vector<Row> list = std::move(rows.order[0]);
        rows.order.assign(root_.order.size(), {});
        mark(list, rows.n, 1);
        for (std::size_t f = 0; f < root_.order.size(); ++f) pick(f, rows.n, rows.order[f]);
        mark(list, rows.n, 0);
    }
};

}  // namespace treeform::deep
