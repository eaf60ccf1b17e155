// For an objective rate * cost + price * tests and a known model of value U, e(k) matters only below
// (U - price * k) / rate (less for tests that are free): that is the upper bound of the search for at
// most k tests, and what the search refutes is a lower bound of e(k) for the next objective too. Objectives are proved
// in the order given; descending prices of a test take the least time.
#include "size_table.hpp"

#include <algorithm>
#include <new>
#include <numeric>

#include "alternation.hpp"
#include "annealing.hpp"
#include "flat_diagram.hpp"
#include "information_gain.hpp"
#include "parts.hpp"
#include "start_plan.hpp"

namespace treeform::diagram {
namespace {

/// Elementary steps for better models before a search in parts.
constexpr double kPartsStart = 5e8;
/// The same where the search is slow, and for the known model where only some tests are searched.
constexpr double kSlow = 2e9, kSomeTests = 1e9;
/// Nodes times points beyond which alternation takes too much memory (trees of many levels).
constexpr double kMostCells = 4e7;
/// Of the work that the bound of all points may take: what it takes before the search and in later rounds, and what the
/// search for a number of tests takes in the first round. Where the bound is what proves a table, it is needed whole.
constexpr double kQuick = 0.05, kThorough = 4, kFirstShare = 0.0125, kNextShare = 4;

/// Of the tests of the root, by how many one way has to be ahead, and the part of the work that the other one has then.
constexpr double kAhead = 0.05, kBehind = 0.25;

/// Annealing that found no better model has half of that work in the next round, down to this part.
constexpr double kLeastAnnealing = 0.125;

/// Runs of annealing for a number of tests, as parts of its work: short ones find what a long one misses.
constexpr double kRuns[] = {1, 0.125, 0.125, 0.125, 0.125};

class SizeTableSearch {
public:
    SizeTableSearch(const Instance& in, const Settings& settings, Control& control, Outcome& out, const Away& away)
        : in_(in), settings_(settings), control_(control), out_(out), search_(in, settings, control, out.counters),
          away_(away), is_together_(!settings.use_trees) {
        const int most = settings.max_nodes;
        for (auto& one : settled_) one.resize(most + 1);
        plan_.resize(most + 1);
        const PlanPtr start = plan_of(in, settings.start, settings.widths);
        for (int k = 0; k <= most && k < int(settings.known.size()); ++k)
            if (settings.known[k] < kNever)
                submit(k, settings.known[k] - in.offset, nullptr,
                       k < int(settings.start.feature.size()) ? nullptr : start);
        const Cost weight = in.weight_of(in.all.data());
        if (weight < std::max<Cost>(settings.min_support, settings.min_flow)) {  // no test has a root
            const Cost only = weight < settings.min_support ? kNever : in.leaf(in.all.data());
            out.lower.assign(most + 1, only);
        }
        if (weight < settings.min_support) return;
        Cost cost = 0;
        FlatDiagram constant = flatten(in, nullptr, cost);
        submit(0, cost, &constant);
        out.lower[0] = cost;
        for (int k = 1; k <= most; ++k) out.lower[k] = std::max(out.lower[k], search_.least_of_classes(in.all, k));
        for (int k = 0; k <= most && k < int(settings.refuted.size()); ++k)
            for (int j = k; j >= 0; --j) out.lower[j] = std::max(out.lower[j], settings.refuted[k] - in.offset);
    }

    void run() {
        if (settings_.starts != 0 && out_.lower.back() < out_.upper.back()) settings_.some_tests ? improve() : build(1e8, 300);
        prove_all();
        for (int k = 1; settings_.every_number && k <= settings_.max_nodes; ++k)
            for (double share = kFirstShare; out_.lower[k] < out_.upper[k];)
                if (!fill(k, out_.upper[k], share)) share *= kNextShare;
        out_.complete = true;
    }

private:
    const Instance& in_;
    const Settings& settings_;
    Control& control_;
    Outcome& out_;
    Search search_;
    const Away& away_;  // may be empty
    std::vector<PlanPtr> plan_;  // of the diagrams in `out_`, where one is known
    bool is_together_;  // the search goes by intervals of tests first
    std::vector<double> settled_[2];  // by the search by single tests and by intervals: that part of the root's tests
    bool is_slow_ = false;  // the search has been overdue
    double of_annealing_ = 1;  // part of its work, less while it finds nothing
    std::uint64_t anneals_ = 0;  // so far: a seed for each

