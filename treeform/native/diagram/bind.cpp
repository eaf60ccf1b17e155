// The binding of the diagram engine.
#include <algorithm>

#include "../common/binding.hpp"
#include "parts.hpp"
#include "rows.hpp"
#include "size_table.hpp"

namespace treeform::diagram {
namespace {

using Matrix = Array<double, 2>;
using Values = Array<std::int64_t, 2>;
using Weights = Array<std::int64_t, 1>;

Points points_of(const Matrix& x, const Values& value, const Weights& weight) {
    require_aligned(x, value, weight);
    Points points;
    points.x = x.data(), points.rows = x.shape(0), points.features = x.shape(1);
    points.value = value.data(), points.classes = int(value.shape(1)), points.weight = weight.data();
    require(value.shape(0) == points.rows && weight.shape(0) == points.rows, "rows differ in number");
    require(points.rows >= 1, "there are no rows");
    require(points.classes >= 1 && points.classes <= kMostClasses, "too many classes");
    return points;
}

Settings settings_of(Keywords& keywords) {
    Settings s;
    s.widths = keywords.integers_as<int>("widths"), s.is_tree = keywords.flag("is_tree");
    s.max_nodes = keywords.integer_as<int>("max_nodes");
    s.min_support = keywords.integer("min_support"), s.min_flow = keywords.integer("min_flow");
    const auto is_wide = [&](int width) { return std::min(width, s.max_nodes) > kMostParts; };
    const bool wide = !s.is_tree && std::any_of(s.widths.begin(), s.widths.end(), is_wide);
    require(!s.widths.empty() && !wide, "layers of at most 64 nodes are possible");
    const auto rates = keywords.integers("rates"), prices = keywords.integers("prices");
    const int free = keywords.integer_as<int>("free_tests");
    require(rates.size() == prices.size(), "rates and prices differ in number");
    for (std::size_t i = 0; i < rates.size(); ++i) s.prices.push_back({rates[i], prices[i], free});
    s.seed = keywords.integer_as<std::uint64_t>("seed"), s.start_seconds = keywords.real("start_seconds");
    s.starts = keywords.integer("starts");
    s.known = keywords.integers("known"), s.refuted = keywords.integers("refuted");
    s.memory = keywords.integer_as<std::size_t>("memory"), s.simd = keywords.text("simd");
    const Names use = keywords.names("use");
    s.use_trees = use("trees"), s.use_memory = use("transpositions"), s.use_pairs = use("pairs");
    s.least_tests = keywords.integer_as<int>("least_tests");
    s.use_alternation = use("alternation"), s.every_number = use("every number");
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
    out["tree_hits"] = c.tree_hits, out["stumps"] = c.stumps, out["pairs"] = c.pairs, out["given_up"] = c.given_up;
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

nb::dict diagram(const Matrix& x, const Values& value, const Weights& weight, const nb::kwargs& given) {
    Keywords keywords(given);
    const Points points = points_of(x, value, weight);
    const Settings settings = settings_of(keywords);
    Control control(keywords.integer_or("upper", kNever));
    control.limit_memory(keywords.integer_as<std::size_t>("memory_limit"));
    const double time_limit = keywords.real("time_limit");
    const nb::object poll = keywords.object("poll"), ask = keywords.object("ask");
    const Away away = away_to(ask, keywords.integer_as<int>("callers"));
    keywords.finish();
    Outcome out;
    run_without_gil(
        control, time_limit, [&] { out = solve(points, settings, control, away); },
        [&] {
            if (control.seconds() >= Control::kPatience) control.overdue = true;
            return poll.is_none() ? false : report(control, poll);
        });
    nb::dict answer = to_dict(out);
    add_memory(answer, control, out.memory_stop);
    return answer;
}

/// Answers the parts that `diagram` asks for.
class Evaluator {
public:
    Evaluator(const Matrix& x, const Values& value, const Weights& weight, const nb::kwargs& given) {
        Keywords keywords(given);
        const Points points = points_of(x, value, weight);
        const Settings settings = settings_of(keywords);
        control_.limit_memory(keywords.integer_as<std::size_t>("memory_limit"));
        keywords.finish();
        search_ = std::make_unique<PartSearch>(points, settings, control_);
    }
    nb::object evaluate(const nb::object& question, const nb::object& poll) {
        return answer_part(
            control_, question, poll, [&](const Message& asked) { return search_->evaluate(asked); },
            [&](std::int64_t upper) { search_->tighten(upper); });
    }

private:
    Control control_;
    std::unique_ptr<PartSearch> search_;
};

/// True costs, and what every row takes, by point and class.
Rows rows_of(const Values& truth, const Array<std::int64_t, 3>& taken, const Points& points, Keywords& keywords) {
    Rows rows;
    rows.rhs = keywords.integers("rhs"), rows.rate = keywords.integer("rate"), rows.base = keywords.integer("base");
    rows.below = keywords.integer_or("below", kNever);
    require_aligned(truth, taken);
    const std::size_t classes = std::size_t(points.classes);
    require(truth.shape(0) == points.rows && truth.shape(1) == classes, "true costs do not fit");
    require(taken.shape(0) == rows.rhs.size() && taken.shape(1) == points.rows && taken.shape(2) == classes,
            "rows over totals do not fit");
    rows.truth = truth.data();
    for (std::size_t r = 0; r < rows.rhs.size(); ++r) rows.taken.push_back(taken.data() + r * points.rows * classes);
    return rows;
}

nb::dict diagram_rows(const Matrix& x, const Values& value, const Weights& weight, const Values& truth,
                      const Array<std::int64_t, 3>& taken, const nb::kwargs& given) {
    Keywords keywords(given);
    const Points points = points_of(x, value, weight);
    Settings settings;
    settings.widths = keywords.integers_as<int>("widths"), settings.max_nodes = keywords.integer_as<int>("max_nodes");
    settings.memory = keywords.integer_as<std::size_t>("memory"), settings.simd = keywords.text("simd");
    require(!settings.widths.empty(), "there are no layers");
    for (const int width : settings.widths)
        require(std::min(width, settings.max_nodes) <= kMostParts, "layers of at most 64 nodes are possible");
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
          "Solve for the cheapest decision diagram that satisfies rows over totals, where `value` holds costs with the "
          "rows priced in; see treeform.engines.DiagramTotals. Keywords: widths, max_nodes, rhs, rate, base, below, "
          "memory, simd, time_limit, poll.");
    m.def("diagram", &diagram, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("keywords"),
          "Solve for the cheapest decision diagram by number of tests; see treeform.engines.DiagramSearch. Keywords: "
          "widths, is_tree, max_nodes, min_support, min_flow, rates, prices, free_tests, seed, start_seconds, starts, "
          "known, refuted, memory, memory_limit, simd, use, least_tests, upper, time_limit, poll, ask (None, or what "
          "answers parts of the search: ask(int64 array) returns the reply of a DiagramEvaluator, or None to stop), "
          "callers.");
    nb::class_<Evaluator>(m, "DiagramEvaluator",
                          "Answers parts of the search on the same points. Keywords: those of `diagram` but upper, "
                          "time_limit, poll, ask and callers.")
        .def(nb::init<const Matrix&, const Values&, const Weights&, const nb::kwargs&>(), nb::arg("x"),
             nb::arg("value"), nb::arg("weight"), nb::arg("keywords"))
        .def("evaluate", &Evaluator::evaluate, nb::arg("question"), nb::arg("poll"),
             "The reply to a question; None once poll() returned (True, _), or memory ran out. poll() returns whether "
             "to stop, and None or an upper bound that has fallen.");
}

}  // namespace treeform::diagram
