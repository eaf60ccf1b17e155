// The Python face of the native core: arrays in, arrays out. Sizes are checked here; meaning is checked in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "binary/bind.hpp"
#include "continuous_totals/bind.hpp"
#include "contree/engine.hpp"
#include "contree/scan.hpp"
#include "diagram/bind.hpp"
#include "rup/bind.hpp"
#include "totals/bind.hpp"

namespace nb = nanobind;
namespace ct = treeform::contree;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Costs = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object to_array(const std::vector<T>& values) {
    auto* copy = new std::vector<T>(values);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

nb::object to_dict(const ct::FlatTree& tree) {
    nb::dict out;
    out["feature"] = to_array(tree.feature), out["left"] = to_array(tree.left), out["right"] = to_array(tree.right);
    out["label"] = to_array(tree.label), out["low"] = to_array(tree.low), out["high"] = to_array(tree.high);
    out["cost"] = tree.cost;
    return std::move(out);
}

template <class Array>
void need_aligned(const Array& array) {
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(std::remove_pointer_t<decltype(array.data())>) != 0)
        throw std::invalid_argument("an array is not aligned in memory");
}

ct::Rows rows_of(const Matrix& x, const Labels& y, const std::optional<Weights>& weight, int classes,
                 const std::optional<Costs>& cost) {
    need_aligned(x), need_aligned(y);
    if (weight) need_aligned(*weight);
    if (cost) need_aligned(*cost);
    ct::Rows rows;
    rows.x = x.data(), rows.n = x.shape(0), rows.features = x.shape(1), rows.classes = classes;
    if (y.shape(0) != rows.n) throw std::invalid_argument("labels and rows differ in number");
    if (classes < 1 || classes > 65534) throw std::invalid_argument("between 1 and 65,534 classes are possible");
    if (rows.n < 1 || rows.n >= 0xFFFFFFFFu) throw std::invalid_argument("between 1 and 2^32 - 2 rows are possible");
    rows.label = y.data();
    if (std::any_of(y.data(), y.data() + rows.n, [classes](auto c) { return c < 0 || c >= classes; }))
        throw std::invalid_argument("a class code is out of range");
    if (weight) {
        if (weight->shape(0) != rows.n) throw std::invalid_argument("weights and rows differ in number");
        rows.weight = weight->data();
        if (std::any_of(rows.weight, rows.weight + rows.n, [](auto w) { return w < 1; }))
            throw std::invalid_argument("weights must be positive");
    }
    if (cost) {
        const auto k = static_cast<std::size_t>(classes);
        if (cost->shape(0) != k || cost->shape(1) != k)
            throw std::invalid_argument("the cost matrix is not classes x classes");
        rows.cost.assign(cost->data(), cost->data() + k * k);
    }
    return rows;
}

ct::Poll poll_of(const nb::object& poll) {
    if (poll.is_none()) return {};
    return [poll](const std::vector<ct::Improvement>& news, const ct::FlatTree* tree, ct::Control& control) {
        const nb::gil_scoped_acquire gil;
        nb::list list;
        for (const auto& one : news) list.append(nb::make_tuple(one.seconds, one.upper, one.lower));
        const nb::tuple reply = nb::cast<nb::tuple>(poll(list, tree ? to_dict(*tree) : nb::none()));
        if (!reply[1].is_none()) control.tighten(nb::cast<std::int64_t>(reply[1]));
        return nb::cast<bool>(reply[0]);
    };
}

nb::dict contree(const Matrix& x, const Labels& y, const std::optional<Weights>& weight, int classes,
                 const std::optional<Costs>& cost, int depth, std::int64_t max_nodes, std::int64_t min_support,
                 std::int64_t node_penalty, std::optional<std::int64_t> upper, std::int64_t gap,
                 const std::vector<std::string>& prune, int threads, const std::string& simd,
                 std::uint64_t memory_limit, double time_limit, const nb::object& poll) {
    const ct::Rows rows = rows_of(x, y, weight, classes, cost);
    ct::Settings settings;
    settings.depth = depth, settings.max_nodes = max_nodes, settings.min_support = min_support;
    settings.node_penalty = node_penalty, settings.upper = upper.value_or(ct::kNone), settings.gap = gap;
    const auto on = [&](const char* rule) { return std::find(prune.begin(), prune.end(), rule) != prune.end(); };
    settings.neighbourhood = on("neighbourhood"), settings.shrinking = on("shrinking");
    settings.subinterval = on("subinterval"), settings.features = on("features");
    settings.threads = threads, settings.simd = simd, settings.memory_limit = memory_limit;
    if (!ct::simd_available(simd.c_str())) throw std::invalid_argument("this processor has no " + simd);
    const ct::Poll native_poll = poll_of(poll);
    ct::Outcome out;
    {
        const nb::gil_scoped_release release;
        out = ct::run(rows, settings, time_limit, native_poll);
    }
    nb::dict result, counters;
    result["tree"] = out.found ? to_dict(out.tree) : nb::none();
    result["lower"] = out.lower, result["complete"] = out.complete, result["seconds"] = out.seconds;
    result["simd"] = out.simd, result["width"] = out.width, result["memory"] = out.stopped_by_memory;
    const auto& c = out.counters;
    counters["nodes"] = c.nodes, counters["splits"] = c.splits, counters["scans"] = c.scans;
    counters["gathers"] = c.gathers, counters["bounded"] = c.bounded;
    counters["pruned_neighbourhood"] = c.pruned_neighbourhood, counters["pruned_shrinking"] = c.pruned_shrinking;
    counters["pruned_subinterval"] = c.pruned_subinterval, counters["pruned_features"] = c.pruned_features;
    result["counters"] = counters;
    return result;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The native core of treeform.";
    treeform::rup::bind(m);
    bind_binary(m);
    bind_diagram(m);
    bind_totals(m);
    bind_continuous_totals(m);
    m.def("contree", &contree, nb::arg("x"), nb::arg("y"), nb::arg("weight").none(), nb::arg("classes"),
          nb::arg("cost").none(), nb::arg("depth"), nb::arg("max_nodes"), nb::arg("min_support"),
          nb::arg("node_penalty"), nb::arg("upper").none(), nb::arg("gap"), nb::arg("prune"), nb::arg("threads"),
          nb::arg("simd"), nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("poll").none(),
          "Solve for the cheapest decision tree over continuous features; see treeform.engines.ConTree.");
    m.def(
        "simd_available", [](const std::string& simd) { return ct::simd_available(simd.c_str()); }, nb::arg("simd"),
        "Whether the scans of that instruction set run on this processor.");
}
