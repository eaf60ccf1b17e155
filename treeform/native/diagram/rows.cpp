#include "rows.hpp"

#include <algorithm>
#include <new>

#include "flat_diagram.hpp"

namespace treeform::diagram {
namespace {

constexpr std::int64_t kEachBound = 20000;  // searches for single tests that one bound may cost
constexpr std::size_t kFewOptions = 512;  // lists that are searched for dominated entries in pairs

using Amounts = std::vector<Cost>;  // the true cost, and what is taken of every row

/// What a part of the last layer can become: a terminal of class `left` (split kNoTest), or a test with two terminals.
struct Option {
    Cost reduced;
    Amounts amounts;
    int split, left, right;
};

struct Options {
    Cost slack = -1;  // all of at most so much are listed
    std::vector<Option> list;
};

/// One layer of the diagram that is being made; heads as in FlatDiagram, nodes by their number in the next layer.
struct Chosen {
    std::vector<int> split, head;
};

class RowSearch {
public:
    RowSearch(const Instance& in, const Settings& settings, const Rows& rows, Control& control, RowOutcome& out)
        : in_(in), settings_(settings), rows_(rows), control_(control), out_(out),
          trees_(in, settings, control, out.counters),
          depth_(int(settings.widths.size())), sum_(rows.taken.size() + 1, 0), chosen_(depth_) {
        trees_.unroll(settings.widths);
        least_ = rows.below;
    }

    void run() {
        for (int k = 0; k < in_.view.classes; ++k) {  // no test at all
            add(amounts(in_.all, k), 1);
            if (holds()) take(FlatDiagram{.constant = k});
            add(amounts(in_.all, k), -1);
        }
        if (settings_.max_nodes > 0) layer(0, {in_.all}, settings_.max_nodes - 1, 0);
        out_.complete = true;
    }

private:
    struct Flow {
        Set set;
        int part, side;
        bool passes;
        Cost lower;
    };
    struct Group {
        Set set;
        std::uint64_t parts;
        bool has_pass;
    };
    struct KeyHash {
        std::size_t operator()(const Set& key) const { return hash_of(key.data(), int(key.size()), 2); }
    };
    /// What one call of `layer` works on.
    struct State {
        int layer, budget;
        std::vector<Set> parts;
        std::vector<std::vector<std::pair<Cost, int>>> tests;  // by part: bound and split
        std::vector<Cost> rest;  // suffix sums of the parts' bounds
        std::vector<Flow> flows;
        std::vector<Cost> flow_rest;
        std::vector<Group> groups;
        Chosen chosen;
    };

    const Instance& in_;
    const Settings& settings_;
    const Rows& rows_;
    Control& control_;
    RowOutcome& out_;
    Trees trees_;
    int depth_;
    Cost least_;
    Amounts sum_;
    std::vector<Chosen> chosen_;
    std::unordered_map<Set, Options, KeyHash> options_;
    std::size_t options_bytes_ = 0;

    /// The largest relative reduced cost of a diagram that is still wanted.
    Cost limit() const {
        if (least_ >= kNever) return kNever;
        const __int128 limit = static_cast<__int128>(rows_.rate) * (least_ - 1) + rows_.base - in_.offset;
        return static_cast<Cost>(std::clamp<__int128>(limit, -kNever, kNever));
    }

    Cost bound(const Set& x, int layer, int budget, Cost need) {
        if (need <= 0) return 0;
        return trees_.bound_unrolled(x.data(), layer, budget, need, kEachBound);
    }

    template <class Each>
    void each_point(const Set& x, const Each& each) const {
        for (int w = 0; w < in_.words(); ++w)
            for (Word bits = x[w]; bits; bits &= bits - 1) each(std::size_t(w) * 64 + __builtin_ctzll(bits));
    }
    Amounts amounts(const Set& x, int k) const {
        Amounts out(sum_.size(), 0);
        const int classes = in_.view.classes;
        each_point(x, [&](std::size_t p) {
            out[0] += rows_.truth[p * classes + k];
            for (std::size_t r = 0; r < rows_.taken.size(); ++r) out[r + 1] += rows_.taken[r][p * classes + k];
        });
        return out;
    }
    std::vector<Cost> reduced(const Set& x) const {
        std::vector<Cost> by(in_.view.classes);
        in_.kernels->leaf(in_.view, x.data(), by.data());
        return by;
    }
    void add(const Amounts& amounts, Cost times) {
        for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += times * amounts[i];
    }
    bool holds() const {
        for (std::size_t r = 0; r < rows_.rhs.size(); ++r)
            if (sum_[r + 1] > rows_.rhs[r]) return false;
        return sum_[0] < least_;
    }
    void take(FlatDiagram diagram) {
        drop_idle(diagram);
        least_ = out_.cost = sum_[0], out_.found = true;
        control_.publish(Improvement{0, int(diagram.feature.size()), least_, diagram});
        out_.diagram = std::move(diagram);
    }

