// The binding of the diagram engine.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "../common/binding.hpp"
#include "../common/give_back.hpp"
#include "parts.hpp"
#include "rows.hpp"
#include "size_table.hpp"

namespace treeform::diagram {
namespace {

using Matrix = Array<double, 2>;
using Values = Array<std::int64_t, 2>;
using Weights = Array<std::int64_t, 1>;
using Thresholds = Array<double, 1>;

Points points_of(const Matrix& x, const Values& value, const Weights& weight) {
    require_numbers(x), require_aligned(value, weight);
    Points points;
    points.x = x.data(), points.rows = x.shape(0), points.features = x.shape(1);
    points.value = value.data(), points.classes = int(value.shape(1)), points.weight = weight.data();
    require(value.shape(0) == points.rows && weight.shape(0) == points.rows, "rows differ in number");
    require(points.rows >= 1, "there are no rows");
    require(points.rows < std::size_t(1) << 31 && points.features < std::size_t(1) << 31, "the table is too large");
    require(value.shape(1) >= 1 && value.shape(1) <= kMostClasses, "the classes are none or too many");
    require_sum(points.value, points.rows, value.shape(1), 0, kLargestSum, "the costs");
    require_sum(points.weight, points.rows, 1, 0, kLargestSum, "the weights");
    return points;
}

/// As above, in an order of their own, and with the thresholds of feature f from first[f] on alone; with an empty
/// `first` all there are.
Points points_of(const Matrix& x, const Values& value, const Weights& weight, const Weights& order,
                 const Thresholds& threshold, const Weights& first) {
    Points points = points_of(x, value, weight);
    require_aligned(order, first), require_numbers(threshold);
    require(order.shape(0) == points.rows, "rows differ in number");
    require_all_between(order.data(), order.size(), 0, std::int64_t(points.rows) - 1, "a row");
    points.order = order.data();
    if (first.size() == 0) return points;
    require(first.size() == points.features + 1 && first.data()[0] == 0
                && first.data()[points.features] == std::int64_t(threshold.size())
                && std::is_sorted(first.data(), first.data() + first.size()),
            "thresholds and columns do not fit");
    for (std::size_t f = 0; f < points.features; ++f)
        require(std::is_sorted(threshold.data() + first.data()[f], threshold.data() + first.data()[f + 1]),
                "thresholds are not ascending");
    points.threshold = threshold.data(), points.first_threshold = first.data();
    return points;
}

/// The skeleton, and how many of its nodes may be tests.
void set_skeleton(Settings& s, Keywords& keywords) {
    s.widths = keywords.integers_as<int>("widths");
    require(!s.widths.empty() && s.widths.size() <= kDeepestTree, "between 1 and 30 layers are possible");
    std::int64_t nodes = 0;
    for (const int width : s.widths) nodes += require_between(width, 1, std::numeric_limits<int>::max(), "a width");
    nodes = std::min<std::int64_t>(nodes, std::numeric_limits<int>::max() - 1);
    s.max_nodes = int(keywords.integer_between("max_nodes", 0, nodes));
    const auto is_wide = [&](int width) { return std::min(width, s.max_nodes) > kMostParts; };
    const bool wide = !s.is_tree && std::any_of(s.widths.begin(), s.widths.end(), is_wide);
    require(!wide, "layers of at most 64 nodes are possible");
}

/// Objectives, of which none exceeds kNever on these points.
void set_prices(Settings& s, Keywords& keywords, const Points& points) {
    const auto rates = keywords.integers("rates"), prices = keywords.integers("prices");
    const int free = int(keywords.integer_between("free_tests", 0, std::numeric_limits<int>::max()));
    require(rates.size() == prices.size(), "rates and prices differ in number");
    double most = 0;
    for (std::size_t p = 0; p < points.rows; ++p)
        most += double(*std::max_element(points.value + p * points.classes, points.value + (p + 1) * points.classes));
    for (std::size_t i = 0; i < rates.size(); ++i) {
        require_between(rates[i], 1, kNever, "a rate"), require_between(prices[i], 0, kNever, "a price");
        require(double(rates[i]) * most + double(prices[i]) * s.max_nodes <= double(kNever), "a price is too large");
        s.prices.push_back({rates[i], prices[i], free});
    }
}

/// The model to begin with: features, thresholds and the heads of both arcs by node, of which node 0 is the root. A
/// head is a later node, or negative at a terminal.
FlatDiagram start_of(Keywords& keywords, const Points& points) {
    FlatDiagram start;
    start.feature = keywords.integers_as<int>("start_feature");
    start.left = keywords.integers_as<int>("start_left"), start.right = keywords.integers_as<int>("start_right");
    if (!nb::try_cast(keywords.object("start_threshold"), start.low)) throw nb::type_error("thresholds are numbers");
    const std::size_t nodes = start.feature.size();
    require(start.low.size() == nodes && start.left.size() == nodes && start.right.size() == nodes,
            "the start's lists differ in length");
    for (std::size_t u = 0; u < nodes; ++u) {
        require_between(start.feature[u], FlatDiagram::kNoFeature, std::int64_t(points.features) - 1, "a feature");
        for (const int head : {start.left[u], start.right[u]})
            require(head < 0 || (std::size_t(head) > u && std::size_t(head) < nodes),
                    "an arc does not lead to a later node");
    }
    return start;
}

Settings settings_of(Keywords& keywords, const Points& points) {
    Settings s;
    s.is_tree = keywords.flag("is_tree");
    set_skeleton(s, keywords);
    s.min_support = keywords.amount("min_support"), s.min_flow = keywords.amount("min_flow");
    set_prices(s, keywords, points);
    s.seed = keywords.integer_as<std::uint64_t>("seed"), s.start_seconds = keywords.real("start_seconds");
    s.starts = keywords.integer("starts");
    s.start = start_of(keywords, points), s.some_tests = points.threshold != nullptr;
    s.known = keywords.integers("known"), s.refuted = keywords.integers("refuted");
    require_all_between(s.known.data(), s.known.size(), -kNever, kNever, "a known cost");
    require_all_between(s.refuted.data(), s.refuted.size(), -kNever, kNever, "a bound");
    s.memory = keywords.integer_as<std::size_t>("memory"), s.kept = keywords.integer_as<std::size_t>("kept");
    s.simd = keywords.text("simd");
    const Names use = keywords.names("use");
    s.use_trees = use("trees"), s.use_memory = use("transpositions"), s.use_pairs = use("pairs");
    s.use_regions = use("regions");
    s.use_conflicts = use("conflicts");
    s.least_tests = keywords.integer_as<int>("least_tests");
    s.use_alternation = use("alternation"), s.use_annealing = use("annealing");
    s.use_intervals = use("intervals"), s.every_number = use("every number");
    return s;
}

nb::object to_object(const FlatDiagram& diagram) {
    nb::dict out;
    out["feature"] = to_array(diagram.feature), out["left"] = to_array(diagram.left);
    out["right"] = to_array(diagram.right), out["low"] = to_array(diagram.low), out["high"] = to_array(diagram.high);
    out["constant"] = diagram.constant;
    return out;
}

nb::dict to_dict(const Counters& c) {
    nb::dict out;
    out["states"] = c.states, out["transpositions"] = c.transpositions, out["bounded"] = c.bounded;
    out["candidates"] = c.candidates, out["groupings"] = c.groupings, out["trees"] = c.trees;
    out["tree_hits"] = c.tree_hits, out["stumps"] = c.stumps, out["pairs"] = c.pairs, out["regions"] = c.regions;
    out["conflicts"] = c.conflicts, out["free"] = c.free, out["shared"] = c.shared, out["given_up"] = c.given_up;
    out["intervals"] = c.intervals, out["intervals_refuted"] = c.refuted, out["witnesses"] = c.witnesses;
    out["evictions"] = c.evictions, out["starts"] = c.starts;
    return out;
}

nb::dict to_dict(const Outcome& out) {
    nb::dict result;
    nb::list diagrams;
    for (std::size_t k = 0; k < out.diagrams.size(); ++k)
        diagrams.append(out.has_diagram[k] ? to_object(out.diagrams[k]) : nb::none());
    result["lower"] = to_list(out.lower), result["upper"] = to_list(out.upper), result["diagrams"] = diagrams;
    result["proved_at"] = to_list(out.proved_at), result["complete"] = out.complete;
    result["seconds"] = out.seconds, result["simd"] = out.simd.c_str();
    result["points"] = out.points, result["splits"] = out.splits, result["counters"] = to_dict(out.counters);
    return result;
}

/// Reports improvements, and the bounds by number of tests if they have changed.
bool report(Control& control, const nb::object& poll) {
    Bounds bounds;
    nb::object changed = nb::none();
    nb::list improvements;
    if (control.take(bounds)) changed = nb::make_tuple(to_list(bounds.lower), to_list(bounds.upper));
    for (const auto& one : control.take())
        improvements.append(nb::make_tuple(one.seconds, one.nodes, one.cost, to_object(one.diagram)));
    return obey(poll(improvements, changed, control.nodes()), [&](std::int64_t upper) { control.tighten(upper); });
}

nb::dict diagram(const Matrix& x, const Values& value, const Weights& weight, const Weights& order,
                 const Thresholds& threshold, const Weights& first, const nb::kwargs& given) {
    Keywords keywords(given);
    const Points points = points_of(x, value, weight, order, threshold, first);
    const Settings settings = settings_of(keywords, points);
    Control control(std::clamp(keywords.integer_or("upper", kNever), -kNever, kNever));
    const SharedRun run(keywords);
    control.limit_memory(run.memory_limit);
    Outcome out;
    run_without_gil(
        control, run.time_limit, [&] { out = solve(points, settings, control, run.away); },
        [&] {
            if (control.seconds() >= Control::kPatience) control.overdue = true;
            return run.poll.is_none() ? false : report(control, run.poll);
        });
    if (points.rows * points.features > kManyValues) give_freed_memory_back();
    nb::dict answer = to_dict(out);
    add_memory(answer, control, out.memory_stop);
    return answer;
}

/// Answers the parts that `diagram` asks for.
class Evaluator : public PartAnswers<Control> {
public:
    Evaluator(const Matrix& x, const Values& value, const Weights& weight, const Weights& order,
              const Thresholds& threshold, const Weights& first, const nb::kwargs& given) {
        Keywords keywords(given);
        const Points points = points_of(x, value, weight, order, threshold, first);
        settings_ = settings_of(keywords, points);
        control_.limit_memory(keywords.integer_as<std::size_t>("memory_limit"));
        keywords.finish();
        search_ = part_search(points, settings_, control_);
    }

private:
    Settings settings_;
};

/// True costs, and what every row takes, by point and class.
Rows rows_of(const Values& truth, const Array<std::int64_t, 3>& taken, const Points& points, Keywords& keywords) {
    Rows rows;
    rows.rhs = keywords.integers("rhs"), rows.rate = keywords.integer_between("rate", 1, kNever);
    rows.base = keywords.integer("base");
    rows.below = std::clamp(keywords.integer_or("below", kNever), -kNever, kNever);
    require_aligned(truth, taken);
    const std::size_t classes = std::size_t(points.classes);
    require(truth.shape(0) == points.rows && truth.shape(1) == classes, "true costs do not fit");
    require(taken.shape(0) == rows.rhs.size() && taken.shape(1) == points.rows && taken.shape(2) == classes,
            "linear constraints over sums do not fit");
    require_sum(truth.data(), points.rows, classes, 0, kLargestSum, "the true costs");
    rows.truth = truth.data();
    for (std::size_t r = 0; r < rows.rhs.size(); ++r) {
        rows.taken.push_back(taken.data() + r * points.rows * classes);
        require_sum(rows.taken[r], points.rows, classes, -kLargestSum, kLargestSum, "the amounts of a row");
    }
    return rows;
}

nb::dict diagram_rows(const Matrix& x, const Values& value, const Weights& weight, const Values& truth,
                      const Array<std::int64_t, 3>& taken, const nb::kwargs& given) {
    Keywords keywords(given);
    const Points points = points_of(x, value, weight);
    Settings settings;
    set_skeleton(settings, keywords);
    settings.memory = settings.kept = keywords.integer_as<std::size_t>("memory");
    settings.simd = keywords.text("simd");
    const Rows rows = rows_of(truth, taken, points, keywords);
    const double time_limit = keywords.real("time_limit");
    const nb::object poll = keywords.object("poll");
    keywords.finish();
    Control control;
    RowOutcome out;
    run_without_gil(
        control, time_limit, [&] { out = solve_rows(points, settings, rows, control); },
        [&] { return poll.is_none() ? false : report(control, poll); });
    nb::dict result;
    result["cost"] = out.cost, result["complete"] = out.complete, result["memory"] = out.memory_stop;
    result["diagram"] = out.found ? to_object(out.diagram) : nb::none();
    result["seconds"] = out.seconds, result["counters"] = to_dict(out.counters);
    return result;
}

}  // namespace

void bind(nb::module_& m) {
    m.def("diagram_rows", &diagram_rows, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("truth"),
          nb::arg("taken"), nb::arg("keywords"),
          "Solve for the cheapest decision diagram that satisfies linear constraints over sums, where `value` holds costs with the "
          "rows priced in; see treeform.engines.DiagramTotals. Keywords: widths, max_nodes, rhs, rate, base, below, "
          "memory, simd, time_limit, poll.");
    m.def("diagram", &diagram, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("order"),
          nb::arg("threshold"), nb::arg("first"), nb::arg("keywords"),
          "Solve for the cheapest decision diagram by number of tests; see treeform.engines.DiagramSearch. The entries "
          "of `value` and `weight` are of the rows in `order`; of `threshold` those from first[f] on are tried for "
          "column f, or, with an empty `first`, all that the column has. Keywords: "
          "widths, is_tree, max_nodes, min_support, min_flow, rates, prices, free_tests, seed, start_seconds, starts, "
          "known, start_feature, start_threshold, start_left, start_right, refuted, memory, kept, memory_limit, simd, use, least_tests, upper, time_limit, poll, ask (None, or what "
          "answers parts of the search: ask(int64 array) returns the reply of a DiagramEvaluator, or None to stop), "
          "callers.");
    nb::class_<Evaluator>(m, "DiagramEvaluator",
                          "Answers parts of the search on the same points. Keywords: those of `diagram` but upper, "
                          "time_limit, poll, ask and callers.")
        .def(nb::init<const Matrix&, const Values&, const Weights&, const Weights&, const Thresholds&, const Weights&,
                      const nb::kwargs&>(),
             nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("order"), nb::arg("threshold"),
             nb::arg("first"), nb::arg("keywords"))
        .def("evaluate", &Evaluator::evaluate, nb::arg("question"), nb::arg("poll"),
             "The reply to a question; None once poll() returned (True, _), or memory ran out. poll() returns whether "
             "to stop, and None or an upper bound that has fallen.");
}

}  // namespace treeform::diagram
