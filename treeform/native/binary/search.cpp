// DL8.5 and CA-DL8.5 on one recursion.
//
// explore(node, depth, tests, bound) looks for the best tree of that depth and number of tests for the node's rows
// that costs less than `bound`. It returns a tree (the best it knows) and a lower bound that holds for *all* trees;
// the subproblem is settled when the two are equal, or when the lower bound reaches `bound`. This pair replaces the
// paper's (error, ub, optimal) and makes every answer, also that of an interrupted or rule-pruned search, a true
// statement.
//
//  1. Depth three and less is not searched: depth_three.hpp solves it from triple counts. Those answers are exact.
//  2. Above that, a node first gets its best depth-two tree (from the same pair table that ranks the candidates), so
//     that every node has a good tree at once, and the first tree of depth d costs d - 2 greedy choices.
//  3. Candidates are visited in the order of the heuristic. For each one the cache gives the known bounds of its two
//     sides; the similarity bound transfers bounds from candidates already settled: for row sets A and B,
//        opt(A) >= opt(B) - mass(B \ A),
//     because a tree for A used on B loses at most the mass of the rows that A lacks. The node's mass table gives
//     mass(B \ A) for any two sides of two candidates.
//  4. A rule may leave a candidate for a later restart. Nothing is proved about it then, so its bound stays low, and
//     with it the node's. The run ends when the root's bounds are equal.
//  5. An improvement anywhere is completed at once to a whole tree with the best known trees of the sibling subtrees
//     on the path, so that the incumbent moves long before the recursion returns.
//
// Min support: a tree that is feasible for a set may not be so for a subset, so the similarity bound is off then.
#include "search.hpp"

#include <cmath>
#include <stdexcept>

