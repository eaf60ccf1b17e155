#include "absolute.hpp"

namespace treeform::regression {

Absolute::Absolute(const Table& table, const Settings& settings, Counters& counters)
    : table_(table), counters_(counters), min_support_(settings.min_support), next_(table.n + 1),
      previous_(table.n + 1) {}

Value Absolute::leaf(const Subset& rows) {
    // sum over the targets below the median of w (m - y), and above it of w (y - m)
    const auto& order = rows.order.back();
    std::int64_t weight = 0, cost = 0, median = 0;
    std::size_t k = 0;
    for (; k < rows.n; ++k) {
        weight += table_.weight[order[k]], median = table_.target[order[k]];
        if (2 * weight >= rows.weight) break;
    }
    for (k = 0; k < rows.n; ++k) {
        const std::int64_t d = table_.target[order[k]] - median;
        cost += table_.weight[order[k]] * (d < 0 ? -d : d);
    }
    return {static_cast<double>(cost), 0, {}};
}

void Absolute::list_by_target(const Subset& rows, const Side& side) {
    by_target_.clear();
    const auto& order = rows.order[table_.features];
    const std::uint32_t* outer =
        side.feature < 0 ? nullptr : table_.rank[static_cast<std::size_t>(side.feature)].data();
    for (std::size_t k = 0; k < rows.n; ++k)
        if (outer == nullptr || (outer[order[k]] < side.key) == side.left) by_target_.push_back(order[k]);
    prepared_ = {&rows, side};
}

void Absolute::take_sequence(const Subset& rows, const Side& side, std::size_t feature) {
    const bool same = prepared_.rows == &rows && prepared_.side.feature == side.feature
                      && prepared_.side.key == side.key && prepared_.side.left == side.left;
    if (!same) list_by_target(rows, side);
    sequence_.clear();
    const auto& order = rows.order[feature];
    const std::uint32_t* outer =
        side.feature < 0 ? nullptr : table_.rank[static_cast<std::size_t>(side.feature)].data();
    for (std::size_t k = 0; k < rows.n; ++k)
        if (outer == nullptr || (outer[order[k]] < side.key) == side.left) sequence_.push_back(order[k]);
}

void Absolute::sweep(bool backwards, std::vector<double>& costs) {
    const auto head = static_cast<std::uint32_t>(table_.n);
    const std::int64_t* y = table_.target;
    const std::int64_t* w = table_.weight;
    const std::size_t m = by_target_.size();
    costs.resize(m + 1);
    costs[0] = 0;
    std::uint32_t last = head;
    std::int64_t total = 0, sum = 0;  // of the samples in the list
    for (const Row i : by_target_) {
        next_[last] = i, previous_[i] = last, last = i;
        total += w[i], sum += w[i] * y[i];
    }
    next_[last] = head, previous_[head] = last;
    if (m == 0) return;
    std::uint32_t median = next_[head];
    std::int64_t below = 0, below_sum = 0;  // of the samples before the median
    // The lower median: below < total / 2 <= below + its own weight.
    const auto settle = [&] {
        while (2 * (below + w[median]) < total) {
            below += w[median], below_sum += w[median] * y[median];
            median = next_[median];
        }
        while (2 * below >= total) {
            median = previous_[median];
            below -= w[median], below_sum -= w[median] * y[median];
        }
    };
    settle();
    for (std::size_t k = m;; --k) {
        const std::int64_t at = y[median];
        costs[k] = static_cast<double>(at * below - below_sum + (sum - below_sum) - at * (total - below));
        if (k == 1) break;
        const Row gone = sequence_[backwards ? k - 1 : m - k];
        total -= w[gone], sum -= w[gone] * y[gone];
        if (gone == median) {
            if (next_[median] != head) {
                median = next_[median];
            } else {
                median = previous_[median];
                below -= w[median], below_sum -= w[median] * y[median];
            }
        } else if (table_.place[gone] < table_.place[median]) {
            below -= w[gone], below_sum -= w[gone] * y[gone];
        }
        next_[previous_[gone]] = next_[gone], previous_[next_[gone]] = previous_[gone];
        settle();
    }
}

void Absolute::outer(const Subset& rows, std::size_t feature) {
    outer_ = feature, outer_n_ = rows.n;
    take_sequence(rows, {}, feature);
    sweep(true, outer_before_);
    sweep(false, outer_after_);
    outer_weight_.assign(rows.n + 1, 0);
    for (std::size_t k = 0; k < rows.n; ++k) outer_weight_[k + 1] = outer_weight_[k] + table_.weight[sequence_[k]];
}

void Absolute::bound(const Subset& rows, const Cut& cut, std::size_t feature, const bool want[2], double lowest[2],
                     double highest[2]) {
    for (int side = 0; side < 2; ++side) {
        if (!want[side]) continue;
        ++counters_.scans;
        const Stump found = stump(rows, {static_cast<int>(outer_), cut.key, side == 0}, feature);
        const double leaf = side == 0 ? left_leaf(cut.below).cost : right_leaf(cut.below).cost;
        lowest[side] = highest[side] = std::min(found.least, leaf);
    }
}

Stump Absolute::stump(const Subset& rows, const Side& side, std::size_t feature) {
    ++counters_.exact;
    take_sequence(rows, side, feature);
    Stump out;
    const std::size_t m = sequence_.size();
    if (m == 0) return out;
    sweep(true, before_);
    sweep(false, after_);
    std::int64_t all = 0, weight = 0;
    for (const Row i : sequence_) all += table_.weight[i];
    const auto& rank = table_.rank[feature];
    const std::int64_t support = min_support_;
    for (std::size_t k = 1; k < m; ++k) {
        weight += table_.weight[sequence_[k - 1]];
        if (rank[sequence_[k]] == rank[sequence_[k - 1]]) continue;
        const double cost = before_[k] + after_[m - k];
        out.least = std::min(out.least, cost);
        if (weight < support || all - weight < support || cost >= out.value.cost) continue;
        out.value = {cost, 1, {}};
        out.key = rank[sequence_[k]];
    }
    return out;
}

}  // namespace treeform::regression
