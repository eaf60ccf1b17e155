#pragma once
// Large parts of a large table as lists of their rows. The sorted columns of a node take more than the table that they are
// of, and a tree in work has a node and its sides at every level. So a part of more than a sixteenth of the rows is a list in
// the order of the first feature; a feature's order is picked out of that of all rows when it is asked for.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "../common/give_back.hpp"
#include "table.hpp"

namespace treeform::contree {

/// Whether of all rows of a table the orders alone are kept, not their keys and labels; large parts of it are lists.
constexpr bool has_orders_alone(std::size_t rows) { return rows > std::size_t{1} << 16; }
/// Whether large parts of a table are lists.
constexpr bool has_lists(std::size_t rows, std::size_t features) {
    return has_orders_alone(rows) || rows * features > std::size_t{1} << 20;
}
/// Cells of a part whose scratch is kept for the next one: of a table with lists few, so that all that is kept takes less
/// than the table.
constexpr std::size_t most_kept(std::size_t rows, std::size_t features) {
    constexpr std::size_t kMost = std::size_t{1} << 19;
    return has_lists(rows, features) ? std::min(kMost, rows * features / 32) : kMost;
}

/// The rows of an order of `n` rows that are marked; there is room for one more. Without a branch: whether a row is marked is
/// as good as chance.
template <class Id>
void take_marked(const Id* order, std::size_t n, const std::vector<std::uint8_t>& marks, Id* rows) {
    for (std::size_t k = 0; k < n; ++k) *rows = order[k], rows += marks[order[k]];
}

/// The last list of rows that was written out with the orders of all features.
template <class Rows>
class WrittenOut {
public:
    /// `rows`, of a table of `all`, by `write_out`; it stays until the next call.
    template <class WriteOut>
    const Rows& of(const Rows& rows, std::size_t all, const WriteOut& write_out) {
        if (rows.n > all / 16) give_freed_memory_back();  // the most that is held at a time follows
        rows_ = rows;
        write_out(rows_);
        return rows_;
    }
    void release() { rows_ = {}; }
    std::size_t bytes() const { return rows_.bytes(); }

private:
    Rows rows_;
};

template <class W>
class ListedRows {
public:
    using Rows = Node<W>;
    using Id = typename W::Id;

    /// `root` holds all rows of the table.
    ListedRows(const Table<W>& table, const Rows& root, const Control& control)
        : table_(table), root_(root), control_(control), here_(table.n) {}

    /// Whether the rows are a list; then no feature has its order in them, and there are no keys and labels.
    static bool is_list(const Rows& rows) { return rows.stride == 0; }
    /// Whether the sides of these rows are made from a list of them.
    bool lists_sides(const Rows& rows) const {
        return has_lists(root_.n, static_cast<std::size_t>(table_.features)) && rows.n > most();
    }
    /// Elements that were read.
    std::uint64_t work() const { return work_; }

    /// The sides of a test on rows for which `lists_sides`, with their numbers and weights: lists, or whole where they
    /// are small.
    void divide(const Rows& rows, Test test, Rows& left, Rows& right) {
        list_sides(rows, test, left, right);
        for (Rows* side : {&left, &right})
            if (side->n <= most()) write_out(*side);
    }
    /// The same with both sides as lists.
    void list_sides(const Rows& rows, Test test, Rows& left, Rows& right) {
        const auto* rank = table_.rank[test.feature].data();
        begin_list(left), begin_list(right);
        work_ += 4 * rows.n;
        std::size_t below = 0;
        for (std::size_t k = 0; k < rows.n; ++k) below += rank[rows.order(0)[k]] < test.key;
        left.rows.resize(below), right.rows.resize(rows.n - below);
        for (std::size_t k = 0; k < rows.n; ++k) {
            const Id row = rows.order(0)[k];
            Rows& side = rank[row] < test.key ? left : right;
            side.rows[side.n++] = row;
            weigh(table_, side, row, table_.label[row]);
        }
        add_totals(table_, left), add_totals(table_, right);
    }
    /// Take their labels from the rows of a list whose ranks are in that range.
    void hide_labels(Rows& rows, RankRange range) const {
        rows.hidden = range;
        rows.weight.assign(static_cast<std::size_t>(table_.classes), 0);
        for (std::size_t k = 0; k < rows.n; ++k) weigh(table_, rows, rows.rows[k], label_in(rows, rows.rows[k]));
        add_totals(table_, rows);
    }
    /// The orders, keys and labels of all features in place of a list; or the orders alone.
    void write_out(Rows& rows, bool orders_alone = false) {
        if (!is_list(rows)) return;
        const std::vector<Id> list = std::move(rows.rows);
        rows.rows = {};
        orders_alone ? rows.reserve_rows(rows.n, table_.features) : rows.reserve(rows.n, table_.features);
        const Marked marked(list, here_);
        for (int f = 0; f < table_.features; ++f) {
            control_.check();
            pick(f, rows.order(f));
            if (orders_alone) continue;
            look_up(f, rows.n, rows.order(f), rows.key(f));
            for (std::size_t k = 0; k < rows.n; ++k) rows.label(f)[k] = table_.label[rows.order(f)[k]];
        }
    }