    void part_by(const Set& x, int split, Set& left, Set& right) const {
        both(x.data(), in_.split(split), left.data(), in_.words());
        without(x.data(), in_.split(split), right.data(), in_.words());
    }

    /// The different ways in which tests part the points of x, with points on the right, feature by feature;
    /// `visit(left, right, test)` says whether to go on with those of the feature, whose left sides grow.
    template <class Visit>
    void each_division(const Set& x, const Visit& visit) const {
        Set left(in_.words()), right(in_.words()), before(in_.words());
        for (int f = 0; f < in_.view.features; ++f) {
            std::fill(before.begin(), before.end(), 0);
            for (int s = in_.view.first[f]; s < in_.view.first[f + 1]; ++s) {
                part_by(x, s, left, right);
                if (left == before || empty(right.data(), in_.words())) continue;
                before = left;
                if (!visit(left, right, s)) break;
            }
        }
    }

    /// All diagrams from here on, for the points that arrive at the nodes of a layer, all of which have a test (in the
    /// last layer they may be terminals). `budget`: tests left for the layers below. `paid`: reduced cost so far.
    void layer(int l, std::vector<Set> parts, int budget, Cost paid) {
        control_.check();
        ++out_.counters.states;
        State at{l, budget, std::move(parts), {}, {}, {}, {}, {}, {}};
        const std::size_t many = at.parts.size();
        const Cost slack = limit() - paid;
        Cost lower = 0;
        std::vector<Cost> each(many);
        for (std::size_t j = 0; j < many; ++j) {
            lower += each[j] = bound(at.parts[j], l, budget, slack + 1 - lower);
            if (lower > slack) return void(++out_.counters.bounded);
        }
        if (l == depth_ - 1 || budget == 0) return last(l, at.parts, paid);
        at.rest.assign(many + 1, 0), at.tests.resize(many);
        for (std::size_t j = 0; j < many; ++j) {
            list_tests(at, j, slack - (lower - each[j]));
            if (at.tests[j].empty()) return;
        }
        for (std::size_t j = many; j-- > 0;) at.rest[j] = at.rest[j + 1] + at.tests[j].front().first;
        at.chosen.split.assign(many, 0), at.chosen.head.assign(2 * many, 0);
        choose(at, 0, 0, paid);
    }

    /// The tests of a part whose bound is at most `slack`, the least first; a pass-through is among them.
    void list_tests(State& at, std::size_t j, Cost slack) {
        const Set& x = at.parts[j];
        const int next = at.layer + 1, b = at.budget - 1;
        each_division(x, [&](const Set& left, const Set& right, int s) {
            const Cost low = bound(left, next, b, slack + 1);
            if (low > slack) return false;  // later left sides hold this one
            const Cost high = bound(right, next, b, slack + 1 - low);
            if (low + high > slack) return true;
            Cost lower = std::min(low + in_.leaf(right.data()), in_.leaf(left.data()) + high);
            if (b >= 1 && settings_.widths[next] >= 2) {
                const Cost low_two = bound(left, next, b - 1, slack + 1);
                lower = std::min(lower, low_two + bound(right, next, b - 1, slack + 1 - low_two));
            }
            if (lower <= slack) at.tests[j].push_back({lower, s});
            return true;
        });
        const Cost lower = bound(x, next, b, slack + 1);
        if (lower <= slack) at.tests[j].push_back({lower, Plan::kPass});
        std::stable_sort(at.tests[j].begin(), at.tests[j].end(),
                         [](const auto& a, const auto& c) { return a.first < c.first; });
    }

    void choose(State& at, std::size_t j, Cost lower, Cost paid) {
        if (j == at.parts.size()) return list_flows(at, paid);
        for (const auto& [own, split] : at.tests[j]) {
            if (lower + own + at.rest[j + 1] > limit() - paid) return;
            at.chosen.split[j] = split;
            choose(at, j + 1, lower + own, paid);
        }
    }

