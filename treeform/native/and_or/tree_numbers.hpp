#pragma once
// How many trees there are up to a price, without writing out what they use: where that would not fit. From the tests of
// a node down, each side gives the number of its trees of each price, and the sides of a test are joined by convolution.
// A test with two leaves of one label is left out, and no set of rows is told apart from another one: all trees of a node
// differ by their tests, as long as tests of different columns do.
//
// Tests of one column over trees of depth one are taken in the order of their thresholds: the rows between two of them
// change sides, and the numbers of both sides follow (moving_rows.hpp).
//
// Numbers are doubles. They are whole and only grow, so that all are exact where the last one is below 2^53.
#include <cstddef>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "../contree/table.hpp"
#include "moving_rows.hpp"
#include "node_tests.hpp"

namespace treeform::and_or {

template <class W>
class TreeNumbers {
public:
    using Cost = typename W::Cost;
    using Subset = contree::Node<W>;
    using Numbers = std::vector<double>;  // by price, from the least one on

    TreeNumbers(const LeafPrices& prices, const contree::Table<W>& ranks, NodeTests<W>& tests,
                const contree::Control& control)
        : prices_(prices), ranks_(ranks), tests_(tests), control_(control),
          divider_(contree::choose_divider(prices.settings.simd.c_str())), steps_(prices.settings.depth + 1),
          low_(prices_, values_), high_(prices_, values_) {}

    /// Of the trees on some rows whose prices are from `least`, below which there is none, to `most`.
    Numbers of(const Subset& subset, int depth, Amount least, Amount most) {
        control_.check();
        Numbers out(most < least ? 0 : std::size_t(most - least + 1), 0.0);
        if (out.empty()) return out;
        if (depth <= 1) {
            values_.read(ranks_, subset), low_.fill(subset.order(0), subset.n);
            low_.count(depth == 1, least, most, out);
            return out;
        }
        const std::vector<Amount> total = total_of(subset);
        const Amount mass = total.back();
        if (mass >= prices_.settings.min_support)
            for (int c = 0; c < labels(); ++c)
                if (total[c] <= most) out[total[c] - least] += 1;
        if (!prices_.settings.splits(mass) || subset.n < 2) return out;
        if (depth == 2)
            over_stumps(subset, least, most, out);
        else
            over_trees(subset, depth, least, most, out);
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
    static constexpr std::size_t kFar = 32;  // a part of a node's rows that is taken anew rather than moved

    const LeafPrices prices_;
    const contree::Table<W>& ranks_;
    NodeTests<W>& tests_;
    const contree::Control& control_;
    contree::Divider divider_;
    std::deque<Step> steps_;
    ValuesOfNode<W> values_;
    MovingRows<W> low_, high_;

    int labels() const { return prices_.table.labels; }
    /// The price of a leaf by label, and the mass.
    std::vector<Amount> total_of(const Subset& subset) const {
        std::vector<Amount> total(labels() + 1, 0);
        for (std::size_t k = 0; k < subset.n; ++k) {
            const auto row = subset.order(0)[k];
            for (int c = 0; c < labels(); ++c) total[c] += prices_.of(row, c);
            total.back() += prices_.mass(row);
        }
        return total;
    }
    /// The tests whose trees cost at most so much, by column and place.
    std::vector<Found> tests_of(const Subset& subset, int depth, Amount most) {
        std::vector<Found> found;
        tests_.each(subset, depth, static_cast<Cost>(most), [&](int feature, std::size_t place, Cost left, Cost right) {
            found.push_back({feature, place, Amount(left), Amount(right)});
        });
        std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
            return std::tie(a.feature, a.place) < std::tie(b.feature, b.place);
        });
        return found;
    }

    /// Tests over trees of depth one.
    void over_stumps(const Subset& subset, Amount least, Amount most, Numbers& out) {
        const std::vector<Found> found = tests_of(subset, 2, most);
        if (found.empty()) return;
        values_.read(ranks_, subset);
        std::vector<Amount> leaf[2];
        for (std::size_t i = 0; i < found.size(); ++i) {
            control_.check();
            const Found& one = found[i];
            const auto* rows = subset.order(one.feature);
            std::size_t place = i > 0 && found[i - 1].feature == one.feature ? found[i - 1].place : 0;
            if (place == 0 || one.place - place > subset.n / kFar) {
                low_.fill(rows, one.place), high_.fill(rows + one.place, subset.n - one.place);
            } else {
                for (; place < one.place; ++place) low_.add(rows[place]), high_.remove(rows[place]);
            }
            if (std::min(low_.mass(), high_.mass()) < prices_.settings.min_support) continue;
            const Amount room = most - prices_.penalty;
            Numbers side[2] = {numbers(room - one.right - one.left), numbers(room - one.left - one.right)};
            low_.count(true, one.left, room - one.right, side[0]);
            high_.count(true, one.right, room - one.left, side[1]);
            for (int c = 0; c < labels(); ++c) leaf[0].push_back(low_.leaf(c)), leaf[1].push_back(high_.leaf(c));
            join(one, side, leaf, least, most, out);
            leaf[0].clear(), leaf[1].clear();
        }
    }
    static Numbers numbers(Amount beyond) { return Numbers(beyond < 0 ? 0 : std::size_t(beyond + 1), 0.0); }

    void over_trees(const Subset& subset, int depth, Amount least, Amount most, Numbers& out) {
        Step& step = steps_[depth];
        step.outer.forget();
        for (const Found& one : tests_of(subset, depth, most)) {  // the search for tests is the same one below
            contree::partition(ranks_, subset, contree::Test{one.feature, std::uint32_t(subset.key(one.feature)[one.place])},
                               step.outer, divider_, step.side[0], step.side[1], &control_);
            const std::vector<Amount> leaf[2] = {total_of(step.side[0]), total_of(step.side[1])};
            if (std::min(leaf[0].back(), leaf[1].back()) < prices_.settings.min_support) continue;
            const Amount room = most - prices_.penalty;
            const Numbers side[2] = {of(step.side[0], depth - 1, one.left, room - one.right),
                                     of(step.side[1], depth - 1, one.right, room - one.left)};
            join(one, side, leaf, least, most, out);
        }
    }
    /// All pairs of trees of the sides of a test, but those of two leaves of one label.
    void join(const Found& one, const Numbers side[2], const std::vector<Amount> leaf[2], Amount least, Amount most,
              Numbers& out) const {
        const Amount from = one.left + one.right + prices_.penalty - least;
        for (Amount i = 0; i < Amount(side[0].size()); ++i) {
            const Amount end = std::min(Amount(side[1].size()), Amount(out.size()) - from - i);
            for (Amount j = std::max<Amount>(0, -from - i); side[0][i] > 0 && j < end; ++j)
                out[from + i + j] += side[0][i] * side[1][j];
        }
        for (int c = 0; c < labels(); ++c)
            if (const Amount price = leaf[0][c] + leaf[1][c] + prices_.penalty; price <= most) out[price - least] -= 1;
    }
};

}  // namespace treeform::and_or
