#include "squared.hpp"

#include <cmath>

namespace treeform::regression {
namespace {

constexpr double kSums = 1.0e9;         // scaled sums stay below it, and so within 32 bits
constexpr double kRounding = 0x1p-20;   // of the scan's floats, as a share of the sum of all |q|
constexpr double kNear = 1e-11;         // gains that are nearer to each other are compared as fractions

constexpr std::int32_t kPad = std::numeric_limits<std::int32_t>::max() - 1;  // even: no value ends there

using Wide = __int128;

/// The nearest double of a number that is not negative, or one next to it; exact below 2^53.
double to_double(Wide value) {
    return static_cast<double>(static_cast<std::int64_t>(value >> 64)) * 0x1p64
           + static_cast<double>(static_cast<std::uint64_t>(value));
}

}  // namespace

Squared::Squared(const Table& table, const Settings& settings, Counters& counters)
    : table_(table), counters_(counters), min_support_(settings.min_support),
      choice_(choose_scan(settings.simd.c_str())), layout_(table.features), scaled_(table.n + 1, 0) {}

Value Squared::leaf(const Subset& rows) const {
    return {squared_error_of(rows.squares, rows.sum, rows.weight),
            0,
            {{rows.sum + rows.centre * rows.weight, rows.weight}}};
}

Value Squared::left_leaf(std::size_t below) const {
    const std::int64_t weight = left_weight(below);
    return {squared_error_of(squares_[below], sums_[below], weight), 0, {{sums_[below] + centre_ * weight, weight}}};
}

Value Squared::right_leaf(std::size_t below) const {
    const std::int64_t sum = sum_ - sums_[below], weight = weight_ - left_weight(below);
    return {squared_error_of(all_squares_ - squares_[below], sum, weight), 0, {{sum + centre_ * weight, weight}}};
}

void Squared::prepare(const Subset& rows) {
    centre_ = rows.centre, sum_ = rows.sum, weight_ = rows.weight, all_squares_ = rows.squares;
    if (table_.weighted) return;
    scale_targets(rows);
    const auto lanes = static_cast<std::size_t>(choice_.lanes);
    rows_ = static_cast<int>(std::max<std::size_t>(1, (rows.n + lanes - 1) / lanes));
    if (rows.n == table_.n && table_.n * table_.features > kManyValues)
        give_back(chosen_), give_freed_memory_back();  // much follows
    for (std::size_t f = 0; f < table_.features; ++f) lay_out(rows, f);
}

void Squared::scale_targets(const Subset& rows) {
    // Of the differences from the centre.
    const double mean = static_cast<double>(rows.sum) / static_cast<double>(rows.n);
    double sum = 0, largest = 0;
    for (std::size_t k = 0; k < rows.n; ++k) {
        const double d = std::fabs(static_cast<double>(table_.target[rows.order[0][k]] - rows.centre) - mean);
        sum += d, largest = std::max(largest, d);
    }
    // A power of two, so that scaling rounds nothing.
    scale_ = std::exp2(std::floor(std::log2(kSums / (sum + largest + 1))));
    double error = 0, whole = 0;
    for (std::size_t k = 0; k < rows.n; ++k) {
        const Row i = rows.order[0][k];
        const double d = static_cast<double>(table_.target[i] - rows.centre) - mean, q = std::nearbyint(d * scale_);
        scaled_[i] = static_cast<std::int32_t>(q), whole += std::fabs(q);
        const double e = d - q / scale_;
        error += e * e;
    }
    margin_ = std::sqrt(error) * 1.0000001 + kRounding * whole / scale_;
}

void Squared::lay_out(const Subset& rows, std::size_t feature) {
    Layout& to = layout_[feature];
    const auto lanes = static_cast<std::size_t>(choice_.lanes), height = static_cast<std::size_t>(rows_);
    const std::size_t size = lanes * height;
    // Large parts follow each other: room for all rows, so that no array of another size is left between.
    const std::size_t most = rows.n > table_.n / 4 ? (table_.n / lanes + 1) * lanes : size;
    std::int32_t *target = to.target.need(size, most), *key = to.key.need(size, most);
    const auto& order = rows.order[feature];
    const auto& rank = table_.rank[feature];
    const Row pad = static_cast<Row>(table_.n);
    to.ties = false, to.keys_ready = false;
    for (std::size_t l = 0; l < lanes; ++l)
        for (std::size_t s = 0; s < height; ++s) {
            const std::size_t k = l * height + s, at = s * lanes + l;
            const bool ends_here = k + 1 < rows.n && rank[order[k]] != rank[order[k + 1]];
            target[at] = scaled_[k < rows.n ? order[k] : pad];
            key[at] = ends_here;
            to.ties |= !ends_here && k + 1 < rows.n;
        }
}

void Squared::outer(const Subset& rows, std::size_t feature) {
    outer_ = feature;
    for (Layout& layout : layout_) layout.keys_ready = false;
    sums_.resize(rows.n + 1), squares_.resize(rows.n + 1);
    if (table_.weighted) weights_.resize(rows.n + 1);
    Wide squares = 0;
    std::int64_t sum = 0, weight = 0;
    for (std::size_t k = 0; k <= rows.n; ++k) {
        sums_[k] = sum, squares_[k] = to_double(squares);
        if (table_.weighted) weights_[k] = weight;
        if (k == rows.n) break;
        const Row i = rows.order[feature][k];
        const std::int64_t y = table_.target[i] - rows.centre, w = table_.weight[i];
        sum += w * y, weight += w, squares += Wide(w) * y * y;
    }
}

const std::int32_t* Squared::keys(const Subset& rows, std::size_t feature) {
    Layout& layout = layout_[feature];
    std::int32_t* key = layout.key.data();
    if (layout.keys_ready) return key;
    layout.keys_ready = true;
    const Row* order = rows.order[feature].data();
    const auto& rank = table_.rank[outer_];
    const auto lanes = static_cast<std::size_t>(choice_.lanes), height = static_cast<std::size_t>(rows_);
    std::int32_t* to = key;
    for (std::size_t s = 0; s < height; ++s)
        for (std::size_t k = s; k < lanes * height; k += height)
            *to = k < rows.n ? 2 * static_cast<std::int32_t>(rank[order[k]]) + (*to & 1) : kPad, ++to;
    return key;
}

void Squared::bound(const Subset& rows, const Cut& cut, std::size_t feature, const bool want[2], double lowest[2],
                    double highest[2]) {
    ++counters_.scans;
    if (table_.weighted) return bound_exactly(rows, cut, feature, want, lowest, highest);
    const Layout& layout = layout_[feature];
    const auto below = static_cast<std::int32_t>(cut.below);
    const ScanInput in{keys(rows, feature),
                       layout.target.data(),
                       rows_,
                       2 * static_cast<std::int32_t>(cut.key),
                       {below, static_cast<std::int32_t>(rows.n) - below},
                       layout.ties};
    double gain[2] = {0, 0};
    choice_.scan(in, want[0], want[1], gain);
    for (int side = 0; side < 2; ++side) {
        if (!want[side]) continue;
        const double leaf = side == 0 ? left_leaf(cut.below).cost : right_leaf(cut.below).cost;
        const double root = std::sqrt(gain[side]) / scale_, most = root + margin_;
        const double least = std::max(0.0, root - margin_);
        lowest[side] = leaf - most * most, highest[side] = leaf - least * least;
    }
}

void Squared::bound_exactly(const Subset& rows, const Cut& cut, std::size_t feature, const bool want[2],
                            double lowest[2], double highest[2]) {
    for (int side = 0; side < 2; ++side)
        if (want[side]) {
            const Stump found = stump(rows, {static_cast<int>(outer_), cut.key, side == 0}, feature);
            // Without a threshold the feature has nothing to offer: the leaf remains.
            const double leaf = side == 0 ? left_leaf(cut.below).cost : right_leaf(cut.below).cost;
            lowest[side] = highest[side] = std::min(found.least, leaf);
        }
}

Stump Squared::stump(const Subset& rows, const Side& side, std::size_t feature) {
    ++counters_.exact;
    const auto& order = rows.order[feature];
    const auto& inner = table_.rank[feature];
    const std::uint32_t* outer =
        side.feature < 0 ? nullptr : table_.rank[static_cast<std::size_t>(side.feature)].data();
    chosen_.clear();
    for (std::size_t k = 0; k < rows.n; ++k)
        if (outer == nullptr || (outer[order[k]] < side.key) == side.left) chosen_.push_back(order[k]);
    std::int64_t all = 0, n = 0, far = 0;  // `far` bounds all sums
    for (const Row i : chosen_) {
        const std::int64_t part = table_.weight[i] * (table_.target[i] - rows.centre);
        all += part, far += part < 0 ? -part : part, n += table_.weight[i];
    }
    // Of a sum less weight * mean, in doubles: the mean, its product and the difference.
    const double rounding = 0x1p-50 * static_cast<double>(far);
    Stump out;
    double best = -1, free = -1;  // gains
    std::size_t best_at = 0;
    std::int64_t sum = 0, weight = 0;
    const double total = static_cast<double>(n), mean = static_cast<double>(all) / total;
    double least = -1;  // gains that are smaller change nothing
    const std::int64_t support = min_support_;
    for (std::size_t k = 1; k < chosen_.size(); ++k) {
        const Row last = chosen_[k - 1];
        sum += table_.weight[last] * (table_.target[last] - rows.centre), weight += table_.weight[last];
        if (inner[chosen_[k]] == inner[last]) continue;
        const double near = static_cast<double>(sum) - static_cast<double>(weight) * mean;
        const double over = std::fabs(near) + rounding, left = static_cast<double>(weight);
        if (over * over * total < least * (left * (total - left))) continue;
        // c^2 / (n k (n - k)) with c = s n - k S, whole
        const double c = static_cast<double>(Wide(sum) * n - Wide(weight) * all);
        const double gain = c / total * (c / (static_cast<double>(weight) * static_cast<double>(n - weight)));
        free = std::max(free, gain);
        least = std::min(free, best) * (1 - 2 * kNear);
        if (weight < support || n - weight < support || gain < best * (1 - kNear)) continue;
        bool better = gain > best * (1 + kNear);
        if (!better && gain + best > 0) {
            ++counters_.near_ties;
            better = compare_exactly({0, 1, {{sum, weight}, {all - sum, n - weight}}}, out.value, {}) < 0;
        }
        if (!better) continue;
        best = gain, best_at = k, out.key = inner[chosen_[k]];
        out.value.leaves.assign({{sum, weight}, {all - sum, n - weight}});
    }
    if (free < 0) return out;
    Wide left = 0, right = 0;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
        const std::int64_t y = table_.target[chosen_[k]] - rows.centre;
        (k < best_at ? left : right) += Wide(table_.weight[chosen_[k]]) * y * y;
    }
    out.least = std::max(0.0, squared_error_of(static_cast<double>(left + right), all, n) - free);
    if (best < 0) return out;
    LeafSum &a = out.value.leaves[0], &b = out.value.leaves[1];
    out.value.tests = 1;
    out.value.cost = squared_error_of(static_cast<double>(left), a.sum, a.weight)
                     + squared_error_of(static_cast<double>(right), b.sum, b.weight);
    a.sum += rows.centre * a.weight, b.sum += rows.centre * b.weight;
    if (best == free) out.least = std::min(out.least, out.value.cost);
    return out;
}

std::size_t Squared::bytes_to_prepare(const Subset& rows) const {
    if (table_.weighted) return 0;
    const std::size_t wanted = bytes_of_layouts(rows.n * table_.features), held = bytes_to_release() + scaled_.size() * 4;
    return wanted > held ? wanted - held : 0;
}

std::size_t Squared::bytes_to_release() const {
    std::size_t all = squares_.size() * 24;
    for (const Layout& one : layout_) all += one.key.bytes() + one.target.bytes();
    return all;
}

}  // namespace treeform::regression
