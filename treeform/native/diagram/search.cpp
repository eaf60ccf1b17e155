// Which pass-throughs are candidates. A pass-through has no column, and all points that reach it leave by its one arc.
// It is a test in every count, and of use where a wider layer follows a narrower one, or where an arc has to reach a
// node further down that others share. With a minimum support there are none, as one side is empty; in a tree none is
// needed, as the subtree below one can take its place. Else one is a candidate at every part of every layer, the
// root included, with the bound of its head: T of the same points, one layer further down, with one test less.
//
// Consider, of the diagrams of least cost with at most k tests, one with the fewest tests. In such a diagram
//
// (a) no pass-through leads to a terminal. The arcs into it could end there as well, for the same class or cheaper
//     ones. A test both arcs of which then lead to one terminal could be left out the same way, and so on up to the
//     root, the constant model: there would be fewer tests.
// (b) no two pass-throughs lead to one node. The arcs into both could lead to one of them, which takes less room in
//     the layer. A test that had one arc to each becomes a pass-through in its own place. There would be one test less.
// (c) no layer consists of m pass-throughs alone, unless what lies below does not fit one layer higher. Below it are
//     at most m nodes in the next layer, 2 m in the one after that, and so on, and nowhere more than are left of k. If
//     the layer above each of these has that much room (`moves_up`), the row can be taken out: arcs into it lead to the
//     heads of its nodes, and if it is the root, its head is the root. Tests whose arcs then lead to one node become
//     pass-throughs as in (b). There would be fewer tests.
//
// None of the three takes weight away from a node that stays, so they hold with a minimum flow too. Hence the search
// leaves out pass-throughs that end (`send`), two with the same head (`join`), and rows of them that can move up
// (`choose_tests`, and `may_pass` for a single part), and still finds the least cost for every k. Widths that double
// never need a row of them; in 1-1-2 the root may pass.
#include "search.hpp"

#include <algorithm>
#include <limits>

namespace treeform::diagram {
namespace {

/// Searches for single tests that the bound of all points may cost, and about how many elementary steps.
constexpr double kWork = 2e6, kSteps = 6e9;
/// In the search, which goes on where a bound is given up: intervals of tests refute more in the time. (A table of six
/// tests on banknote-authentication IV: 15.7 s with 1e4, 18.9 s with 3e2 and none in 60 s with 2e6.)
constexpr std::int64_t kSearchWork = 10000;
/// What a way to send flows on, and a bound that is known, take of the time of a search for a single test, about.
constexpr double kGrouping = 0.06, kLookUp = 0.1;
/// In trees, where the search itself is faster than its bounds.
constexpr std::int64_t kTreeWork = 20000;

std::int64_t work_of(const View& v) { return std::int64_t(std::min(kWork, kSteps / steps_of_stump(v))); }

}  // namespace

Search::Search(const Instance& in, const Settings& settings, const Control& control, Counters& counters)
    : in_(in), settings_(settings), control_(control), counters_(counters),
      trees_(in, settings, control, counters), shared_(in, settings.use_pairs, settings.kept / 8),
      depth_(int(settings.widths.size())), plain_(settings.min_support == 0 && settings.min_flow == 0),
      layers_(depth_), most_bytes_(settings.kept / 16 * 3),
      work_(settings.is_tree ? kTreeWork : std::min(kSearchWork, work_of(in.view))) {
    trees_.unroll(settings.widths);
    for (auto& one : layers_) one.left.resize(in.words()), one.right.resize(in.words());
}

Answer Search::solve(int tests, Cost need, double share, bool together) {
    begin_at_root(tests);
    together_ = together;
    most_effort_ = effort() + share * double(work_of(in_.view));
    return state(0, tests - 1, need, false);
}

void Search::begin_at_root(int tests) {
    Layer& root = layers_[0];
    root.parts = 1;
    root.part.resize(1);
    root.part[0] = in_.all;
    root.budget = tests - 1;
    root.relaxed = root.probing = false;
    tally_.assign(depth_, {});
    open_ = in_.view.splits;
}

bool Search::root_may_pass(int tests) {
    begin_at_root(tests);
    return may_pass(0);
}

Answer Search::solve_range(int tests, int begin, int end, Cost need) {
    begin_at_root(tests);
    most_effort_ = std::numeric_limits<double>::infinity(), together_ = false;
    Layer& here = layers_[0];
    control_.count(counters_.states);
    if (!bound_parts(0, need)) return {here.lower_sum, nullptr};
    here.best = {need, nullptr}, here.found = false;
    here.candidates.resize(std::max<std::size_t>(here.candidates.size(), 1));
    auto& list = here.candidates[0];
    list.clear();
    if (begin == Plan::kPass) {
        const Cost lower = bound(here.part[0], 1, here.budget - 1, need);
        if (lower < need) list.push_back({Plan::kPass, Plan::kPass, std::max(lower, here.lower[0])});
    } else {
        list_range(0, 0, begin, end, need);
    }
    counters_.candidates += list.size();
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.lower < b.lower; });
    here.chosen.resize(1);
    here.side.resize(std::max<std::size_t>(here.side.size(), 2), Set(in_.words()));
    choose_tests(0, 0, here.lower_sum, ByNodes{});
    return here.found ? here.best : Answer{std::max(here.best.value, here.lower_sum), nullptr};
}

