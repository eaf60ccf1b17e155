#include "pairs.hpp"

#include <algorithm>

namespace treeform::regression {
namespace {

constexpr double kTiny = 0x1p-20;  // of all squares: costs below it are added up from the leaves, so that 0 is 0

}  // namespace

Pairs::Pairs(const Table& table, const Settings& settings, Counters& counters)
    : table_(table), counters_(counters), judge_(settings), min_support_(settings.min_support),
      min_flow_(settings.min_flow),
      price_(static_cast<double>(settings.price.numerator) / static_cast<double>(settings.price.denominator)),
      scan_(choose_scan(settings.simd.c_str()).pairs) {
    for (std::size_t f = 0; f < table.features; ++f) {
        const auto first = static_cast<std::int32_t>(tests_);
        const auto count = static_cast<std::int32_t>(table.distinct[f]) - 1;
        for (std::int32_t key = 1; key <= count; ++key) {
            feature_.push_back(static_cast<std::uint32_t>(f)), key_.push_back(static_cast<std::uint32_t>(key));
            first_.push_back(first), next_.push_back(first + count);
        }
        tests_ += static_cast<std::size_t>(count);
    }
    stride_ = (tests_ + 7) / 8 * 8;
    cells_.resize(tests_ * stride_);
    for (std::size_t i = 0; i < table.n; ++i) {
        start_.push_back(of_row_.size());
        std::uint32_t first = 0;
        for (std::size_t f = 0; f < table.features; ++f) {
            if (table.rank[f][i] > 0) of_row_.push_back(first + table.rank[f][i] - 1);
            first += static_cast<std::uint32_t>(table.distinct[f]) - 1;
        }
        const double weight = static_cast<double>(table.weight[i]);
        sample_.push_back({weight, weight * static_cast<double>(table.target[i])});
    }
    start_.push_back(of_row_.size());
}

Value Pairs::leaf(const Subset& rows) const {
    return {squared_error_of(rows.squares, rows.sum, rows.weight),
            0,
            {{rows.sum + rows.centre * rows.weight, rows.weight}}};
}

// ---- the tables

Pairs::Sums& Pairs::place(std::uint64_t id) {
    Sums& to = *std::min_element(sums_, sums_ + 3, [](const Sums& a, const Sums& b) { return a.used < b.used; });
    to.id = id, to.used = ++clock_;
    to.weight.need(tests_ * stride_), to.sum.need(tests_ * stride_);
    to.own_weight.need(stride_), to.own_sum.need(stride_);
    return to;
}

const Pairs::Sums& Pairs::sums_of(const Subset& rows) {
    for (Sums& one : sums_)
        if (one.id == rows.id && one.used > 0) return one.used = ++clock_, one;
    Sums& to = place(rows.id);
    count(rows, to);
    return to;
}

void Pairs::count(const Subset& rows, Sums& to) {
    ++counters_.pairs;
    to.all = {};
    for (std::size_t k = 0; k < rows.n; ++k) {
        const Row i = rows.order[0][k];
        const Sample own = sample_[i];
        to.all.weight += own.weight, to.all.sum += own.sum;
        const std::uint32_t *test = of_row_.data() + start_[i], *end = of_row_.data() + start_[i + 1];
        for (; test != end; ++test) {
            Sample* row = cells_.data() + *test * stride_;
            for (const std::uint32_t* other = test; other != end; ++other)
                row[*other].weight += own.weight, row[*other].sum += own.sum;
        }
    }
    run_sums(to);
}

/// From counts at values to sums beyond thresholds, of both features. Clears the counts.
void Pairs::run_sums(Sums& to) {
    for (std::size_t t = tests_; t-- > 0;) {
        const auto next = static_cast<std::size_t>(next_[t]);
        const bool last = t + 1 == next;  // of its feature
        Sample* row = cells_.data() + t * stride_;
        double *own_weight = to.own_weight.data(), *own_sum = to.own_sum.data();
        own_weight[t] = row[t].weight + (last ? 0 : own_weight[t + 1]);
        own_sum[t] = row[t].sum + (last ? 0 : own_sum[t + 1]);
        row[t] = {};
        double *weight = to.weight.data() + t * stride_, *sum = to.sum.data() + t * stride_;
        for (std::size_t end = tests_; end > next;) {
            const auto first = static_cast<std::size_t>(first_[end - 1]);
            Sample beyond;
            for (std::size_t u = end; u-- > first;) {
                beyond.weight += row[u].weight, beyond.sum += row[u].sum;
                row[u] = {};
                weight[u] = beyond.weight, sum[u] = beyond.sum;
            }
            end = first;
        }
        if (last) continue;
        const double *weight_after = weight + stride_, *sum_after = sum + stride_;
        for (std::size_t u = next; u < tests_; ++u) weight[u] += weight_after[u], sum[u] += sum_after[u];
    }
}

void Pairs::divide(const Subset& rows, const Subset& left, const Subset& right) {
    const bool left_smaller = left.n < right.n;
    const Sums& whole = sums_of(rows);
    Sums& smaller = place(left_smaller ? left.id : right.id);
    count(left_smaller ? left : right, smaller);
    Sums& larger = place(left_smaller ? right.id : left.id);
    larger.all = whole.all - smaller.all;
    const auto subtract = [](const Aligned<double>& from, const Aligned<double>& part, Aligned<double>& to,
                             std::size_t first, std::size_t end) {
        const double *a = from.data(), *b = part.data();
        double* c = to.data();
        for (std::size_t k = first; k < end; ++k) c[k] = a[k] - b[k];
    };
    subtract(whole.own_weight, smaller.own_weight, larger.own_weight, 0, tests_);
    subtract(whole.own_sum, smaller.own_sum, larger.own_sum, 0, tests_);
    for (std::size_t t = 0; t < tests_; ++t) {
        const std::size_t first = t * stride_ + static_cast<std::size_t>(next_[t]), end = t * stride_ + tests_;
        subtract(whole.weight, smaller.weight, larger.weight, first, end);
        subtract(whole.sum, smaller.sum, larger.sum, first, end);
    }
}

Pairs::Sample Pairs::both(std::size_t a, std::size_t b) const {
    if (a > b) std::swap(a, b);
    if (first_[a] == first_[b]) return own(b);
    return {now_->weight.data()[a * stride_ + b], now_->sum.data()[a * stride_ + b]};
}

/// Whether the test has samples on both sides, and is the first one with these samples.
bool Pairs::divides(std::size_t test) const {
    const Sample far = own(test);
    if (far.weight <= 0 || far.weight >= now_->all.weight) return false;
    return static_cast<std::int32_t>(test) == first_[test] || own(test - 1).weight != far.weight;
}

double Pairs::explained(const Sample& of) const {
    const double sum = of.sum - centre_ * of.weight;
    return sum * sum / std::max(of.weight, 1.0);
}

// ---- depth one

Answer Pairs::one(const Subset& rows, Answer&& leaf) {
    Sums& to = single_;
    to.own_weight.need(stride_), to.own_sum.need(stride_);
    std::vector<Sample>& at = by_test_;
    at.assign(tests_, {});
    to.all = {};
    for (std::size_t k = 0; k < rows.n; ++k) {
        const Row i = rows.order[0][k];
        const Sample own = sample_[i];
        to.all.weight += own.weight, to.all.sum += own.sum;
        for (std::size_t e = start_[i]; e < start_[i + 1]; ++e)
            at[of_row_[e]].weight += own.weight, at[of_row_[e]].sum += own.sum;
    }
    for (std::size_t t = tests_; t-- > 0;) {
        if (t + 1 < static_cast<std::size_t>(next_[t])) at[t].weight += at[t + 1].weight, at[t].sum += at[t + 1].sum;
        to.own_weight.data()[t] = at[t].weight, to.own_sum.data()[t] = at[t].sum;
    }
    now_ = &to;
    const auto free = [&](std::size_t t) { return explained(own(t)) + explained(to.all - own(t)); };
    const auto allowed = [&](std::size_t t) {
        return allows(own(t)) && allows(to.all - own(t)) ? free(t) : -kInfinite;
    };
    return concluded(rows, std::move(leaf), 1, free, allowed);
}

// ---- depth two

PairOutput Pairs::scanned(const Sums& sums) {
    double* arrays[4];
    for (int k = 0; k < 4; ++k) {
        arrays[k] = kept_[k].need(stride_);
        std::fill(arrays[k], arrays[k] + stride_, 0.0);
    }
    // Without a least weight of leaves, what is allowed is all there is.
    const bool supported = min_support_ >= 1;
    const PairOutput out{arrays[0], arrays[1], arrays[supported ? 2 : 0], arrays[supported ? 3 : 1]};
    std::fill(sums.own_weight.data() + tests_, sums.own_weight.data() + stride_, 0.0);
    std::fill(sums.own_sum.data() + tests_, sums.own_sum.data() + stride_, 0.0);
    const PairInput in{sums.weight.data(),
                       sums.sum.data(),
                       sums.own_weight.data(),
                       sums.own_sum.data(),
                       next_.data(),
                       static_cast<int>(tests_),
                       static_cast<int>(stride_),
                       sums.all.weight,
                       sums.all.sum,
                       centre_,
                       static_cast<double>(min_support_)};
    scan_(in, out);
    add_own_pairs(out);
    return out;
}

/// Inner tests of the outer one's feature.
void Pairs::add_own_pairs(const PairOutput& out) const {
    const auto raise = [&](double* free, double* allowed, std::size_t t, const Sample& a, const Sample& b) {
        const double keeps = explained(a) + explained(b);
        free[t] = std::max(free[t], keeps);
        if (allows(a) && allows(b)) allowed[t] = std::max(allowed[t], keeps);
    };
    for (std::size_t t = 0; t < tests_; ++t)
        for (auto u = t + 1; u < static_cast<std::size_t>(next_[t]); ++u) {
            const Sample a = own(t), b = own(u), between = a - b;
            raise(out.far, out.far_allowed, t, b, between);
            raise(out.near, out.near_allowed, u, between, now_->all - a);
        }
}

Answer Pairs::two(const Subset& rows, std::int64_t budget, Answer&& leaf) {
    ++counters_.scans;
    const Sums& sums = sums_of(rows);
    now_ = &sums, centre_ = static_cast<double>(rows.centre);
    const PairOutput kept = scanned(sums);
    // The most that both sides keep, less the prices of their tests.
    const auto most = [&](double far_leaf, double near_leaf, double far, double near) {
        if (budget < 3) return std::max(std::max(far_leaf, far) + near_leaf, far_leaf + std::max(near_leaf, near));
        return std::max(far_leaf, far) + std::max(near_leaf, near);
    };
    const auto free = [&](std::size_t t) {
        return most(explained(own(t)), explained(sums.all - own(t)), kept.far[t] - price_, kept.near[t] - price_);
    };
    const auto allowed = [&](std::size_t t) {
        const Sample far = own(t), near = sums.all - far;
        if (!allows(far) || !allows(near)) return -kInfinite;
        return most(explained(far), explained(near), bears_test(far) ? kept.far_allowed[t] - price_ : 0,
                    bears_test(near) ? kept.near_allowed[t] - price_ : 0);
    };
    return concluded(rows, std::move(leaf), budget, free, allowed);
}

/// Bounds by feature, and the best tree of at most so many tests: all roots are tried exactly that may have it.
template <class Free, class Allowed>
Answer Pairs::concluded(const Subset& rows, Answer&& leaf, std::int64_t budget, const Free& free,
                        const Allowed& allowed) {
    Answer out = std::move(leaf);
    const double alone = out.lower;
    centre_ = static_cast<double>(rows.centre), tolerance_ = judge_.tolerance(alone, rows.weight);
    double least = out.best.cost;
    worth_.assign(tests_, kInfinite);
    for (std::size_t t = 0; t < tests_; ++t) {
        if (!divides(t)) continue;
        double& bound = out.by_feature[feature_[t]];
        bound = std::max(0.0, std::min(bound, rows.squares - free(t) + price_));
        worth_[t] = rows.squares - allowed(t) + price_;
        least = std::min(least, worth_[t]);
    }
    out.lower = *std::min_element(out.by_feature.begin(), out.by_feature.end());
    Tree best{std::move(out.best), out.plan};
    for (std::size_t t = 0; t < tests_; ++t)
        if (worth_[t] < kInfinite && worth_[t] <= least + tolerance_) {
            Tree tree = best_with(t, budget);
            tree.value.cost += rows.squares;
            offer(std::move(tree), best);
        }
    if (best.plan && best.plan->feature >= 0 && best.value.cost < kTiny * rows.squares)
        best.value.cost = cost_of(rows, *best.plan) + price_ * best.value.tests;
    out.best = std::move(best.value), out.plan = std::move(best.plan);
    return out;
}

void Pairs::offer(Tree&& tree, Tree& best) {
    ++counters_.exact;
    if (judge_.better(tree.value, best.value, tolerance_, counters_.near_ties)) best = std::move(tree);
}

Pairs::Tree Pairs::leaf_of(const Sample& of) const {
    if (!allows(of)) return {};
    return {{-explained(of), 0, {of.leaf()}}, leaf_plan()};
}

Pairs::Tree Pairs::joined(std::size_t test, const Tree& near, const Tree& far) const {
    if (!near.plan || !far.plan) return {};
    Value both{near.value.cost + far.value.cost + price_, near.value.tests + far.value.tests + 1, near.value.leaves};
    both.leaves.insert(both.leaves.end(), far.value.leaves.begin(), far.value.leaves.end());
    return {std::move(both), test_plan(feature_[test], key_[test], near.plan, far.plan)};
}

/// The best subtree of at most one test on one side, exactly.
Pairs::Tree Pairs::best_part(const Side& of) {
    const Sample whole = side(of);
    Tree best = leaf_of(whole);
    if (!bears_test(whole)) return best;
    const auto far_of = [&](std::size_t u) {
        const Sample beyond = both(of.test, u);
        return of.far ? beyond : own(u) - beyond;
    };
    double least = best.value.cost;
    worth_of_part_.assign(tests_, kInfinite);
    for (std::size_t u = 0; u < tests_; ++u) {
        const Sample far = far_of(u), near = whole - far;
        if (far.weight <= 0 || near.weight <= 0 || !allows(far) || !allows(near)) continue;
        worth_of_part_[u] = price_ - explained(far) - explained(near);
        least = std::min(least, worth_of_part_[u]);
    }
    for (std::size_t u = 0; u < tests_; ++u) {
        if (worth_of_part_[u] == kInfinite || worth_of_part_[u] > least + tolerance_) continue;
        const Sample far = far_of(u);
        offer(joined(u, leaf_of(whole - far), leaf_of(far)), best);
    }
    return best;
}

Pairs::Tree Pairs::best_with(std::size_t test, std::int64_t budget) {
    const Side far{test, true}, near{test, false};
    const Tree far_leaf = leaf_of(side(far)), near_leaf = leaf_of(side(near));
    if (budget < 2) return joined(test, near_leaf, far_leaf);
    const Tree far_part = best_part(far), near_part = best_part(near);
    if (budget >= 3 || far_part.value.tests + near_part.value.tests < 2) return joined(test, near_part, far_part);
    Tree best = joined(test, near_leaf, far_part);  // one of the two tests has to go
    offer(joined(test, near_part, far_leaf), best);
    return best;
}

/// The error of a tree, leaf by leaf, so that its rounding is small where it is.
double Pairs::cost_of(const Subset& rows, const Plan& plan) const {
    struct Leaf {
        __int128 squares = 0;
        std::int64_t sum = 0, weight = 0;
    };
    std::vector<Leaf> leaves(7);  // by place in the full tree of depth two
    for (std::size_t k = 0; k < rows.n; ++k) {
        const Row i = rows.order[0][k];
        const Plan* at = &plan;
        std::size_t place = 0;
        while (at->feature >= 0) {
            const bool left = table_.rank[static_cast<std::size_t>(at->feature)][i] < at->key;
            place = 2 * place + (left ? 1 : 2), at = left ? at->left.get() : at->right.get();
        }
        const std::int64_t y = table_.target[i] - rows.centre, w = table_.weight[i];
        leaves[place].squares += static_cast<__int128>(w) * y * y;
        leaves[place].sum += w * y, leaves[place].weight += w;
    }
    double cost = 0;
    for (const Leaf& one : leaves) cost += squared_error_of(static_cast<double>(one.squares), one.sum, one.weight);
    return cost;
}

}  // namespace treeform::regression
