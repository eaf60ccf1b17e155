// The binding of the engines for binary features.
#include <cmath>

#include "../common/binding.hpp"
#include "engine.hpp"
#include "search.hpp"

namespace treeform::binary {
namespace {

using Values = Array<std::int64_t, 2>;
using Weights = Array<std::int64_t, 1>;

Points points_of(const Array<std::uint8_t, 2>& x, const Values& value, const Weights& weight) {
    require_aligned(value, weight);
    require(value.shape(0) == x.shape(0) && weight.shape(0) == x.shape(0), "rows differ in number");
    Points points;
    points.x = x.data(), points.rows = x.shape(0), points.features = x.shape(1);
    require(value.shape(1) >= 1 && value.shape(1) < 32768, "the labels are none or too many");
    require(x.shape(0) < std::size_t(1) << 31 && x.shape(1) < std::size_t(1) << 31, "the table is too large");
    points.value = value.data(), points.labels = int(value.shape(1)), points.weight = weight.data();
    require_sum(points.value, points.rows, value.shape(1), 0, kLargestSum, "the costs");
    require_sum(points.weight, points.rows, 1, 0, kLargestSum, "the weights");
    return points;
}

Settings settings_of(Keywords& keywords, const Points& points) {
    Settings s;
    s.depth = keywords.depth(0), s.max_nodes = keywords.amount("max_nodes");
    s.min_support = keywords.amount("min_support");
    s.node_penalty = keywords.integer_between("node_penalty", 0, kLargestSum);
    s.upper = keywords.integer_or("upper", kNever), s.start = keywords.tree("start", points.features, points.labels);
    s.strategy = keywords.text("strategy"), s.rules = keywords.names("rules").all();
    s.relaxation = keywords.text("relaxation"), s.step = keywords.real("step"), s.order = keywords.text("order");
    s.exact_depth = int(keywords.integer_between("exact_depth", 2, 3)), s.threads = keywords.threads();
    s.memory = keywords.integer_as<std::size_t>("memory"), s.simd = keywords.text("simd");
    const Names use = keywords.names("use");
    s.cache = use("cache"), s.similarity = use("similarity"), s.warm_up = use("warm-up");
    return s;
}

nb::dict to_dict(const Counters& c) {
    nb::dict out;
    out["nodes"] = c.nodes, out["depth_two"] = c.depth_two, out["depth_three"] = c.depth_three, out["rows"] = c.rows;
    out["cache_hits"] = c.cache_hits, out["cache_stores"] = c.cache_stores, out["cache_evictions"] = c.cache_evictions;
    out["pruned_similarity"] = c.pruned_similarity, out["pruned_bound"] = c.pruned_bound, out["restarts"] = c.restarts;
    out["work"] = c.work;
    return out;
}

nb::dict to_dict(const Outcome& out) {
    nb::dict result;
    result["tree"] = to_object(out.tree), result["lower"] = out.lower, result["complete"] = out.complete;
    result["seconds"] = out.seconds, result["simd"] = out.simd.c_str();
    result["rows"] = out.rows, result["planes"] = out.planes, result["lane_bits"] = out.lane_bits;
    result["counters"] = to_dict(out.counters);
    return result;
}

nb::dict binary(const Array<std::uint8_t, 2>& x, const Values& value, const Weights& weight, const nb::kwargs& given) {
    Keywords keywords(given);
    const Points points = points_of(x, value, weight);
    const Settings settings = settings_of(keywords, points);
    const SharedRun run(keywords);
    Control control;
    control.limit_memory(run.memory_limit);
    if (settings.threads == 1 && !run.away)  // without any bound, each test is followed by all tests
        control.expect_steps(double(points.rows) * std::pow(double(points.features), settings.depth));
    Outcome out;
    run_tree_search(control, run.time_limit, run.poll, [&] { out = solve(points, settings, control, run.away); });
    nb::dict answer = to_dict(out);
    add_memory(answer, control, out.memory_stop);
    return answer;
}

/// Answers the parts of a search; holds the arrays that it is given.
class Evaluator : public PartAnswers<Control> {
public:
    Evaluator(Array<std::uint8_t, 2> x, Values value, Weights weight, const nb::kwargs& given)
        : x_(std::move(x)), value_(std::move(value)), weight_(std::move(weight)) {
        Keywords keywords(given);
        points_ = points_of(x_, value_, weight_);
        settings_ = settings_of(keywords, points_);
        control_.limit_memory(keywords.integer_as<std::size_t>("memory_limit"));
        keywords.finish();
        require(settings_.depth > settings_.exact_depth, "the search is not deep enough for parts");
        require(settings_.max_nodes >= full(settings_.depth), "both sides of the root draw on one budget of tests");
        search_ = part_search(points_, settings_, control_);
    }

private:
    Array<std::uint8_t, 2> x_;
    Values value_;
    Weights weight_;
    Points points_;
    Settings settings_;
};

}  // namespace

void bind(nb::module_& m) {
    m.def("binary", &binary, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("keywords"),
          "Solve for the cheapest decision tree over binary features; see treeform.engines.DL85. Keywords: depth, "
          "max_nodes, min_support, node_penalty, upper, start, strategy, rules, relaxation, step, order, exact_depth, "
          "threads, memory, memory_limit, simd, use, time_limit, poll, ask (None, or what answers tests at the root of "
          "DL8.5: ask(int64 array) returns the reply of a BinaryEvaluator, or None to stop), callers.");
    nb::class_<Evaluator>(m, "BinaryEvaluator",
                          "Answers tests at the root of the search on the same points. Keywords: those of `binary` but "
                          "time_limit, poll, ask and callers.")
        .def(nb::init<Array<std::uint8_t, 2>, Values, Weights, const nb::kwargs&>(), nb::arg("x"), nb::arg("value"),
             nb::arg("weight"), nb::arg("keywords"))
        .def("evaluate", &Evaluator::evaluate, nb::arg("question"), nb::arg("poll"),
             "The reply to a question; poll() returns whether to stop.");
    m.def(
        "binary_rules", [] { return to_list(rule_names()); }, "Names of the rules of CA-DL8.5 that were compiled in.");
}

}  // namespace treeform::binary