double Search::most_steps() const { return double(work_of(in_.view)) * steps_of_stump(in_.view); }

/// In searches for single tests, about.
double Search::effort() const {
    const auto known = counters_.tree_hits + counters_.conflicts + counters_.free;
    return trees_.spent() + shared_effort_ + double(counters_.states) + double(counters_.groupings) * kGrouping
           + double(known) * kLookUp;
}

Cost Search::root_bound(int tests, Cost need, double share) {
    if (!settings_.use_trees) return 0;
    const auto work = 1 + std::int64_t(share * double(work_of(in_.view)));
    return settings_.is_tree ? trees_.bound(in_.all.data(), depth_, tests, need, work)
                             : trees_.bound_unrolled(in_.all.data(), 0, tests - 1, need, work);
}

/// A lower bound for what happens to the points of a node of that layer, if `budget` tests are left below it.
Cost Search::bound(const Set& x, int layer, int budget, Cost need) {
    if (!settings_.use_trees) return 0;
    const Cost few = in_.view.classes > 2 ? least_of_classes(x, 1 + budget) : 0;
    if (few >= need) return few;
    const Cost tree = settings_.is_tree ? trees_.bound(x.data(), depth_ - layer, 1 + budget, need, work_)
                                        : trees_.bound_unrolled(x.data(), layer, budget, need, work_);
    return std::max(few, tree);
}

/// So many tests have twice as many arcs, and each of them but the first takes an arc: one more than there are tests
/// are left for terminals, so that no more classes are predicted. T knows this of trees alone, whose tests it does
/// not count but along a path.
Cost Search::least_of_classes(const Set& x, int tests) const {
    in_.leaf(x.data());
    return in_.few_classes(x.data(), std::int64_t{tests} + 1);
}

Answer Search::state(int layer, int budget, Cost need, bool relaxed) {
    Layer& here = layers_[layer];
    here.relaxed = relaxed, here.probing = false;
    control_.check();
    control_.count(counters_.states);
    if (effort() > most_effort_) throw TooMuch{};
    if (budget == 0 || layer == depth_ - 1) return bottom(layer, need);
    here.budget = budget;
    if (!bound_parts(layer, need)) {
        ++counters_.bounded;
        return {here.lower_sum, nullptr};
    }
    if (Answer answer; budget == 1 && here.parts > 1 && solve_shared(layer, need, answer)) return answer;
    const Set key = settings_.use_memory ? key_of(layer, budget, relaxed) : Set{};
    if (Entry* one = settings_.use_memory ? recall(key) : nullptr) {
        if (one->exact || one->lower >= need || one->attained <= need) {
            ++counters_.transpositions;
            return {one->lower, one->plan};
        }
    }
    here.best = {need, nullptr}, here.found = false;
    here.candidates.resize(std::max<std::size_t>(here.candidates.size(), here.parts));
    for (int j = 0; j < here.parts; ++j) list_candidates(layer, j, need);
    here.chosen.resize(here.parts);
    here.side.resize(std::max<std::size_t>(here.side.size(), 2 * here.parts), Set(in_.words()));
    search_tests(layer);
    if (!here.found) here.best = {std::max(need, here.lower_sum), nullptr};
    if (settings_.use_memory) {
        if (relaxed && here.found)
            remember(key, {0, here.best.plan, false, need});
        else
            remember(key, {here.best.value, here.best.plan, here.found});
    }
    return here.best;
}

/// No layer below: every part gets the best single test, or none.
Answer Search::bottom(int layer, Cost need) {
    Layer& here = layers_[layer];
    auto plan = std::make_shared<Plan>();
    Cost sum = 0;
    for (int j = 0; j < here.parts; ++j) {
        const Cost leaf = in_.leaf(here.part[j].data());
        Stump one{leaf, -1};
        const Cost below = std::min(leaf, need - sum);
        if (leaf > 0 && below > 0) {
            one = settings_.min_support > 0 ? supported_stump(here.part[j], below)
                                            : trees_.stump(here.part[j].data(), below);
        }
        sum += one.split >= 0 ? one.value : below < leaf ? std::max<Cost>(below, 0) : leaf;
        if (sum >= need) return {sum, nullptr};
        plan->split.push_back(one.split >= 0 ? one.split : Plan::kNoTest);
        plan->target.insert(plan->target.end(), 2, Plan::kTerminal);
    }
    return {sum, plan};
}