    void list_flows(State& at, Cost paid) {
        at.flows.clear(), at.groups.clear();
        for (std::size_t j = 0; j < at.parts.size(); ++j) {
            const int split = at.chosen.split[j];
            if (split == Plan::kPass) {
                at.flows.push_back({at.parts[j], int(j), 0, true, 0});
                continue;
            }
            Set left(in_.words()), right(in_.words());
            part_by(at.parts[j], split, left, right);
            at.flows.push_back({std::move(left), int(j), 0, false, 0});
            at.flows.push_back({std::move(right), int(j), 1, false, 0});
        }
        at.flow_rest.assign(at.flows.size() + 1, 0);
        for (std::size_t i = at.flows.size(); i-- > 0;) {
            Flow& one = at.flows[i];
            one.lower = bound(one.set, at.layer + 1, at.budget - 1, in_.leaf(one.set.data()));
            at.flow_rest[i] = at.flow_rest[i + 1] + one.lower;
        }
        send(at, 0, paid, 0);
    }

    /// Where flow `i` and the later ones go. `lower`: bounds of the flows that go on so far.
    void send(State& at, std::size_t i, Cost paid, Cost lower) {
        if (paid + lower + at.flow_rest[i] > limit()) return;
        if (i == at.flows.size()) return descend(at, paid);
        ++out_.counters.groupings;
        const Flow& one = at.flows[i];
        int& head = at.chosen.head[2 * one.part + one.side];
        const std::uint64_t bit = std::uint64_t{1} << one.part;
        if (int(at.groups.size()) < std::min(settings_.widths[at.layer + 1], at.budget)) {
            at.groups.push_back({one.set, bit, one.passes});
            head = int(at.groups.size()) - 1;
            send(at, i + 1, paid, lower + one.lower);
            at.groups.pop_back();
        }
        for (std::size_t g = 0; g < at.groups.size(); ++g) {
            if ((at.groups[g].parts & bit) || (one.passes && at.groups[g].has_pass)) continue;
            const Group kept = at.groups[g];
            Group& group = at.groups[g];
            for (int w = 0; w < in_.words(); ++w) group.set[w] |= one.set[w];
            group.parts |= bit, group.has_pass |= one.passes;
            head = int(g);
            send(at, i + 1, paid, lower + one.lower);
            at.groups[g] = kept;
        }
        if (one.passes) return;
        const std::vector<Cost> by = reduced(one.set);
        for (int k = 0; k < in_.view.classes; ++k) {
            if (one.side == 1 && at.chosen.head[2 * one.part] == ~k) continue;  // no test: found elsewhere
            if (paid + by[k] + lower + at.flow_rest[i + 1] > limit()) continue;
            const Amounts own = amounts(one.set, k);
            head = ~k;
            add(own, 1);
            send(at, i + 1, paid + by[k], lower);
            add(own, -1);
        }
    }

    void descend(const State& at, Cost paid) {
        chosen_[at.layer] = at.chosen;
        if (at.groups.empty()) {
            if (holds()) take(diagram(at.layer));
            return;
        }
        std::vector<Set> parts;
        for (const Group& group : at.groups) parts.push_back(group.set);
        layer(at.layer + 1, std::move(parts), at.budget - int(at.groups.size()), paid);
    }

    // -- the last layer ---------------------------------------------------------------------------------------------

    void last(int l, const std::vector<Set>& parts, Cost paid) {
        std::vector<Options> each(parts.size());
        std::vector<Cost> least(parts.size());
        Cost lower = 0;
        for (std::size_t j = 0; j < parts.size(); ++j)
            lower += least[j] = bound(parts[j], depth_ - 1, 0, in_.leaf(parts[j].data()));
        const Cost slack = limit() - paid;
        for (std::size_t j = 0; j < parts.size(); ++j) {
            each[j] = options_of(parts[j], slack - (lower - least[j]));
            if (each[j].list.empty()) return;
        }
        // The least of every amount in the later parts.
        std::vector<Amounts> rest(parts.size() + 1, Amounts(sum_.size(), 0));
        for (std::size_t j = parts.size(); j-- > 0;)
            for (std::size_t i = 0; i < sum_.size(); ++i) {
                Cost low = kNever;
                for (const Option& one : each[j].list) low = std::min(low, one.amounts[i]);
                rest[j][i] = rest[j + 1][i] + low;
            }
        chosen_[l].split.assign(parts.size(), Plan::kNoTest), chosen_[l].head.assign(2 * parts.size(), 0);
        join(l, each, rest, 0);
    }

