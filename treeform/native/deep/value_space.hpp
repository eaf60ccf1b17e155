#pragma once
// What the improvement search asks about a set of rows, answered by the exact searches of regression trees: see `Space`
// in builder.hpp. Costs are doubles; whether a tree is better in the end is judged exactly by the incumbent.
#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "../regression/first_trees.hpp"
#include "../regression/squared.hpp"
#include "few_columns.hpp"
#include "listed_subsets.hpp"
#include "on_sample.hpp"
#include "random.hpp"
#include "routes.hpp"
#include "tree.hpp"

namespace treeform::deep {

template <class LossOf>
class ValueSpace {
public:
    using Cost = double;
    using Rows = regression::Subset;
    using Ptr = TreePtr<double>;
    using PlanPtr = regression::PlanPtr;

    /// `all` holds the rows of the table.
    ValueSpace(const regression::Table& table, const Rows& all, const regression::Settings& settings,
               regression::Control& control)
        : table_(table), settings_(settings), control_(control), search_(table, settings_, control), listed_(table, all),
          gain_(table.n), of_squares_(settings) {
        of_squares_.loss = regression::Loss::squared, of_squares_.price = {};
    }

    static double infinite() { return regression::kInfinite; }
    /// Differences that rounding may make are none.
    static bool better(double a, double b) { return a < b - 1e-11 * std::fabs(b) || (a < b && b == infinite()); }
    static double above(double cost, int hundredths) { return cost * (1 + hundredths / 100.0 + 2e-11) + 1e-9; }
    std::uint64_t work() const { return listed_.work() + work_; }
    void check() const { control_.check(); }
    std::size_t features() const { return table_.features; }
    std::size_t size(const Rows& rows) const { return rows.n; }
    /// A side has two numbers, its weight and its sum.
    std::size_t depth_two_work(const Rows& rows) const { return deep::depth_two_work(rows.n, table_.features, 2); }

    /// Tests that a tree of these rows has at most, by the minimum support of each leaf.
    int most_tests(const Rows& rows) const {
        if (settings_.min_support <= 1) return kAnyTests;
        return int(std::clamp<std::int64_t>(rows.weight / settings_.min_support, 1, kAnyTests)) - 1;
    }

    double price() const { return search_.price(); }
    /// Whether tests have a price, or leaves a minimum support.
    bool has_rules() const { return price() > 0 || settings_.min_support > 1; }
    static constexpr bool guesses() { return false; }

