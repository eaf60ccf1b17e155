#include "priced.hpp"

#include <algorithm>

namespace treeform::regression {

PricedTests::PricedTests(const PricedRows& rows) : rows_(rows), tree_(rows.n_levels + 1) {
    while (2 * highest_bit_ <= rows.n_levels) highest_bit_ *= 2;
}

void PricedTests::clear() {
    std::fill(tree_.begin(), tree_.end(), Sums{});
    all_ = {}, price_ = 0;
}

void PricedTests::add(std::int64_t row) {
    const double w = rows_.weight[row], wy = w * rows_.target[row];
    all_.weight += w, all_.moment += wy, price_ += rows_.price[row];
    for (auto at = static_cast<std::size_t>(rows_.level[row]) + 1; at < tree_.size(); at += at & (~at + 1))
        tree_[at].weight += w, tree_[at].moment += wy;
}

/// What stands below the first `level` levels.
PricedTests::Sums PricedTests::below(std::size_t level) const {
    Sums sums;
    for (std::size_t at = level; at > 0; at -= at & (~at + 1))
        sums.weight += tree_[at].weight, sums.moment += tree_[at].moment;
    return sums;
}

/// The first level with at least that weight up to it, or the last level; `beyond`: with more than that.
std::size_t PricedTests::reached(double weight, bool beyond, Sums& sums) const {
    std::size_t at = 0;
    for (std::size_t step = highest_bit_; step > 0; step /= 2) {
        const std::size_t next = at + step;
        if (next >= rows_.n_levels) continue;
        const double more = sums.weight + tree_[next].weight;
        if (beyond ? more > weight : more >= weight) continue;
        at = next, sums.weight = more, sums.moment += tree_[next].moment;
    }
    return at;
}

PricedTests::Side PricedTests::best(bool range, double near) const {
    const double half = (all_.weight - price_) / 2;
    Sums under, unused, unused_too;
    const std::size_t free = reached(half, false, under), at = std::clamp(free, rows_.first_level, rows_.last_level);
    if (at != free) under = below(at);
    const double value = rows_.levels[at];
    const Sums above{all_.weight - under.weight, all_.moment - under.moment};
    Side side;
    side.cost = value * under.weight - under.moment + (above.moment - value * above.weight) + price_ * value;
    if (range) {
        side.lowest = reached(half - near / 2, false, unused);
        side.highest = reached(half + near / 2, true, unused_too);
    }
    return side;
}

void PricedTests::run(const std::int64_t* order, std::size_t count, std::int64_t way, double near, double* cost,
                      std::int32_t* wrong) {
    if (count < 2) return;
    first_.resize(count - 1);
    clear();
    for (std::size_t k = 0; k + 1 < count; ++k) add(order[k]), first_[k] = best(way != 0, near);
    clear();
    for (std::size_t k = count - 1; k > 0; --k) {
        add(order[k]);
        const Side &left = first_[k - 1], right = best(way != 0, near);
        cost[k - 1] = left.cost + right.cost;
        wrong[k - 1] = way > 0 ? left.lowest > right.highest : way < 0 && right.lowest > left.highest;
    }
}

}  // namespace treeform::regression
