// Minima of the reduced cost: the plain problem of an optimal tree, where every kind of sample has its own prices.
//
//  * Depth two: pair counts per kind (the binary engine's kernels), turned into price differences and minimised by the
//    vector kernel of this engine in one sweep.
//  * Depth three: per root test only the smaller side is counted; the pairs of the other side are the node's minus
//    these. Both sides are minimised in one sweep, and their minima are kept for the other orders of the same tests.
//  * Deeper: branch and bound. A subproblem is asked for its minimum up to a limit, and may answer with a bound above
//  the
//    limit. Bounds of a side that was not searched: what its points cost with the best label each, what an earlier
//    search left, and the bound of a similar set of rows (a tree for A costs on B no more than on A plus what the rows
//    of B outside A can lose: so min A >= min B - regret(B \ A), both above their floors).
#include "minima.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace treeform::totals {

constexpr std::size_t kShareOfCounts = 16;

Minima::Minima(const Table& table, Rows& rows, const Settings& settings, const Control& control, Counters& counters,
               Store<Known>& known)
    : table_(table), rows_(rows), settings_(settings), control_(control), counters_(counters),
      kernel_(choose_kernel(settings.simd.c_str())), supported_(settings.min_support > 1),
      similarity_(settings.use_similarity && settings.min_support <= 1 && settings.min_flow <= 1), known_(known) {}

Minima::Level& Minima::level(int depth) {
    while (int(levels_.size()) <= depth) levels_.emplace_back();
    return levels_[depth];
}

void Minima::set(const Prices& prices) {
    prices_ = prices;
    const int kinds = table_.kinds, labels = table_.labels;
    delta_.assign(std::size_t(arrays()) * kinds, 0);
    for (int k = 0; k < kinds; ++k) {
        for (int d = 0; d < differences(); ++d)
            delta_[d * kinds + k] = double(prices_.leaf[k * labels + d + 1] - prices_.leaf[k * labels]);
        if (supported_) delta_[differences() * kinds + k] = double(table_.unit[k]);
    }
    test_.resize(rows_.columns);
    test_price_.resize(rows_.pad);
    for (int j = 0; j < rows_.columns; ++j) test_price_[j] = double(test_[j] = prices_.test[rows_.original[j]]);
    least_test_ = test_.empty() ? 0 : std::min<Amount>(0, *std::min_element(test_.begin(), test_.end()));
    first_ = double(prices_.label[0]);
    start_.resize(differences());
    for (int d = 0; d < differences(); ++d) start_[d] = double(prices_.label[d + 1]) - first_;
    labels_have_prices_ = std::any_of(prices_.label.begin(), prices_.label.end(), [](Amount p) { return p != 0; });
    pair_price_ = test_price_;
    for (double& price : pair_price_) price += 2 * first_;
    floor_.clear();
}

/// What each point costs with its best label, and what it can lose; of each price once, where it is asked for.
void Minima::find_floors() const {
    const int kinds = table_.kinds, labels = table_.labels;
    floor_.resize(rows_.points);
    regret_.resize(rows_.points);
    for (int p = 0; p < rows_.points; ++p) {
        Amount least = kNone, most = -kNone;
        for (int c = 0; c < labels; ++c) {
            Amount price = 0;
            for (int k = 0; k < kinds; ++k)
                price += table_.count[std::size_t(p) * kinds + k] * prices_.leaf[k * labels + c];
            least = std::min(least, price), most = std::max(most, price);
        }
        floor_[p] = least, regret_[p] = most - least;
    }
}

Amount Minima::floor(const std::vector<std::uint64_t>& cover, int depth) const {
    if (floor_.empty()) find_floors();
    Amount sum = least_test_ * ((Amount(1) << depth) - 1);
    for (std::size_t w = 0; w < cover.size(); ++w)
        for (std::uint64_t x = cover[w]; x; x &= x - 1) sum += floor_[w * 64 + std::countr_zero(x)];
    return sum;
}

Amount Minima::base(const std::vector<Amount>& total) const {
    Amount sum = 0;
    for (int k = 0; k < table_.kinds; ++k) sum += total[k] * prices_.leaf[k * table_.labels];
    return sum;
}

