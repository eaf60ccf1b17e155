#pragma once
// Optimal trees under requirements on totals, over all thresholds of continuous columns. For depth 1, 2, .. up to the
// one asked for, each from the best tree and the multipliers of the one before:
//
//  1. Multipliers by the lines of known trees (multipliers.hpp). To depth two the cheapest tree at each is sought
//     exactly, and its price is a bound. From depth three on it is sought roughly, with a few thresholds of every
//     feature: nothing has to be proved here, and a bound comes from step 3.
//  2. Trees that satisfy the rows, from the fronts at the roots that were met: often the optimum.
//  3. Guess an upper bound U. Either a tree below U is found, or U is a lower bound (fronts.hpp). The guess grows until
//     something is found or the best known tree is proved.
//  4. At first only rows with a multiplier are active. What is found is then the optimum of a relaxation: a bound, and
//  the
//     answer when it satisfies the other rows. Otherwise those become active and the search goes on.
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "../common/cold.hpp"
#include "../common/give_back.hpp"
#include "../contree/rebuild.hpp"
#include "../contree/root.hpp"
#include "engine.hpp"
#include "fronts.hpp"
#include "multipliers.hpp"
#include "tree.hpp"

namespace treeform::continuous_totals {

template <class W>
class Solve {
public:
    using Cost = typename W::Cost;

    TREEFORM_COLD Solve(const Samples& samples, const Settings& settings, contree::RankedTable& ranked,
                        Amount most_price, Control& control, Outcome& out)
        : samples_(samples), settings_(settings), control_(control), out_(out),
          scans_(contree::choose_scans<typename W::Key, typename W::Sum>(settings.simd.c_str())),
          pricing_(samples, settings, most_price), data_(samples, ranked, settings.min_support, control),
          multipliers_(samples, pricing_) {
        if (contree::has_orders_alone(samples.n)) give_freed_memory_back();  // of sorting; what workers take follows
        rules_.simd = settings.simd, rules_.min_support = data_.support;
        rules_.neighbourhood = settings.neighbourhood, rules_.shrinking = settings.shrinking;
        rules_.subinterval = settings.subinterval, rules_.features = settings.features;
        out_.simd = scans_.name;
        out_.multipliers.assign(samples.rows, 0), out_.active.assign(samples.rows, 0);
    }

    TREEFORM_COLD ~Solve() = default;

    TREEFORM_COLD void run() {
        for (int c = 0; c < samples_.labels; ++c) {
            Tree constant;
            constant.label[constant.add()] = c;
            enter(constant);
        }
        if (!settings_.start.empty()) enter(settings_.start);
        for (int depth = settings_.shallow ? 1 : settings_.depth; depth <= settings_.depth; ++depth) {
            final_ = depth == settings_.depth;
            solve(depth);
        }
        out_.complete = true;
    }

    TREEFORM_COLD void count() {
        auto& sum = out_.counters;
        for (auto& worker : workers_) {
            const contree::Counters& c = worker.search.counters();
            sum.nodes += c.nodes, sum.splits += c.splits, sum.scans += c.scans;
            sum.pruned_neighbourhood += c.pruned_neighbourhood, sum.pruned_shrinking += c.pruned_shrinking;
            sum.pruned_subinterval += c.pruned_subinterval, sum.pruned_features += c.pruned_features;
            sum.add(worker.counters);
        }
        workers_.clear();
    }

private:
    static constexpr int kRoughDepth = 3, kRoughSteps = 4, kMostSteps = 30, kFirstGuess = 8, kReach = 5;
    static constexpr Amount kLeap = 16;  // times the step before
    static constexpr std::uint64_t kBrief = 64;  // pairs of a split: its lists are short
    static constexpr double kCloseEnough = 0.02;  // units of cost
    using Roots = std::set<std::pair<int, std::uint32_t>>;

    const Samples& samples_;
    const Settings& settings_;
    Control& control_;
    Outcome& out_;
    contree::Settings rules_;
    contree::ScanTable<typename W::Key, typename W::Sum> scans_;
    Pricing pricing_;
    Priced<W> data_;
    Multipliers multipliers_;
    struct Worker {  // all that one thread needs of its own
        contree::Search<W> search;
        contree::AllSplits<W> two;
        Counters counters;
        Worker(const Solve& of, Control& control)
            : search(of.data_.table, of.rules_, control, of.scans_),
              two(of.data_.table, of.rules_, control, search.counters(), of.scans_) {
            if (contree::has_orders_alone(of.data_.table.n)) search.read_lists_of(of.data_.root);
        }
    };
    std::deque<Worker> workers_;
    Roots roots_;
    Test hint_;
    bool final_ = false;
    int depth_ = 0;
    Amount upper_ = kNone, lower_ = 0;
    double value_asked_ = 0;  // of the relaxation where it was asked last, about

