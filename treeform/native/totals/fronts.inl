// Fronts trimmed by reduced cost.
//
// A tree that satisfies the rows and costs less than U has a price of at most limit(U - 1), hence an excess over the
// root's minimum of at most `slack`. The excess of a tree is the sum of what each choice of a test loses against the
// minimum of its subproblem, so each of its subtrees is within the slack of that subproblem's own minimum, less what the
// path has lost. The front of a subproblem holds the trees within that slack, without those that another one makes
// needless: at a multiplier near the best one a handful.
//
// Only active rows are carried. All others are relaxed, so that a bound stays valid; a row that the answer violates
// becomes active, and the search goes on from the bound reached.
//
// The root builds no product: one side is sorted by the main row, and for each solution of the other side the cheapest
// partner in the window is found in a table of range minima.
#include <bit>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "fronts.hpp"
#include "solution.hpp"

namespace treeform::totals {

template <int K, bool Masked>
class FrontsOf final : public Fronts {
    using One = Solution<K, Masked>;
    using List = Front<K, Masked>;
    using ListPtr = std::shared_ptr<const List>;

public:
    FrontsOf(const FrontInput& in, const std::vector<Active>& active) : in_(in), active_(active) {
        const Table& t = in.table;
        const int n = int(active.size());
        leaf_row_.assign(std::size_t(t.kinds) * t.labels * std::max(1, n), 0);
        for (int i = 0; i < t.kinds * t.labels; ++i)
            for (int a = 0; a < n; ++a)
                leaf_row_[i * n + a] = active[a].sign * t.row[std::size_t(i) * t.rows + active[a].row];
        test_row_.assign(std::size_t(in.rows.columns) * std::max(1, n), 0);
        test_cost_.resize(in.rows.columns);
        source_.assign(in.rows.columns, 0);
        std::unordered_map<int, int> number;
        for (int j = 0; j < in.rows.columns; ++j) {
            const int f = in.rows.original[j];
            test_cost_[j] = t.test_cost[f];
            for (int a = 0; a < n; ++a)
                test_row_[j * n + a] = active[a].sign * t.test_row[std::size_t(f) * t.rows + active[a].row];
            source_[j] = number.emplace(t.source[f], int(number.size())).first->second;
        }
        if (Masked && number.size() > std::size_t(kMostFeatures)) throw std::invalid_argument("too many features for a budget");
        for (int a = 0; a < n; ++a) {
            const Amount lo = t.lo[active[a].row], hi = t.hi[active[a].row];
            high_.push_back(active[a].sign > 0 ? hi : -lo);
            low_.push_back(active[a].both ? (active[a].sign > 0 ? lo : -hi) : -kNone);
            (active[a].both ? dominance_.equal : dominance_.upper).push_back(a);
        }
        if (!in.settings.use_dominance)
            for (const int a : std::exchange(dominance_.upper, {})) dominance_.equal.push_back(a);
    }

    bool below(Amount upper) override {
        Minima& minima = in_.minima;
        Amount limit = slack(upper);
        bool found = false;
        std::vector<Amount> row(n());
        for (int c = 0; c < in_.table.labels; ++c) {
            One one;
            if (in_.root.weight < in_.settings.min_support) break;
            make_leaf(one, in_.root.total, c, 0);
            bool good = one.cost < upper;
            for (int a = 0; a < n(); ++a) good &= one.row[a] <= high_[a] && one.row[a] >= low_[a];
            if (good) upper = one.cost, best_ = {-1, c, one, one, 0}, found = true;
        }
        if (in_.depth == 0 || limit < 0 || !minima.splits(in_.root.weight)) return note(found, upper);
        for (const auto& [loss, column] : choices(in_.root, in_.depth, in_.root_minimum, limit)) {
            limit = slack(upper);
            if (loss > limit) break;
            Subset child[2];
            ListPtr list[2];
            for (int s = 0; s < 2; ++s) {
                in_.rows.child(in_.root, column, s, child[s]);
                list[s] = front(child[s], in_.depth - 1, limit - loss);
                if (list[s]->empty()) break;
            }
            if (list[0]->empty() || list[1]->empty()) continue;
            found |= query(*list[0], *list[1], column, limit - loss, upper);
        }
        return note(found, upper);
    }
    Amount cost() const override { return cost_; }

