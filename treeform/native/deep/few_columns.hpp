#pragma once
// A table of very many columns, cut to those that look best: trees of depth two cost the square of the columns, a greedy
// tree their number. A column looks as good as the reduction of the Gini impurity by its best test, at the root or at one
// of the upper nodes of a greedy tree.
#include <algorithm>
#include <numeric>
#include <vector>

#include "../contree/listed_rows.hpp"

namespace treeform::deep {

/// A table of more columns than that is cut to the best ones.
constexpr std::size_t kManyColumns = 256;

/// Whether the search reads of all rows their orders alone, not their keys and labels.
constexpr bool reads_orders_alone(std::size_t rows, std::size_t features) {
    return contree::has_orders_alone(rows) && features <= kManyColumns;
}

/// Elements that the search for the best tree of depth two reads, about.
constexpr std::size_t depth_two_work(std::size_t n, std::size_t features, std::size_t classes) {
    return n * features * features * classes;
}
/// Whether the best tree of depth two takes so long that a greedy tree comes before it.
constexpr bool is_dear(std::size_t depth_two_work) { return depth_two_work > 40'000'000; }

/// The same rows with some of the columns.
template <class W>
struct FewColumns {
    std::vector<int> columns;  // of the whole table
    contree::Table<W> table;
    contree::Node<W> node;

    FewColumns(const contree::Table<W>& whole, const contree::Node<W>& rows, std::vector<int> chosen)
        : columns(std::move(chosen)) {
        const int few = static_cast<int>(columns.size());
        table.n = whole.n, table.features = few, table.classes = whole.classes;
        table.predictions = whole.predictions, table.plain = whole.plain, table.losses = whole.losses;
        table.cost = whole.cost, table.label = whole.label, table.weight = whole.weight, table.mass = whole.mass;
        table.supporting = whole.supporting, table.delta = whole.delta;
        node.n = rows.n, node.weight = rows.weight;
        node.total_weight = rows.total_weight, node.total_mass = rows.total_mass;
        node.unlabelled_weight = rows.unlabelled_weight, node.unlabelled_mass = rows.unlabelled_mass;
        node.reserve(rows.n, few);
        for (int f = 0; f < few; ++f) {
            const int from = columns[static_cast<std::size_t>(f)];
            table.rank.push_back(whole.rank[static_cast<std::size_t>(from)]);
            table.distinct.push_back(whole.distinct[static_cast<std::size_t>(from)]);
            std::copy_n(rows.order(from), rows.n, node.order(f));
            std::copy_n(rows.key(from), rows.n, node.key(f));
            std::copy_n(rows.label(from), rows.n, node.label(f));
        }
    }
    /// Of one of the columns.
    int place_of(int feature) const {
        return static_cast<int>(std::lower_bound(columns.begin(), columns.end(), feature) - columns.begin());
    }
};

/// Chooses columns by their gains at several nodes.
class Screening {
public:
    explicit Screening(int features) : taken_(static_cast<std::size_t>(features), false) {}

    std::size_t size() const { return chosen_.size(); }
    void take(int feature) {
        if (taken_[static_cast<std::size_t>(feature)]) return;
        taken_[static_cast<std::size_t>(feature)] = true;
        chosen_.push_back(feature);
    }
    /// The columns of the largest gains; those without one are left out.
    void take_best(const std::vector<double>& gain, std::size_t most) {
        std::vector<int> by(gain.size());
        std::iota(by.begin(), by.end(), 0);
        std::stable_sort(by.begin(), by.end(), [&](int a, int b) {
            return gain[static_cast<std::size_t>(a)] > gain[static_cast<std::size_t>(b)];
        });
        for (std::size_t k = 0; k < std::min(most, by.size()); ++k)
            if (gain[static_cast<std::size_t>(by[k])] >= 0) take(by[k]);
    }
    std::vector<int> columns() const {
        std::vector<int> sorted = chosen_;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }

private:
    std::vector<char> taken_;
    std::vector<int> chosen_;
};

}  // namespace treeform::deep
