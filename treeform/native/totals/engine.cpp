// Optimal trees under requirements on totals. For depth 2, 3, .. up to the one asked for, each from the best tree and
// the multipliers of the one before:
//
//  1. Multipliers by line intersection (multipliers.cpp); the trees seen on the way that satisfy all rows are models.
//     From depth three on the search for them tries a few root tests only: it places the multipliers, the bound comes
//     from the exact minimum at the end (minima.cpp).
//  2. Guess an upper bound U a little above the proved one. All trees that cost less and satisfy the active rows are
//     within a slack of the minimum: fronts of such trees either hold one, or prove that U is a lower bound
//     (fronts.inl). The guess is doubled until something is found or the best known tree is proved.
//  3. At first only rows with a multiplier are active. What is found is then the optimum of a relaxation: a bound, and
//  the
//     answer when it satisfies the other rows. Otherwise those become active and the search goes on.
#include "engine.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "fronts.hpp"
#include "multipliers.hpp"
#include "parts.hpp"
#include "prices.hpp"
#include "tree.hpp"

namespace treeform::totals {

using Wide = __int128;
constexpr int kRoughDepth = 3, kRoughTests = 6;
constexpr double kFewTrees = 1 << 15;

namespace {

class Search {
public:
    Search(const Table& table, const Settings& settings, Control& control, Outcome& out, const Away& away)
        : table_(table), settings_(settings), control_(control), out_(out), pricing_(table, settings),
          team_(table, settings_, control, known_), rows_(team_.first().rows), minima_(team_.first().minima),
          parts_{away, table, settings_, control, team_.first()} {
        rows_.root(root_);
        out_.simd = rows_.simd, out_.columns = rows_.columns;
        out_.multiplier_unit = pricing_.largest_unit();
        multiplier_.assign(table.rows, 0);
    }

    ~Search() {
        team_.add_counters(out_.counters);
        out_.counters.add(parts_.counters);
    }

    void run() {
        for (int c = 0; c < table_.labels; ++c) offer(constant_tree(c));
        if (!settings_.start.empty()) offer(settings_.start);
        const bool given = !settings_.multipliers.empty();
        const int deepest = useful_depth();
        const int first = settings_.use_shallow && !given ? std::min(deepest, 2) : deepest;
        for (int depth = first; depth <= deepest; ++depth) {
            final_ = depth == deepest;
            solve(depth);
        }
        out_.complete = true;
    }

private:
    void set(const Prices& prices) {
        known_.clear();
        team_.set(prices);
        ++out_.counters.prices;
    }
    /// No tree that satisfies the conditions is deeper: a path has each column once, and columns of few features.
    int useful_depth() const {
        if (settings_.max_features <= 0) return settings_.depth;
        std::map<int, int> columns;  // per feature
        for (const int f : rows_.original) ++columns[table_.source[f]];
        std::vector<int> most;
        for (const auto& [_, count] : columns) most.push_back(count);
        std::sort(most.rbegin(), most.rend());
        int sum = 0;
        for (int i = 0; i < settings_.max_features && i < int(most.size()); ++i) sum += most[i];
        return std::min(settings_.depth, sum);
    }
    Amount wanted() const {
        return std::min({upper_, settings_.upper, control_.external.load(std::memory_order_relaxed)});
    }
    void raise(Amount lower) {
        if (!final_ || lower <= out_.lower) return;
        out_.lower = lower;
        control_.publish(upper_, out_.lower, {});
    }
    /// A tree that satisfies everything and is cheaper than all before becomes the answer.
    void offer(const FlatTree& tree) { offer(tree, value_of(tree, table_, settings_)); }
    void offer(const FlatTree& tree, const Valued& v) {
        if (v.satisfied && v.cost < wanted()) {
            upper_ = v.cost;
            out_.tree = tree, out_.upper = v.cost;
            control_.publish(upper_, out_.lower, tree);
        }
    }