    FlatTree tree() override {
        if (best_.column < 0) return constant_tree(best_.label);
        FlatTree tree;
        const int at = add_node(tree);
        const int left = add_node(tree), right = add_node(tree);
        tree.feature[at] = in_.rows.original[best_.column], tree.left[at] = left, tree.right[at] = right;
        for (int s = 0; s < 2; ++s) {
            Subset child;
            in_.rows.child(in_.root, best_.column, s, child);
            rebuild(child, in_.depth - 1, s ? best_.right : best_.left, tree, s ? right : left);
        }
        return tree;
    }
    void forget() override { held_.clear(); held_bytes_ = 0; }

private:
    struct Held {
        Amount slack;
        ListPtr list;
    };
    struct Best {
        int column = -1, label = 0;
        One left, right;
        Amount excess = 0;
    };
    int n() const { return K > 0 ? int(active_.size()) : 0; }
    bool note(bool found, Amount upper) {
        if (found) cost_ = upper;
        return found;
    }
    Amount slack(Amount upper) const { return in_.minima.prices().limit(upper - 1) - in_.root_minimum; }

    void make_leaf(One& one, const std::vector<Amount>& total, int label, Amount base) const {
        const Table& t = in_.table;
        one.clear();
        one.excess = -base, one.cost = 0;
        for (int a = 0; a < n(); ++a) one.row[a] = 0;
        for (int k = 0; k < t.kinds; ++k) {
            const int i = k * t.labels + label;
            one.excess += total[k] * in_.minima.prices().leaf[i];
            one.cost += total[k] * t.cost[i];
            for (int a = 0; a < n(); ++a) one.row[a] += total[k] * leaf_row_[std::size_t(i) * n() + a];
        }
    }
    /// Joins a solution per side and the test above them.
    void join(One& out, const One& u, const One& v, int column, Amount loss) const {
        out.join(u, v);
        out.mark(source_[column]);
        out.excess = u.excess + v.excess + loss;
        out.cost = u.cost + v.cost + test_cost_[column];
        for (int a = 0; a < n(); ++a) out.row[a] = u.row[a] + v.row[a] + test_row_[std::size_t(column) * n() + a];
    }
    bool few_features(const One& one) const { return !Masked || one.count() <= in_.settings.max_features; }

    /// Tests of a node by what they lose at least, up to the slack.
    std::vector<std::pair<Amount, int>> choices(Subset& node, int depth, Amount minimum, Amount slack) {
        std::vector<std::pair<Amount, int>> out;
        Minima& minima = in_.minima;
        Sides two;
        if (depth == 2) minima.sides(node, two);
        Subset child[2];
        for (int j = 0; j < in_.rows.columns; ++j) {
            const Amount held = node.with_weight(j, in_.rows.pad);
            if (!minima.parts(held, node.weight - held)) continue;
            Amount price[2];
            const Amount room = minimum + slack - minima.test(j);
            if (depth == 2) {
                price[0] = two.least[0][j], price[1] = two.least[1][j];
            } else {
                for (int s = 0; s < 2; ++s) in_.rows.child(node, j, s, child[s]);
                const int first = 2 * held >= node.weight ? 1 : 0;
                const Amount other = minima.floor(child[1 - first].cover);
                price[first] = minima.minimum(child[first], depth - 1, room - other);
                if (price[first] >= kNone || price[first] + other > room) continue;
                price[1 - first] = minima.minimum(child[1 - first], depth - 1, room - price[first]);
            }
            if (price[0] >= kNone || price[1] >= kNone || price[0] + price[1] > room) continue;
            out.push_back({price[0] + price[1] + minima.test(j) - minimum, j});
        }
        std::sort(out.begin(), out.end());
        return out;
    }

