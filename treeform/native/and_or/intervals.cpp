// The AND/OR graph of trees over all thresholds of continuous columns. It is that of graph.cpp; what differs is how the
// tests of a node are found whose trees cost at most so much.
//
//  * Two tests or more below each other: ConTree's search over intervals of thresholds (contree/intervals.hpp), with a
//    bound that finding a tree does not lower. Neighbouring thresholds cost almost the same (the similarity bound), so
//    that most tests are left out unseen; the sides of a test are solved for their least price, up to what the bound
//    leaves of the limit (Brita, van der Linden and Demirovic, AAAI 2025).
//  * One test: each column is walked through once.
//
// In some places a search knows of a side only a bound of its least price. Then more is written out than cheap trees
// use, and taken away at the end (reduced.cpp).
#include "intervals.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "../contree/ranks.hpp"
#include "../contree/rebuild.hpp"
#include "../continuous_totals/tree.hpp"
#include "../continuous_totals/widest.hpp"
#include "../totals/multipliers.hpp"
#include "../totals/prices.hpp"
#include "levels.hpp"
#include "node_tests.hpp"
#include "other_prices.hpp"
#include "reduced.hpp"
#include "rows_of_points.hpp"
#include "search_prices.hpp"
#include "tree_numbers.hpp"
#include "way.hpp"

namespace treeform::and_or {

using totals::kNone;
using totals::Multipliers;
using totals::Point;
using totals::Prices;
using Wide = __int128;
using contree::Test;

constexpr int kFewCutsDepth = 3, kFewCuts = 4;  // from that depth on trees for a first guess of multipliers see so many
                                                // cuts of a column

class IntervalGraph::Search {
public:
    virtual ~Search() = default;
    virtual Relaxed relax(Amount upper) = 0;
    virtual Relaxed price(const std::vector<Amount>& multipliers, Amount unit) = 0;
    virtual Alternatives up_to(Amount cost, Amount short_by, std::size_t most, bool several) = 0;
    virtual double count(Amount cost) = 0;
};

namespace {

using RowsOfPoints = IntervalGraph::RowsOfPoints;

template <class W>
class SearchAs final : public IntervalGraph::Search {
public:
    using Cost = typename W::Cost;
    using Subset = contree::Node<W>;

    TREEFORM_COLD SearchAs(const Thresholds& given, const totals::Settings& settings,
                           continuous_totals::Control& control, const std::vector<std::int32_t>& group,
                           contree::RankedTable& ranked, RowsOfPoints& rows)
        : table_(given.table), settings_(settings), control_(control), group_(group), rows_(rows),
          pricing_(table_, settings_), data_(rows.samples, ranked, unit_weights() ? settings.min_support : 0, control),
          tests_(data_.table, control, settings.simd, int(table_.columns)), words_((table_.points + 63) / 64),
          way_(data_.table, settings.simd, control) {
        rules_.simd = settings.simd, rules_.min_support = data_.support;
        for (int f = 0; f < data_.table.features; ++f)
            first_test_.push_back(first_test_.empty() ? 0 : last_test_), last_test_ = first_test_[f] + tests_of(f);
        judging_.min_support = settings.min_support, judging_.min_flow = settings.min_flow;
    }