    /// The relaxation at some multipliers: its minimum, its cheapest tree, which may be a model.
    bool evaluate(const std::vector<Amount>& multiplier, Amount unit, int depth, Point& point) {
        Prices prices;
        if (!pricing_.make(multiplier, unit, prices)) return false;
        set(prices);
        const Amount minimum = this->minimum(depth);
        point.multiplier = multiplier;
        point.value = Wide(minimum) - prices.constant;
        point.row.assign(table_.rows, 0);
        if (minimum >= kNone) return true;
        const FlatTree tree = parts_.travel(depth) ? parts_.tree : minima_.best_tree(root_, depth);
        const Valued v = value_of(tree, table_, settings_);
        point.row = v.row;
        offer(tree, v);
        return true;
    }

    void place_multipliers(int depth) {
        if (!settings_.multipliers.empty()) {
            multiplier_ = settings_.multipliers;
            return;
        }
        if (!settings_.use_multipliers) return;
        if (depth >= kRoughDepth && settings_.use_rough && rows_.columns > 2 * kRoughTests) {
            Prices prices;
            pricing_.make(multiplier_, pricing_.largest_unit(), prices);
            set(prices);
            minima_.only = minima_.ranked(root_);
            if (int(minima_.only.size()) > kRoughTests) minima_.only.resize(kRoughTests);
        }
        const Amount unit = pricing_.largest_unit();
        Multipliers search(table_, pricing_,
                           [&](const std::vector<Amount>& m, Point& p) { return evaluate(m, unit, depth, p); });
        // The bound in whole units of cost reaches the best known cost. Trees that are found on the way lower that; not for a
        // few root tests, whose minimum is no bound.
        const Amount known = wanted();
        const auto enough = [&](Wide value) {
            const Amount most = std::min(minima_.only.empty() ? wanted() : known, pricing_.most() + 1);
            return value > Wide(unit) * (most - 1);
        };
        const Point best = search.climb(multiplier_, enough);
        multiplier_ = best.multiplier;
        minima_.only.clear();
        if (search.out_of_range) refute_rows(depth);
    }

    void refute_rows(int depth) {
        const auto found = impossible_row(table_, pricing_, [&](const Prices& prices) {
            set(prices);
            return std::optional(minimum(depth));
        });
        if (!found) return;
        impossible_ = true;
        if (final_) out_.active.assign(table_.rows, 0), out_.active[found->first] = found->second;
    }

    /// The proved bound at the multipliers; the root's minimum is exact afterwards when it is needed.
    Amount root_minimum(int depth) {
        const std::vector<Amount> chosen = multiplier_;
        Prices prices;
        if (!pricing_.make(chosen, unit(), prices)) {
            multiplier_.assign(table_.rows, 0);
            pricing_.make(multiplier_, unit(), prices);
        }
        set(prices);
        return minimum(depth);
    }
    Amount minimum(int depth) {
        return parts_.travel(depth) ? parts_.minimum(root_, depth) : minimum_of_root(team_, root_, depth);
    }
    Amount unit() const { return settings_.multipliers.empty() ? pricing_.largest_unit() : settings_.multiplier_unit; }

    std::vector<Active> first_active() const {
        std::vector<Active> active;
        for (int r = 0; r < table_.rows; ++r) {
            const bool low = table_.lo[r] > -kNone, high = table_.hi[r] < kNone;
            const int sign = multiplier_[r] > 0 ? 1 : multiplier_[r] < 0 ? -1 : high ? 1 : -1;
            if (multiplier_[r] != 0)
                active.push_back({r, sign, !settings_.use_lazy && low && high});
            else if (!settings_.use_lazy && (low || high))
                active.push_back({r, sign, low && high});
        }
        return active;
    }
    /// Whether the optimum of a relaxation violates sides, which become active.
    bool violates(std::vector<Active>& active, const std::vector<Amount>& row) {
        const int more = activate(active, row, table_.rows, table_.lo, table_.hi);
        out_.counters.activated += more;
        return more > 0;
    }
    /// The active row whose price weighs most: by it the pairs at the root are sorted.
    int main_row(const std::vector<Active>& active) const {
        int best = active.empty() ? -1 : 0;
        double most = -1;
        for (std::size_t a = 0; a < active.size(); ++a) {
            const double weight = std::abs(double(multiplier_[active[a].row])) * double(pricing_.scale(active[a].row));
            if (weight > most) most = weight, best = int(a);
        }
        return best;
    }