    Amount wanted() const { return std::min({upper_, settings_.upper, external()}); }
    Amount external() const {
        const auto outside = control_.external_upper();
        return outside == contree::kNone ? kNone : outside;
    }

    void note(Amount lower) {
        lower_ = std::max(lower_, lower);
        const Amount shown = std::min(lower_, wanted());
        if (!final_ || shown <= out_.lower) return;
        out_.lower = shown;
        control_.publish(upper_, out_.lower, {});
    }

    /// A tree becomes a line, its root a root to try, and itself the answer if it is the best.
    TREEFORM_COLD Valued enter(const Tree& tree, bool* is_new = nullptr) {
        Valued value = value_of(tree, data_, settings_);
        const bool fresh = multipliers_.add({value.cost, value.row, tree, value.admissible});
        if (is_new) *is_new = fresh;
        if (tree.feature[0] >= 0) roots_.insert({tree.feature[0], tree.key[0]});
        if (value.satisfied && value.cost < wanted()) {
            upper_ = value.cost;
            out_.tree = flattened(tree, upper_, data_), out_.upper = upper_;
            control_.publish(upper_, out_.lower, out_.tree);
        }
        return value;
    }

    TREEFORM_COLD void use(const Prices& prices) {
        data_.set(prices);
        if (!workers_.empty() && rules_.node_penalty == prices.test) return;
        count();
        rules_.node_penalty = prices.test;
        for (int w = 0; w < settings_.threads; ++w) workers_.emplace_back(*this, control_);
    }
    TREEFORM_COLD std::vector<Workshop<W>> shops() {
        std::vector<Workshop<W>> out;
        for (auto& one : workers_)
            out.push_back({data_, settings_, rules_, control_, one.counters, one.search, one.two});
        return out;
    }

    /// The cheapest tree at the present multipliers, by the exact search or the rough one; true when it is a new one.
    TREEFORM_COLD bool ask(bool rough) {
        Prices prices;
        if (!pricing_.make(multipliers_.at, true, prices)) return false;
        use(prices);
        ++out_.counters.prices;
        rules_.steps = rough ? kRoughSteps : 0;
        Cost upper = std::numeric_limits<Cost>::max() / 4;
        for (const auto& line : multipliers_.lines())
            upper = std::min(upper, static_cast<Cost>(prices.at_most(line.cost, line.row)) + 1);
        const auto reply = cheapest(depth_, upper);
        rules_.steps = 0;
        value_asked_ = static_cast<double>((Wide(reply.value) << kFraction) + prices.base - prices.constant)
                       / (static_cast<double>(prices.unit) * (1 << kFraction));
        if (!rough) note(prices.bound(reply.value));
        if (!reply.found) return false;
        const Test root = reply.as_test();
        if (root.feature >= 0) hint_ = root;
        const FlatTree flat = contree::Rebuild<W>(data_.table, rules_).tree(data_.root, reply.as_plan());
        bool fresh = false;
        enter(ranked(flat, data_), &fresh);
        return fresh;
    }
    TREEFORM_COLD contree::Answer<Cost> cheapest(int depth, Cost upper) {
        std::vector<Cost> by(data_.table.features);
        return workers_[0].search.solve(
            0, {data_.root, depth, contree::full_tree(depth), upper, data_.support, 0, 0, nullptr, hint_}, by.data());
    }

    TREEFORM_COLD void place_multipliers() {
        if (!settings_.multipliers) return;
        const bool rough = depth_ >= kRoughDepth && settings_.rough;
        bool fresh = ask(rough);
        if (final_ && rough && depth_ > kRoughDepth) half_the_dual();
        const std::vector<double> before = multipliers_.at;
        for (int i = 0; i < kMostSteps + 2 * samples_.rows; ++i) {
            const double value = multipliers_.climb();
            if (!fresh && multipliers_.at == before) break;
            fresh = ask(rough);
            if (!fresh || value - value_asked_ < kCloseEnough) break;
        }
    }

