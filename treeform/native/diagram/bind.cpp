// The binding of the diagram engine.
#include <algorithm>

#include "../common/binding.hpp"
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
    result["memory"] = out.memory_stop, result["seconds"] = out.seconds, result["simd"] = out.simd.c_str();
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
    return obey(poll(improvements, changed), [&](std::int64_t upper) { control.tighten(upper); });
}

nb::dict diagram(const Matrix& x, const Values& value, const Weights& weight, const nb::kwargs& given) {
    Keywords keywords(given);
    const Points points = points_of(x, value, weight);
    const Settings settings = settings_of(keywords);
    Control control(keywords.integer_or("upper", kNever));
    const double time_limit = keywords.real("time_limit");
    const nb::object poll = keywords.object("poll");
    keywords.finish();
    Outcome out;
    run_without_gil(
        control, time_limit, [&] { out = solve(points, settings, control); },
        [&] {
            if (control.seconds() >= Control::kPatience) control.overdue = true;
            return poll.is_none() ? false : report(control, poll);
        });
    return to_dict(out);
}

}  // namespace

void bind(nb::module_& m) {
    m.def("diagram", &diagram, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("keywords"),
          "Solve for the cheapest decision diagram by number of tests; see treeform.engines.DiagramSearch. Keywords: "
          "widths, is_tree, max_nodes, min_support, min_flow, rates, prices, free_tests, seed, start_seconds, starts, "
          "known, refuted, memory, simd, use, upper, time_limit, poll.");
}

}  // namespace treeform::diagram