    /// Of all (u, v): those within the slack; `loss` is what the test above them loses.
    void merge(const List& a, const List& b, int column, Amount loss, Amount slack, List& out, std::size_t& mark) {
        if (a.empty() || b.empty()) return;
        const List &small = a.size() < b.size() ? a : b, &large = a.size() < b.size() ? b : a;
        One one;
        for (const One& u : small) {
            const Amount room = slack - loss - u.excess;
            if (room < 0) break;
            for (const One& v : large) {
                if (v.excess > room) break;
                join(one, u, v, column, loss);
                ++in_.counters.pairs;
                if (few_features(one)) out.push_back(one);
            }
            if (out.size() > mark) {
                in_.control.check();
                tidy(out, dominance_);
                mark = std::max<std::size_t>(4 * out.size(), std::size_t(1) << 14);
                check_memory(mark * sizeof(One));
            }
        }
    }
    void check_memory(std::size_t more) const {
        if (held_bytes_ + more + in_.minima.bytes() > in_.settings.memory) throw OutOfMemory{};
    }

    /// The leaves of a set of rows within the room above `base`.
    void leaves(const std::vector<Amount>& total, Amount weight, Amount base, Amount room, List& out) const {
        if (weight < in_.settings.min_support) return;
        One one;
        for (int c = 0; c < in_.table.labels; ++c) {
            make_leaf(one, total, c, base);
            if (one.excess <= room) out.push_back(one);
        }
    }
    /// The trees of one test on two cells within the room above `base`.
    void stump(const std::vector<Amount>* cell, const Amount* weight, int column, Amount base, Amount room, List& out) const {
        if (!in_.minima.parts(weight[0], weight[1]) || !in_.minima.splits(weight[0] + weight[1])) return;
        One part[2], one;
        for (int c = 0; c < in_.table.labels; ++c) {
            make_leaf(part[0], cell[0], c, 0);
            for (int d = 0; d < in_.table.labels; ++d) {
                make_leaf(part[1], cell[1], d, 0);
                join(one, part[0], part[1], column, in_.minima.test(column) - base);
                if (one.excess <= room && few_features(one)) out.push_back(one);
            }
        }
    }
    /// The trees of depth one of a node, from the counts of its columns.
    void one_test(const Subset& node, Amount base, Amount room, List& out) const {
        const int kinds = in_.table.kinds;
        std::vector<Amount> cell[2] = {node.total, node.total};
        for (int j = 0; j < in_.rows.columns; ++j) {
            Amount weight[2] = {};
            for (int k = 0; k < kinds; ++k) {
                cell[1][k] = node.with[std::size_t(k) * in_.rows.pad + j];
                cell[0][k] = node.total[k] - cell[1][k];
                weight[0] += cell[0][k], weight[1] += cell[1][k];
            }
            stump(cell, weight, j, base, room, out);
        }
    }
    /// The trees of depth two: per root test both sides' leaves and stumps from the pair counts.
    void two_tests(Subset& node, Amount minimum, Amount slack, List& out, std::size_t& mark) {
        Minima& minima = in_.minima;
        const int kinds = in_.table.kinds, pad = in_.rows.pad;
        Sides least;
        minima.sides(node, least);
        std::vector<Amount> cell[2][2], side_total[2];
        for (auto& part : cell)
            for (auto& one : part) one.resize(kinds);
        for (auto& total : side_total) total.resize(kinds);
        for (int g = 0; g < in_.rows.columns; ++g) {
            const Amount a = least.least[0][g], b = least.least[1][g];
            if (a >= kNone || b >= kNone) continue;
            const Amount loss = a + b + minima.test(g) - minimum;
            if (loss > slack) continue;
            Amount side_weight[2] = {};
            for (int k = 0; k < kinds; ++k) {
                side_total[1][k] = node.with[std::size_t(k) * pad + g];
                side_total[0][k] = node.total[k] - side_total[1][k];
                for (int s = 0; s < 2; ++s) side_weight[s] += side_total[s][k];
            }
            List list[2];
            for (int s = 0; s < 2; ++s) leaves(side_total[s], side_weight[s], least.least[s][g], slack - loss, list[s]);
            for (int h = 0; h < in_.rows.columns; ++h) {
                if (h == g) continue;
                Amount weight[2][2] = {};
                for (int k = 0; k < kinds; ++k) {
                    const Amount both = in_.rows.pair(node, k, g)[h];
                    cell[1][1][k] = both;
                    cell[1][0][k] = side_total[1][k] - both;
                    cell[0][1][k] = node.with[std::size_t(k) * pad + h] - both;
                    cell[0][0][k] = side_total[0][k] - cell[0][1][k];
                    for (int s = 0; s < 2; ++s)
                        for (int u = 0; u < 2; ++u) weight[s][u] += cell[s][u][k];
                }
                for (int s = 0; s < 2; ++s) stump(cell[s], weight[s], h, least.least[s][g], slack - loss, list[s]);
            }
            for (auto& side : list) tidy(side, dominance_);
            merge(list[0], list[1], g, loss, slack, out, mark);
        }
    }

