// Fronts trimmed by reduced cost.
//
// A tree that satisfies the rows and costs less than U has a price of at most limit(U - 1), hence an excess over the
// root's minimum of at most `slack`. The excess of a tree is the sum of what each choice of a test loses against the
// minimum of its subproblem, so each of its subtrees is within the slack of that subproblem's own minimum, less what
// the path has lost. The front of a subproblem holds the trees within that slack, without those that another one makes
// needless: at a multiplier near the best one a handful.
//
// Only active rows are carried. All others are relaxed, so that a bound stays valid; a row that the answer violates
// becomes active, and the search goes on from the bound reached.
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "window.inl"

namespace treeform::totals {

template <int K, int Words>
class FrontsOf final : public Fronts {
    using One = Solution<K, Words>;
    using List = Front<K, Words>;
    using ListPtr = std::shared_ptr<const List>;

public:
    FrontsOf(const FrontInput& in, const std::vector<Active>& active)
        : in_(in), active_(active), pieces_(in_, active_) {
        for (int a = 0; a < int(active_.size()); ++a)
            (active_[a].both || !in.settings.use_dominance ? dominance_.equal : dominance_.upper).push_back(a);
    }

    bool below(Amount upper) override {
        Minima& minima = in_.minima;
        Amount limit = slack(upper);
        bool found = false;
        for (int c = 0; c < in_.table.labels; ++c) {
            One one;
            if (in_.root.weight < in_.settings.min_support) break;
            pieces_.leaf(one, in_.root.total, c, 0);
            if (one.cost < upper && pieces_.satisfies(one)) upper = one.cost, best_ = {-1, c, one, one}, found = true;
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
    void forget() override {
        held_.clear();
        held_bytes_ = 0;
    }

private:
    struct Held {
        Amount slack;
        ListPtr list;
    };
    struct Best {
        int column = -1, label = 0;
        One left, right;
    };
    int n() const { return pieces_.n(); }
    bool note(bool found, Amount upper) {
        if (found) cost_ = upper;
        return found;
    }
    Amount slack(Amount upper) const { return in_.minima.prices().limit(upper - 1) - in_.root_minimum; }

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

    /// Of all pairs of solutions of the sides: those within the slack; `loss` is what the test above them loses.
    void merge(const List& low, const List& high, int column, Amount loss, Amount slack, List& out, std::size_t& mark) {
        if (low.empty() || high.empty()) return;
        const auto of_low = grouped<K, Words>(low), of_high = grouped<K, Words>(high);
        One one;
        for (const auto& a : of_low)
            for (const auto& b : of_high) {
                if (!pieces_.meets(a[0]->carried.marks(), b[0]->carried.marks(), column)) continue;
                for (const One* u : a) {
                    const Amount room = slack - loss - u->excess;
                    if (b[0]->excess > room) break;
                    for (const One* v : b) {
                        if (v->excess > room) break;
                        pieces_.join(one, *u, *v, column, loss);
                        ++in_.counters.pairs;
                        if (pieces_.few_features(one)) out.push_back(one);
                    }
                    if (out.size() <= mark) continue;
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
            for (int s = 0; s < 2; ++s)
                pieces_.leaves(side_total[s], side_weight[s], least.least[s][g], slack - loss, list[s]);
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
                for (int s = 0; s < 2; ++s)
                    pieces_.stump(cell[s], weight[s], h, least.least[s][g], slack - loss, list[s]);
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
        pieces_.leaves(node.total, node.weight, minimum, slack, *out);
        if (depth >= 1 && minima.splits(node.weight)) {
            if (depth == 1) {
                pieces_.one_test(node, minimum, slack, *out);
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
    bool query(const List& low, const List& high, int column, Amount room, Amount& upper) {
        std::vector<Window<K, Words>> windows;
        for (auto& group : grouped<K, Words>(high)) windows.emplace_back(pieces_, std::move(group), in_.main, column);
        bool found = false;
        for (const One& u : low) {
            if (u.excess > room) break;
            for (Window<K, Words>& window : windows) {
                if (!pieces_.meets(u.carried.marks(), window.marks(), column)) continue;
                const One* partner = window.partner(u, upper, in_.counters.pairs);
                if (partner) best_ = {column, 0, u, *partner}, found = true;
            }
        }
        return found;
    }

    bool as_good(const One& one, const One& wanted) const {
        if (one.cost > wanted.cost || !one.carried.within(wanted.carried)) return false;
        for (int a = 0; a < n(); ++a)
            if (active_[a].both ? one.row[a] != wanted.row[a] : one.row[a] > wanted.row[a]) return false;
        return true;
    }
    /// Writes a tree that is as good as `wanted`, a solution of this node's front.
    void rebuild(Subset& node, int depth, const One& wanted, FlatTree& tree, int at) {
        One one;
        if (node.weight >= in_.settings.min_support)
            for (int c = 0; c < in_.table.labels; ++c) {
                pieces_.leaf(one, node.total, c, 0);
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
                    if (!pieces_.meets(u.carried.marks(), v.carried.marks(), column)) continue;
                    pieces_.join(one, u, v, column, loss);
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
    Pieces<K, Words> pieces_;
    Dominance dominance_;
    std::unordered_map<Key, Held, KeyHash> held_;
    std::size_t held_bytes_ = 0;
    Best best_;
    Amount cost_ = kNone;
};

}  // namespace treeform::totals
