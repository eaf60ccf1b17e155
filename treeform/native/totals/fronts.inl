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
//
// The tests at the root are shared out to the threads. Each has its own scratch; fronts that are finished are shared.
#include <mutex>
#include <stdexcept>
#include <utility>

#include "../common/cold.hpp"
#include "choices.hpp"
#include "window.inl"

namespace treeform::totals {

/// Fronts that are finished, shared by all threads. A front is good up to the slack that it was made for.
template <int K, int Words>
struct Held {
    struct One {
        Amount slack;
        std::shared_ptr<const Front<K, Words>> list;
    };
    Store<One> fronts;
    std::atomic<std::size_t> bytes{0};
};

/// The fronts of one thread.
template <int K, int Words>
class Fronting {
    using One = Solution<K, Words>;
    using List = Front<K, Words>;
    using ListPtr = std::shared_ptr<const List>;

public:
    TREEFORM_COLD Fronting(const FrontInput& in, Worker& worker, const std::vector<Active>& active,
                           Held<K, Words>& held)
        : in_(in), rows_(worker.rows), minima_(worker.minima), counters_(worker.counters), active_(active),
          choices_(rows_, minima_), pieces_(in, worker, active), held_(held) {
        dominance_.features = in.settings.max_features > 0;
        for (int a = 0; a < int(active_.size()); ++a)
            (active_[a].both || !in.settings.use_dominance ? dominance_.equal : dominance_.upper).push_back(a);
    }
    TREEFORM_COLD ~Fronting() = default;
    const Pieces<K, Words>& pieces() const { return pieces_; }

    /// The cheapest pair of solutions of the sides of a test at the root that satisfies the active rows and costs less
    /// than `upper`, which is lowered.
    bool query(int column, Amount loss, Amount slack, Amount& upper, One pair[2]) {
        Subset child[2];
        ListPtr list[2];
        for (int s = 0; s < 2; ++s) {
            list[s] = front_of_side(in_.root, column, s, in_.depth - 1, slack - loss, child[s]);
            if (list[s]->empty()) return false;
        }
        std::vector<Window<K, Words>> windows;
        for (auto& group : grouped<K, Words>(*list[1]))
            windows.emplace_back(pieces_, std::move(group), in_.main, column);
        bool found = false;
        for (const One& u : *list[0]) {
            if (u.excess > slack - loss) break;
            for (Window<K, Words>& window : windows) {
                if (!pieces_.meets(u.carried.marks(), window.marks(), column)) continue;
                if (const One* partner = window.partner(u, upper, counters_.pairs))
                    pair[0] = u, pair[1] = *partner, found = true;
            }
        }
        return found;
    }

    /// Writes the root of a tree, and sides as good as this pair.
    TREEFORM_COLD FlatTree tree(int column, const One pair[2]) {
        FlatTree tree;
        const int at = add_node(tree);
        const int left = add_node(tree), right = add_node(tree);
        tree.feature[at] = rows_.original[column], tree.left[at] = left, tree.right[at] = right;
        for (int s = 0; s < 2; ++s) {
            Subset child;
            rows_.child(in_.root, column, s, in_.depth - 1, child);
            rebuild(child, in_.depth - 1, pair[s], tree, s ? right : left);
        }
        return tree;
    }

    Choices& choices() { return choices_; }

private:
    int n() const { return pieces_.n(); }

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
                        ++counters_.pairs;
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
        if (held_.bytes + more + minima_.bytes() > in_.settings.memory) throw std::bad_alloc();
    }

    /// The trees of depth two: per root test both sides' leaves and stumps from the pair counts.
    void two_tests(Subset& node, Amount minimum, Amount slack, List& out, std::size_t& mark) {
        const int kinds = in_.table.kinds, pad = rows_.pad;
        Sides least;
        minima_.sides(node, least);
        std::vector<Amount> cell[2][2], side_total[2];
        for (auto& part : cell)
            for (auto& one : part) one.resize(kinds);
        for (auto& total : side_total) total.resize(kinds);
        for (int g = 0; g < rows_.columns; ++g) {
            const Amount a = least.least[0][g], b = least.least[1][g];
            if (a >= kNone || b >= kNone) continue;
            const Amount loss = a + b + minima_.test(g) - minimum;
            if (loss > slack) continue;
            Amount side_weight[2] = {};
            for (int k = 0; k < kinds; ++k) {
                side_total[1][k] = node.with[std::size_t(k) * pad + g];
                side_total[0][k] = node.total[k] - side_total[1][k];
                for (int s = 0; s < 2; ++s) side_weight[s] += side_total[s][k] * in_.table.unit[k];
            }
            List list[2];
            for (int s = 0; s < 2; ++s)
                pieces_.leaves(side_total[s], side_weight[s], least.least[s][g], slack - loss, list[s]);
            for (int h = 0; h < rows_.columns; ++h) {
                if (h == g) continue;
                Amount weight[2][2] = {};
                for (int k = 0; k < kinds; ++k) {
                    const Amount both = rows_.pair(node, k, g)[h];
                    cell[1][1][k] = both;
                    cell[1][0][k] = side_total[1][k] - both;
                    cell[0][1][k] = node.with[std::size_t(k) * pad + h] - both;
                    cell[0][0][k] = side_total[0][k] - cell[0][1][k];
                    for (int s = 0; s < 2; ++s)
                        for (int u = 0; u < 2; ++u) weight[s][u] += cell[s][u][k] * in_.table.unit[k];
                }
                for (int s = 0; s < 2; ++s)
                    pieces_.stump(cell[s], weight[s], h, least.least[s][g], slack - loss, list[s]);
            }
            for (auto& side : list) tidy(side, dominance_);
            merge(list[0], list[1], g, loss, slack, out, mark);
        }
    }