    ListPtr front(Subset& node, int depth, Amount slack) {
        const auto known = held_.find(node.key);
        if (known != held_.end() && known->second.slack >= slack) return known->second.list;
        in_.control.check();
        auto out = std::make_shared<List>();
        Minima& minima = in_.minima;
        const Amount minimum = minima.minimum(node, depth, kNone);
        if (slack < 0 || minimum >= kNone) return out;
        std::size_t mark = std::size_t(1) << 14;
        leaves(node.total, node.weight, minimum, slack, *out);
        if (depth >= 1 && minima.splits(node.weight)) {
            if (depth == 1) {
                one_test(node, minimum, slack, *out);
            } else if (depth == 2) {
                two_tests(node, minimum, slack, *out, mark);
            } else {
                for (const auto& [loss, column] : choices(node, depth, minimum, slack)) {
                    Subset child[2];
                    for (int s = 0; s < 2; ++s) in_.rows.child(node, column, s, child[s]);
                    const ListPtr a = front(child[0], depth - 1, slack - loss);
                    if (a->empty()) continue;
                    const ListPtr b = front(child[1], depth - 1, slack - loss);
                    merge(*a, *b, column, loss, slack, *out, mark);
                }
            }
        }
        tidy(*out, dominance_);
        out->shrink_to_fit();
        ++in_.counters.fronts;
        in_.counters.kept += out->size();
        in_.counters.largest = std::max<std::uint64_t>(in_.counters.largest, out->size());
        held_bytes_ += out->size() * sizeof(One) + 128;
        check_memory(0);
        held_[node.key] = {slack, out};
        return out;
    }

    /// The cheapest pair of solutions that satisfies the active rows and costs less than `upper`.
    bool query(const List& a, const List& b, int column, Amount room, Amount& upper) {
        const int main = in_.main, m = int(b.size());
        std::vector<One> sorted(b);
        if (main >= 0) std::sort(sorted.begin(), sorted.end(), [&](const One& u, const One& v) { return u.row[main] < v.row[main]; });
        std::vector<std::vector<int>> cheapest(std::bit_width(unsigned(m)));  // [j][i]: the cheapest of i .. i + 2^j - 1
        cheapest[0].resize(m);
        std::iota(cheapest[0].begin(), cheapest[0].end(), 0);
        for (std::size_t j = 1; j < cheapest.size(); ++j) {
            cheapest[j].resize(m - (1 << j) + 1);
            for (std::size_t i = 0; i < cheapest[j].size(); ++i) {
                const int x = cheapest[j - 1][i], y = cheapest[j - 1][i + (std::size_t(1) << (j - 1))];
                cheapest[j][i] = sorted[x].cost <= sorted[y].cost ? x : y;
            }
        }
        const auto least = [&](int l, int r) {
            const int j = std::bit_width(unsigned(r - l)) - 1;
            const int x = cheapest[j][l], y = cheapest[j][r - (1 << j)];
            return sorted[x].cost <= sorted[y].cost ? x : y;
        };
        bool found = false;
        One one;
        std::vector<std::pair<int, int>> open;
        for (const One& u : a) {
            if (u.excess > room) break;
            int l = 0, r = m;
            if (main >= 0) {
                const Amount own = u.row[main] + test_row_[std::size_t(column) * n() + main];
                const auto row = [&](const One& v, Amount value) { return v.row[main] < value; };
                if (low_[main] > -kNone) l = int(std::lower_bound(sorted.begin(), sorted.end(), low_[main] - own, row) - sorted.begin());
                r = int(std::lower_bound(sorted.begin(), sorted.end(), high_[main] - own + 1, row) - sorted.begin());
            }
            open.assign(1, {l, r});
            while (!open.empty()) {
                const auto [from, to] = open.back();
                open.pop_back();
                if (from >= to) continue;
                const int i = least(from, to);
                ++in_.counters.pairs;
                join(one, u, sorted[i], column, 0);
                if (one.cost >= upper) continue;
                bool good = few_features(one);
                for (int k = 0; k < n() && good; ++k) good = one.row[k] <= high_[k] && one.row[k] >= low_[k];
                if (good) {
                    upper = one.cost, found = true;
                    best_ = {column, 0, u, sorted[i], 0};
                } else {
                    open.push_back({from, i});
                    open.push_back({i + 1, to});
                }
            }
        }
        return found;
    }