    /// Diagrams by information gain: `most` of them, or as many as a quarter of `work` elementary steps allows. With
    /// the rest the best of every number of tests are improved by alternation.
    void build(double work, double most) {
        const Order order(in_, control_);
        Heuristic heuristic(in_, settings_, order, control_);
        const bool alternates =
            settings_.use_alternation && settings_.starts < 0 && settings_.min_support == 0 && settings_.min_flow == 0;
        const double many = (alternates ? work / 4 : work) / (1 + heuristic.work());
        const auto usual = static_cast<std::int64_t>(std::clamp(many, 1.0, most));
        const auto starts = settings_.starts < 0 ? usual : settings_.starts;
        const auto made = heuristic.run(
            settings_.seed + (most > 300), settings_.start_seconds, starts, [&](int, Cost, const PlanPtr& plan) {
                Cost cost = 0;
                FlatDiagram found = flatten(in_, plan.get(), cost);
                if (const int tests = int(found.feature.size()); tests <= settings_.max_nodes)
                    submit(tests, cost, &found, plan);
            });
        out_.counters.starts += std::uint64_t(made);
        if (alternates) alternate(order, 0.75 * work, int(most / 10));
        control_.publish({shifted(out_.lower), shifted(out_.upper)});
    }

    /// Better models first where nothing can be proved: of the one that is known, and only then others.
    void improve() {
        is_slow_ = true;
        if (plan_.back() && settings_.min_support == 0 && settings_.min_flow == 0) {
            alternate(Order(in_, control_), kSomeTests, 6000);
            anneal(kFirstShare);
        }
        build(kSlow, 6000), anneal(kFirstShare);
    }

    /// The least number of tests that models are wanted of: with some tests alone, and no price for one, the largest.
    int fewest_wanted() const {
        const auto is_priced = [](const Price& price) { return price.price > 0; };
        const bool all = !settings_.some_tests || settings_.every_number;
        return all || std::any_of(settings_.prices.begin(), settings_.prices.end(), is_priced) ? 1 : settings_.max_nodes;
    }

    /// The best known diagram of every number of tests, improved.
    void alternate(const Order& order, double work, int kicks) {
        const double nodes = std::accumulate(settings_.widths.begin(), settings_.widths.end(), 0.0);
        if (in_.view.features == 0 || nodes * double(in_.weight.size()) > kMostCells) return;
        Alternation alternation(in_, settings_, order, control_);
        const int fewest = fewest_wanted();
        for (int k = std::max(fewest, 1); k <= settings_.max_nodes; ++k) {
            if (out_.lower[k] >= out_.upper[k]) continue;
            const PlanPtr from = plan_[k] ? plan_[k] : plan_[k - 1];
            const double own = work / (settings_.max_nodes - fewest + 1);
            alternation.improve(from, k, out_.upper[k], own, kicks, settings_.seed + k, [&](const PlanPtr& better) {
                Cost cost = 0;
                FlatDiagram found = flatten(in_, better.get(), cost);
                submit(int(found.feature.size()), cost, &found, better);
            });
        }
    }

    /// Models by annealing, for the numbers of tests that an open price asks about. Together they have as many elementary
    /// steps as the search for one of them has in the round, and half as many for short runs.
    void anneal(double share) {
        if (!settings_.use_annealing || settings_.starts >= 0 || !Annealing::suits(settings_)) return;
        std::vector<int> asked;
        for (int k = fewest_wanted(); k <= settings_.max_nodes; ++k)
            if (is_asked(k)) asked.push_back(k);
        const double work = of_annealing_ * share * search_.most_steps() / double(std::max<std::size_t>(2, asked.size()));
        of_annealing_ = std::max(kLeastAnnealing, of_annealing_ / 2);
        Annealing annealing(in_, settings_, control_);
        for (const int k : asked)
            for (const double part : kRuns) {
                if (!is_asked(k)) break;
                annealing.run(plan_[k], k, part * work, settings_.seed + ++anneals_, out_.upper,
                              [&](int tests, const PlanPtr& plan) {
                                  Cost cost = 0;
                                  FlatDiagram found = flatten(in_, plan.get(), cost);
                                  submit(tests, cost, &found, plan);
                                  of_annealing_ = 1;
                              });
            }
        control_.publish({shifted(out_.lower), shifted(out_.upper)});
    }

    /// Whether a diagram of so many tests may be better than the best one found, for a price that is not proved.
    bool is_asked(int k) const {
        if (out_.lower[k] >= out_.upper[k]) return false;
        if (settings_.every_number) return true;
        for (std::size_t i = 0; i < settings_.prices.size(); ++i)
            if (out_.proved_at[i] < 0 && out_.lower[k] < goal_of(settings_.prices[i], k, 1)) return true;
        return false;
    }