    /// The front of a side of a test; `child` is made where no front is there that will do.
    ListPtr front_of_side(const Subset& node, int column, int side, int depth, Amount slack, Subset& child) {
        const auto known = held_.fronts.find(node.key.with(column, side));
        if (known && known->slack >= slack) return known->list;
        rows_.child(node, column, side, depth, child);
        return front(child, depth, slack);
    }
    ListPtr front(Subset& node, int depth, Amount slack) {
        const auto known = held_.fronts.find(node.key);
        if (known && known->slack >= slack) return known->list;
        in_.control.check();
        auto out = std::make_shared<List>();
        const Amount minimum = minima_.minimum(node, depth, kNone);
        if (slack < 0 || minimum >= kNone) return out;
        std::size_t mark = std::size_t(1) << 14;
        pieces_.leaves(node.total, node.weight, minimum, slack, *out);
        if (depth >= 1 && minima_.splits(node.weight)) {
            if (depth == 1) {
                pieces_.one_test(node, minimum, slack, *out);
            } else if (depth == 2) {
                two_tests(node, minimum, slack, *out, mark);
            } else {
                for (const auto& [loss, column] : choices_.of(node, depth, minimum, slack)) {
                    Subset child[2];
                    const ListPtr a = front_of_side(node, column, 0, depth - 1, slack - loss, child[0]);
                    if (a->empty()) continue;
                    const ListPtr b = front_of_side(node, column, 1, depth - 1, slack - loss, child[1]);
                    merge(*a, *b, column, loss, slack, *out, mark);
                }
            }
        }
        tidy(*out, dominance_);
        out->shrink_to_fit();
        in_.control.count(counters_.fronts);
        counters_.kept += out->size();
        counters_.largest = std::max<std::uint64_t>(counters_.largest, out->size());
        held_.bytes += out->size() * sizeof(One) + 128;
        check_memory(0);
        held_.fronts.put(node.key, {slack, out}, [](const auto& a, const auto& b) { return a.slack > b.slack; });
        return out;
    }

    bool as_good(const One& one, const One& wanted) const {
        if (one.cost > wanted.cost || !one.carried.within(wanted.carried)) return false;
        for (int a = 0; a < n(); ++a)
            if (active_[a].both ? one.row[a] != wanted.row[a] : one.row[a] > wanted.row[a]) return false;
        return true;
    }
    /// Writes a tree that is as good as `wanted`, a solution of this node's front.
    TREEFORM_COLD void rebuild(Subset& node, int depth, const One& wanted, FlatTree& tree, int at) {
        One one;
        if (node.weight >= in_.settings.min_support)
            for (int c = 0; c < in_.table.labels; ++c) {
                pieces_.leaf(one, node.total, c, 0);
                if (!as_good(one, wanted)) continue;
                tree.label[at] = c;
                return;
            }
        if (depth == 0) throw std::logic_error("a solution of a front has no leaf");
        if (depth == 1) return rebuild_one(node, wanted, tree, at);
        const Amount minimum = minima_.minimum(node, depth, kNone), slack = wanted.excess;
        Subset child[2];
        for (const auto& [loss, column] : choices_.of(node, depth, minimum, slack)) {
            ListPtr list[2];
            for (int s = 0; s < 2; ++s) list[s] = front_of_side(node, column, s, depth - 1, slack - loss, child[s]);
            for (const One& u : *list[0]) {
                if (u.excess + loss > slack) break;
                for (const One& v : *list[1]) {
                    if (u.excess + v.excess + loss > slack) break;
                    if (!pieces_.meets(u.carried.marks(), v.carried.marks(), column)) continue;
                    pieces_.join(one, u, v, column, loss);
                    if (!as_good(one, wanted)) continue;
                    tree.feature[at] = rows_.original[column];
                    const int left = add_node(tree), right = add_node(tree);
                    tree.left[at] = left, tree.right[at] = right;
                    const One keep_u = u, keep_v = v;
                    for (int s = 0; s < 2; ++s) rows_.child(node, column, s, depth - 1, child[s]);
                    rebuild(child[0], depth - 1, keep_u, tree, left);
                    rebuild(child[1], depth - 1, keep_v, tree, right);
                    return;
                }
            }
        }
        throw std::logic_error("a solution of a front has no tree");
    }
    /// Writes a test over two leaves that is as good as `wanted`.
    void rebuild_one(const Subset& node, const One& wanted, FlatTree& tree, int at) {
        std::vector<Amount> cell[2] = {node.total, node.total};
        One low, high, one;
        for (int j = 0; j < rows_.columns; ++j) {
            const Amount held = node.with_weight(j, rows_.pad);
            if (!minima_.parts(held, node.weight - held)) continue;
            pieces_.cells(node, j, cell);
            for (int c = 0; c < in_.table.labels; ++c)
                for (int d = 0; d < in_.table.labels; ++d) {
                    pieces_.leaf(low, cell[0], c, 0), pieces_.leaf(high, cell[1], d, 0);
                    if (!pieces_.meets(low.carried.marks(), high.carried.marks(), j)) continue;
                    pieces_.join(one, low, high, j, 0);
                    if (!as_good(one, wanted)) continue;
                    tree.feature[at] = rows_.original[j];
                    const int left = add_node(tree), right = add_node(tree);
                    tree.left[at] = left, tree.right[at] = right;
                    tree.label[left] = c, tree.label[right] = d;
                    return;
                }
        }
        throw std::logic_error("a solution of a front has no tree");
    }

