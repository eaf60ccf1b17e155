// The dynamic program for trees as an AND/OR graph. A node is a set of rows and a number of tests that a path may still
// have; its alternatives are the labels of a leaf, and tests, each with the nodes of its two sides.
//
// Only what some cheap tree uses is written out. With a price on each row of totals (Lagrangian relaxation) a tree that
// satisfies the rows and costs at most C has a priced cost of at most some limit. Going down from the root, each node
// is given the most that its own tree may cost in such a tree: the limit less the least price of everything else. An
// alternative whose least price is more than that is left out, with all that only it leads to. Least prices come from
// the search for totals (totals/minima.cpp), exact and shared between limits; a node that several parents lead to has
// the most generous limit of all. So the nodes of one depth are completed before those below them.
#include "graph.hpp"

#include <algorithm>
#include <unordered_map>

#include "../totals/minima.hpp"
#include "../totals/multipliers.hpp"
#include "../totals/prices.hpp"
#include "../totals/tree.hpp"
#include "levels.hpp"
#include "undominated.hpp"

namespace treeform::and_or {

using namespace totals;
using Wide = __int128;
constexpr int kRoughDepth = 4;
constexpr std::size_t kRoughTests = 6;

class Graph::Search {
public:
    Search(const Table& table, const Settings& settings, Control& control, const std::vector<std::int32_t>& group)
        : table_(table), settings_(settings), control_(control), group_(group), pricing_(table, settings),
          rows_(table, settings.simd, std::all_of(group.begin(), group.end(), [&](int g) { return g == group[0]; })),
          minima_(table, rows_, settings_, control, counters_, known_), paths_(states_, control, rows_, minima_) {
        rows_.root(root_);
    }
    void keep_to(PathStates states) { states_ = std::move(states); }

    Relaxed relax(Amount upper) {
        const Amount unit = pricing_.largest_unit();
        if (table_.rows == 0) return priced({}, unit, upper > 0);  // costs are not negative
        upper = std::min(upper, pricing_.most() + 1);
        choose_root_tests();
        Multipliers search(table_, pricing_, [&](const std::vector<Amount>& m, Point& p) {
            Prices prices;
            if (!pricing_.make(m, unit, prices)) return false;
            const Amount least = set(prices);
            p.multiplier = m, p.value = Wide(least) - prices.constant;
            p.row.assign(table_.rows, 0);
            if (least < kNone) p.row = value_of(best_tree(), table_, settings_).row;
            return true;
        });
        const Point best = search.climb(std::vector<Amount>(table_.rows, 0),
                                        [&](Wide value) { return value > Wide(unit) * (upper - 1); });
        minima_.only.clear();
        if (search.out_of_range && !rows_possible()) {
            Relaxed none = price(best.multiplier, unit);
            none.infeasible = true;
            return none;
        }
        return price(best.multiplier, unit);
    }

    Relaxed price(const std::vector<Amount>& multipliers, Amount unit) { return priced(multipliers, unit, true); }

