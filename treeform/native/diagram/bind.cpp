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
        if (control.seconds() >= td::Control::kPatience) control.late = true;
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
    if (value.shape(0) != points.rows || weight.shape(0) != points.rows)
        throw std::invalid_argument("rows differ in number");
    if (points.rows < 1) throw std::invalid_argument("there are no rows");
    if (points.classes < 1 || points.classes > td::kMostClasses) throw std::invalid_argument("too many classes");
    return points;
}

template <class T>
T take(const nb::kwargs& asked, const char* name) {
    if (!asked.contains(name)) throw std::invalid_argument(std::string("missing: ") + name);
    return nb::cast<T>(asked[name]);
}

td::Settings settings_of(const nb::kwargs& asked) {
    td::Settings s;
    s.widths = take<std::vector<int>>(asked, "widths"), s.is_tree = take<bool>(asked, "is_tree");
    s.max_nodes = take<int>(asked, "max_nodes");
    s.min_support = take<std::int64_t>(asked, "min_support"), s.min_flow = take<std::int64_t>(asked, "min_flow");
    const auto is_wide = [&](int width) { return std::min(width, s.max_nodes) > td::kMostParts; };
    const bool wide = !s.is_tree && std::any_of(s.widths.begin(), s.widths.end(), is_wide);
    if (s.widths.empty() || wide) throw std::invalid_argument("layers of at most 64 nodes are possible");
    const auto rates = take<std::vector<std::int64_t>>(asked, "rates");
    const auto prices = take<std::vector<std::int64_t>>(asked, "prices");
    const int free = take<int>(asked, "free_tests");
    if (rates.size() != prices.size()) throw std::invalid_argument("rates and prices differ in number");
    for (std::size_t i = 0; i < rates.size(); ++i) s.prices.push_back({rates[i], prices[i], free});
    s.seed = take<std::uint64_t>(asked, "seed"), s.start_seconds = take<double>(asked, "start_seconds");
    s.starts = take<std::int64_t>(asked, "starts");
    s.known = take<std::vector<std::int64_t>>(asked, "known");
    s.refuted = take<std::vector<std::int64_t>>(asked, "refuted");
    s.memory = take<std::size_t>(asked, "memory"), s.simd = take<std::string>(asked, "simd");
    const auto use = take<std::vector<std::string>>(asked, "use");
    const auto uses = [&](const char* what) { return std::find(use.begin(), use.end(), what) != use.end(); };
    s.use_trees = uses("trees"), s.use_memory = uses("transpositions"), s.every_number = uses("every number");
    return s;
}

nb::dict to_dict(const td::Outcome& out) {
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

nb::dict diagram(const Matrix& x, const Values& value, const Weights& weight, const nb::kwargs& asked) {
    const td::Points points = points_of(x, value, weight);
    const td::Settings settings = settings_of(asked);
    const auto poll = take<nb::object>(asked, "poll");
    td::Control control;
    control.external = take<std::optional<std::int64_t>>(asked, "upper").value_or(td::kNever);
    td::Outcome out;
    run(control, take<double>(asked, "time_limit"), poll, [&] { out = td::solve(points, settings, control); });
    return to_dict(out);
}

}  // namespace

void bind_diagram(nb::module_& m) {
    m.def("diagram", &diagram, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("asked"),
          "Solve for the cheapest decision diagram by number of tests; see treeform.engines.DiagramSearch. Keywords: "
          "widths, "
          "is_tree, max_nodes, min_support, min_flow, upper, rates, prices, free_tests, known, seed, start_seconds, "
          "starts, memory, use, simd, time_limit, poll.");
}