namespace treeform::binary {

Search::Search(std::unique_ptr<RowSets> row_sets, const Settings& settings, SharedIncumbent& shared,
               const Control& control, std::size_t memory)
    : holder_(std::move(row_sets)), row_sets_(*holder_), settings_(settings), shared_(shared), control_(control),
      cache_(row_sets_, memory, std::max(1, settings.threads), settings.cache, counters), writer_(row_sets_, settings),
      similarity_(settings.similarity && settings.min_support <= 1) {
    row_sets_.counters = &counters;
    for (int i = 0; i <= settings.depth; ++i) frames_.emplace_back();
    row_sets_.root(root_);
}

void Search::begin(const Rules* rules, std::uint64_t most) {
    rules_ = rules;
    most_work_ = counters.work + most < most ? ~std::uint64_t(0) : counters.work + most;
    paused = false;
}

void Search::pass(const Rules* rules, std::uint64_t most) {
    begin(rules, most);
    const Context start{0, 0, 0, double(root_.leaf), double(root_.mass)};
    try {
        search_root(shared_.limit(), rules ? rules->initial(start) : Rules::States{});
    } catch (const Paused&) {
        paused = true;
    }
}

/// As explore(), but the candidates are shared with the other workers.
void Search::search_root(Cost bound, const Rules::States& states) {
    const std::int64_t tests = most_tests();
    if (root_.leaf < kNever) improve(0, root_.leaf, Plan::a_leaf());
    if (trivial(root_, settings_.depth, tests) || bottom(settings_.depth)) {
        if (shared_.next++ > 0) return;  // one worker is enough
        const Known known = trivial(root_, settings_.depth, tests) ? Known{root_.leaf, root_.leaf, Plan::a_leaf()}
                                                                   : solve_directly(root_, settings_.depth, tests);
        if (known.plan) improve(0, known.upper, known.plan);
        root_known_ = known.lower;
        return;
    }
    Frame& frame = frames_[0];
    frame.known = {0, root_.leaf, root_.leaf < kNever ? Plan::a_leaf() : nullptr};
    open(root_, 0, settings_.depth, tests);
    while (true) {
        const std::size_t i = shared_.next++;
        if (i >= frame.order.size()) return;
        bound = std::min(bound, shared_.limit());
        branch(root_, 0, settings_.depth, tests, bound, states, int(i));
    }
}

/// As branch() at the root without rules, for one column. The frame of the root stays open from one call to the next,
/// so that bounds by similarity come from the columns that were searched here before.
void Search::solve_root_test(RootTest& part) {
    const int column = column_of(root_, part.feature);
    if (column < 0) throw std::invalid_argument("the test tells no rows apart");
    begin(nullptr, ~std::uint64_t(0));
    part_ = &part;
    Frame& frame = frames_[0];
    if (frame.order.empty()) open(root_, 0, settings_.depth, most_tests());
    frame.known = {};
    if (root_.side_leaf[0][column] >= kNever || root_.side_leaf[1][column] >= kNever) {
        part.lower[0] = kNever;  // too few rows on one side
        return;
    }
    const int one = root_.flip[column] ? 1 : 0;  // the side where the feature is 1
    for (int s = 0; s < 2; ++s)
        frame.side_lower[s][column] = std::max(frame.side_lower[s][column], part.lower[s == one]);
    const std::int64_t most = full(settings_.depth - 1);
    const Rules::States none{};
    const Rules::States* const states[2] = {&none, &none};
    Sides sides{{}, {most, most}, {false, false}, true};
    split(root_, 0, settings_.depth, column, sides, part.upper, states);
    for (int s = 0; s < 2; ++s) {
        Cost& lower = part.lower[s == one];
        lower = std::max(lower, sides.known[s].lower);
    }
    part.cost = frame.known.upper, part.plan = frame.known.plan;
}

/// What others have proved of pairs of tests: the same rows are met below either of them.
void Search::begin_side(const Node& node, Frame& frame) {
    if (part_->pairs.empty()) return;
    const Cost* pairs = part_->pairs_of(frames_[0].side);
    for (int j = 0; j < node.columns; ++j)
        for (int s = 0; s < 2; ++s) {
            const int value = (s == 0) != bool(node.flip[j]);
            frame.side_lower[s][j] = pairs[2 * std::size_t(node.feature[j]) + value];
        }
}

void Search::end_side(const Node& node, const Frame& frame) {
    if (part_->pairs.empty()) return;
    Cost* pairs = part_->pairs_of(frames_[0].side);
    for (int j = 0; j < node.columns; ++j)
        for (int s = 0; s < 2; ++s) {
            const int value = (s == 0) != bool(node.flip[j]);
            Cost& known = pairs[2 * std::size_t(node.feature[j]) + value];
            known = std::max(known, frame.side_lower[s][j]);
        }
}

/// Count work, so that a pass can be given a share of it.
void Search::count_work(const Node& node, int depth) {
    counters.work += (depth >= 3 ? triples_work(node) : pairs_work(node)) / 16 + 1;
    if (counters.work > most_work_) throw Paused{};
}

/// A better tree for the subproblem at `level`: complete it with the best trees of the siblings above, up to the
/// incumbent.
void Search::improve(int level, Cost cost, PlanPtr plan) {
    while (true) {
        Known& known = frames_[level].known;
        if (level == 0) {
            if (cost < known.upper) known.upper = cost, known.plan = plan;
            if (cost < shared_.upper()) shared_.offer(cost, plan, writer_);
            return;
        }
        if (cost >= known.upper) return;
        known.upper = cost, known.plan = plan;
        const Frame& above = frames_[--level];
        cost = plus(plus(cost, above.other), settings_.node_penalty);
        plan = above.side == 1 ? Plan::test(above.feature, above.other_plan, plan)
                               : Plan::test(above.feature, plan, above.other_plan);
    }
}

Cost Search::frame_lower(const Frame& frame) const {
    Cost lower = frame.known.upper;
    for (const Cost c : frame.lower) lower = std::min(lower, c);
    return frame.order.empty() ? 0 : lower;
}

Search::Known Search::solve_directly(Node& node, int depth, std::int64_t tests) {
    const Cost penalty = settings_.node_penalty;
    count_work(node, depth);
    Solved s;
    if (depth == 1)
        s = solve_one(node, tests, penalty);
    else if (depth == 2)
        s = solve_two(row_sets_, node, tests, penalty);
    else
        s = solve_three(row_sets_, node, tests, penalty, control_.stopping);
    Known known;
    known.upper = s.cost, known.lower = s.cost;
    if (s.cost < kNever) known.plan = plan_of(node, s, depth);
    return known;
}

Search::Known Search::explore(Node& node, int level, int depth, std::int64_t tests, Cost bound,
                              const Rules::States& states) {
    control_.check();
    control_.count(counters.nodes);
    tests = std::min(tests, full(depth));
    Known known;
    known.upper = node.leaf;
    if (node.leaf < kNever) known.plan = Plan::a_leaf();
    if (trivial(node, depth, tests)) {
        known.lower = known.upper;
        return known;
    }
    const Slack slack = rules_ ? rules_->slack(states) : Rules{}.slack(states);
    if (Entry* e = depth >= 3 ? cache_.find(node.cover, node.hash, depth, tests) : nullptr) {
        known.lower = e->lower;
        if (e->upper < known.upper) known.upper = e->upper, known.plan = e->plan;
        const bool searched = Rules::covers(e->slack, slack) && (bound <= e->within || e->upper < e->within);
        if (known.exact() || known.lower >= bound || searched) return known;
    }
    if (bottom(depth)) {
        known = solve_directly(node, depth, tests);
    } else {
        Frame& frame = frames_[level];
        frame.known = known;
        open(node, level, depth, tests);
        if (level == 1 && part_) begin_side(node, frame);
        for (std::size_t i = 0; i < frame.order.size(); ++i)
            branch(node, level, depth, tests, bound, states, int(i));
        if (level == 1 && part_) end_side(node, frame);
        known = frame.known;
        known.lower = std::max(known.lower, frame_lower(frame));
    }
    if (depth >= 3)
        if (Entry* e = cache_.entry_for(node, depth, tests)) {
            e->lower = std::max(e->lower, known.lower);
            e->slack = slack, e->within = bound;
            if (cache_.room()) {
                if (known.upper < e->upper) e->upper = known.upper, e->plan = known.plan;
            } else {  // without its tree, a success does not count as searched
                if (known.upper < bound) e->within = 0;
                e->upper = kNever, e->plan = nullptr;
            }
        }
    return known;
}

/// Rank the candidates; the pair table gives the best tree of depth two on the way.
void Search::open(Node& node, int level, int depth, std::int64_t tests) {
    Frame& frame = frames_[level];
    count_work(node, 2);
    row_sets_.pairs(node);
    const Solved two = solve_two(row_sets_, node, std::min<std::int64_t>(tests, 3), settings_.node_penalty);
    frame.order.clear();
    frame.settled.clear();
    frame.lower.assign(node.columns, settings_.node_penalty);
    for (auto& s : frame.side_lower) s.assign(node.columns, 0);
    if (two.cost < frame.known.upper) improve(level, two.cost, plan_of(node, two, 2));
    if (similarity_ && tests == full(depth)) row_sets_.prepare_distances(node);
    rank(node, frame);
}

void Search::rank(Node& node, Frame& frame) {
    const int k = row_sets_.labels();
    std::vector<double> with(k), all(k);
    frame.score.resize(node.columns);
    frame.gain.resize(node.columns);
    const auto gini = [](double x, double n) { return x * x / n; };
    const auto entropy = [](double x, double n) { return x > 0 ? -x * std::log2(x / n) : 0; };
    for (int j = 0; j < node.columns; ++j) {
        row_sets_.class_weights(node, j, with.data(), all.data());
        double n1 = 0, n = 0;
        for (int c = 0; c < k; ++c) n1 += with[c], n += all[c];
        const double n0 = n - n1;
        double impurity = n, rest = 0;
        for (int c = 0; c < k; ++c) {
            const double w0 = all[c] - with[c];
            if (n1 > 0) impurity -= gini(with[c], n1);
            if (n0 > 0) impurity -= gini(w0, n0);
            rest += entropy(with[c], n1) + entropy(w0, n0);
        }
        frame.gain[j] = n > 0 ? -rest / n : 0;
        if (settings_.order == "gain")
            frame.score[j] = rest;
        else if (settings_.order == "error")
            frame.score[j] = double(plus(node.side_leaf[0][j], node.side_leaf[1][j]));
        else if (settings_.order == "lookahead")
            frame.score[j] = double(plus(node.side_one[0][j], node.side_one[1][j])) + impurity / (n + 1) / 2;
        else
            frame.score[j] = impurity;
    }
    for (int j = 0; j < node.columns; ++j) frame.order.push_back(j);
    std::stable_sort(frame.order.begin(), frame.order.end(),
                     [&](int a, int b) { return frame.score[a] < frame.score[b]; });
    const double most = node.columns ? *std::max_element(frame.gain.begin(), frame.gain.end()) : 0;
    for (double& g : frame.gain) g = most - g;
}

Context Search::context(const Node& node, const Frame& frame, int column, int side, int rank, int level) const {
    return {rank, level + 1, frame.gain[column], double(node.side_leaf[side][column]),
            double(node.side_mass[side][column])};
}

/// All trees whose root is the candidate of that rank.
void Search::branch(Node& node, int level, int depth, std::int64_t tests, Cost bound, const Rules::States& states,
                    int rank) {
    Frame& frame = frames_[level];
    const int column = frame.order[rank];
    Rules::States below[2];
    bool pruned[2] = {false, false};
    if (rules_)
        for (int side = 0; side < 2; ++side) {
            below[side] = rules_->update(states, context(node, frame, column, side, rank, level));
            if (node.side_leaf[side][column] <= settings_.node_penalty) below[side] = rules_->terminal(below[side]);
            const Rules::Verdict verdict = rules_->prune(below[side], level + 1, needs);
            if (verdict == Rules::skip) return;
            pruned[side] = verdict == Rules::shallow;
        }
    if (node.side_leaf[0][column] >= kNever || node.side_leaf[1][column] >= kNever) {
        frame.lower[column] = kNever;  // too few rows on one side
        return;
    }
    const std::int64_t most = full(depth - 1);
    const bool all = tests - 1 >= 2 * most;
    Cost lower = kNever;
    for (std::int64_t a = all ? most : std::max<std::int64_t>(0, tests - 1 - most); a <= std::min(most, tests - 1);
         ++a) {
        const std::int64_t b = std::min(most, tests - 1 - a);
        const Rules::States* s[2] = {pruned[0] ? nullptr : &below[0], pruned[1] ? nullptr : &below[1]};
        Sides sides{{}, {a, b}, {false, false}, all};
        lower = std::min(lower, split(node, level, depth, column, sides, bound, s));
    }
    frame.lower[column] = lower;
}

Search::Known Search::look_up(Frame& frame, const Node& node, int column, int side, int depth, std::int64_t tests) {
    Known known;
    known.upper = node.side_leaf[side][column];
    known.plan = Plan::a_leaf();
    if (known.upper <= settings_.node_penalty || depth == 0 || tests == 0) {
        known.lower = known.upper;
        return known;
    }
    if (depth < 3 || !settings_.cache) return known;
    const auto& ones = row_sets_.literal[node.feature[column]];
    const std::uint64_t turn = (side == 0) == bool(node.flip[column]) ? ~std::uint64_t(0) : 0;
    frame.look_up.resize(row_sets_.words);
    for (int w = 0; w < row_sets_.words; ++w) frame.look_up[w] = node.cover[w] & (ones[w] ^ turn);
    if (Entry* e = cache_.find(frame.look_up, RowSets::hash(frame.look_up), depth, tests)) {
        known.lower = e->lower;
        if (e->upper < known.upper) known.upper = e->upper, known.plan = e->plan;
    }
    return known;
}

/// Bounds of the two sides of a column from those of the columns already settled.
void Search::similarity(Node& node, Frame& frame, int column) {
    const Cost m = node.mass, mf = node.side_mass[0][column];
    Cost in = frame.side_lower[0][column], out = frame.side_lower[1][column];
    for (const int g : frame.settled) {
        const Cost mg = node.side_mass[0][g], both = row_sets_.shared_mass(node, g, column);
        const Cost a = frame.side_lower[0][g], b = frame.side_lower[1][g];
        in = std::max({in, a - (mg - both), b - (m - mf - mg + both)});
        out = std::max({out, a - both, b - (mf - both)});
    }
    frame.side_lower[0][column] = in, frame.side_lower[1][column] = out;
}

/// Enter the known bounds of the two sides; returns the proved bound for trees with this root test.
Cost Search::record_bounds(const Node& node, int level, int column, const Sides& sides) {
    Frame& frame = frames_[level];
    const Cost lower = plus(plus(sides.known[0].lower, sides.known[1].lower), settings_.node_penalty);
    if (sides.all) frame.lower[column] = lower;  // with a budget, one of several ways to share it
    const Cost cost = plus(plus(sides.known[0].upper, sides.known[1].upper), settings_.node_penalty);
    if (cost < frame.known.upper) {
        const int one = node.flip[column] ? 1 : 0;  // the side where the feature is 1
        improve(level, cost, Plan::test(node.feature[column], sides.known[1 - one].plan, sides.known[one].plan));
    }
    return lower;
}

/// The rows of one side, made once.
Node& Search::rows_of(const Node& node, Frame& frame, int depth, int column, int side, Sides& sides) {
    if (!sides.made[side]) row_sets_.child(node, column, side, frame.child[side], depth - 1 >= 3);
    sides.made[side] = true;
    return frame.child[side];
}

/// A tree of depth two, at most, for one side of a test.
void Search::shallow(const Node& node, Frame& frame, int depth, int column, int side, Sides& sides) {
    Known& known = sides.known[side];
    Node& rows = rows_of(node, frame, depth, column, side, sides);
    const int levels = std::min(depth - 1, 2);
    const std::int64_t tests = std::min(sides.tests[side], full(levels));
    count_work(rows, levels);
    const Solved s = levels < 2 ? solve_one(rows, tests, settings_.node_penalty)
                                : solve_two(row_sets_, rows, tests, settings_.node_penalty);
    if (s.cost < known.upper) known.upper = s.cost, known.plan = plan_of(rows, s, levels);
}

/// Search one side of a test, with the best known tree for the other one, so that complete trees can be submitted.
void Search::search_side(Node& node, int level, int depth, int column, int s, Cost bound, const Rules::States& states,
                         Sides& sides) {
    Frame& frame = frames_[level];
    Known &mine = sides.known[s], &other = sides.known[1 - s];
    // So that improvements on this side count at once, not only when the other has been searched.
    if (!bottom(depth - 1) && !other.exact() && !sides.made[1 - s]) shallow(node, frame, depth, column, 1 - s, sides);
    frame.feature = node.feature[column];
    frame.side = (s == 0) != bool(node.flip[column]) ? 1 : 0;
    frame.other = other.upper, frame.other_plan = other.plan;
    const Cost left = std::min(bound, frame.known.upper) - settings_.node_penalty - other.lower;
    Node& rows = rows_of(node, frame, depth, column, s, sides);
    const Known found = explore(rows, level + 1, depth - 1, sides.tests[s], left, states);
    frame.feature = -1, frame.other = kNever, frame.other_plan = nullptr;
    mine.lower = std::max(mine.lower, found.lower);
    if (found.upper < mine.upper) mine.upper = found.upper, mine.plan = found.plan;
}

/// All trees with that root test and that many tests on its sides; returns their proved bound.
Cost Search::split(Node& node, int level, int depth, int column, Sides& sides, Cost bound,
                   const Rules::States* const* states) {
    Frame& frame = frames_[level];
    for (int s = 0; s < 2; ++s) sides.known[s] = look_up(frame, node, column, s, depth - 1, sides.tests[s]);
    const bool similar = sides.all && similarity_;
    if (similar) similarity(node, frame, column);
    if (sides.all)
        for (int s = 0; s < 2; ++s) sides.known[s].lower = std::max(sides.known[s].lower, frame.side_lower[s][column]);
    Cost lower = record_bounds(node, level, column, sides);
    const int first = node.side_leaf[0][column] >= node.side_leaf[1][column] ? 0 : 1;
    for (int turn = 0; turn < 2; ++turn) {
        const int s = turn == 0 ? first : 1 - first;
        if (lower >= std::min(bound, frame.known.upper)) {
            ++(turn == 0 ? counters.pruned_similarity : counters.pruned_bound);
            break;
        }
        if (sides.known[s].exact()) continue;
        if (states[s])
            search_side(node, level, depth, column, s, bound, *states[s], sides);
        else
            shallow(node, frame, depth, column, s, sides);
        lower = record_bounds(node, level, column, sides);
    }
    if (sides.all)
        for (int s = 0; s < 2; ++s)
            frame.side_lower[s][column] = std::max(frame.side_lower[s][column], sides.known[s].lower);
    if (similar) frame.settled.push_back(column);
    return lower;
}

}  // namespace treeform::binary