    Alternatives up_to(Amount cost, Amount short_by, std::size_t most, bool undominated) {
        Alternatives out;
        out.words = rows_.words, undominated_ = undominated;
        const Amount limit = minima_.prices().limit(cost) - short_by;
        const int depth = settings_.depth;
        const Emptied at_the_end{levels_};
        levels_.assign(depth + 1, {});
        for (int d = 0; d <= depth; ++d) levels_[d].words = rows_.words, levels_[d].kinds = d ? 0 : table_.kinds;
        path_.clear();
        if (least_of_root() <= limit)
            levels_[depth].take(root_.cover, {limit, -1, -1, -1, states_.start()}, depth ? nullptr : &root_.total);
        out.begin.push_back(0);
        for (int d = depth; d >= 0; --d) {
            const auto first = std::int32_t(out.depth.size());
            const auto below = first + std::int32_t(levels_[d].nodes.size());  // the children's numbers begin there
            for (std::size_t i = 0; i < levels_[d].nodes.size(); ++i) {
                if (i % 64 == 0) control_.check();
                expand(d, std::int32_t(i), below, limit, out);
                out.depth.push_back(d);
                out.begin.push_back(std::int64_t(out.test.size()));
                if (out.test.size() > most || bytes(out) > settings_.memory) return out;
            }
            out.cover.insert(out.cover.end(), levels_[d].cover.begin(), levels_[d].cover.end());
            levels_[d].cover = {}, levels_[d].by_rows = {};
        }
        out.complete = true;
        return out;
    }

private:
    Relaxed priced(const std::vector<Amount>& multipliers, Amount unit, bool bounded) {
        Relaxed out;
        out.multipliers = multipliers, out.unit = unit;
        Prices prices;
        if (!pricing_.make(multipliers, unit, prices)) {  // too large to be exact
            out.multipliers.assign(table_.rows, 0), out.unit = pricing_.largest_unit();
            pricing_.make(out.multipliers, out.unit, prices);
        }
        use(prices);
        if (!bounded) return out;
        const Amount least = least_of_root();
        out.infeasible = least >= kNone;
        if (!out.infeasible) out.lower = prices.bound(least);
        return out;
    }
    Amount set(const Prices& prices) {
        use(prices);
        return least_of_root();
    }
    void use(const Prices& prices) {
        known_.clear();
        paths_.forget();
        minima_.set(prices);
    }
    Amount least_of_root() {
        if (states_.start() != kFree) return paths_.least(root_, settings_.depth, states_.start());
        return minima_.minimum(root_, settings_.depth, kNone);
    }
    /// A tree of that price.
    FlatTree best_tree() {
        if (states_.start() != kFree) return paths_.best_tree(root_, settings_.depth, states_.start());
        return minima_.best_tree(root_, settings_.depth);
    }
    /// A few tests at the root place the multipliers of a deep tree; the bound is that of all.
    void choose_root_tests() {
        if (settings_.depth < kRoughDepth || states_.start() != kFree) return;
        Prices prices;
        if (!pricing_.make(std::vector<Amount>(table_.rows, 0), pricing_.largest_unit(), prices)) return;
        known_.clear();
        minima_.set(prices);
        minima_.only = minima_.ranked(root_);
        if (minima_.only.size() > kRoughTests) minima_.only.resize(kRoughTests);
    }
    bool rows_possible() {
        return !totals::impossible_row(table_, pricing_, [this](const Prices& prices) { return std::optional(set(prices)); });
    }
    std::size_t bytes(const Alternatives& out) const {
        std::size_t sum = out.test.size() * 24 + (out.sums.size() + out.cover.size()) * 8 + minima_.bytes();
        for (const Level& l : levels_) sum += l.bytes();
        return sum;
    }

    Amount price_of(const std::vector<Amount>& total, int label) const {
        Amount price = minima_.prices().label[label];
        for (int k = 0; k < table_.kinds; ++k) price += total[k] * minima_.prices().leaf[k * table_.labels + label];
        return price;
    }
    void leaf(const std::vector<Amount>& total, Amount budget, Amount limit, Alternatives& out) const {
        Amount weight = 0;
        for (int k = 0; k < table_.kinds; ++k) weight += total[k] * table_.unit[k];
        if (weight < settings_.min_support) return;
        for (int c = 0; c < table_.labels; ++c) {
            const Amount price = price_of(total, c);
            if (price > budget) continue;
            add(-1, c, -1, -1, limit - (budget - price), out);
            add_sums_of_leaf(table_, total.data(), c, out);
        }
    }
    void add(int test, int label, std::int32_t left, std::int32_t right, Amount through, Alternatives& out) const {
        out.test.push_back(test), out.label.push_back(label), out.left.push_back(left), out.right.push_back(right);
        out.least.push_back(minima_.prices().bound(through));
    }