    TREEFORM_COLD Relaxed relax(Amount upper) override {
        return until_stopped([&] { return climbed(upper); });
    }
    TREEFORM_COLD Relaxed price(const std::vector<Amount>& multipliers, Amount unit) override {
        return until_stopped([&] { return priced(multipliers, unit, true); });
    }
    TREEFORM_COLD Alternatives up_to(Amount cost, Amount short_by, std::size_t most, bool several) override {
        Alternatives out;
        out.words = words_;
        // No more than the dearest tree, which the width holds.
        const Amount limit = std::min(prices_.limit(cost) - at_.base - short_by, at_.dearest_tree);
        const int depth = settings_.depth;
        const Emptied at_the_end{levels_};
        levels_.assign(depth + 1, {});
        for (int d = 0; d <= depth; ++d) levels_[d].words = words_, levels_[d].kinds = d ? 0 : table_.kinds;
        own_.clear(), way_.begin(), others_.end();
        if (limit >= 0) levels_[depth].take(everything(), {limit >> at_.shift, -1, -1, -1}, nullptr);
        out.begin.push_back(0);
        for (int d = depth; d >= 0; --d) {
            if (several && depth == 2 && d == 1) {
                others_.begin(table_, pricing_, prices_, cost);
                others_.ask<W>(levels_[1], out, own_, data_.table.features, rows_, [&](std::size_t i) -> const Subset& {
                    control_.check();
                    return rows_of(1, std::int32_t(i));
                });
            }
            const auto first = std::int32_t(out.depth.size());
            const auto below = first + std::int32_t(levels_[d].nodes.size());  // the children's numbers begin there
            for (std::size_t i = 0; i < levels_[d].nodes.size(); ++i) {
                control_.check();
                expand(d, std::int32_t(i), below, out);
                out.depth.push_back(d);
                out.begin.push_back(std::int64_t(out.test.size()));
                if (out.test.size() > most || bytes(out) > settings_.memory) return out;
            }
            out.cover.insert(out.cover.end(), levels_[d].cover.begin(), levels_[d].cover.end());
            levels_[d].cover = {}, levels_[d].by_rows = {};
        }
        out.least.resize(out.test.size());
        levels_.clear();
        reduce(out, own_, limit);
        for (Amount& least : out.least) least = prices_.bound(least + at_.base);
        out.complete = true;
        return out;
    }

    /// Infinite where a table of prices would be too long, or those of all thresholds would not fit in memory.
    TREEFORM_COLD double count(Amount cost) override {
        constexpr Amount kMostPrices = 10'000;
        const Amount least = least_of_root() - at_.base, most = prices_.limit(cost) - at_.base;
        if (least > most) return 0;
        std::size_t values = 0;
        for (int f = 0; f < data_.table.features; ++f) values += std::size_t(data_.table.distinct[f]) + kBlock;
        const bool fits = MovingRows<W>::bytes(values, labels()) * 2 <= settings_.memory;
        if (most - least >= kMostPrices || !fits) return std::numeric_limits<double>::infinity();
        const LeafPrices prices{table_, settings_, rows_, at_.exact.leaf, at_.exact.test};
        TreeNumbers<W> numbers(prices, data_.table, tests_, control_);
        double sum = 0;
        for (const double of_price : numbers.of(data_.root, settings_.depth, least, most)) sum += of_price;
        return sum;
    }

private:
    struct Sides {  // what a side of a test costs at least, with all that may stand below it
        Cost left, right;
    };

    const totals::Table table_;
    const totals::Settings settings_;
    continuous_totals::Control& control_;
    const std::vector<std::int32_t> group_;
    RowsOfPoints& rows_;
    totals::Pricing pricing_;
    continuous_totals::Priced<W> data_;
    NodeTests<W> tests_;
    continuous_totals::Settings judging_;
    contree::Settings rules_;
    Prices prices_;
    std::optional<Relaxed> shown_;  // the best bound of a search that may be stopped
    SearchPrices at_;
    OtherPrices others_;
    std::size_t words_;
    std::vector<std::int32_t> first_test_;
    std::int32_t last_test_ = 0;
    std::vector<Level> levels_;
    std::vector<Amount> own_;
    Way<W> way_;

    int labels() const { return table_.labels; }
    Cost penalty() const { return static_cast<Cost>(at_.rounded.test); }
    std::int32_t tests_of(int f) const { return std::int32_t(data_.table.distinct[f]) - 1; }
    bool unit_weights() const { return std::all_of(table_.unit, table_.unit + table_.kinds, [](Amount u) { return u == 1; }); }
    std::size_t bytes(const Alternatives& out) const {
        std::size_t sum = out.test.size() * 32 + (out.sums.size() + out.cover.size()) * 8 + others_.bytes();
        for (const Level& l : levels_) sum += l.bytes();
        return sum;
    }

    // ---------------------------------------------------------------- prices

