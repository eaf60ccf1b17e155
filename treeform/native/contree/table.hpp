#pragma once
// The data of one run in the widths of that run, and the rows of one subproblem ("node").
//
// Costs are normalised: the smallest entry of each row of the cost matrix is subtracted (`offset` keeps the
// constant), so that every cost is >= 0 and a tree can only get cheaper when rows are taken away. `mass` of a row is
// the most it can cost: the distance in which the neighbourhood bounds measure thresholds. With unit weights and
// 0/1 costs it is one.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "../common/cold.hpp"
#include "../common/give_back.hpp"
#include "control.hpp"
#include "divide.hpp"
#include "problem.hpp"
#include "ranks.hpp"

namespace treeform::contree {

constexpr std::uint16_t kNoLabel = 0xFFFF;

/// Costs as seen by every part of the search.
struct Losses {
    int classes = 0, predictions = 0;
    std::int64_t of_error = 0;            // what every error costs; 0: errors differ
    bool unit_weight = true;
    std::vector<std::int64_t> cost;       // normalised, classes x predictions
    std::vector<std::int64_t> worst;      // per class: its largest cost
    std::int64_t offset = 0;              // what the normalisation took away
    std::int64_t total_mass = 0, max_step = 0, total_weight = 0;

    bool plain() const { return of_error == 1 && unit_weight; }

    static Losses of(const Rows& rows) {
        Losses out;
        const int k = out.classes = out.predictions = rows.classes;
        out.cost = rows.cost;
        if (out.cost.empty()) {
            out.cost.assign(static_cast<std::size_t>(k) * k, 1);
            for (int a = 0; a < k; ++a) out.cost[a * k + a] = 0;
        }
        std::vector<std::int64_t> least(k), spread(k);
        for (int y = 0; y < k; ++y) {
            auto* row = out.cost.data() + static_cast<std::size_t>(y) * k;
            least[y] = *std::min_element(row, row + k);
            for (int a = 0; a < k; ++a) row[a] -= least[y];
            out.worst.push_back(*std::max_element(row, row + k));
        }
        const std::int64_t each = k > 1 ? out.cost[1] : 1;
        bool same = true;
        for (int y = 0; y < k; ++y)
            for (int a = 0; a < k; ++a) same &= out.cost[static_cast<std::size_t>(y) * k + a] == (a != y ? each : 0);
        out.of_error = same ? each : 0;
        for (std::size_t i = 0; i < rows.n; ++i) {
            const auto w = rows.weight ? rows.weight[i] : 1;
            const int y = rows.label[i];
            out.unit_weight &= w == 1;
            out.total_weight += w;
            out.offset += w * least[y];
            out.total_mass += w * out.worst[y];
            out.max_step = std::max(out.max_step, w * out.worst[y]);
        }
        return out;
    }
};

template <class W>
struct Table {
    using Id = typename W::Id;
    using Key = typename W::Key;
    using Sum = typename W::Sum;
    using Cost = typename W::Cost;

    std::size_t n = 0;
    int features = 0, classes = 0, predictions = 0;  // kinds of rows, and what may be said of them
    bool plain = true;                         // unit weights and 0/1 costs
    Losses losses;
    std::vector<Cost> cost;                    // classes x predictions
    std::vector<std::vector<Key>> rank;        // [feature][row]; one padding row at the end
    std::vector<std::size_t> distinct;         // [feature]: values
    const double* x = nullptr;                 // the values, row by row
    std::vector<std::uint16_t> label;          // [row], padded
    std::vector<Cost> weight, mass;            // [row], padded with 0; empty when plain
    std::vector<Cost> supporting;  // [row], padded with 0: what it counts for a minimum support; empty: its weight
    std::vector<Sum> delta;                    // two classes: cost of predicting 0 minus cost of predicting 1

    std::size_t bytes() const { return n * features * sizeof(Key) + n * (2 + 2 * sizeof(Cost)); }
    double value_of(Id row, int feature) const { return x[std::size_t{row} * features + feature] + 0.0; }  // no -0.0
    Cost weight_of(Id row) const { return weight.empty() ? Cost{1} : weight[row]; }
    Cost mass_of(Id row) const { return mass.empty() ? Cost{1} : mass[row]; }
    Cost support_of(Id row) const { return supporting.empty() ? weight_of(row) : supporting[row]; }
};

/// The ranks of a feature from one on and below another one.
struct RankRange {
    int feature = -1;  // none
    std::uint32_t from = 0, to = 0;
};

/// The rows of a subproblem: for every feature the same rows, sorted by that feature, with their ranks in it and their
/// labels. Rows without a label (kNoLabel) cost nothing, but count for a minimum support.
template <class W>
struct Node {
    using Id = typename W::Id;
    using Key = typename W::Key;
    using Cost = typename W::Cost;