    void expand(int depth, std::int32_t index, std::int32_t below, Amount limit, Alternatives& out) {
        const Node node = levels_[depth].nodes[index];
        if (depth == 0) {
            const auto from = levels_[0].total.begin() + std::ptrdiff_t(index) * table_.kinds;
            total_.assign(from, from + table_.kinds);
            if (states_.ends(node.state)) leaf(total_, node.budget, limit, out);
            return;
        }
        Subset& subset = subset_of(depth, index);
        if (states_.ends(node.state)) leaf(subset.total, node.budget, limit, out);
        if (rows_.columns == 0 || !minima_.splits(subset.weight)) return;
        const std::size_t words = rows_.words;
        std::unordered_multimap<std::uint64_t, int> seen;
        Cover side[2] = {Cover(words), Cover(words)};
        for (const auto& [j, least] : cuts(subset, depth, node)) {
            const Amount price = least[0] + least[1] + minima_.test(j);
            for (std::size_t w = 0; w < words; ++w) {
                side[1][w] = subset.cover[w] & rows_.literal[j][w];
                side[0][w] = subset.cover[w] & ~rows_.literal[j][w];
            }
            if (!fresh(seen, j, side)) continue;
            std::int32_t child[2];
            for (int s = 0; s < 2; ++s) {
                const Amount budget = node.budget - minima_.test(j) - least[1 - s];
                if (depth == 1) totals_of(subset, j, s);
                const std::int32_t state = states_.after(node.state, rows_.original[j], s);
                child[s] = below + levels_[depth - 1].take(side[s], {budget, index, j, s, state},
                                                           depth == 1 ? &total_ : nullptr);
            }
            add(rows_.original[j], -1, child[0], child[1], limit - (node.budget - price), out);
            add_sums_of_test(table_, rows_.original[j], out);
        }
    }

    /// The tests of a node whose trees cost at most the budget, with the least prices of both sides.
    std::vector<Cut> cuts(Subset& subset, int depth, const Node& node) {
        const Amount budget = node.budget;
        if (node.state != kFree) return paths_.within(subset, depth, node.state, budget);
        prepare(subset, depth);
        std::vector<Cut> out;
        for (int j = 0; j < rows_.columns; ++j) {
            const Amount held = subset.with_weight(j, rows_.pad);
            if (!minima_.parts(subset.weight - held, held)) continue;
            Cut cut{j, {}};
            if (!sides(subset, depth, j, budget, cut.least)) continue;
            if (cut.least[0] + cut.least[1] + minima_.test(j) <= budget) out.push_back(cut);
        }
        if (undominated_ && depth == 1) leave_out_dominated(subset, budget, out);
        return out;
    }
    void leave_out_dominated(const Subset& subset, Amount budget, std::vector<Cut>& cuts) {
        best_.begin();
        if (subset.weight >= settings_.min_support)
            for (int c = 0; c < table_.labels; ++c)
                if (price_of(subset.total, c) <= budget) best_.leaf(subset.total.data(), c);
        std::vector<Amount> low;
        for (const Cut& cut : cuts) {
            totals_of(subset, cut.column, 0);
            low = total_;
            totals_of(subset, cut.column, 1);
            for (int a = 0; a < table_.labels; ++a) {
                const Amount left = budget - minima_.test(cut.column) - price_of(low, a);
                for (int b = 0; b < table_.labels; ++b)
                    if (price_of(total_, b) <= left)
                        best_.test(rows_.original[cut.column], low.data(), a, total_.data(), b);
            }
            best_.end_of_test();
        }
        std::size_t next = 0;
        const auto& kept = best_.kept();
        std::erase_if(cuts, [&](const Cut&) { return kept[next++] == 0; });
    }

    /// Whether no test of the same group has parted these rows in the same way.
    bool fresh(std::unordered_multimap<std::uint64_t, int>& seen, int column, const Cover side[2]) {
        const int group = group_[rows_.original[column]];
        // The two sides may have changed places: their hashes are added.
        const std::uint64_t key = (mixed(side[0].data(), side[0].size()) + mixed(side[1].data(), side[1].size())) * 31
                                  + std::uint64_t(group);
        const auto [from, to] = seen.equal_range(key);
        for (auto at = from; at != to; ++at) {
            if (group_[rows_.original[at->second]] != group) continue;
            bool same = true, swapped = true;
            for (std::size_t w = 0; w < side[0].size() && (same || swapped); ++w) {
                const std::uint64_t held = (side[0][w] | side[1][w]) & rows_.literal[at->second][w];
                same &= held == side[1][w], swapped &= held == side[0][w];
            }
            if (same || swapped) return false;
        }
        seen.emplace(key, column);
        return true;
    }

