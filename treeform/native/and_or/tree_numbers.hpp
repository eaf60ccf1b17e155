#pragma once
// How many trees there are up to a price, without writing out what they use: where that would not fit. From the tests of
// a node down, each side gives the number of its trees of each price, and the sides of a test are joined by convolution.
// A test with two leaves of one label is left out, and no set of rows is told apart from another one: all trees of a node
// differ by their tests, as long as tests of different columns do.
//
// Numbers are doubles. They are whole and only grow, so that all are exact where the last one is below 2^53.
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "../contree/table.hpp"
#include "node_tests.hpp"
#include "rows_of_points.hpp"

namespace treeform::and_or {

template <class W>
class TreeNumbers {
public:
    using Cost = typename W::Cost;
    using Subset = contree::Node<W>;
    using Numbers = std::vector<double>;  // by price, from the least one on

    /// `leaf`: the price of a row, [kind * labels + label].
    TreeNumbers(const totals::Table& table, const totals::Settings& settings, const contree::Table<W>& ranks,
                const IntervalGraph::RowsOfPoints& rows, const std::vector<Amount>& leaf, Amount penalty,
                NodeTests<W>& tests, const contree::Control& control)
        : table_(table), settings_(settings), ranks_(ranks), rows_(rows), leaf_(leaf), penalty_(penalty), tests_(tests),
          control_(control), divider_(contree::choose_divider(settings.simd.c_str())), steps_(settings.depth + 1) {}

    /// Of the trees on some rows whose prices are from `least`, below which there is none, to `most`.
    Numbers of(const Subset& subset, int depth, Amount least, Amount most) {
        control_.check();
        Numbers out(most < least ? 0 : std::size_t(most - least + 1), 0.0);
        const std::vector<Amount> total = total_of(subset);
        const Amount weight = weight_of(total);
        if (weight >= settings_.min_support)
            for (int c = 0; c < labels(); ++c)
                if (const Amount price = price_of(total, c); price <= most) out[price - least] += 1;
        const bool splits = weight >= settings_.min_flow && weight >= 2 * settings_.min_support && subset.n >= 2;
        if (depth == 0 || !splits || out.empty()) return out;
        if (depth == 1)
            stumps(subset, total, least, most, out);
        else
            join(subset, depth, least, most, out);
        return out;
    }

private:
    struct Found {
        int feature;
        std::size_t place;
        Amount left, right;
    };
    struct Step {
        Subset side[2];
        contree::Outer<W> outer;
    };

    const totals::Table& table_;
    const totals::Settings& settings_;
    const contree::Table<W>& ranks_;
    const IntervalGraph::RowsOfPoints& rows_;
    const std::vector<Amount>& leaf_;
    const Amount penalty_;
    NodeTests<W>& tests_;
    const contree::Control& control_;
    contree::Divider divider_;
    std::deque<Step> steps_;

    int labels() const { return table_.labels; }
    std::vector<Amount> total_of(const Subset& subset) const {
        std::vector<Amount> total(table_.kinds, 0);
        for (std::size_t k = 0; k < subset.n; ++k) total[rows_.kind[subset.order(0)[k]]] += rows_.weight[subset.order(0)[k]];
        return total;
    }
    Amount weight_of(const std::vector<Amount>& total) const {
        Amount weight = 0;
        for (int k = 0; k < table_.kinds; ++k) weight += total[k] * table_.unit[k];
        return weight;
    }
    Amount price_of(const std::vector<Amount>& total, int label) const {
        Amount price = 0;
        for (int k = 0; k < table_.kinds; ++k) price += total[k] * leaf_[std::size_t(k) * labels() + label];
        return price;
    }

    /// Tests over two leaves of different labels.
    void stumps(const Subset& subset, const std::vector<Amount>& total, Amount least, Amount most, Numbers& out) const {
        std::vector<Amount> all(labels()), low(labels());
        for (int c = 0; c < labels(); ++c) all[c] = price_of(total, c);
        const Amount whole = weight_of(total), room = most - penalty_;
        for (int f = 0; f < ranks_.features; ++f) {
            std::fill(low.begin(), low.end(), 0);
            Amount weight = 0;
            for (std::size_t k = 0; k < subset.n; ++k) {
                const auto row = subset.order(f)[k];
                const bool parts = k > 0 && subset.key(f)[k] != subset.key(f)[k - 1];
                if (parts && std::min(weight, whole - weight) >= settings_.min_support)
                    for (int a = 0; a < labels(); ++a)
                        for (int b = 0; b < labels(); ++b)
                            if (const Amount price = low[a] + all[b] - low[b]; a != b && price <= room)
                                out[price + penalty_ - least] += 1;
                const Amount* price = leaf_.data() + std::size_t(rows_.kind[row]) * labels();
                for (int c = 0; c < labels(); ++c) low[c] += price[c] * rows_.weight[row];
                weight += rows_.weight[row] * table_.unit[rows_.kind[row]];
            }
        }
    }

    void join(const Subset& subset, int depth, Amount least, Amount most, Numbers& out) {
        std::vector<Found> found;  // the search for tests is the same one below
        tests_.each(subset, depth, static_cast<Cost>(most), [&](int feature, std::size_t place, Cost left, Cost right) {
            found.push_back({feature, place, Amount(left), Amount(right)});
        });
        Step& step = steps_[depth];
        step.outer.forget();
        for (const Found& one : found) {
            contree::partition(ranks_, subset, contree::Test{one.feature, std::uint32_t(subset.key(one.feature)[one.place])},
                               step.outer, divider_, step.side[0], step.side[1], &control_);
            const std::vector<Amount> total[2] = {total_of(step.side[0]), total_of(step.side[1])};
            if (std::min(weight_of(total[0]), weight_of(total[1])) < settings_.min_support) continue;
            const Amount room = most - penalty_, from = one.left + one.right + penalty_ - least;
            const Numbers left = of(step.side[0], depth - 1, one.left, room - one.right);
            const Numbers right = of(step.side[1], depth - 1, one.right, room - one.left);
            for (Amount i = 0; i < Amount(left.size()); ++i) {
                const Amount end = std::min(Amount(right.size()), Amount(out.size()) - from - i);
                for (Amount j = std::max<Amount>(0, -from - i); left[i] > 0 && j < end; ++j)
                    out[from + i + j] += left[i] * right[j];
            }
            for (int c = 0; c < labels(); ++c)
                if (const Amount price = price_of(total[0], c) + price_of(total[1], c); price <= room)
                    out[price + penalty_ - least] -= 1;
        }
    }
};

}  // namespace treeform::and_or