    /// A hash of the set of rows, and of what leaves and tests need.
    std::uint64_t hash(const Rows& rows) const {
        std::uint64_t sum = scrambled(scrambled(static_cast<std::uint64_t>(settings_.min_support))
                                      + static_cast<std::uint64_t>(settings_.min_flow));
        for (std::size_t k = 0; k < rows.n; ++k) sum += scrambled(rows.order.back()[k]);
        return sum;
    }
    Ptr leaf(const Rows& rows) {
        return std::make_shared<const Tree<double>>(
            Tree<double>{{}, search_.leaf(rows).lower, value_of(rows), 0, 0, nullptr, nullptr});
    }
    static constexpr bool may_clash() { return false; }
    static constexpr bool needs_leaf(const Tree<double>&, int) { return false; }
    Ptr join(Test test, const Ptr& left, const Ptr& right) const {
        return std::make_shared<const Tree<double>>(Tree<double>{
            test, left->cost + right->cost + price(), 0, left->tests + right->tests + 1,
            height_above(*left, *right), left, right});
    }
    /// The best tree of that depth if it costs less than `cutoff`; else null. `hint` is a root test to try first.
    Ptr solve(const Rows& rows, int depth, double cutoff, Test hint) {
        const regression::Hint first{hint.feature, hint.feature < 0 ? -1 : std::int64_t{hint.key}};
        const auto before = scans();
        const Rows& whole = listed_.whole(rows);
        const auto found = search_.solve(whole, depth, regression::full_tree(depth), first, nullptr, cutoff);
        settle(whole, before);
        if (!found.plan && cutoff == infinite()) return leaf(rows);  // a sample may weigh less than a leaf has to
        return found.plan && found.best.cost < cutoff ? written_out(rows, found.plan) : nullptr;
    }
    Test root_test(const Rows& rows, double) {
        const Ptr tree = solve(rows, 2, infinite(), {});
        return tree ? tree->test : Test{};
    }
    std::vector<Candidate<double>> tests(const Rows& rows) {
        const auto before = scans();
        std::vector<Candidate<double>> all;
        const Rows& whole = listed_.whole(rows);
        for (const auto& one : search_.best_of_each(whole)) all.push_back({{one.feature, one.key}, one.cost});
        settle(whole, before);
        return all;
    }
    /// Rows that are not asked for again before they are made anew: many are not kept for that.
    void give_back(Rows& rows) const {
        if (is_large(rows)) rows = {};
    }
    bool split(const Rows& rows, Test test, Rows& left, Rows& right) {
        if (rows.weight < settings_.min_flow) return false;
        control_.check();
        listed_.divide(rows, test, left, right);
        left.id = ++made_, right.id = ++made_;
        return left.n > 0 && right.n > 0 && std::min(left.weight, right.weight) >= settings_.min_support;
    }
    void sample(const Rows& rows, std::size_t wanted, Random& random, Rows& out) {
        const std::uint64_t salt = random.next(), limit = ~std::uint64_t{0} / rows.n * wanted;
        listed_.choose(rows, [&](regression::Row row) { return scrambled(salt ^ row) < limit; }, out);
        out.id = ++made_;
    }
    struct OnSamples {
        OnSample<std::int64_t> leaves, tests;
    };
    OnSamples on_sample(const Rows& rows, const Rows& sample) {
        return {{settings_.min_support, sample.n, rows.n}, {settings_.min_flow, sample.n, rows.n}};
    }
    Test greedy_test(const Rows& rows) { return best_test(search_, rows); }
    /// That of CART's trees, which go by squared errors.
    Test squared_test(const Rows& rows) requires(!std::is_same_v<LossOf, regression::Squared>) {
        if (!by_squares_) by_squares_.emplace(table_, of_squares_, control_);
        return best_test(*by_squares_, rows);
    }
    std::vector<Candidate<double>> routing_tests(const Rows& rows, const Tree<double>& left, const Tree<double>& right,
                                                 Random& random, int noise) {
        const Routes to_left(left, table_.rank), to_right(right, table_.rank);
        double mean = 0;
        for (std::size_t k = 0; k < rows.n; ++k) {
            if (k % kPolled == 0) control_.check();
            const auto row = rows.order.back()[k];
            gain_[row] = cost_of(to_right.value(row), row) - cost_of(to_left.value(row), row);
            mean += std::fabs(gain_[row]) / static_cast<double>(rows.n);
        }
        for (std::size_t k = 0; noise > 0 && k < rows.n; ++k)
            if (random.below(static_cast<std::uint64_t>(noise)) == 0)
                gain_[rows.order.back()[k]] += random.below(2) ? 4 * mean : -4 * mean;
        work_ += rows.n * table_.features * 4;
        std::vector<Candidate<double>> found;
        for (std::size_t f = 0; f < table_.features; ++f) {
            control_.check();
            const auto& order = listed_.by(rows, f).order[f];
            const auto& rank = table_.rank[f];
            double sum = 0, most = -infinite();
            std::uint32_t at = 0;
            for (std::size_t k = 1; k < rows.n; ++k) {
                sum += gain_[order[k - 1]];
                if (rank[order[k]] != rank[order[k - 1]] && sum > most) most = sum, at = rank[order[k]];
            }
            if (most > -infinite()) found.push_back({{static_cast<int>(f), at}, -most});
        }
        return found;
    }
    Test random_test(const Rows& rows, Random& random) const {
        const auto f = static_cast<std::size_t>(random.below(table_.features));
        const auto& order = listed_.is_list(rows) ? rows.order[0] : rows.order[f];
        return {static_cast<int>(f), table_.rank[f][order[random.below(rows.n)]]};
    }
    Test near_test(const Rows& rows, Test test, Random& random) {
        const auto f = static_cast<std::size_t>(test.feature);
        const auto& order = listed_.by(rows, f).order[f];
        const auto end = order.begin() + static_cast<std::ptrdiff_t>(rows.n);
        const auto& rank = table_.rank[f];
        const auto below = [&](regression::Row row) { return rank[row] < test.key; };
        const auto at = static_cast<std::size_t>(std::partition_point(order.begin(), end, below) - order.begin());
        const std::size_t to = random.near(at, rows.n);
        return to < rows.n ? Test{test.feature, rank[order[to]]} : Test{};
    }

