#pragma once
// How many trees of depth one there are, by price, over a part of a node's rows that changes row by row: as the sides of
// a test do when its threshold moves.
//
// For each column and each value of the node in it, the price of the test after that value is kept, for each two labels
// of its sides. A row changes the prices from its own value on. Prices stand in blocks with the least and the largest
// of each: a change touches one block, and adds to what the blocks after it have in common; a count reads the blocks in
// which some price is low enough.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "../contree/table.hpp"
#include "rows_of_points.hpp"

namespace treeform::and_or {

constexpr std::size_t kBlock = 64;  // values

/// The values of a node, numbered column by column; those of a column begin at a multiple of a block.
template <class W>
class ValuesOfNode {
public:
    using Subset = contree::Node<W>;
    using Id = typename W::Id;

    void read(const contree::Table<W>& table, const Subset& subset) {
        rows_ = table.n, at_.resize(rows_ * table.features), begin_.assign(1, 0), size_.clear();
        for (int f = 0; f < table.features; ++f) {
            std::uint32_t value = 0;
            for (std::size_t k = 0; k < subset.n; ++k) {
                value += k > 0 && subset.key(f)[k] != subset.key(f)[k - 1];
                at_[f * rows_ + subset.order(f)[k]] = value;
            }
            size_.push_back(subset.n ? value + 1 : 0);
            begin_.push_back((begin_.back() + size_.back() + kBlock - 1) / kBlock * kBlock);
        }
    }
    int features() const { return int(size_.size()); }
    std::size_t begin(int f) const { return begin_[f]; }
    std::size_t size(int f) const { return size_[f]; }
    std::size_t all() const { return begin_.back(); }
    std::size_t at(int f, Id row) const { return at_[f * rows_ + row]; }

private:
    std::size_t rows_ = 0;
    std::vector<std::uint32_t> at_;
    std::vector<std::size_t> begin_, size_;
};

/// Prices of leaves and tests, and what limits them.
struct LeafPrices {
    const totals::Table& table;
    const totals::Settings& settings;
    const IntervalGraph::RowsOfPoints& rows;
    const std::vector<Amount>& leaf;  // of a row, [kind * labels + label]
    const Amount penalty;

    Amount of(std::size_t row, int label) const {
        return leaf[std::size_t(rows.kind[row]) * table.labels + label] * rows.weight[row];
    }
    Amount mass(std::size_t row) const { return rows.weight[row] * table.unit[rows.kind[row]]; }
};

template <class W>
class MovingRows {
public:
    using Id = typename W::Id;
    using Sum = std::conditional_t<sizeof(typename W::Cost) == 8, std::int64_t, std::int32_t>;

    MovingRows(const LeafPrices& prices, const ValuesOfNode<W>& values) : prices_(prices), values_(values) {
        for (int b = 1; b < labels(); ++b)
            for (int a = 0; a < b; ++a) pairs_.push_back({a, b});
    }

    /// About what a node of so many values takes.
    static std::size_t bytes(std::size_t values, int labels) {
        return values * (sizeof(Amount) + sizeof(Sum) * std::size_t(labels) * std::size_t(labels - 1) / 2);
    }

    /// Replace the rows by these.
    void fill(const Id* rows, std::size_t n) {
        const std::size_t all = values_.all(), blocks = all / kBlock;
        total_.assign(labels(), 0), mass_ = 0, here_.assign(all, 0);
        price_.assign(all * pairs_.size(), 0), least_.assign(blocks * pairs_.size(), 0);
        most_ = least_, shared_ = least_;
        for (std::size_t k = 0; k < n; ++k) {
            take(rows[k], 1);
            for (int f = 0; f < values_.features(); ++f) {
                const std::size_t at = values_.begin(f) + values_.at(f, rows[k]);
                here_[at] += prices_.mass(rows[k]);
                for (std::size_t p = 0; p < pairs_.size(); ++p) price_[p * all + at] += difference(p, rows[k]);
            }
        }
        low_.clear(), high_.clear();
        for (int f = 0; f < values_.features(); ++f) {
            const std::size_t from = values_.begin(f), to = values_.begin(f + 1);
            for (std::size_t p = 0; p < pairs_.size(); ++p)
                for (std::size_t at = from + 1; at < to; ++at) price_[p * all + at] += price_[p * all + at - 1];
            low_.push_back({0, values_.size(f) ? here_[from] : 0});
            high_.push_back({values_.size(f), 0});
            settle(f);
        }
        for (std::size_t b = 0; b < least_.size(); ++b) {
            const auto [least, most] = std::minmax_element(&price_[b * kBlock], &price_[b * kBlock] + kBlock);
            least_[b] = *least, most_[b] = *most;
        }
    }
    void add(Id row) { change(row, 1); }
    void remove(Id row) { change(row, -1); }

    Amount mass() const { return mass_; }
    /// The price of a leaf.
    Amount leaf(int label) const { return total_[label]; }