    /// The same rows with the orders of all features, which stay until the next call.
    const Rows& whole(const Rows& rows) {
        return is_list(rows) ? whole_.of(rows, root_.n, [this](Rows& list) { write_out(list); }) : rows;
    }
    /// Gives what is held beside the lists back.
    void release() { whole_.release(), column_ = {}, give_back(side_); }
    std::size_t bytes() const {
        return whole_.bytes() + column_.bytes() + side_.capacity() * sizeof(Id) + here_.capacity();
    }

    /// The same rows in the order of one feature, with their keys; they stay until the next call.
    const Rows& by(const Rows& rows, int feature) {
        if (!rows.keys.empty()) return rows;
        column_.n = rows.n;
        if (column_.keys.size() < rows.n) column_.rows.resize(rows.n + 1), column_.keys.resize(rows.n);
        if (is_list(rows)) {
            const Marked marked(rows.rows, here_);
            pick(feature, column_.rows.data());
        } else {
            std::copy_n(rows.order(feature), rows.n, column_.rows.data());
        }
        look_up(feature, rows.n, column_.rows.data(), column_.keys.data());
        return column_;
    }

    /// The same with their labels and weights.
    const Rows& labelled_by(const Rows& rows, int feature) {
        if (!rows.keys.empty()) return rows;
        by(rows, feature);
        column_.unlabelled_weight = rows.unlabelled_weight, column_.unlabelled_mass = rows.unlabelled_mass;
        column_.weight = rows.weight, column_.total_weight = rows.total_weight, column_.total_mass = rows.total_mass;
        if (column_.labels.size() < rows.n) column_.labels.resize(rows.n);
        const bool hides = rows.hidden.feature >= 0;
        for (std::size_t k = 0; k < rows.n; ++k)
            column_.labels[k] = hides ? label_in(rows, column_.rows[k]) : table_.label[column_.rows[k]];
        return column_;
    }

    /// Those of them that `outer` sends left (or right), or all without a test, in the order of one feature; they stay
    /// until the next call.
    std::span<const Id> side_by(const Rows& rows, int feature, Test outer, bool left) {
        const Id* order = by(rows, feature).order(feature);
        if (outer.feature < 0) return {order, rows.n};
        if (side_.size() <= rows.n) side_.resize(rows.n + 1);
        const auto* rank = table_.rank[outer.feature].data();
        Id* end = side_.data();
        for (std::size_t k = 0; k < rows.n; ++k) *end = order[k], end += (rank[order[k]] < outer.key) == left;
        return {side_.data(), end};
    }

private:
    const Table<W>& table_;
    const Rows& root_;
    const Control& control_;
    WrittenOut<Rows> whole_;
    Rows column_;                     // `column_` has a stride of 0: each feature's order is the one that it holds
    std::vector<std::uint8_t> here_;  // [row]: whether it is among those that are picked
    std::vector<Id> side_;
    std::uint64_t work_ = 0;

    std::size_t most() const { return root_.n / 16; }

    void begin_list(Rows& rows) const {
        rows = {};
        rows.weight.assign(static_cast<std::size_t>(table_.classes), 0);
    }
    /// Rows are marked while it lives. A stop ends it, too: a worker that was stopped answers the next question.
    class Marked {
    public:
        Marked(const std::vector<Id>& rows, std::vector<std::uint8_t>& marks) : rows_(rows), marks_(marks) { mark(1); }
        Marked(const Marked&) = delete;
        ~Marked() { mark(0); }

    private:
        const std::vector<Id>& rows_;
        std::vector<std::uint8_t>& marks_;

        void mark(std::uint8_t value) {
            for (const Id row : rows_) marks_[row] = value;
        }
    };
    std::uint16_t label_in(const Rows& rows, Id row) const {
        const auto& [feature, from, to] = rows.hidden;
        const bool hides = feature >= 0 && table_.rank[feature][row] >= from && table_.rank[feature][row] < to;
        return hides ? kNoLabel : table_.label[row];
    }
    /// The marked rows in the order of a feature.
    void pick(int feature, Id* rows) {
        take_marked(root_.order(feature), root_.n, here_, rows);
        work_ += root_.n;
    }
    void look_up(int feature, std::size_t n, const Id* rows, typename W::Key* keys) {
        work_ += n;
        const auto* rank = table_.rank[feature].data();
        for (std::size_t k = 0; k < n; ++k) keys[k] = rank[rows[k]];
    }
};

}  // namespace treeform::contree
