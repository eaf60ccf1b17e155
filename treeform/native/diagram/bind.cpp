// The Python face of the diagram engine: arrays in, arrays out. Sizes are checked here, meaning in Python.
#include "bind.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ladder.hpp"

namespace nb = nanobind;
namespace td = treeform::diagram;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::dict to_dict(const td::FlatDiagram& one) {
    nb::dict out;
    out["feature"] = one.feature, out["left"] = one.left, out["right"] = one.right;
    out["low"] = one.low, out["high"] = one.high, out["constant"] = one.constant;
    return out;
}

nb::dict to_dict(const td::Counters& c) {
    nb::dict out;
    out["states"] = c.states, out["transpositions"] = c.transpositions, out["bounded"] = c.bounded;
    out["candidates"] = c.candidates, out["groupings"] = c.groupings, out["trees"] = c.trees;
    out["tree_hits"] = c.tree_hits, out["stumps"] = c.stumps, out["given_up"] = c.given_up;
    out["evictions"] = c.evictions, out["starts"] = c.starts;
    return out;
}

/// Pass on what is new; true to stop.
bool report(td::Control& control, const nb::object& poll) {
    td::Bounds bounds;
    bool moved = false;
    const auto news = control.take(bounds, moved);
    nb::list list;
    for (const auto& one : news) list.append(nb::make_tuple(one.seconds, one.nodes, one.cost, to_dict(one.diagram)));
    const nb::object state = moved ? nb::object(nb::make_tuple(bounds.lower, bounds.upper)) : nb::none();
    const nb::tuple reply = nb::cast<nb::tuple>(poll(list, state));
    if (!reply[1].is_none()) control.external = nb::cast<std::int64_t>(reply[1]);
    return nb::cast<bool>(reply[0]);
}

/// The work on a thread of its own; this thread sleeps without the GIL and wakes up to poll.
template <class Work>
void run(td::Control& control, double time_limit, const nb::object& poll, const Work& work) {
    std::exception_ptr failure, from_poll;
    std::thread worker([&] {
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
        control.finish();
    });
    for (bool done = false; !done;) {
        {
            const nb::gil_scoped_release release;
            done = control.wait(std::min(0.05, std::max(0.0, time_limit - control.seconds())));
        }
        if (control.seconds() >= time_limit) control.stopping = true;
        if (poll.is_none() || from_poll) continue;
        try {
            if (report(control, poll)) control.stopping = true;
        } catch (...) {  // the worker must end before the exception may travel on
            from_poll = std::current_exception();
            control.stopping = true;
        }
    }
    {
        const nb::gil_scoped_release release;
        worker.join();
    }
    if (failure) std::rethrow_exception(failure);
    if (from_poll) std::rethrow_exception(from_poll);
}

td::Points points_of(const Matrix& x, const Values& value, const Weights& weight) {
    td::Points points;
    points.x = x.data(), points.rows = x.shape(0), points.features = x.shape(1);
    points.value = value.data(), points.classes = int(value.shape(1)), points.weight = weight.data();
    if (value.shape(0) != points.rows || weight.shape(0) != points.rows) throw std::invalid_argument("rows differ in number");
    if (points.rows < 1) throw std::invalid_argument("there are no rows");
    if (points.classes < 1 || points.classes > td::kMostClasses) throw std::invalid_argument("too many classes");
    return points;
}

nb::dict diagram(const Matrix& x, const Values& value, const Weights& weight, const std::vector<int>& widths, bool is_tree,
                 int max_nodes, std::int64_t min_support, std::int64_t min_flow, std::optional<std::int64_t> upper,
                 const std::vector<std::int64_t>& rates,
                 const std::vector<std::int64_t>& prices, int free_tests, const std::vector<std::int64_t>& known, std::uint64_t seed, double start_seconds,
                 std::int64_t starts, std::int64_t memory,
                 const std::vector<std::string>& use, const std::string& simd, double time_limit, const nb::object& poll) {
    const td::Points points = points_of(x, value, weight);
    td::Settings s;
    s.widths = widths, s.is_tree = is_tree, s.max_nodes = max_nodes, s.min_support = min_support, s.min_flow = min_flow;
    const bool wide = std::any_of(widths.begin(), widths.end(), [&](int w) { return std::min(w, max_nodes) > 64; });
    if (widths.empty() || (wide && !is_tree)) throw std::invalid_argument("layers of at most 64 nodes are possible");
    if (rates.size() != prices.size()) throw std::invalid_argument("rates and prices differ in number");
    for (std::size_t i = 0; i < rates.size(); ++i) s.prices.push_back({rates[i], prices[i], free_tests});
    s.seed = seed, s.start_seconds = start_seconds, s.starts = starts;
    s.known = known, s.memory = std::size_t(memory), s.simd = simd;
    const auto uses = [&](const char* what) { return std::find(use.begin(), use.end(), what) != use.end(); };
    s.use_trees = uses("trees"), s.use_memory = uses("transpositions");
    s.every_number = uses("every number");
    td::Control control;
    control.external = upper.value_or(td::kNever);
    td::Outcome out;
    run(control, time_limit, poll, [&] { out = td::solve(points, s, control); });
    nb::dict result;
    nb::list diagrams;
    for (std::size_t k = 0; k < out.diagrams.size(); ++k)
        diagrams.append(out.has_diagram[k] ? nb::object(to_dict(out.diagrams[k])) : nb::none());
    result["lower"] = out.lower, result["upper"] = out.upper, result["diagrams"] = diagrams;
    result["proved_at"] = out.proved_at, result["complete"] = out.complete, result["memory"] = out.memory_stop;
    result["seconds"] = out.seconds, result["simd"] = out.simd, result["points"] = out.points;
    result["splits"] = out.splits, result["counters"] = to_dict(out.counters);
    return result;
}

}  // namespace

void bind_diagram(nb::module_& m) {
    m.def("diagram", &diagram, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("widths"), nb::arg("is_tree"),
          nb::arg("max_nodes"), nb::arg("min_support"), nb::arg("min_flow"), nb::arg("upper").none(), nb::arg("rates"), nb::arg("prices"), nb::arg("free_tests"), nb::arg("known"), nb::arg("seed"), nb::arg("start_seconds"), nb::arg("starts"),
          nb::arg("memory"), nb::arg("use"), nb::arg("simd"), nb::arg("time_limit"), nb::arg("poll").none(),
          "Solve for the cheapest decision diagram by number of tests; see treeform.dp.DiagramSearch.");
}