    std::size_t n = 0, stride = 0;
    std::vector<Id> rows;
    std::vector<Key> keys;
    std::vector<std::uint16_t> labels;
    std::vector<Cost> weight;     // per class
    Cost total_weight = 0, total_mass = 0;     // rows without a label included
    Cost unlabelled_weight = 0, unlabelled_mass = 0;
    RankRange hidden;  // of a list (listed_rows.hpp): rows there have no label

    const Id* order(int feature) const { return rows.data() + stride * feature; }
    const Key* key(int feature) const { return keys.data() + stride * feature; }
    const std::uint16_t* label(int feature) const { return labels.data() + stride * feature; }
    Id* order(int feature) { return rows.data() + stride * feature; }
    Key* key(int feature) { return keys.data() + stride * feature; }
    std::uint16_t* label(int feature) { return labels.data() + stride * feature; }
    std::size_t bytes() const {
        return rows.capacity() * sizeof(Id) + keys.capacity() * sizeof(Key) + labels.capacity() * 2;
    }

    /// Room for so many rows; what was there before is lost.
    void reserve(std::size_t size, int features) {
        reserve_rows(size, features);
        const std::size_t all = stride * features;
        if (keys.size() < all) renew(keys, all);
        if (labels.size() < all) renew(labels, all);  // there may have been no memory for them
    }
    /// The same of the orders alone.
    void reserve_rows(std::size_t size, int features) {
        stride = size + kSlack;
        if (rows.size() < stride * features) renew(rows, stride * features);
    }
};

/// What the rows of a node count for a minimum support.
template <class W>
typename W::Cost support_of(const Table<W>& table, const Node<W>& node) {
    if (table.supporting.empty()) return node.total_weight;
    typename W::Cost sum = 0;
    for (std::size_t k = 0; k < node.n; ++k) sum += table.supporting[node.order(0)[k]];
    return sum;
}

template <class W>
void add_totals(const Table<W>& table, Node<W>& node) {
    node.total_weight = node.unlabelled_weight, node.total_mass = node.unlabelled_mass;
    for (int y = 0; y < table.classes; ++y) {
        node.total_weight += node.weight[y];
        node.total_mass += node.weight[y] * static_cast<typename W::Cost>(table.losses.worst[y]);
    }
}

/// Add a row to the sums of a node.
template <class W>
void weigh(const Table<W>& table, Node<W>& node, typename W::Id row, std::uint16_t label) {
    if (label != kNoLabel)
        node.weight[label] += table.weight_of(row);
    else
        node.unlabelled_weight += table.weight_of(row), node.unlabelled_mass += table.mass_of(row);
}

/// Take their labels from the rows with from <= rank(feature) < to.
template <class W>
void hide_labels(const Table<W>& table, Node<W>& node, int feature, std::uint32_t from, std::uint32_t to) {
    const auto* rank = table.rank[feature].data();
    node.weight.assign(table.classes, 0);
    node.unlabelled_weight = node.unlabelled_mass = 0;
    for (int f = 0; f < table.features; ++f) {
        const auto* rows = node.order(f);
        auto* labels = node.label(f);
        for (std::size_t k = 0; k < node.n; ++k) {
            if (rank[rows[k]] >= from && rank[rows[k]] < to) labels[k] = kNoLabel;
            if (f == 0) weigh(table, node, rows[k], labels[k]);
        }
    }
    add_totals(table, node);
}

/// Ranks of one feature in the orders of all others, in one node: what it takes to divide the node at any of its cuts.
template <class W>
class Outer {
public:
    using Key = typename W::Key;

    void forget() { feature_ = -1; }
    void prepare(const Table<W>& table, const Node<W>& node, int feature, const Control* control) {
        if (feature_ == feature) return;
        forget();  // also where a stop ends what follows
        stride_ = node.n;
        const std::size_t all = stride_ * table.features + kSlack;
        if (keys_.size() < all) keys_.resize(all);
        const Key* rank = table.rank[feature].data();
        for (int g = 0; g < table.features; ++g) {
            if (g == feature) continue;
            if (control) control->check();
            const auto* rows = node.order(g);
            Key* out = keys_.data() + stride_ * g;
            for (std::size_t k = 0; k < node.n; ++k) out[k] = rank[rows[k]];
        }
        feature_ = feature;
    }
    const Key* order(int g) const { return keys_.data() + stride_ * g; }
    std::size_t bytes() const { return keys_.capacity() * sizeof(Key); }

