#include "prices.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace treeform::continuous_totals {

static Wide magnitude(Wide x) { return x < 0 ? -x : x; }
static Wide floor_divide(Wide a, Wide b) { return a / b - (a % b < 0); }  // b > 0
static Amount clamped(Wide x) { return x > kNone ? kNone : x < -kNone ? -kNone : static_cast<Amount>(x); }

constexpr Wide kLargestSum = Wide(1) << 120;
constexpr double kLargestMultiplier = 0x1p58;
constexpr Amount kFinestUnit = Amount(1) << 24;

Amount Prices::bound(Amount minimum) const {
    const Wide gap = (Wide(minimum) << kFraction) + base - constant;
    if (unit == 0) return gap > 0 ? kNone : 0;
    return clamped(-floor_divide(-gap, Wide(unit) << kFraction));
}

Amount Prices::limit(Amount cost) const {
    return clamped(((Wide(unit) * cost << kFraction) + constant - base) >> kFraction);
}

Amount Prices::at_most(Amount cost, const std::vector<Amount>& row) const {
    Wide value = (Wide(unit) * cost << kFraction) - base;
    for (std::size_t r = 0; r < row.size(); ++r) value += Wide(multiplier[r]) * row[r];
    return clamped(value >> kFraction);
}

std::vector<Amount> weight_per_kind(const Samples& samples) {
    std::vector<Amount> weight(samples.kinds, 0);
    for (std::size_t i = 0; i < samples.n; ++i) weight[samples.kind[i]] += samples.weight_of(i);
    return weight;
}

Pricing::Pricing(const Samples& s, const Settings& settings, Amount most)
    : samples_(s), most_(most), weight_(weight_per_kind(s)) {
    tests_ = (Amount(1) << std::min(settings.depth, 20)) - 1;
    Wide dearest = Wide(s.test_cost) * tests_;
    for (int k = 0; k < s.kinds; ++k) {
        const Amount* cost = s.cost + static_cast<std::size_t>(k) * s.labels;
        dearest += Wide(*std::max_element(cost, cost + s.labels)) * weight_[k];
    }
    if (dearest >= most) throw std::overflow_error("costs");
    most_cost_ = static_cast<Amount>(dearest);
    scale_.assign(s.rows, 1);
    for (int r = 0; r < s.rows; ++r) {
        for (int i = 0; i < s.kinds * s.labels; ++i)
            scale_[r] = std::max(scale_[r], std::abs(static_cast<double>(s.row[std::size_t(i) * s.rows + r])));
        scale_[r] = std::max(scale_[r], static_cast<double>(s.test_row[r]));
    }
}

bool Pricing::make(const std::vector<double>& multiplier, bool cost, Prices& out) const {
    const std::size_t rows = multiplier.size();
    for (Amount unit = kFinestUnit; unit > 0; unit /= 2) {
        out.multiplier.resize(rows);
        bool fits = true;
        for (std::size_t r = 0; r < rows; ++r) {
            const double scaled = multiplier[r] * static_cast<double>(unit) * (1 << kFraction);
            fits = fits && std::abs(scaled) < kLargestMultiplier;
            out.multiplier[r] = fits ? std::llround(scaled) : 0;
        }
        if (fits && price(unit, cost, out)) return true;
    }
    return false;
}

/// Fill in the prices for out.multiplier; false when sums could leave the range.
bool Pricing::price(Amount unit, bool cost, Prices& out) const {
    const Samples& s = samples_;
    out.unit = cost ? unit : 0;
    out.base = out.constant = 0;
    out.leaf.assign(static_cast<std::size_t>(s.kinds) * s.labels, 0);
    Wide test = Wide(out.unit) * s.test_cost << kFraction, sum = 0;
    for (int r = 0; r < s.rows; ++r) {
        const Amount mu = out.multiplier[r];
        test += Wide(mu) * s.test_row[r];
        out.constant += Wide(mu) * (mu > 0 ? s.hi[r] : mu < 0 ? s.lo[r] : 0);
    }
    if (test < 0 || test >> kFraction >= most_) return false;
    out.test = static_cast<Amount>(test >> kFraction);
    sum = Wide(out.test) * tests_;
    std::vector<Wide> price(s.labels);
    for (int k = 0; k < s.kinds; ++k) {
        for (int c = 0; c < s.labels; ++c) {
            const std::size_t i = static_cast<std::size_t>(k) * s.labels + c;
            price[c] = Wide(out.unit) * s.cost[i] << kFraction;
            for (int r = 0; r < s.rows; ++r) price[c] += Wide(out.multiplier[r]) * s.row[i * s.rows + r];
        }
        const Wide least = *std::min_element(price.begin(), price.end());
        if (magnitude(least) >= kLargestSum / s.kinds / std::max<Amount>(1, weight_[k])) return false;
        out.base += least * weight_[k];
        Wide most = 0;
        for (int c = 0; c < s.labels; ++c) {
            const Wide beyond = (price[c] - least) >> kFraction;
            most = std::max(most, beyond);
            if (beyond >= most_) return false;
            out.leaf[static_cast<std::size_t>(k) * s.labels + c] = static_cast<Amount>(beyond);
        }
        sum += most * weight_[k];
    }
    return sum < most_;
}

}  // namespace treeform::continuous_totals
