#include "prices.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace treeform::totals {

using Wide = __int128;
constexpr Amount kExact = Amount(1) << 52;

static Wide magnitude(Wide x) { return x < 0 ? -x : x; }

Amount Prices::limit(Amount cost) const {
    const Wide value = Wide(unit) * cost + constant;
    return value > kNone ? kNone : Amount(value);
}

Pricing::Pricing(const Table& t, const Settings& settings) : table_(t) {
    tests_ = (Amount(1) << std::min(settings.depth, 20)) - 1;
    weight_.assign(t.kinds, 0);
    for (std::size_t p = 0; p < t.points; ++p)
        for (int k = 0; k < t.kinds; ++k) weight_[k] += t.count[p * t.kinds + k];
    Wide most = 0;
    Amount dearest = 0;
    for (std::size_t f = 0; f < t.columns; ++f) dearest = std::max(dearest, t.test_cost[f]);
    most += Wide(dearest) * tests_;
    for (int k = 0; k < t.kinds; ++k) {
        Amount high = 0;
        for (int c = 0; c < t.labels; ++c) high = std::max(high, t.cost[k * t.labels + c]);
        most += Wide(high) * weight_[k];
    }
    if (most >= Wide(1) << 50) throw std::overflow_error("costs");
    most_ = Amount(most);
    unit_ = std::min<Amount>(Amount(1) << 30, (Amount(1) << 50) / std::bit_ceil(std::uint64_t(most_ + 1)));
    scale_.assign(t.rows, 1);
    for (int r = 0; r < t.rows; ++r) {
        for (int i = 0; i < t.kinds * t.labels; ++i)
            scale_[r] = std::max<Amount>(scale_[r], std::abs(t.row[std::size_t(i) * t.rows + r]));
        for (std::size_t f = 0; f < t.columns; ++f)
            scale_[r] = std::max<Amount>(scale_[r], std::abs(t.test_row[f * t.rows + r]));
        for (int c = 0; t.leaf_row && c < t.labels; ++c)
            scale_[r] = std::max<Amount>(scale_[r], std::abs(t.leaf_row[c * t.rows + r]));
    }
}

bool Pricing::make(const std::vector<Amount>& multiplier, Amount unit, Prices& out) const {
    const Table& t = table_;
    out.unit = unit, out.multiplier = multiplier;
    out.leaf.assign(std::size_t(t.kinds) * t.labels, 0);
    out.label.assign(t.labels, 0);
    out.test.assign(t.columns, 0);
    Wide constant = 0, sum = 0, widest = 0;
    for (int r = 0; r < t.rows; ++r) {
        if (multiplier[r] > 0) constant += Wide(multiplier[r]) * t.hi[r];
        if (multiplier[r] < 0) constant += Wide(multiplier[r]) * t.lo[r];
    }
    for (int k = 0; k < t.kinds; ++k) {
        Wide most = 0;
        for (int c = 0; c < t.labels; ++c) {
            const std::size_t i = std::size_t(k) * t.labels + c;
            Wide price = Wide(unit) * t.cost[i];
            for (int r = 0; r < t.rows; ++r) price += Wide(multiplier[r]) * t.row[i * t.rows + r];
            if (magnitude(price) >= kExact) return false;
            out.leaf[i] = Amount(price);
            most = std::max(most, magnitude(price));
        }
        sum += 2 * most * weight_[k];  // a difference of two labels
    }
    Amount of_all = 0;
    if (t.leaf_row) {
        for (int c = 0; c < t.labels; ++c) {
            Wide price = 0;
            for (int r = 0; r < t.rows; ++r) price += Wide(multiplier[r]) * t.leaf_row[c * t.rows + r];
            if (magnitude(price) >= kExact) return false;
            out.label[c] = Amount(price);
        }
        of_all = *std::min_element(out.label.begin(), out.label.end());
        for (Amount& price : out.label) price -= of_all;
        constant -= of_all;
        sum += Wide(2) * *std::max_element(out.label.begin(), out.label.end()) * (tests_ + 1);
    }
    for (std::size_t f = 0; f < t.columns; ++f) {
        Wide price = Wide(unit) * t.test_cost[f] + of_all;
        for (int r = 0; r < t.rows; ++r) price += Wide(multiplier[r]) * t.test_row[f * t.rows + r];
        if (magnitude(price) >= kExact) return false;
        out.test[f] = Amount(price);
        widest = std::max(widest, magnitude(price));
    }
    sum += widest * tests_;
    if (sum >= kExact || magnitude(constant) >= Wide(1) << 60) return false;
    out.constant = Amount(constant);
    return true;
}

}  // namespace treeform::totals
