// The Python face of the engine for binary features: arrays in, arrays out. Sizes are checked here, meaning in Python.
#include "bind.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "engine.hpp"
#include "rules.hpp"

namespace nb = nanobind;
namespace tb = treeform::binary;

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object to_array(const std::vector<std::int32_t>& values) {
    auto* copy = new std::vector<std::int32_t>(values);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

nb::object to_dict(const tb::FlatTree& tree) {
    if (tree.empty()) return nb::none();
    nb::dict out;
    out["feature"] = to_array(tree.feature), out["left"] = to_array(tree.left), out["right"] = to_array(tree.right);
    out["label"] = to_array(tree.label), out["cost"] = tree.cost;
    return std::move(out);
}

nb::dict to_dict(const tb::Counters& c) {
    nb::dict out;
    out["nodes"] = c.nodes, out["depth_two"] = c.depth_two, out["depth_three"] = c.depth_three, out["rows"] = c.rows;
    out["cache_hits"] = c.cache_hits, out["cache_stores"] = c.cache_stores, out["cache_evictions"] = c.cache_evictions;
    out["pruned_similarity"] = c.pruned_similarity, out["pruned_bound"] = c.pruned_bound, out["restarts"] = c.restarts;
    out["work"] = c.work;
    return out;
}

using Column = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A tree as (feature, left, right): every index is checked, as the search follows them.
tb::FlatTree to_tree(const Column& feature, const Column& left, const Column& right, std::size_t features) {
    tb::FlatTree tree;
    const std::size_t n = feature.shape(0);
    if (left.shape(0) != n || right.shape(0) != n) throw std::invalid_argument("the start's columns differ in length");
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t f = feature.data()[i], a = left.data()[i], b = right.data()[i];
        const bool inside = std::size_t(f) < features && a > std::int32_t(i) && b > std::int32_t(i)
                            && std::size_t(a) < n && std::size_t(b) < n;
        if (f >= 0 && !inside) throw std::invalid_argument("the start is not a tree");
        tree.feature.push_back(f), tree.left.push_back(a), tree.right.push_back(b), tree.label.push_back(-1);
    }
    return tree;
}

/// The search on a thread of its own; this thread sleeps without the GIL and wakes up to poll.
tb::Outcome run(const tb::Points& points, const tb::Settings& settings, double time_limit, const nb::object& poll) {
    tb::Control control;
    tb::Outcome out;
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            out = tb::solve(points, settings, control);
        } catch (...) {
            failure = std::current_exception();
        }
        control.finish();
    });
    std::exception_ptr from_poll;
    bool done = false;
    while (!done) {
        {
            const nb::gil_scoped_release release;
            done = control.wait(std::min(0.05, std::max(0.0, time_limit - control.seconds())));
        }
        if (control.seconds() >= time_limit) control.stopping = true;
        if (poll.is_none() || from_poll) continue;
        try {
            const auto news = control.take();
            nb::list list;
            for (const auto& one : news) list.append(nb::make_tuple(one.seconds, one.upper, one.lower));
            const nb::object tree = news.empty() ? nb::none() : to_dict(news.back().tree);
            const nb::tuple reply = nb::cast<nb::tuple>(poll(list, tree));
            if (nb::cast<bool>(reply[0])) control.stopping = true;
            if (!reply[1].is_none()) control.external = nb::cast<std::int64_t>(reply[1]);
        } catch (...) {  // the worker must end before the exception may travel on
            from_poll = std::current_exception();
            control.stopping = true;
        }
    }
    worker.join();
    if (failure) std::rethrow_exception(failure);
    if (from_poll) std::rethrow_exception(from_poll);
    return out;
}

nb::dict binary(const Bytes& x, const Values& value, const Weights& weight, int depth, std::int64_t max_nodes,
                std::int64_t min_support, std::int64_t node_penalty, std::optional<std::int64_t> upper,
                const std::string& strategy, const std::vector<std::string>& rules, const std::string& relaxation,
                double step, const std::string& order, int exact_depth, std::int64_t memory,
                const std::vector<std::string>& use, const std::string& simd, int threads,
                const std::optional<std::tuple<Column, Column, Column>>& start, double time_limit,
                const nb::object& poll) {
    tb::Points points;
    points.x = x.data(), points.rows = x.shape(0), points.features = x.shape(1);
    points.value = value.data(), points.labels = int(value.shape(1)), points.weight = weight.data();
    if (value.shape(0) != points.rows || weight.shape(0) != points.rows)
        throw std::invalid_argument("rows differ in number");
    tb::Settings s;
    s.depth = depth, s.max_nodes = max_nodes, s.min_support = min_support, s.node_penalty = node_penalty;
    s.upper = upper.value_or(tb::kNever), s.strategy = strategy, s.rules = rules, s.relaxation = relaxation,
    s.step = step;
    s.order = order, s.exact_depth = exact_depth, s.memory = std::size_t(memory), s.simd = simd;
    s.threads = threads;
    if (start) s.start = to_tree(std::get<0>(*start), std::get<1>(*start), std::get<2>(*start), points.features);
    const auto uses = [&](const char* what) { return std::find(use.begin(), use.end(), what) != use.end(); };
    s.cache = uses("cache"), s.similarity = uses("similarity"), s.warm_up = uses("warm-up");
    const tb::Outcome out = run(points, s, time_limit, poll);
    nb::dict result;
    result["tree"] = to_dict(out.tree), result["lower"] = out.lower, result["complete"] = out.complete;
    result["memory"] = out.memory_stop, result["seconds"] = out.seconds, result["simd"] = out.simd;
    result["rows"] = out.rows, result["planes"] = out.planes, result["lane_bits"] = out.lane_bits;
    result["counters"] = to_dict(out.counters);
    return result;
}

}  // namespace

void bind_binary(nb::module_& m) {
    m.def("binary", &binary, nb::arg("x"), nb::arg("value"), nb::arg("weight"), nb::arg("depth"), nb::arg("max_nodes"),
          nb::arg("min_support"), nb::arg("node_penalty"), nb::arg("upper").none(), nb::arg("strategy"),
          nb::arg("rules"), nb::arg("relaxation"), nb::arg("step"), nb::arg("order"), nb::arg("exact_depth"),
          nb::arg("memory"), nb::arg("use"), nb::arg("simd"), nb::arg("threads"), nb::arg("start").none(),
          nb::arg("time_limit"), nb::arg("poll").none(),
          "Solve for the cheapest decision tree over binary features; see treeform.engines.DL85.");
    m.def("binary_rules", &tb::rule_names, "Names of the rules of CA-DL8.5 that were compiled in.");
}