    /// The bound from outside, for relative costs.
    Cost outside(Price price) const {
        const Cost external = control_.external.load(std::memory_order_relaxed);
        if (settings_.prices.size() != 1 || external >= kNever) return kNever;
        return external - price.rate * in_.offset;
    }

    /// The bounds of trees on all points, from the few tests up until one takes longer than that share of the work that
    /// a bound may take. They take no search, and the first numbers of tests are mostly proved by them.
    void bound_by_trees(Price price, double share) {
        for (int k = 1; k <= settings_.max_nodes; ++k) {
            const Cost goal = goal_of(price, k, 1);
            const auto before = out_.counters.given_up;
            if (out_.lower[k] < goal) raise(k, std::min(search_.root_bound(k, goal, share), out_.upper[k]));
            if (out_.counters.given_up > before) break;
        }
        control_.publish({shifted(out_.lower), shifted(out_.upper)});
    }

    void raise(int k, Cost lower) {
        for (int j = k; j >= 0 && out_.lower[j] < lower; --j) out_.lower[j] = lower;
    }

    /// All prices, in rounds with more work in each: a price that takes long does not keep the others waiting, and what
    /// the search has learnt for one it knows for the next. After the first round the price that is nearest to its proof
    /// comes first, and each has a quarter of the work of the one before.
    void prove_all() {
        const auto& prices = settings_.prices;
        std::vector<std::size_t> open(prices.size());
        std::iota(open.begin(), open.end(), std::size_t{0});
        bool is_first = true;
        for (double share = kFirstShare; !open.empty(); share *= kNextShare, is_first = false) {
            if (!is_first) anneal(share);
            double own = share;
            std::erase_if(open, [&](std::size_t i) {
                const bool is_proved = prove(prices[i], own, is_first ? kQuick : std::max(kThorough, own));
                if (is_proved) out_.proved_at[i] = control_.seconds();
                if (!is_first) own /= kNextShare;
                return is_proved;
            });
            std::stable_sort(open.begin(), open.end(),
                             [&](auto a, auto b) { return gap_of(prices[a]) < gap_of(prices[b]); });
        }
    }

    /// What is not proved of the value of the best known model, as a part of that value.
    double gap_of(Price price) const {
        Cost value = kNever, bound = kNever;
        for (int k = 0; k <= settings_.max_nodes; ++k) {
            if (out_.upper[k] < kNever) value = std::min(value, price.rate * out_.upper[k] + price.of_tests(k));
            if (out_.lower[k] < kNever) bound = std::min(bound, price.rate * out_.lower[k] + price.of_tests(k));
        }
        return value > 0 ? double(value - bound) / double(value) : 0;
    }

    /// One round of a price, all numbers of tests: first the bound of trees on all points, then the search. Which of the
    /// two is faster depends on the table, and a number of tests that takes long does not keep the others waiting.
    /// True if the price is proved.
    ///
    /// In a round the bounds of all numbers of tests are raised together, to an eighth of what the price asks for at
    /// first: a search with half the bound takes a small part of the time, and a bound is as good as the weakest
    /// of its numbers of tests.
    bool prove(Price price, double share, double of_trees) {
        bound_by_trees(price, of_trees);
        std::vector<bool> left(settings_.max_nodes + 1, false);
        for (const int part : {8, 4, 2, 1})
            while (prove_one(price, part, share, left)) continue;
        return std::none_of(left.begin(), left.end(), [](bool one) { return one; });
    }

    /// That part of the bound for at most `k` tests that the price asks for.
    Cost goal_of(Price price, int k, int part) const {
        Cost best = outside(price);
        for (int j = 0; j <= settings_.max_nodes; ++j)
            if (out_.upper[j] < kNever) best = std::min(best, price.rate * out_.upper[j] + price.of_tests(j));
        const Cost room = best - price.of_tests(k);
        return room <= 0 ? Cost{0} : ((room + price.rate - 1) / price.rate + part - 1) / part;
    }

    /// Searches for one number of tests, up to that part of what the price asks for; false if none needs it. What takes
    /// too much work is left for the next round.
    bool prove_one(Price price, int part, double share, std::vector<bool>& left) {
        const int most = settings_.max_nodes;
        // What is refuted for one more test, if no less is asked for there, need not be refuted again.
        const auto is_done = [&](int k) {
            const Cost goal = goal_of(price, k, part);
            return left[k] || out_.lower[k] >= goal || (k < most && goal_of(price, k + 1, part) == goal);
        };
        // What is refuted for many tests is refuted for fewer; whole bounds are faster from the few up.
        int k = part > 1 ? most : 0;
        const int step = part > 1 ? -1 : 1;
        while (k >= 0 && k <= most && is_done(k)) k += step;
        if (k < 0 || k > most) return false;
        left[k] = !fill(k, goal_of(price, k, part), share);
        return true;
    }