Amount Minima::leaf(const std::vector<Amount>& total, Amount weight, int* label) const {
    if (weight < settings_.min_support) return kNone;
    Amount best = kNone;
    for (int c = 0; c < table_.labels; ++c) {
        Amount price = prices_.label[c];
        for (int k = 0; k < table_.kinds; ++k) price += total[k] * prices_.leaf[k * table_.labels + c];
        if (price < best) {
            best = price;
            if (label) *label = c;
        }
    }
    return best;
}

/// Price differences of all columns of a set, and of the set itself.
void Minima::weigh(const std::int32_t* with, const std::vector<Amount>& total, std::vector<double>& out,
                   std::vector<double>& all) const {
    const int pad = rows_.pad, kinds = table_.kinds;
    out.assign(std::size_t(arrays()) * pad, 0);
    all.assign(arrays(), 0);
    for (int d = 0; d < arrays(); ++d)
        for (int k = 0; k < kinds; ++k) {
            const double price = delta_[d * kinds + k];
            all[d] += price * double(total[k]);
            for (int j = 0; j < pad; ++j) out[std::size_t(d) * pad + j] += price * with[std::size_t(k) * pad + j];
        }
}

Amount Minima::one(const Subset& node) {
    Amount best = leaf(node.total, node.weight);
    if (!splits(node.weight)) return best;
    for (const Amount price : prices_of_tests(node)) best = std::min(best, price);
    return best;
}

const std::vector<Amount>& Minima::prices_of_tests(const Subset& node) {
    const int pad = rows_.pad;
    weigh(node.with.data(), node.total, weighed_, weighed_all_);
    price_.assign(rows_.columns, 0);
    std::vector<double>& sum = price_sum_;
    sum = pair_price_;
    for (int j = 0; j < rows_.columns; ++j) {
        double in = 0, off = 0;
        for (int d = 0; d < differences(); ++d) {
            const double x = weighed_[std::size_t(d) * pad + j];
            in = std::min(in, x + start_[d]), off = std::min(off, weighed_all_[d] - x + start_[d]);
        }
        sum[j] += in + off;
    }
    const Amount least = base(node.total);
    for (int j = 0; j < rows_.columns; ++j) {
        const Amount held = node.with_weight(j, pad);
        price_[j] = parts(held, node.weight - held) ? least + Amount(sum[j]) : kNone;
    }
    return price_;
}

/// The least price of one test on a column, or kNone; `part` is scratch, `label` gets the labels of its leaves.
Amount Minima::one_test(const Subset& node, int column, std::vector<Amount>* part, int* label) const {
    Amount held = 0;
    for (int k = 0; k < table_.kinds; ++k) {
        part[1][k] = node.with[std::size_t(k) * rows_.pad + column];
        part[0][k] = node.total[k] - part[1][k];
        held += part[1][k] * table_.unit[k];
    }
    if (!parts(held, node.weight - held)) return kNone;
    return leaf(part[0], node.weight - held, label) + leaf(part[1], held, label ? label + 1 : nullptr) + test_[column];
}