    /// What is asked for; if it is stopped, the best bound of the exact searches until then, and its multipliers.
    template <class Work>
    TREEFORM_COLD Relaxed until_stopped(const Work& work) {
        shown_.reset();
        try {
            return work();
        } catch (const Stopped&) {
            if (!shown_) throw;
            Relaxed out = priced(shown_->multipliers, shown_->unit, false);
            out.lower = shown_->lower, out.complete = false;
            return out;
        }
    }
    /// No tree costs less at the present prices.
    void show(Amount least) {
        if (prices_.unit == 0) return;  // of rows alone
        const Amount lower = std::max<Amount>(0, prices_.bound(least));
        if (!shown_ || lower > shown_->lower) shown_ = Relaxed{prices_.multiplier, prices_.unit, lower};
    }
    TREEFORM_COLD Relaxed climbed(Amount upper) {
        const Amount unit = pricing_.largest_unit();
        if (table_.rows == 0) return priced({}, 1, upper > 0);  // costs are not negative
        upper = std::min(upper, pricing_.most() + 1);
        struct Exact {
            contree::Settings& rules;
            ~Exact() { rules.steps = 0; }
        } const at_the_end{rules_};
        Multipliers search(table_, pricing_, [&](const std::vector<Amount>& m, Point& p) {
            Prices prices;
            if (!pricing_.make(m, unit, prices) || !use(prices)) return false;
            const auto [least, row] = cheapest();
            p.multiplier = m, p.value = Wide(least) - prices.constant, p.row = row;
            return true;
        });
        const auto enough = [&](Wide value) { return value > Wide(unit) * (upper - 1); };
        std::vector<Amount> at(table_.rows, 0);
        if (settings_.depth >= kFewCutsDepth) {
            rules_.steps = kFewCuts;
            at = search.climb(at, enough).multiplier;
            rules_.steps = 0, search.out_of_range = false;
        }
        const Point best = search.climb(at, enough);
        if (search.out_of_range && !rows_possible()) {
            Relaxed none = priced(best.multiplier, unit, true);
            none.infeasible = true;
            return none;
        }
        return priced(best.multiplier, unit, true);
    }

    TREEFORM_COLD Relaxed priced(const std::vector<Amount>& multipliers, Amount unit, bool bounded) {
        Relaxed out;
        out.multipliers = multipliers, out.unit = unit;
        Prices prices;
        if (!pricing_.make(multipliers, unit, prices) || !use(prices)) {  // too large to be exact
            out.multipliers.assign(table_.rows, 0), out.unit = 1;
            pricing_.make(out.multipliers, out.unit, prices), use(prices);
        }
        if (!bounded) return out;
        const Amount least = least_of_root();
        out.infeasible = least >= kNone;
        if (!out.infeasible) out.lower = prices_.bound(least);
        return out;
    }
    /// False where sums would leave the width.
    TREEFORM_COLD bool use(const Prices& prices) {
        std::optional<SearchPrices> made = search_prices<W>(prices, table_, rows_, settings_.depth);
        if (!made) return false;
        prices_ = prices, at_ = std::move(*made);
        data_.set(at_.rounded);
        rules_.node_penalty = at_.rounded.test;
        tests_.use(rules_, data_.support);
        return true;
    }
    contree::Answer<Cost> solve_root() {
        return tests_.solve(data_.root, settings_.depth, [this](Cost least) { show(at_.at_least(least)); });
    }
    /// A lower bound on the least price; it is exact if no prices are rounded, and neither weights in digits nor a
    /// minimum flow bind.
    Amount least_of_root() {
        std::vector<Amount> total(table_.kinds, 0);
        for (std::size_t i = 0; i < rows_.kind.size(); ++i) add_row(static_cast<typename W::Id>(i), total);
        return weight_of(total.data()) < settings_.min_support ? kNone : at_.at_least(solve_root().value);
    }
    /// The price of a tree near the cheapest one, and its sums over the rows of the problem.
    TREEFORM_COLD std::pair<Amount, std::vector<Amount>> cheapest() {
        const auto reply = solve_root();
        const FlatTree flat = contree::Rebuild<W>(data_.table, rules_).tree(data_.root, reply.as_plan());
        auto [cost, row, admissible, satisfied] = value_of(ranked(flat, data_), data_, judging_);
        Wide price = Wide(prices_.unit) * cost;
        for (int r = 0; r < table_.rows; ++r) price += Wide(prices_.multiplier[r]) * row[r];
        return {Amount(price), std::move(row)};
    }
    TREEFORM_COLD bool rows_possible() {
        return !totals::impossible_row(table_, pricing_, [this](const Prices& prices) {
            return use(prices) ? std::optional(least_of_root()) : std::nullopt;
        });
    }

    // ---------------------------------------------------------------- nodes

    Cover everything() const {
        Cover all(words_, 0);
        for (std::size_t p = 0; p < table_.points; ++p) all[p / 64] |= std::uint64_t{1} << (p % 64);
        return all;
    }

