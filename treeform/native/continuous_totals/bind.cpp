// The Python face of the engine for totals over all thresholds: arrays in, arrays out. Sizes are checked here, meaning in
// Python.
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

namespace nb = nanobind;
namespace tc = treeform::continuous_totals;

namespace {

template <class T, int Dimensions>
using Array = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
using Whole = Array<std::int32_t, 1>;
using Start = std::optional<std::tuple<Whole, Array<double, 1>, Whole, Whole, Whole>>;

template <class T>
nb::object to_array(const std::vector<T>& values) {
    auto* copy = new std::vector<T>(values);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

nb::object to_dict(const tc::FlatTree& tree, tc::Amount cost) {
    if (tree.empty()) return nb::none();
    nb::dict out;
    out["feature"] = to_array(tree.feature), out["left"] = to_array(tree.left), out["right"] = to_array(tree.right);
    out["label"] = to_array(tree.label), out["low"] = to_array(tree.low), out["high"] = to_array(tree.high);
    out["cost"] = cost;
    return std::move(out);
}

nb::dict to_dict(const tc::Counters& c) {
    nb::dict out;
    out["prices"] = c.prices, out["nodes"] = c.nodes, out["splits"] = c.splits, out["scans"] = c.scans;
    out["pruned_neighbourhood"] = c.pruned_neighbourhood, out["pruned_shrinking"] = c.pruned_shrinking;
    out["pruned_subinterval"] = c.pruned_subinterval, out["pruned_features"] = c.pruned_features;
    out["alive"] = c.alive, out["walks"] = c.walks, out["fronts"] = c.fronts, out["kept"] = c.kept;
    out["largest_front"] = c.largest, out["pairs"] = c.pairs, out["guesses"] = c.guesses;
    out["activated"] = c.activated;
    return out;
}

void need(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

/// Every index is checked, as the search follows them.
tc::FlatTree to_tree(const Start& start, std::size_t features, int labels) {
    tc::FlatTree tree;
    if (!start) return tree;
    const auto& [feature, threshold, left, right, label] = *start;
    const std::size_t n = feature.shape(0);
    need(threshold.shape(0) == n && left.shape(0) == n && right.shape(0) == n && label.shape(0) == n,
         "the start's columns differ in length");
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t f = feature.data()[i], a = left.data()[i], b = right.data()[i], c = label.data()[i];
        const bool inside = std::size_t(f) < features && a > std::int32_t(i) && b > std::int32_t(i) && std::size_t(a) < n
                            && std::size_t(b) < n;
        need(f >= 0 ? inside : c >= 0 && c < labels, "the start is not a tree");
        tree.feature.push_back(f), tree.left.push_back(a), tree.right.push_back(b), tree.label.push_back(c);
        tree.low.push_back(threshold.data()[i]), tree.high.push_back(threshold.data()[i]);
    }
    return tree;
}

/// The search on a thread of its own; this thread sleeps without the GIL and wakes up to poll.
tc::Outcome run(const tc::Samples& samples, const tc::Settings& settings, double time_limit, const nb::object& poll) {
    tc::Control control;
    tc::Outcome out;
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            out = tc::solve(samples, settings, control);
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
        if (control.seconds() >= time_limit) control.stop();
        if (poll.is_none() || from_poll) continue;
        try {
            const auto news = control.take();
            nb::list list;
            const tc::Improvement* last = nullptr;
            for (const auto& one : news) {
                list.append(nb::make_tuple(one.seconds, one.upper, one.lower));
                if (!one.tree.empty()) last = &one;
            }
            const nb::object tree = last ? to_dict(last->tree, last->upper) : nb::none();
            const nb::tuple reply = nb::cast<nb::tuple>(poll(list, tree));
            if (nb::cast<bool>(reply[0])) control.stop();
            if (!reply[1].is_none()) control.tighten(nb::cast<std::int64_t>(reply[1]));
        } catch (...) {  // the worker must end before the exception may travel on
            from_poll = std::current_exception();
            control.stop();
        }
    }
    worker.join();
    if (failure) std::rethrow_exception(failure);
    if (from_poll) std::rethrow_exception(from_poll);
    return out;
}

nb::dict continuous_totals(const Array<double, 2>& x, const Whole& kind, const std::optional<Array<std::int64_t, 1>>& weight,
                           const Array<std::int64_t, 2>& cost, const Array<std::int64_t, 3>& row, std::int64_t test_cost,
                           const Array<std::int64_t, 1>& test_row, const Array<std::int64_t, 1>& lo,
                           const Array<std::int64_t, 1>& hi, int depth, std::int64_t min_support, std::int64_t min_flow,
                           std::optional<std::int64_t> upper, const std::vector<std::string>& use, std::int64_t memory,
                           const std::string& simd, const Start& start, double time_limit, const nb::object& poll) {
    tc::Samples s;
    s.x = x.data(), s.n = x.shape(0), s.features = x.shape(1), s.kind = kind.data();
    s.weight = weight ? weight->data() : nullptr;
    s.kinds = int(cost.shape(0)), s.labels = int(cost.shape(1)), s.rows = int(row.shape(2));
    s.cost = cost.data(), s.row = row.data(), s.test_cost = test_cost, s.test_row = test_row.data();
    s.lo = lo.data(), s.hi = hi.data();
    const std::size_t rows = std::size_t(s.rows);
    need(s.n > 0 && s.n < 0xFFFFFFFFu && s.features > 0 && s.kinds > 0 && s.labels > 0, "an array is empty");
    need(kind.shape(0) == s.n && (!weight || weight->shape(0) == s.n), "samples differ in number");
    need(row.shape(0) == cost.shape(0) && row.shape(1) == cost.shape(1), "the rows' array has another shape than the costs");
    need(test_row.shape(0) == rows && lo.shape(0) == rows && hi.shape(0) == rows, "rows differ in number");
    for (std::size_t i = 0; i < s.n; ++i) {
        need(s.kind[i] >= 0 && s.kind[i] < s.kinds, "a kind is out of range");
        need(s.weight_of(i) > 0, "a weight is not positive");
    }
    for (std::size_t i = 0; i < cost.size(); ++i) need(s.cost[i] >= 0, "a cost is negative");
    need(std::all_of(s.test_row, s.test_row + rows, [](auto t) { return t >= 0; }) && test_cost >= 0, "a test's amount is negative");
    need(depth >= 1 && depth <= 9 && s.labels <= 65000 && s.kinds <= 65000, "the depth, the kinds or the labels are too many");
    need(min_support >= 0 && min_flow >= 0 && memory > 0, "a setting is negative");
    tc::Settings g;
    g.depth = depth, g.min_support = min_support, g.min_flow = min_flow, g.upper = upper.value_or(tc::kNone);
    const auto uses = [&](const char* what) { return std::find(use.begin(), use.end(), what) != use.end(); };
    g.multipliers = uses("multipliers"), g.lazy = uses("lazy"), g.steps = uses("steps"), g.shallow = uses("shallow");
    g.rough = uses("rough"), g.roots = uses("roots"), g.dominance = uses("dominance");
    g.neighbourhood = uses("neighbourhood"), g.shrinking = uses("shrinking"), g.subinterval = uses("subinterval");
    g.features = uses("features");
    g.memory = std::size_t(memory), g.simd = simd, g.start = to_tree(start, s.features, s.labels);
    const tc::Outcome out = run(s, g, time_limit, poll);
    nb::dict result;
    result["tree"] = to_dict(out.tree, out.upper), result["lower"] = out.lower, result["complete"] = out.complete;
    result["memory"] = out.memory_stop, result["too_many_active"] = out.too_many_active;
    result["infeasible"] = out.infeasible, result["seconds"] = out.seconds, result["simd"] = out.simd;
    result["multipliers"] = to_array(out.multipliers), result["multiplier_unit"] = out.multiplier_unit;
    result["active"] = to_array(out.active), result["counters"] = to_dict(out.counters);
    return result;
}

}  // namespace

void bind_continuous_totals(nb::module_& m) {
    m.def("continuous_totals", &continuous_totals, nb::arg("x"), nb::arg("kind"), nb::arg("weight").none(), nb::arg("cost"),
          nb::arg("row"), nb::arg("test_cost"), nb::arg("test_row"), nb::arg("lo"), nb::arg("hi"), nb::arg("depth"),
          nb::arg("min_support"), nb::arg("min_flow"), nb::arg("upper").none(), nb::arg("use"), nb::arg("memory"),
          nb::arg("simd"), nb::arg("start").none(), nb::arg("time_limit"), nb::arg("poll").none(),
          "Solve for the cheapest tree over all thresholds under rows on totals; see treeform.engines.ContinuousTotals.");
}