    void solve(int depth) {
        lower_ = 0;
        if (final_) out_.lower = 0;
        place_multipliers(depth);
        if (impossible_) return conclude();
        const Amount minimum = root_minimum(depth);
        if (final_) out_.multipliers = multiplier_, out_.multiplier_unit = unit();
        if (minimum >= kNone) {
            impossible_ = true;
            return conclude();
        }
        note(minima_.prices().bound(minimum));
        if (final_) out_.relaxed = lower_;
        std::vector<Active> active = first_active();
        while (lower_ < wanted()) {
            const std::unique_ptr<Fronts> fronts = make_fronts(
                {table_, settings_, team_, control_, root_, depth, minimum, main_row(active), parts_.price}, active);
            if (!fronts) throw std::bad_alloc();
            if (!relaxation(*fronts, depth)) break;
            note(fronts->cost());
            const FlatTree tree = fronts->tree();
            const Valued v = value_of(tree, table_, settings_);
            if (!v.admissible || v.cost > fronts->cost()) throw std::logic_error("a tree differs from its front");
            if (!violates(active, v.row)) {
                offer(tree, v);
                break;
            }
        }
        if (final_) {
            out_.active.assign(table_.rows, 0);
            for (const Active& a : active) out_.active[a.row] = a.both ? 2 : a.sign;
        }
        note(std::min(wanted(), pricing_.most() + 1));
        conclude();
    }
    /// Raises the bound with the active rows only; true when a cheaper tree was found.
    bool relaxation(Fronts& fronts, int depth) {
        Amount step = few_trees(depth) ? kNone : std::max<Amount>(1, lower_ / 1000);
        while (true) {
            const Amount most = std::min(wanted(), pricing_.most() + 1);
            if (lower_ >= most) return false;
            const Amount guess = settings_.use_steps && step < most - lower_ ? lower_ + step : most;
            ++out_.counters.guesses;
            if (fronts.below(guess)) return true;
            note(guess);
            step *= 2;
        }
    }
    /// Whether so few trees lie below the tests of the root that guesses cost more than they save.
    bool few_trees(int depth) const {
        const double below = double(rows_.columns) * table_.labels;
        return depth <= 2 && below * below <= kFewTrees;
    }
    void note(Amount lower) {
        lower_ = std::max(lower_, lower);
        raise(std::min(lower_, wanted()));
    }
    void conclude() {
        if (!final_) {
            impossible_ = false;
            return;
        }
        if (upper_ >= kNone && (impossible_ || lower_ > pricing_.most())) out_.infeasible = true;
        if (impossible_) note(pricing_.most() + 1);
    }

    const Table& table_;
    const Settings& settings_;
    Control& control_;
    Outcome& out_;
    Pricing pricing_;
    Store<Known> known_;
    Team team_;
    Rows& rows_;  // of the first thread
    Minima& minima_;
    Subset root_;
    Parts parts_;
    std::vector<Amount> multiplier_;
    Amount upper_ = kNone, lower_ = 0;
    bool final_ = false, impossible_ = false;
};

}  // namespace

Outcome solve(const Table& table, const Settings& settings, Control& control, const Away& away) {
    Outcome out;
    try {
        Search search(table, settings, control, out, away);
        search.run();
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        out.memory_stop = true;
    }
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::totals