    std::vector<std::uint32_t> goes_left;   // scratch of `partition`

private:
    int feature_ = -1;
    std::size_t stride_ = 0;
    std::vector<Key> keys_;
};

/// The numbers of rows and the class weights of the sides of a test; rows with rank(feature) < key go left.
template <class W>
void weigh_sides(const Table<W>& table, const Node<W>& node, Test test, Node<W>& left, Node<W>& right) {
    const auto* sorted = node.key(test.feature);
    left.n = static_cast<std::size_t>(std::lower_bound(sorted, sorted + node.n, test.key) - sorted);
    right.n = node.n - left.n;
    left.weight.assign(table.classes, 0);
    right.weight.resize(table.classes);
    left.unlabelled_weight = left.unlabelled_mass = 0;
    for (std::size_t k = 0; k < left.n; ++k)
        weigh(table, left, node.order(test.feature)[k], node.label(test.feature)[k]);
    right.unlabelled_weight = node.unlabelled_weight - left.unlabelled_weight,
    right.unlabelled_mass = node.unlabelled_mass - left.unlabelled_mass;
    for (int y = 0; y < table.classes; ++y) right.weight[y] = node.weight[y] - left.weight[y];
    add_totals(table, left), add_totals(table, right);
}

/// After `weigh_sides`: send the rows to `left` and `right`, keeping every feature's order. `mark(f)` returns a bit for
/// each row in the order of f: whether it goes left.
template <class W, class Mark>
void divide_rows(const Table<W>& table, const Node<W>& node, Test test, const Mark& mark, const Divider& divider,
                 Node<W>& left, Node<W>& right, const Control* control) {
    left.reserve(left.n, table.features), right.reserve(right.n, table.features);
    for (int f = 0; f < table.features; ++f) {
        if (control) control->check();
        if (f == test.feature) {
            std::copy_n(node.order(f), left.n, left.order(f)),
                std::copy_n(node.order(f) + left.n, right.n, right.order(f));
            std::copy_n(node.key(f), left.n, left.key(f)), std::copy_n(node.key(f) + left.n, right.n, right.key(f));
            std::copy_n(node.label(f), left.n, left.label(f)),
                std::copy_n(node.label(f) + left.n, right.n, right.label(f));
            continue;
        }
        const std::uint32_t* bits = mark(f);
        divider.divide(node.order(f), node.n, bits, left.order(f), right.order(f));
        divider.divide(node.key(f), node.n, bits, left.key(f), right.key(f));
        divider.divide(node.label(f), node.n, bits, left.label(f), right.label(f));
    }
}

/// The same by one of several tests of a feature, whose ranks `outer` holds; it is prepared here, and `forget` must be
/// called when the node becomes another.
template <class W>
void divide_rows(const Table<W>& table, const Node<W>& node, Test test, Outer<W>& outer, const Divider& divider,
                 Node<W>& left, Node<W>& right, const Control* control = nullptr) {
    outer.prepare(table, node, test.feature, control);
    auto& bits = outer.goes_left;
    if (bits.size() < node.n / 32 + 1) bits.resize(node.n / 32 + 1);
    const auto mark = [&](int f) {
        divider.mark(outer.order(f), node.n, static_cast<typename W::Key>(test.key), bits.data());
        return bits.data();
    };
    divide_rows(table, node, test, mark, divider, left, right, control);
}

/// The same by one test alone: a mark of each row takes the place of its ranks in all orders.
template <class W>
class DivideOnce {
public:
    void operator()(const Table<W>& table, const Node<W>& node, Test test, const Divider& divider, Node<W>& left,
                    Node<W>& right, const Control* control) {
        if (left_.size() < table.n) left_.resize(table.n);
        if (bits_.size() < node.n / 32 + 1) bits_.resize(node.n / 32 + 1);
        const auto* sorted = node.order(test.feature);
        for (std::size_t k = 0; k < node.n; ++k) left_[sorted[k]] = k < left.n;
        const auto mark = [&](int f) {
            const auto* rows = node.order(f);
            for (std::size_t k = 0; k < node.n; k += 32) {
                std::uint32_t word = 0;
                const std::size_t end = std::min<std::size_t>(32, node.n - k);
                for (std::size_t i = 0; i < end; ++i) word |= std::uint32_t{left_[rows[k + i]]} << i;
                bits_[k / 32] = word;
            }
            return bits_.data();
        };
        divide_rows(table, node, test, mark, divider, left, right, control);
    }

private:
    std::vector<std::uint8_t> left_;  // [row]
    std::vector<std::uint32_t> bits_;
};

/// Both.
template <class W>
void partition(const Table<W>& table, const Node<W>& node, Test test, Outer<W>& outer, const Divider& divider,
               Node<W>& left, Node<W>& right, const Control* control = nullptr) {
    weigh_sides(table, node, test, left, right);
    divide_rows(table, node, test, outer, divider, left, right, control);
}

/// The keys and labels of a node that has its orders alone. They are there when all are made: another search may read the
/// node meanwhile, by turns.
template <class W>
TREEFORM_COLD void add_keys(const Table<W>& table, Node<W>& node, Control& control) {
    if (!node.keys.empty()) return;
    Node<W> made;
    made.stride = node.stride;
    made.keys.resize(node.rows.size()), made.labels.resize(node.rows.size());
    for (int f = 0; f < table.features; ++f) {
        control.check();
        const auto* order = node.order(f);
        for (std::size_t k = 0; k < node.n; ++k)
            made.key(f)[k] = table.rank[f][order[k]], made.label(f)[k] = table.label[order[k]];
    }
    node.keys = std::move(made.keys), node.labels = std::move(made.labels);
}

/// The table in the widths of W, and the node of all rows, its orders alone.
template <class W>
TREEFORM_COLD void load_orders(const Rows& rows, const Losses& losses, RankedTable& ranked, Table<W>& table,
                        Node<W>& root, Control& control) {
    using Key = typename W::Key;
    table.n = rows.n, table.features = static_cast<int>(rows.features),
    table.classes = table.predictions = rows.classes;
    table.plain = losses.plain(), table.losses = losses;
    table.cost.assign(losses.cost.begin(), losses.cost.end());
    table.label.assign(rows.label, rows.label + rows.n);
    table.label.push_back(kNoLabel);
    root.n = rows.n;
    root.weight.assign(rows.classes, 0);
    if (!table.plain) table.weight.assign(rows.n + 1, 0), table.mass.assign(rows.n + 1, 0);
    if (rows.supporting)
        table.supporting.assign(rows.supporting, rows.supporting + rows.n), table.supporting.push_back(0);
    if (rows.classes == 2) table.delta.assign(rows.n + 1, 0);
    for (std::size_t i = 0; i < rows.n; ++i) {
        const auto w = rows.weight ? rows.weight[i] : 1;
        const int y = rows.label[i];
        root.weight[y] += static_cast<typename W::Cost>(w);
        if (!table.plain) {
            table.weight[i] = static_cast<typename W::Cost>(w);
            table.mass[i] = static_cast<typename W::Cost>(w * losses.worst[y]);
        }
        if (rows.classes == 2)
            table.delta[i] = static_cast<typename W::Sum>(w * (losses.cost[y * 2] - losses.cost[y * 2 + 1]));
    }
    add_totals(table, root);
    table.rank.resize(rows.features), table.x = rows.x;
    const std::size_t cells = rows.n * rows.features;
    control.check_memory(cells * (2 * sizeof(Key) + sizeof(typename W::Id) + 2));
    // Beside it are the sorted columns: 8 bytes a cell, which are given back column by column.
    control.check_table(cells * (8 + sizeof(Key) + sizeof(typename W::Id) + 2));
    constexpr bool same_ids = std::is_same_v<typename W::Id, std::uint32_t>;
    if constexpr (same_ids) root.rows = std::move(ranked.order);
    control.keep_free(rows.n * (3 * sizeof(typename W::Id) + 1));  // see rebuild.hpp
    root.reserve_rows(rows.n, table.features);
    for (std::size_t f = 0; f < rows.features; ++f) {
        control.check();
        auto& rank = ranked.rank[f];
        if constexpr (std::is_same_v<Key, std::uint32_t>)
            table.rank[f] = std::move(rank);
        else
            table.rank[f].assign(rank.begin(), rank.end());
        give_back(rank);
        table.rank[f].push_back(static_cast<Key>(~Key{0}));
        if constexpr (!same_ids)
            std::copy_n(ranked.order.data() + root.stride * f, rows.n, root.order(static_cast<int>(f)));
    }
    table.distinct = std::move(ranked.distinct);
    give_back(ranked.order);
}

/// The table in the widths of W, and the node of all rows.
template <class W>
TREEFORM_COLD void load(const Rows& rows, const Losses& losses, RankedTable& ranked, Table<W>& table, Node<W>& root,
                        Control& control) {
    load_orders(rows, losses, ranked, table, root, control);
    add_keys(table, root, control);
}

}  // namespace treeform::contree