    /// e(k), if it is below `need`; false if it takes more work than that.
    bool fill(int k, Cost need, double share) {
        Answer answer;
        // Searches for few tests, and of one level after another without a choice, do not pay for messages.
        const bool travels = away_ && k >= settings_.least_tests && settings_.widths.size() > 1;
        if (travels && !is_slow_ && settings_.starts < 0) {  // taken as slow without a look at the clock
            is_slow_ = true;
            build(kPartsStart, 1500);
            return true;
        }
        control_.throws_when_overdue = !is_slow_ && settings_.starts < 0;
        try {
            answer = travels ? solve_in_parts(away_, in_, control_, search_, out_.counters, k, need)
                             : search(k, need, share);
        } catch (const Overdue&) {  // the search is slow: spend some time on better models first
            control_.throws_when_overdue = false, is_slow_ = true;
            build(kSlow, 6000), anneal(share);
            return true;
        } catch (const Search::TooMuch&) {
            control_.throws_when_overdue = false;
            return false;
        }
        control_.throws_when_overdue = false;  // nobody else expects it
        if (answer.value < need) {
            Cost cost = 0;
            FlatDiagram found = flatten(in_, answer.plan.get(), cost);
            submit(k, cost, &found, answer.plan);
        }
        raise(k, answer.value);
        control_.publish({shifted(out_.lower), shifted(out_.upper)});
        return true;
    }

    /// By single tests and by intervals of them, first the way that had more success. Where bounds of single tests
    /// settle most of them, intervals ask for many more bounds; elsewhere they are what makes a search possible. A way
    /// that has settled far fewer tests of the root has less of the work.
    Answer search(int k, Cost need, double share) {
        if (!search_.takes_intervals()) return search_.solve(k, need, share, false);
        const bool singles = is_ahead(k, 0, 1), intervals = is_ahead(k, 1, 0);
        const bool first = singles || intervals ? intervals : is_together_;
        try {
            return search_one_way(k, need, share, first);
        } catch (const Search::TooMuch&) {}
        const Answer answer = search_one_way(k, need, singles || intervals ? share * kBehind : share, !first);
        is_together_ = !first;
        return answer;
    }

    Answer search_one_way(int k, Cost need, double share, bool together) {
        try {
            return search_.solve(k, need, share, together);
        } catch (const Search::TooMuch&) {
            settled_[together][k] = 1 - double(search_.open()) / in_.view.splits;
            throw;
        }
    }

    /// Whether one way has settled far more than the other.
    bool is_ahead(int k, int way, int other) const {
        return settled_[way][k] > 2 * settled_[other][k] && settled_[way][k] > settled_[other][k] + kAhead;
    }

    void submit(int k, Cost cost, const FlatDiagram* diagram, const PlanPtr& plan = nullptr) {
        bool news = false;
        const int tests = diagram ? std::min(k, int(diagram->feature.size())) : k;
        for (int j = tests; j <= settings_.max_nodes && out_.upper[j] > cost; ++j) {
            out_.upper[j] = cost, out_.has_diagram[j] = diagram != nullptr, news = true;
            out_.diagrams[j] = diagram ? *diagram : FlatDiagram{}, plan_[j] = plan;
        }
        if (news && diagram) control_.publish(Improvement{0, tests, cost + in_.offset, *diagram});
    }

    std::vector<Cost> shifted(std::vector<Cost> values) const {
        for (auto& one : values)
            if (one < kNever) one += in_.offset;
        return values;
    }
};

/// The bounds before the points were looked at: a run may be stopped while they are prepared.
Outcome nothing_known(const Settings& settings) {
    const std::size_t sizes = std::size_t(settings.max_nodes) + 1;
    Outcome out;
    out.lower.assign(sizes, 0), out.upper.assign(sizes, kNever);
    out.diagrams.resize(sizes), out.has_diagram.assign(sizes, false);
    out.proved_at.assign(settings.prices.size(), -1);
    return out;
}

}  // namespace

Outcome solve(const Points& points, const Settings& settings, Control& control, const Away& away) {
    Outcome out = nothing_known(settings);
    Instance in;
    const auto shift = [&] {
        for (auto* values : {&out.lower, &out.upper})
            for (auto& one : *values)
                if (one < kNever) one += in.offset;
    };
    try {
        in.build(points, settings.min_support, settings.memory, settings.simd, control);
        out.points = int(points.rows), out.splits = in.view.splits, out.simd = in.kernels->name;
        SizeTableSearch(in, settings, control, out, away).run();
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        out.memory_stop = true;
    }
    shift();
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::diagram