    /// Whether the rows alone, at the direction of the multipliers or one at a time, leave no tree.
    TREEFORM_COLD bool refuted() {
        std::vector<std::vector<double>> directions;
        if (std::any_of(multipliers_.at.begin(), multipliers_.at.end(), [](double m) { return m != 0; }))
            directions.push_back(multipliers_.at);
        for (int r = 0; r < samples_.rows; ++r)
            for (const int sign : {1, -1}) {
                if (sign > 0 ? samples_.hi[r] >= kNone : samples_.lo[r] <= -kNone) continue;
                directions.emplace_back(samples_.rows, 0.0);
                directions.back()[r] = sign / pricing_.scale(r);
            }
        for (auto& direction : directions) {
            const double size = std::abs(*std::max_element(
                direction.begin(), direction.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
            for (double& m : direction) m /= size;
            Prices prices;
            if (!pricing_.make(direction, false, prices)) continue;
            use(prices);
            const auto reply = cheapest(depth_, std::numeric_limits<Cost>::max() / 4);
            if (prices.bound(reply.value) < kNone) continue;
            if (final_) witness(prices);
            return true;
        }
        return false;
    }
    void witness(const Prices& prices) {
        out_.multipliers = prices.multiplier;
        out_.multiplier_unit = prices.unit << kFraction;
    }

    TREEFORM_COLD bool some_line_satisfies() const {
        for (const auto& line : multipliers_.lines()) {
            bool good = line.admissible;
            for (int r = 0; r < samples_.rows; ++r)
                good &= line.row[r] >= samples_.lo[r] && line.row[r] <= samples_.hi[r];
            if (good) return true;
        }
        return false;
    }

    TREEFORM_COLD void solve(int depth) {
        depth_ = depth, lower_ = 0;
        if (final_) out_.lower = 0;
        place_multipliers();
        if (!some_line_satisfies() && samples_.rows > 0 && refuted()) return conclude(true);
        Prices prices;
        if (!pricing_.make(multipliers_.at, true, prices)) {
            std::fill(multipliers_.at.begin(), multipliers_.at.end(), 0.0);
            pricing_.make(multipliers_.at, true, prices);
        }
        use(prices);
        if (final_) witness(prices);
        std::vector<Active> active = first_active(prices);
        while (lower_ < goal()) {
            const auto fronts = make_fronts<W>(shops(), active);
            if (!fronts) throw TooManyActive{};
            const std::optional<Tree> found = relaxation(*fronts, active);
            if (!found) break;
            const Valued value = enter(*found);
            if (!value.admissible) throw std::logic_error("a tree differs from its front");
            note(value.cost);
            if (value.satisfied) break;
            out_.counters.activated += totals::activate(active, value.row, samples_.rows, samples_.lo, samples_.hi);
        }
        if (final_)
            for (const Active& a : active) out_.active[a.row] = a.both ? 2 : a.sign;
        conclude(false);
    }
    /// A guess at half the dual is refuted in a small part of the time of the proof: a search that is stopped during
    /// what follows has a bound.
    TREEFORM_COLD void half_the_dual() {
        Prices prices;
        if (!pricing_.make(multipliers_.at, true, prices)) return;
        use(prices);
        const auto fronts = make_fronts<W>(shops(), first_active(prices));
        if (!fronts) return;
        const Amount guess = std::min(goal(), dual_value()) / 2;
        const auto progress = [&](Amount price) { note(std::min(guess, data_.prices.bound(price))); };
        if (fronts->below(depth_, guess, hint_, progress))
            enter(fronts->tree());
        else
            note(guess);
    }
    /// What all workers have listed and joined since they were made.
    TREEFORM_COLD Counters listed() const {
        Counters sum;
        for (const Worker& worker : workers_) sum.add(worker.counters);
        return sum;
    }
    /// By how much guesses may grow at a time where lists are long: units of cost are cheap or dear, depending on the
    /// weights.
    Amount stride() const { return std::max<Amount>(kFirstGuess, pricing_.most_cost() >> 12); }
    Amount goal() const { return std::min(wanted(), pricing_.most_cost() + 1); }

    void conclude(bool impossible) {
        if (!final_) return;
        if (upper_ >= kNone && (impossible || lower_ > pricing_.most_cost())) out_.infeasible = true;
        note(impossible ? pricing_.most_cost() + 1 : goal());
    }

    /// The optimum under the active rows; nothing when it does not cost less than what is wanted. Raises the bound.
    TREEFORM_COLD std::optional<Tree> relaxation(AnyFronts& fronts, const std::vector<Active>& active) {
        const Amount dual = dual_value();
        std::optional<Tree> best = known_tree(active);
        Amount known = best ? value_of(*best, data_, settings_).cost : kNone;
        // Where a support binds, most splits are alive at the first guess already, and the last one costs as much.
        Amount step = data_.support > 0 && depth_ == 2 ? kNone : 1;
        if (settings_.roots && depth_ >= 2 && known > dual)
            if (auto tree = at_roots(fronts, std::min(known, goal()), dual)) {
                best = std::move(tree);
                known = enter(*best).cost;
                step = std::max<Amount>(1, std::min<Amount>(known - dual, stride()));
            }
        while (lower_ < std::min(goal(), known)) {
            const Amount most = std::min(goal(), known);
            const Amount guess = settings_.steps ? std::min(most, std::max(lower_, dual) + std::min(step, most)) : most;
            ++out_.counters.guesses;
            const auto progress = [&](Amount price) { note(std::min(guess, data_.prices.bound(price))); };
            const Counters before = listed();
            if (fronts.below(depth_, guess, hint_, progress)) return fronts.tree();
            note(guess);
            const Counters after = listed();
            const bool brief = data_.support > 0 && after.pairs - before.pairs <= kBrief * (after.alive - before.alive);
            step = brief ? kLeap * std::min(step, most / kLeap + 1) : std::min(2 * step, step + stride());
        }
        return known <= goal() ? best : std::nullopt;
    }

    /// What the lines say about the relaxation's value: a place to begin, no bound.
    TREEFORM_COLD Amount dual_value() const {
        Amount low = kNone;
        for (const auto& line : multipliers_.lines())
            low = std::min(low, data_.prices.bound(data_.prices.at_most(line.cost, line.row)));
        return std::clamp<Amount>(low, 0, pricing_.most_cost());
    }
    /// The cheapest known tree that satisfies the active rows and the supports.
    TREEFORM_COLD std::optional<Tree> known_tree(const std::vector<Active>& active) const {
        const Line* best = nullptr;
        for (const auto& line : multipliers_.lines()) {
            bool good = line.admissible && (!best || line.cost < best->cost);
            for (const auto& [row, sign, both] : active) {
                const bool over = line.row[row] > samples_.hi[row], under = line.row[row] < samples_.lo[row];
                good &= both ? !over && !under : sign > 0 ? !over : !under;
            }
            if (good) best = &line;
        }
        return best ? std::optional<Tree>(best->tree) : std::nullopt;
    }

    /// The best tree with a root that was met before, below `most` and not far above `dual`.
    TREEFORM_COLD std::optional<Tree> at_roots(AnyFronts& fronts, Amount most, Amount dual) {
        std::optional<Tree> best;
        for (Amount step = 1;; step *= 2) {
            Amount guess = std::min(most, dual + step);
            for (const auto& [feature, key] : roots_) {
                control_.check();
                if (!fronts.below_at(depth_, guess, {feature, key})) continue;
                guess = fronts.cost();
                best = fronts.tree();
            }
            if (best || guess >= most || step > kReach * stride()) return best;
        }
    }

    TREEFORM_COLD std::vector<Active> first_active(const Prices& prices) const {
        std::vector<Active> active;
        for (int r = 0; r < samples_.rows; ++r) {
            const bool low = samples_.lo[r] > -kNone, high = samples_.hi[r] < kNone;
            const Amount mu = prices.multiplier[r];
            const int sign = mu > 0 ? 1 : mu < 0 ? -1 : high ? 1 : -1;
            if (mu != 0 || (!settings_.lazy && (low || high)))
                active.push_back({r, sign, !settings_.lazy && low && high});
        }
        return active;
    }
};

/// Ranks the columns and solves in the widths of W.
template <class W>
void solve_as(const Samples& samples, const Settings& settings, contree::RankedTable& ranked,
              Amount most_price, Control& control, Outcome& out) {
    Solve<W> run(samples, settings, ranked, most_price, control, out);
    struct Count {
        Solve<W>& run;
        ~Count() { run.count(); }
    } const at_the_end{run};
    run.run();
}

}  // namespace treeform::continuous_totals