    const Subset& rows_of(int depth, std::int32_t index) {
        return way_.rows_of(data_.root, levels_, depth, index, [this](std::int32_t test) { return test_of(test); });
    }
    Test test_of(std::int32_t number) const {
        const auto f = std::upper_bound(first_test_.begin(), first_test_.end(), number) - first_test_.begin() - 1;
        return {int(f), std::uint32_t(number - first_test_[f] + 1)};
    }
    Amount weight_of(const Amount* total) const {
        Amount weight = 0;
        for (int k = 0; k < table_.kinds; ++k) weight += total[k] * table_.unit[k];
        return weight;
    }

    // ---------------------------------------------------------------- alternatives

    void add(int test, int label, std::int32_t left, std::int32_t right, Amount own, Alternatives& out) {
        out.test.push_back(test), out.label.push_back(label), out.left.push_back(left), out.right.push_back(right);
        own_.push_back(own);
    }
    /// `total`: the weight of each kind.
    void leaf(const Amount* total, Amount budget, Alternatives& out) {
        if (weight_of(total) < settings_.min_support) return;
        for (int c = 0; c < labels(); ++c) {
            if (price_of(total, c, at_.rounded) > budget) continue;
            add(-1, c, -1, -1, price_of(total, c, at_.exact), out);
            add_sums_of_leaf(table_, total, c, out);
        }
    }
    void add_row(typename W::Id row, std::vector<Amount>& total) const { total[rows_.kind[row]] += rows_.weight[row]; }
    Amount price_of(const Amount* total, int label, const continuous_totals::Prices& at) const {
        Amount price = 0;
        for (int k = 0; k < table_.kinds; ++k) price += total[k] * at.leaf[std::size_t(k) * labels() + label];
        return price;
    }

    void expand(int depth, std::int32_t index, std::int32_t below, Alternatives& out) {
        const Node node = levels_[depth].nodes[index];
        if (depth == 0) return leaf(levels_[0].total.data() + std::size_t(index) * table_.kinds, node.budget, out);
        const Subset& subset = rows_of(depth, index);
        std::vector<Amount> total(table_.kinds, 0);
        for (std::size_t k = 0; k < subset.n; ++k) add_row(subset.order(0)[k], total);
        leaf(total.data(), node.budget, out);
        if (!settings_.splits(weight_of(total.data())) || subset.n < 2) return;
        Making making{*this, subset, total, depth, index, below, node.budget, out};
        if (depth == 1)
            stumps(subset, total, static_cast<Cost>(node.budget), making);
        else
            tests_.each(subset, depth, static_cast<Cost>(node.budget),
                        [&](int f, std::size_t to, Cost left, Cost right) { making.test(f, to, {left, right}); });
    }

    /// The tests of one node, as they are found.
    struct Making {
        SearchAs& of;
        const Subset& subset;
        const std::vector<Amount>& total;
        int depth;
        std::int32_t index, below;
        Amount budget;
        Alternatives& out;
        std::map<std::array<std::int32_t, 3>, int> seen;  // group and sides, in either order
        int feature = -1;
        std::size_t place = 0;
        Cover low, high, here;
        std::vector<Amount> under;

        Making(SearchAs& search, const Subset& rows, const std::vector<Amount>& all, int d, std::int32_t i,
               std::int32_t b, Amount most, Alternatives& to)
            : of(search), subset(rows), total(all), depth(d), index(i), below(b), budget(most), out(to) {
            here = cover(0, rows.n, 0);
        }
        Cover cover(std::size_t from, std::size_t to, int f) const {
            Cover some(of.words_, 0);
            mark(from, to, f, some);
            return some;
        }
        void mark(std::size_t from, std::size_t to, int f, Cover& some) const {
            for (std::size_t k = from; k < to; ++k) {
                const std::int32_t p = of.rows_.point[subset.order(f)[k]];
                some[p / 64] |= std::uint64_t{1} << (p % 64);
            }
        }
        /// The test before a place in the order of a feature, whose sides cost at least so much.
        void test(int f, std::size_t to, Sides least) {
            if (f != feature || to < place) low.assign(of.words_, 0), under.assign(total.size(), 0), place = 0, feature = f;
            mark(place, to, f, low);
            for (; place < to; ++place) of.add_row(subset.order(f)[place], under);
            std::vector<Amount> above(total);
            for (std::size_t k = 0; k < above.size(); ++k) above[k] -= under[k];
            if (std::min(of.weight_of(under.data()), of.weight_of(above.data())) < of.settings_.min_support) return;
            high.resize(of.words_);
            for (std::size_t w = 0; w < of.words_; ++w) high[w] = here[w] & ~low[w];
            const Amount room = budget - of.penalty();
            const std::int32_t number = of.first_test_[f] + std::int32_t(subset.key(f)[to]) - 1;
            Level& next = of.levels_[depth - 1];
            const bool last = depth == 1;
            if (last && !of.others_.within(std::size_t(index), under, above)) return;
            const std::int32_t left =
                below + next.take(low, {room - least.right, index, number, 0}, last ? &under : nullptr);
            const std::int32_t right =
                below + next.take(high, {room - least.left, index, number, 1}, last ? &above : nullptr);
            const auto [lesser, greater] = std::minmax(left, right);
            if (!seen.emplace(std::array<std::int32_t, 3>{of.group_[f], lesser, greater}, 0).second) return;
            of.add(number, -1, left, right, of.at_.exact.test, out);
            add_sums_of_test(of.table_, f, out);
        }
    };