/// The best tree of depth two of a set from the minima below each of its tests: `none` where g does not hold, `held`
/// where it does. When conditions on weights matter, the set is the `side` of `column` in `node`, or the node itself
/// (column -1).
Amount Minima::two(const double* with, const double* all, Amount base, Amount weight, const double* none,
                   const double* held, const Subset* node, int column, int side, Sides* sides) const {
    const int pad = rows_.pad, n = differences();
    const bool conditions = supported_ || settings_.min_flow > 1;
    double best = kDear;
    if (weight >= settings_.min_support) {
        best = 0;
        for (int d = 0; d < n; ++d) best = std::min(best, all[d] + start_[d]);
        best += first_;
    }
    const double whole = best;
    if (sides)
        for (auto& list : sides->least) list.assign(rows_.columns, kNone);
    if (!splits(weight)) return whole >= kDear ? kNone : base + Amount(whole);
    for (int j = 0; j < rows_.columns; ++j) {
        double in = 0, off = 0;
        for (int d = 0; d < n; ++d) {
            const double x = with[std::size_t(d) * pad + j];
            in = std::min(in, x + start_[d]), off = std::min(off, all[d] - x + start_[d]);
        }
        in += first_, off += first_;
        Amount a = -1, b = -1;
        if (conditions || sides) {
            a = 0;
            for (int k = 0; k < table_.kinds; ++k) {
                Amount count = node->with[std::size_t(k) * pad + j];
                if (column >= 0) {
                    const Amount pair = rows_.pair(*node, k, column)[j];
                    count = side ? pair : count - pair;
                }
                a += count * table_.unit[k];
            }
            b = weight - a;
            if (!parts(a, b)) continue;
        }
        if (!conditions || splits(a)) in = std::min(in, held[j]);
        if (!conditions || splits(b)) off = std::min(off, none[j]);
        best = std::min(best, in + off + test_price_[j]);
        if (sides) {
            Amount base_in = 0;
            for (int k = 0; k < table_.kinds; ++k)
                base_in += Amount(node->with[std::size_t(k) * pad + j]) * prices_.leaf[k * table_.labels];
            sides->least[1][j] = base_in + Amount(in);
            sides->least[0][j] = base - base_in + Amount(off);
        }
    }
    return best >= kDear ? kNone : base + Amount(best);
}

/// Pair counts of a node and the best test below each of its tests; `keep`: also all pairs' differences.
void Minima::prepare(Subset& node, Level& l, bool keep) {
    const std::size_t pairs = std::size_t(rows_.columns) * rows_.pad;
    control_.check_table(pairs * (table_.kinds * sizeof(std::int32_t) + (keep ? arrays() * sizeof(double) : 0)));
    rows_.pairs(node, control_.stopping);
    control_.check();  // on thousands of tests each of these steps takes a tenth of a second
    control_.count(counters_.depth_two);
    weigh(node.with.data(), node.total, l.with, l.all);
    for (auto& list : l.best[0]) list.assign(rows_.pad, kDear);
    if (keep) l.parent.resize(std::size_t(arrays()) * pairs + 16);
    PairPrices p;
    p.table = node.table.get<std::int32_t>();
    p.kinds = table_.kinds, p.columns = rows_.columns, p.pad = rows_.pad, p.differences = differences();
    p.supported = supported_, p.support = double(settings_.min_support);
    p.delta = delta_.data(), p.test = pair_price_.data(), p.start = labels_have_prices_ ? start_.data() : nullptr;
    p.with[0] = l.with.data(), p.all[0] = l.all.data();
    p.best[0][0] = l.best[0][0].data(), p.best[0][1] = l.best[0][1].data();
    p.store = keep ? l.parent.data() : nullptr;
    p.stopping = &control_.stopping;
    kernel_(p);
    control_.check();
}

void Minima::sides(Subset& node, Sides& out) {
    Level& l = level(2);
    prepare(node, l, false);
    two(l.with.data(), l.all.data(), base(node.total), node.weight, l.best[0][0].data(), l.best[0][1].data(), &node, -1,
        0, &out);
}

/// A side of a test with its counts of pairs. They do not depend on prices: those of the root's tests are kept as long
/// as their tables take a small part of the memory.
Subset& Minima::counted_child(Subset& node, Level& l, int column, int side) {
    const std::size_t table = std::size_t(table_.kinds) * rows_.columns * rows_.pad * sizeof(std::int32_t);
    const bool held = node.key == Key{} && table * rows_.columns <= settings_.memory / kShareOfCounts;
    if (held && root_child_.empty()) root_child_.resize(rows_.columns);
    Subset& child = held ? root_child_[column] : l.child[0];
    if (held && child.has_pairs) return child;
    rows_.child(node, column, side, 2, child);
    rows_.pairs(child, control_.stopping);
    control_.check();
    if (held) child.bits = {}, child.valid = {};
    return child;
}