    /// The tests of a tree as far as they divide the rows, with the best leaves for them.
    Ptr relabelled(const Rows& rows, const Ptr& tree) {
        const Ptr alone = leaf(rows);
        if (tree->is_leaf() || rows.weight < settings_.min_flow) return alone;
        control_.check();
        Rows left, right;
        listed_.list_sides(rows, tree->test, left, right);
        if (left.n == 0 || right.n == 0 || std::min(left.weight, right.weight) < settings_.min_support) return alone;
        const Ptr both = join(tree->test, relabelled(left, tree->left), relabelled(right, tree->right));
        return better(both->cost, alone->cost) ? both : alone;
    }
    PlanPtr plan(const Ptr& tree) const {
        if (tree->is_leaf()) return regression::leaf_plan();
        return regression::test_plan(static_cast<std::size_t>(tree->test.feature), tree->test.key, plan(tree->left),
                                     plan(tree->right));
    }
    Ptr written_out(const Rows& rows, const PlanPtr& plan) {
        if (plan->feature < 0) return leaf(rows);
        Rows left, right;
        listed_.list_sides(rows, {plan->feature, plan->key}, left, right);
        return join({plan->feature, plan->key}, written_out(left, plan->left), written_out(right, plan->right));
    }
    /// The cost with what it takes to compare it exactly.
    regression::Value value(const Rows& rows, const Ptr& tree) {
        if (tree->is_leaf()) return search_.leaf(rows).best;
        Rows left, right;
        listed_.list_sides(rows, tree->test, left, right);
        regression::Value sum = value(left, tree->left), other = value(right, tree->right);
        sum.cost += other.cost + price(), sum.tests += other.tests + 1;
        sum.leaves.insert(sum.leaves.end(), other.leaves.begin(), other.leaves.end());
        return sum;
    }

private:
    static constexpr std::uint64_t kScan = 8;  // the time of an element of a scan, in those of scans of classes

    const regression::Table& table_;
    regression::Settings settings_;
    regression::Control& control_;
    regression::Search<LossOf> search_;
    ListedSubsets listed_;
    std::vector<double> gain_;
    regression::Settings of_squares_;
    std::optional<regression::Search<regression::Squared>> by_squares_;  // once it is asked
    std::size_t kept_ = contree::most_kept(table_.n, table_.features);  // cells
    std::uint64_t work_ = 0, made_ = std::uint64_t{1} << 62;

    bool is_large(const Rows& rows) const { return rows.n * table_.features > kept_; }
    /// Counts the work on these rows, and gives what was held for very many of them back.
    void settle(const Rows& rows, std::uint64_t before) {
        work_ += (scans() - before) * rows.n * kScan;
        if (is_large(rows)) search_.release(), listed_.release();
    }
    template <class Loss>
    Test best_test(regression::Search<Loss>& search, const Rows& rows) {
        if (!search.bears_test(rows.weight)) return {};
        const auto found = search.best_test(rows, [&](std::size_t f) -> const Rows& { return listed_.by(rows, f); });
        return found.plan ? Test{found.plan->feature, found.plan->key} : Test{};
    }
    std::uint64_t scans() const { return search_.counters.scans + search_.counters.exact; }
    double cost_of(double value, regression::Row row) const {
        const double off = static_cast<double>(table_.target[row]) - value;
        const auto weight = static_cast<double>(table_.weight[row]);
        return settings_.loss == regression::Loss::squared ? weight * off * off : weight * std::fabs(off);
    }
    /// The mean, or the lower median.
    double value_of(const Rows& rows) const {
        if (settings_.loss == regression::Loss::squared)
            return static_cast<double>(rows.centre)
                   + (rows.weight > 0 ? static_cast<double>(rows.sum) / static_cast<double>(rows.weight) : 0);
        const auto& order = rows.order.back();
        std::int64_t below = 0;
        for (std::size_t k = 0; k < rows.n; ++k)
            if (2 * (below += table_.weight[order[k]]) >= rows.weight) return static_cast<double>(table_.target[order[k]]);
        return 0;
    }
};

}  // namespace treeform::deep