    /// Tests over two leaves.
    void stumps(const Subset& subset, const std::vector<Amount>& total, Cost budget, Making& making) {
        const Cost room = budget - penalty();
        std::vector<Cost> low(labels()), all(labels());
        for (int c = 0; c < labels(); ++c) all[c] = static_cast<Cost>(price_of(total.data(), c, at_.rounded));
        for (int f = 0; f < data_.table.features; ++f) {
            std::fill(low.begin(), low.end(), 0);
            const auto* keys = subset.key(f);
            const auto* rows = subset.order(f);
            for (std::size_t k = 0; k < subset.n; ++k) {
                if (k > 0 && keys[k] != keys[k - 1]) {
                    Cost left = low[0], right = all[0] - low[0];
                    for (int c = 1; c < labels(); ++c)
                        left = std::min(left, low[c]), right = std::min(right, all[c] - low[c]);
                    if (left + right <= room) making.test(f, k, {left, right});
                }
                const Cost* price = data_.row_price.data() + std::size_t(rows[k]) * labels();
                for (int c = 0; c < labels(); ++c) low[c] += price[c];
            }
        }
    }
};

}  // namespace

IntervalGraph::IntervalGraph(const Thresholds& given, const totals::Settings& settings,
                             continuous_totals::Control& control, const std::vector<std::int32_t>& group) {
    rows_ = std::make_unique<RowsOfPoints>(given);
    const auto& samples = rows_->samples;
    contree::RankedTable ranked(samples.x, samples.n, samples.features, contree::kSlack, control);
    const bool few = samples.n < 65535 && ranked.most_values < 65535, priced = given.table.rows > 0;
    const Wide most = totals::Pricing(given.table, settings).most();
    const std::size_t costs = std::size_t(samples.kinds) * samples.labels;
    const Wide dearest = Wide(rows_->heaviest()) * (costs ? *std::max_element(samples.cost, samples.cost + costs) : 0);
    const auto search_as = [&]<class W>(std::in_place_type_t<W>) {
        search_ = std::make_unique<SearchAs<W>>(given, settings, control, group, ranked, *rows_);
    };
    if (!priced && few && most >> kBitsOfShort == 0 && fits_short_lanes(samples.n, dearest))
        search_as(std::in_place_type<contree::Narrow>);
    else if (few && most >> (priced ? kBitsOfSums - kFineBits : kBitsOfSums) == 0)
        search_as(std::in_place_type<contree::Priced>);
    else if (priced && most >> (kBitsOfSums - kFineBits) == 0)
        search_as(std::in_place_type<contree::PricedWide>);
    else
        search_as(std::in_place_type<contree::Huge>);
}
IntervalGraph::~IntervalGraph() = default;
Relaxed IntervalGraph::relax(Amount upper) { return search_->relax(upper); }
Relaxed IntervalGraph::price(const std::vector<Amount>& m, Amount unit) { return search_->price(m, unit); }
double IntervalGraph::count(Amount cost) { return search_->count(cost); }
Alternatives IntervalGraph::up_to(Amount cost, Amount short_by, std::size_t most, bool several) {
    return search_->up_to(cost, short_by, most, several);
}

}  // namespace treeform::and_or