    /// Adds the number of trees of each price from `least` to `most`: leaves, and those with a test.
    void count(bool tests, Amount least, Amount most, std::vector<double>& out) const {
        if (most < least || mass_ < prices_.settings.min_support) return;
        for (int c = 0; c < labels(); ++c)
            if (total_[c] <= most) out[total_[c] - least] += 1;
        if (!tests || !prices_.settings.splits(mass_)) return;
        const Amount room = most - prices_.penalty, shift = prices_.penalty - least;
        for (int f = 0; f < values_.features(); ++f)
            for (std::size_t p = 0; p < pairs_.size(); ++p) count_tests(f, p, room, shift, out);
    }

private:
    struct Labels {
        int low, high;
    };
    struct End {  // of the values after which a test leaves enough on both sides
        std::size_t at;
        Amount mass;  // up to the first of them, after the last
    };

    const LeafPrices prices_;
    const ValuesOfNode<W>& values_;
    std::vector<Labels> pairs_;
    std::vector<Amount> total_, here_;  // by label: the price of all rows; by value: the mass of its rows
    Amount mass_ = 0;
    // By pair and value: the price of the test after the value, less that of all rows with the label of the high side
    // and less what the prices of its block have in common. By pair and block: what that is, and the least and largest.
    std::vector<Sum> price_, shared_, least_, most_;
    std::vector<End> low_, high_;

    int labels() const { return prices_.table.labels; }
    Amount needed() const { return std::max<Amount>(1, prices_.settings.min_support); }
    Sum difference(std::size_t p, Id row) const {
        return Sum(prices_.of(row, pairs_[p].low) - prices_.of(row, pairs_[p].high));
    }
    void take(Id row, int sign) {
        for (int c = 0; c < labels(); ++c) total_[c] += sign * prices_.of(row, c);
        mass_ += sign * prices_.mass(row);
    }

    void change(Id row, int sign) {
        take(row, sign);
        const std::size_t all = values_.all(), blocks = all / kBlock;
        const Amount mass = sign * prices_.mass(row);
        for (int f = 0; f < values_.features(); ++f) {
            const std::size_t at = values_.at(f, row), from = values_.begin(f) + at, block = from / kBlock;
            here_[from] += mass;
            if (at <= low_[f].at) low_[f].mass += mass;
            if (at > high_[f].at) high_[f].mass += mass;
            settle(f);
            for (std::size_t p = 0; p < pairs_.size(); ++p) {
                const Sum more = Sum(sign) * difference(p, row);
                if (more == 0) continue;
                add_from(&price_[p * all + block * kBlock], Sum(from % kBlock), more, p * blocks + block);
                Sum* shared = &shared_[p * blocks];
                for (std::size_t b = block + 1; b < values_.begin(f + 1) / kBlock; ++b) shared[b] += more;
            }
        }
    }
    /// Adds to the prices of a block from a place on.
    void add_from(Sum* price, Sum from, Sum more, std::size_t block) {
        Sum least = std::numeric_limits<Sum>::max(), most = std::numeric_limits<Sum>::min();
        for (Sum i = 0; i < Sum(kBlock); ++i) {
            const Sum now = price[i] + (i >= from ? more : 0);
            price[i] = now, least = std::min(least, now), most = std::max(most, now);
        }
        least_[block] = least, most_[block] = most;
    }
    /// Moves the ends to the first value and the last one after which a test leaves enough on both sides.
    void settle(int f) {
        const Amount* here = &here_[values_.begin(f)];
        const std::size_t size = values_.size(f);
        End &low = low_[f], &high = high_[f];
        while (low.at + 1 < size && low.mass < needed()) low.mass += here[++low.at];
        while (low.at > 0 && low.mass - here[low.at] >= needed()) low.mass -= here[low.at--];
        while (high.at > 0 && high.mass < needed()) high.mass += high.at < size ? here[high.at] : 0, --high.at;
        while (high.at + 1 < size && high.mass - here[high.at + 1] >= needed()) high.mass -= here[++high.at];
    }

    void count_tests(int f, std::size_t p, Amount room, Amount shift, std::vector<double>& out) const {
        const End low = low_[f], high = high_[f];
        if (low.at > high.at || low.mass < needed() || high.mass < needed()) return;
        const std::size_t all = values_.all(), blocks = all / kBlock;
        const std::size_t from = values_.begin(f) + low.at, to = values_.begin(f) + high.at;
        // The labels the other way round have the price `both` less that of these.
        const Amount other = total_[pairs_[p].high], both = total_[pairs_[p].low] + other;
        for (std::size_t b = from / kBlock; b <= to / kBlock; ++b) {
            const Amount base = Amount(shared_[p * blocks + b]) + other;
            if (least_[p * blocks + b] + base > room && both - (most_[p * blocks + b] + base) > room) continue;
            const Sum* price = &price_[p * all];
            for (std::size_t at = std::max(from, b * kBlock); at <= std::min(to, b * kBlock + kBlock - 1); ++at) {
                const Amount one = price[at] + base;
                if ((one > room && both - one > room) || here_[at] == 0) continue;
                if (one <= room) out[one + shift] += 1;
                if (both - one <= room) out[both - one + shift] += 1;
            }
        }
    }
};

}  // namespace treeform::and_or