    void totals_of(const Subset& subset, int column, int side) {
        total_.resize(table_.kinds);
        for (int k = 0; k < table_.kinds; ++k) {
            const Amount inside = subset.with[std::size_t(k) * rows_.pad + column];
            total_[k] = side ? inside : subset.total[k] - inside;
        }
    }

    /// What makes the least prices of the sides of all tests quick to find.
    void prepare(Subset& subset, int depth) {
        if (depth == 2) minima_.sides(subset, two_);
        if (depth == 3) minima_.minimum(subset, 3, kNone);  // leaves those of all sides in the store
        if (depth >= 4) minima_.forget_settled(depth);
    }
    /// The least prices of the sides of a test, exact; false where they leave no room below the budget.
    bool sides(Subset& subset, int depth, int column, Amount budget, Amount least[2]) {
        if (depth == 2) {
            for (int s = 0; s < 2; ++s) least[s] = two_.least[s][column];
            return least[0] < kNone && least[1] < kNone;
        }
        if (depth == 1) {
            for (int s = 0; s < 2; ++s) {
                totals_of(subset, column, s);
                Amount weight = 0;
                for (int k = 0; k < table_.kinds; ++k) weight += total_[k] * table_.unit[k];
                least[s] = minima_.leaf(total_, weight);
            }
            return least[0] < kNone && least[1] < kNone;
        }
        if (depth >= 4 && minima_.with_test(subset, depth, column, budget) > budget) return false;
        for (int s = 0; s < 2; ++s) {
            if (const auto known = minima_.exact(subset.key.with(column, s))) {
                least[s] = *known;
                continue;
            }
            rows_.child(subset, column, s, depth - 1, scratch_);
            least[s] = minima_.minimum(scratch_, depth - 1, kNone);
            if (least[s] >= kNone) return false;
        }
        return true;
    }

    /// The rows of a node, along one way to it; what it shares with the way of the node before is not made again.
    Subset& subset_of(int depth, std::int32_t index) {
        std::vector<std::pair<int, std::int32_t>> way;  // depth and node, from the node up
        for (int d = depth; d < settings_.depth; ++d) {
            way.push_back({d, index});
            index = levels_[d].nodes[index].parent;
        }
        std::size_t kept = 0;
        while (kept < way.size() && kept < path_.size() && path_[kept] == way[way.size() - 1 - kept]) ++kept;
        path_.resize(kept);
        subsets_.resize(std::max(subsets_.size(), way.size()));
        for (std::size_t i = kept; i < way.size(); ++i) {
            const auto& [d, at] = way[way.size() - 1 - i];
            const Node& node = levels_[d].nodes[at];
            Subset& parent = i == 0 ? root_ : subsets_[i - 1];
            rows_.child(parent, node.column, node.side, std::max(d, depth), subsets_[i]);
            path_.push_back(way[way.size() - 1 - i]);
        }
        return way.empty() ? root_ : subsets_[way.size() - 1];
    }

    const Table& table_;
    Settings settings_;
    Control& control_;
    std::vector<std::int32_t> group_;
    PathStates states_;
    Pricing pricing_;
    Counters counters_;
    Store<Known> known_;
    Rows rows_;
    Minima minima_;
    PathMinima paths_;
    Subset root_, scratch_;
    Sides two_;
    std::vector<Level> levels_;
    std::vector<std::pair<int, std::int32_t>> path_;
    std::vector<Subset> subsets_;
    std::vector<Amount> total_;
    bool undominated_ = false;
    Undominated best_{table_};
};

Graph::Graph(const Table& table, const Settings& settings, Control& control, const std::vector<std::int32_t>& group)
    : search_(std::make_unique<Search>(table, settings, control, group)) {}
Graph::~Graph() = default;
void Graph::keep_to(PathStates states) { search_->keep_to(std::move(states)); }
Relaxed Graph::relax(Amount upper) { return search_->relax(upper); }
Relaxed Graph::price(const std::vector<Amount>& m, Amount unit) { return search_->price(m, unit); }
Alternatives Graph::up_to(Amount cost, Amount short_by, std::size_t most, bool undominated) {
    return search_->up_to(cost, short_by, most, undominated);
}

}  // namespace treeform::and_or