    void join(int l, const std::vector<Options>& each, const std::vector<Amounts>& rest, std::size_t j) {
        control_.check();
        if (sum_[0] + rest[j][0] >= least_) return;
        for (std::size_t r = 0; r < rows_.rhs.size(); ++r)
            if (sum_[r + 1] + rest[j][r + 1] > rows_.rhs[r]) return;
        if (j == each.size()) return take(diagram(l));
        for (const Option& one : each[j].list) {  // ascending in the true cost
            if (sum_[0] + one.amounts[0] + rest[j + 1][0] >= least_) return;
            chosen_[l].split[j] = one.split;
            chosen_[l].head[2 * j] = ~one.left, chosen_[l].head[2 * j + 1] = ~one.right;
            add(one.amounts, 1);
            join(l, each, rest, j + 1);
            add(one.amounts, -1);
        }
    }

    const Options& options_of(const Set& x, Cost slack) {
        if (options_bytes_ > settings_.memory / 4) options_.clear(), options_bytes_ = 0, ++out_.counters.evictions;
        Options& known = options_[x];
        if (known.slack >= slack) return known;
        known.slack = slack, known.list.clear();
        const std::vector<Cost> whole = reduced(x);
        for (int k = 0; k < in_.view.classes; ++k)
            if (whole[k] <= slack) known.list.push_back({whole[k], amounts(x, k), Plan::kNoTest, k, k});
        each_division(x, [&](const Set& left, const Set& right, int s) {
            list_terminals(left, right, s, slack, known.list);
            return true;
        });
        keep_best(known.list);
        options_bytes_ += known.list.size() * (sizeof(Option) + sum_.size() * sizeof(Cost)) + x.size() * sizeof(Word);
        return known;
    }

    void list_terminals(const Set& left, const Set& right, int s, Cost slack, std::vector<Option>& list) {
        const std::vector<Cost> low = reduced(left), high = reduced(right);
        for (int a = 0; a < in_.view.classes; ++a)
            for (int b = 0; b < in_.view.classes; ++b) {
                if (a == b || low[a] + high[b] > slack) continue;
                Amounts sum = amounts(left, a);
                const Amounts other = amounts(right, b);
                for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
                list.push_back({low[a] + high[b], std::move(sum), s, a, b});
            }
    }

    /// Those that no other beats in the true cost and in every row, ascending in the true cost.
    static void keep_best(std::vector<Option>& list) {
        std::stable_sort(list.begin(), list.end(),
                         [](const Option& a, const Option& b) { return a.amounts < b.amounts; });
        const auto is_beaten = [](const Option& by, const Option& one) {
            for (std::size_t i = 0; i < one.amounts.size(); ++i)
                if (by.amounts[i] > one.amounts[i]) return false;
            return true;
        };
        std::vector<Option> kept;
        for (Option& one : list) {
            const std::size_t from = kept.size() > kFewOptions ? kept.size() - kFewOptions : 0;
            bool beaten = false;
            for (std::size_t i = from; i < kept.size() && !beaten; ++i) beaten = is_beaten(kept[i], one);
            if (!beaten) kept.push_back(std::move(one));
        }
        list = std::move(kept);
    }

    /// The diagram of the chosen layers 0 .. `last`.
    FlatDiagram diagram(int last) const {
        FlatDiagram out;
        std::vector<std::vector<int>> number(last + 2);
        for (int l = 0; l <= last; ++l)
            for (const int split : chosen_[l].split) {
                number[l].push_back(split == Plan::kNoTest ? -1 : int(out.feature.size()));
                if (split == Plan::kNoTest) continue;
                const Cut cut = split == Plan::kPass ? Cut{FlatDiagram::kNoFeature, 0, 0} : in_.cuts[split];
                out.feature.push_back(cut.feature), out.low.push_back(cut.low), out.high.push_back(cut.high);
                out.left.push_back(0), out.right.push_back(0);
            }
        const auto target = [&](int l, int head) {
            if (head < 0) return head;
            return number[l + 1][head] >= 0 ? number[l + 1][head] : chosen_[l + 1].head[2 * head];
        };
        for (int l = 0; l <= last; ++l)
            for (std::size_t j = 0; j < chosen_[l].split.size(); ++j) {
                if (number[l][j] < 0) continue;
                const bool passes = chosen_[l].split[j] == Plan::kPass;
                out.left[number[l][j]] = target(l, chosen_[l].head[2 * j]);
                out.right[number[l][j]] = target(l, chosen_[l].head[2 * j + (passes ? 0 : 1)]);
            }
        if (out.feature.empty()) out.constant = ~chosen_[0].head[0];
        return out;
    }
};

}  // namespace

RowOutcome solve_rows(const Points& points, const Settings& settings, const Rows& rows, Control& control) {
    RowOutcome out;
    Instance in;
    try {
        in.build(points, 0, settings.memory, settings.simd, control);
        RowSearch(in, settings, rows, control, out).run();
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        out.memory_stop = true;
    }
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::diagram