    const FrontInput& in_;
    Rows& rows_;
    Minima& minima_;
    Counters& counters_;
    const std::vector<Active>& active_;
    Choices choices_;
    Pieces<K, Words> pieces_;
    Dominance dominance_;
    Held<K, Words>& held_;
};

template <int K, int Words>
class FrontsOf final : public Fronts {
    using One = Solution<K, Words>;

public:
    TREEFORM_COLD FrontsOf(const FrontInput& in, const std::vector<Active>& active) : in_(in), active_(active) {
        for (const auto& worker : in.team.workers)
            of_worker_.push_back(std::make_unique<Fronting<K, Words>>(in_, *worker, active_, held_));
    }

    TREEFORM_COLD bool below(Amount upper) override {
        Best best = constant(upper);
        if (may_split(upper)) search(choices(slack(upper)), best);
        if (best.cost < upper) best_ = best;
        return best.cost < upper;
    }
    Amount cost() const override { return best_.cost; }
    TREEFORM_COLD FlatTree tree() override {
        return best_.column < 0 ? constant_tree(best_.label) : of_worker_[0]->tree(best_.column, best_.pair);
    }

private:
    struct Best {
        Amount cost = kNone;
        int place = -1;  // of the test among the choices; of equal costs the first counts
        int column = -1, label = 0;
        One pair[2];
    };
    /// The cheapest tree without a test, if it costs less than `upper`.
    Best constant(Amount upper) {
        Best best;
        best.cost = upper;
        for (int c = 0; c < in_.table.labels && in_.root.weight >= in_.settings.min_support; ++c) {
            One one;
            of_worker_[0]->pieces().leaf(one, in_.root.total, c, 0);
            if (one.cost < best.cost && of_worker_[0]->pieces().satisfies(one)) best = {one.cost, -1, -1, c, {}};
        }
        return best;
    }
    bool may_split(Amount upper) const {
        return in_.depth > 0 && slack(upper) >= 0 && in_.team.first().minima.splits(in_.root.weight);
    }
    Amount slack(Amount upper) const { return in_.team.first().minima.prices().limit(upper - 1) - in_.root_minimum; }
    /// Tests of the root by what they lose at least, up to the slack.
    TREEFORM_COLD std::vector<std::pair<Amount, int>> choices(Amount slack) {
        Rows& rows = in_.team.first().rows;
        if (in_.depth == 2) return of_worker_[0]->choices().of(in_.root, 2, in_.root_minimum, slack);
        std::vector<std::pair<Amount, int>> out;
        std::vector<Amount> loss(rows.columns, kNone);
        in_.team.each(loss.size(), [&](int w, std::size_t j) {
            if (!in_.price.empty() && in_.price[j] - in_.root_minimum > slack) return;
            loss[j] = of_worker_[w]->choices().loss(in_.root, in_.depth, in_.root_minimum, slack, int(j));
        });
        for (int j = 0; j < rows.columns; ++j)
            if (loss[j] <= slack) out.push_back({loss[j], j});
        std::sort(out.begin(), out.end());
        return out;
    }
    TREEFORM_COLD void search(const std::vector<std::pair<Amount, int>>& choices, Best& best) {
        std::mutex mutex;
        in_.team.each(choices.size(), [&](int w, std::size_t i) {
            const auto& [loss, column] = choices[i];
            Amount upper;
            {
                const std::lock_guard lock(mutex);
                upper = best.cost + (best.place > int(i));  // an equal cost from an earlier test counts
            }
            const Amount limit = slack(upper);
            if (loss > limit) return;
            Best own;
            if (!of_worker_[w]->query(column, loss, limit, upper, own.pair)) return;
            const std::lock_guard lock(mutex);
            if (upper < best.cost || (upper == best.cost && int(i) < best.place))
                best.cost = upper, best.place = int(i), best.column = column, std::copy_n(own.pair, 2, best.pair);
        });
    }

    FrontInput in_;
    std::vector<Active> active_;
    Held<K, Words> held_;
    std::vector<std::unique_ptr<Fronting<K, Words>>> of_worker_;
    Best best_;
};

}  // namespace treeform::totals