/// Minima of depth two of both sides of a test, from a node that prepare(..., keep) was called for.
void Minima::both_children(Subset& node, Level& l, int column, Amount value[2]) {
    Key key[2] = {node.key.with(column, 0), node.key.with(column, 1)};
    const auto a = known_.find(key[0]), b = known_.find(key[1]);
    if (a && b) {
        value[0] = a->lower, value[1] = b->lower;
        ++counters_.cache_hits;
        return;
    }
    const Amount held = node.with_weight(column, rows_.pad);
    const int small = 2 * held <= node.weight ? 1 : 0;
    Subset& child = counted_child(node, l, column, small);
    control_.count(counters_.depth_two, 2);
    weigh(child.with.data(), child.total, l.with_small, l.all_small);
    l.with_big.resize(l.with.size());
    l.all_big.resize(l.all.size());
    for (std::size_t i = 0; i < l.with.size(); ++i) l.with_big[i] = l.with[i] - l.with_small[i];
    for (std::size_t i = 0; i < l.all.size(); ++i) l.all_big[i] = l.all[i] - l.all_small[i];
    auto& best = l.best;
    for (auto& side : best)
        for (auto& list : side) list.resize(rows_.pad);
    PairPrices p;
    p.table = child.table.get<std::int32_t>();
    p.kinds = table_.kinds, p.columns = rows_.columns, p.pad = rows_.pad, p.differences = differences();
    p.supported = supported_, p.support = double(settings_.min_support);
    p.delta = delta_.data(), p.test = pair_price_.data(), p.start = labels_have_prices_ ? start_.data() : nullptr, p.parent = l.parent.data();
    p.with[0] = l.with_small.data(), p.all[0] = l.all_small.data();
    p.with[1] = l.with_big.data(), p.all[1] = l.all_big.data();
    for (int s = 0; s < 2; ++s)
        for (int g = 0; g < 2; ++g) p.best[s][g] = best[s][g].data();
    p.stopping = &control_.stopping;
    kernel_(p);
    control_.check();
    const Amount small_base = base(child.total), whole_base = base(node.total);
    value[small] = two(p.with[0], p.all[0], small_base, child.weight, best[0][0].data(), best[0][1].data(), &node,
                       column, small, nullptr);
    value[1 - small] = two(p.with[1], p.all[1], whole_base - small_base, node.weight - child.weight, best[1][0].data(),
                           best[1][1].data(), &node, column, 1 - small, nullptr);
    for (int s = 0; s < 2; ++s) keep(key[s], value[s], true);
}

/// The tests to try at a node: all, or the few of a rough search at the root.
const std::vector<int>& Minima::tests_of(const Subset& node) {
    if (!only.empty() && node.key == Key{}) return only;
    if (int(every_.size()) != rows_.columns) {
        every_.resize(rows_.columns);
        std::iota(every_.begin(), every_.end(), 0);
    }
    return every_;
}

Amount Minima::three(Subset& node, Level& l) {
    Amount best = leaf(node.total, node.weight);
    if (!splits(node.weight)) return best;
    prepare(node, l, true);
    control_.count(counters_.subproblems);
    for (const int j : tests_of(node)) {
        const Amount held = node.with_weight(j, rows_.pad);
        if (!parts(held, node.weight - held)) continue;
        control_.check();
        Amount value[2];
        both_children(node, l, j, value);
        if (value[0] < kNone && value[1] < kNone) best = std::min(best, value[0] + value[1] + test_[j]);
    }
    return best;
}

Amount Minima::minimum(Subset& node, int depth, Amount limit) {
    if (depth == 0 || rows_.columns == 0 || !splits(node.weight)) return leaf(node.total, node.weight);
    if (depth == 1) return one(node);
    const auto found = known_.find(node.key);
    if (found && (found->exact || found->lower > limit)) {
        ++counters_.cache_hits;
        return found->lower;
    }
    if (depth >= 4) return deep(node, depth, limit, node.key == Key{});
    Level& l = level(depth);
    Amount value;
    if (depth == 2) {
        prepare(node, l, false);
        value = two(l.with.data(), l.all.data(), base(node.total), node.weight, l.best[0][0].data(),
                    l.best[0][1].data(), &node, -1, 0, nullptr);
    } else {
        value = three(node, l);
    }
    keep(node.key, value, true);
    return value;
}