/// One test below, for the flows of all parts; false if their costs at every such node take too long.
bool Search::solve_shared(int layer, Cost need, Answer& answer) {
    if (!plain_ || settings_.is_tree) return false;
    const Layer& here = layers_[layer];
    shared_.clear();
    for (int j = 0; j < here.parts; ++j) {
        const bool is_known = shared_.add(here.part[j].data());
        shared_effort_ += double(shared_.work());
        if (!is_known) return false;
    }
    ++counters_.shared;
    answer = {shared_.solve(), nullptr};
    if (answer.value < need) answer.plan = shared_.plan();
    return true;
}

Stump Search::supported_stump(const Set& x, Cost below) {
    Set left(in_.words()), right(in_.words());
    Stump best{below, -1};
    for (int s = 0; s < in_.view.splits; ++s) {
        if (s % 64 == 0) control_.check();
        part_by(x, s, left, right);
        const Cost value = in_.leaf(left.data());
        if (value >= best.value || !enough(left) || !enough(right)) continue;
        const Cost sum = value + in_.leaf(right.data());
        if (sum < best.value) best = {sum, s};
    }
    return best;
}

void Search::part_by(const Set& x, int split, Set& left, Set& right) const {
    if (split == Plan::kPass) {
        left = x;
        std::fill(right.begin(), right.end(), 0);
        return;
    }
    both(x.data(), in_.split(split), left.data(), in_.words());
    without(x.data(), in_.split(split), right.data(), in_.words());
}

/// Whether a node may get these points.
bool Search::reached(const Set& x) const {
    return settings_.min_flow == 0 || in_.weight_of(x.data()) >= settings_.min_flow;
}

/// A measure that differs for nested sets that differ: where weights count, points that cost nothing matter too.
Cost Search::measure(const Set& x) const { return plain_ ? in_.mass(x.data()) : in_.weight_of(x.data()); }

bool Search::enough(const Set& x) const {
    return settings_.min_support == 0 || in_.weight_of(x.data()) >= settings_.min_support;
}

/// Bounds of the parts; false when their sum settles the state.
bool Search::bound_parts(int layer, Cost need) {
    Layer& here = layers_[layer];
    std::sort(here.part.begin(), here.part.begin() + here.parts);
    here.lower.assign(here.parts, 0);
    here.lower_sum = 0;
    for (int j = 0; j < here.parts; ++j) {
        here.lower[j] = bound(here.part[j], layer, here.budget, need - here.lower_sum);
        here.lower_sum += here.lower[j];
        if (here.lower_sum >= need) return false;
    }
    return true;
}

/// Whether pass-throughs are candidates in the state; see above, (c) for a single part.
bool Search::may_pass(int layer) const {
    if (settings_.is_tree || settings_.min_support > 0) return false;
    return layers_[layer].relaxed || layers_[layer].parts > 1 || !moves_up(layer);
}

/// Whether all that can lie below the state's parts, if all of them pass, fits one layer higher: (c).
bool Search::moves_up(int layer) const {
    const Layer& here = layers_[layer];
    std::int64_t most = std::min(here.parts, here.budget);
    for (int below = layer + 1; below < depth_; ++below, most = std::min<std::int64_t>(2 * most, here.budget))
        if (settings_.widths[below - 1] < std::min<std::int64_t>(most, settings_.widths[below])) return false;
    return true;
}

// -- states met before ---------------------------------------------------------------------------------------

Set Search::key_of(int layer, int budget, bool relaxed) const {
    const Layer& here = layers_[layer];
    Set key{Word(relaxed) << 63 | Word(layer) << 32 | Word(budget)};
    for (int j = 0; j < here.parts; ++j) key.insert(key.end(), here.part[j].begin(), here.part[j].end());
    return key;
}

Search::Entry* Search::recall(const Set& key) {
    if (const auto it = known_.find(key); it != known_.end()) return &it->second;
    const auto it = old_.find(key);
    return it == old_.end() ? nullptr : &it->second;
}

void Search::remember(Set key, Entry what) {
    const std::size_t bytes = key.size() * sizeof(Word) + sizeof(Entry) + 160;
    if (known_bytes_ + bytes > most_bytes_) {
        old_ = std::move(known_), old_bytes_ = known_bytes_;
        known_ = {}, known_bytes_ = 0;
        ++counters_.evictions;
    }
    known_bytes_ += bytes;
    known_[std::move(key)] = std::move(what);
}

}  // namespace treeform::diagram