    bool as_good(const One& one, const One& wanted) const {
        if (one.cost > wanted.cost || !one.within(wanted)) return false;
        for (int a = 0; a < n(); ++a)
            if (active_[a].both ? one.row[a] != wanted.row[a] : one.row[a] > wanted.row[a]) return false;
        return true;
    }
    /// Writes a tree that is as good as `wanted`, a solution of this node's front.
    void rebuild(Subset& node, int depth, const One& wanted, FlatTree& tree, int at) {
        One one;
        if (node.weight >= in_.settings.min_support)
            for (int c = 0; c < in_.table.labels; ++c) {
                make_leaf(one, node.total, c, 0);
                if (!as_good(one, wanted)) continue;
                tree.label[at] = c;
                return;
            }
        Minima& minima = in_.minima;
        const Amount minimum = minima.minimum(node, depth, kNone), slack = wanted.excess;
        Subset child[2];
        for (const auto& [loss, column] : depth_choices(node, depth, minimum, slack)) {
            ListPtr list[2];
            for (int s = 0; s < 2; ++s) {
                in_.rows.child(node, column, s, child[s]);
                list[s] = front(child[s], depth - 1, slack - loss);
            }
            for (const One& u : *list[0]) {
                if (u.excess + loss > slack) break;
                for (const One& v : *list[1]) {
                    if (u.excess + v.excess + loss > slack) break;
                    join(one, u, v, column, loss);
                    if (!as_good(one, wanted)) continue;
                    tree.feature[at] = in_.rows.original[column];
                    const int left = add_node(tree), right = add_node(tree);
                    tree.left[at] = left, tree.right[at] = right;
                    const One keep_u = u, keep_v = v;
                    Subset zero = std::move(child[0]), with = std::move(child[1]);
                    rebuild(zero, depth - 1, keep_u, tree, left);
                    rebuild(with, depth - 1, keep_v, tree, right);
                    return;
                }
            }
        }
        throw std::logic_error("a solution of a front has no tree");
    }
    std::vector<std::pair<Amount, int>> depth_choices(Subset& node, int depth, Amount minimum, Amount slack) {
        return depth >= 1 ? choices(node, depth, minimum, slack) : std::vector<std::pair<Amount, int>>{};
    }

    FrontInput in_;
    std::vector<Active> active_;
    std::vector<Amount> leaf_row_, test_row_, test_cost_, high_, low_;
    std::vector<int> source_;  // per column: its feature, numbered
    Dominance dominance_;
    std::unordered_map<Key, Held, KeyHash> held_;
    std::size_t held_bytes_ = 0;
    Best best_;
    Amount cost_ = kNone;
};

}  // namespace treeform::totals