Amount Minima::similar(const Level& l, const std::vector<std::uint64_t>& cover, Amount floor) const {
    Amount best = floor;
    for (const Settled& s : l.settled) {
        Amount excess = s.excess;
        for (std::size_t w = 0; w < cover.size() && floor + excess > best; ++w)
            for (std::uint64_t x = s.cover[w] & ~cover[w]; x; x &= x - 1)
                excess -= regret_[w * 64 + std::countr_zero(x)];
        best = std::max(best, floor + excess);
    }
    return best;
}

std::vector<int> Minima::ranked(Subset& root, Amount* least) {
    Sides s;
    sides(root, s);
    std::vector<int> order;
    for (int j = 0; j < rows_.columns; ++j)
        if (s.least[0][j] < kNone && s.least[1][j] < kNone) order.push_back(j);
    const auto price = [&](int j) { return s.least[0][j] + s.least[1][j] + test_[j]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return price(a) < price(b); });
    if (least && !order.empty()) *least = std::min(*least, price(order[0]));
    return order;
}

std::vector<int> Minima::order_of_root(Subset& root, Amount& from) {
    from = leaf(root.total, root.weight);
    control_.count(counters_.subproblems);
    const std::vector<int> order = ranked(root, &from);
    return only.empty() ? order : only;
}

Amount Minima::deep(Subset& node, int depth, Amount limit, bool root) {
    control_.count(counters_.subproblems);
    control_.check();
    Amount best = leaf(node.total, node.weight), lower = best;
    std::vector<int> order = ranked(node, &best);
    if (root && !only.empty()) order = only;
    forget_settled(depth);
    for (const int j : order) {
        const Amount asked = std::min(limit, best - 1);
        const Amount value = with_test(node, depth, j, asked);
        if (value <= asked) best = value;
        lower = std::min(lower, value);
    }
    const bool exact = best <= limit;
    if (!root || only.empty()) keep(node.key, exact ? best : lower, exact);
    return exact ? best : lower;
}

Amount Minima::with_test(const Subset& node, int depth, int column, Amount limit) {
    Level& l = level(depth);
    Amount value[2], floor[2];
    for (int s = 0; s < 2; ++s) {
        std::vector<std::uint64_t>& cover = l.cover[s];
        cover.resize(rows_.words);
        for (int w = 0; w < rows_.words; ++w)
            cover[w] = node.cover[w] & (s ? rows_.literal[column][w] : ~rows_.literal[column][w]);
        value[s] = floor[s] = this->floor(cover, depth - 1);
        if (const auto known = known_.find(node.key.with(column, s))) value[s] = std::max(value[s], known->lower);
        if (similarity_ && least_test_ == 0) value[s] = std::max(value[s], similar(l, cover, floor[s]));
    }
    const Amount held = node.with_weight(column, rows_.pad);
    const int first = 2 * held >= node.weight ? 1 : 0;
    for (int turn = 0; turn < 2; ++turn) {
        const Amount cut = limit - test_[column];
        if (value[0] + value[1] > cut) {
            ++(turn ? counters_.pruned_bound : counters_.pruned_similarity);
            break;
        }
        const int s = turn ? 1 - first : first;
        rows_.child(node, column, s, depth - 1, l.child[s]);
        value[s] = std::max(value[s], minimum(l.child[s], depth - 1, cut - value[1 - s]));
        if (similarity_ && least_test_ == 0 && value[s] < kNone) l.settled.push_back({l.child[s].cover, value[s] - floor[s]});
    }
    return value[0] >= kNone || value[1] >= kNone ? kNone : value[0] + value[1] + test_[column];
}

FlatTree Minima::tree_with_test(Subset& root, int depth, int column) {
    FlatTree tree;
    Subset child[2];
    for (int s = 0; s < 2; ++s) rows_.child(root, column, s, depth - 1, child[s]);
    build_sides(child, depth, column, tree, add_node(tree));
    return tree;
}

}  // namespace treeform::totals
