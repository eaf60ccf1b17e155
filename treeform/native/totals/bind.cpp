// The Python face of the engine for requirements on totals: arrays in, arrays out. Sizes are checked here, meaning in
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
namespace tt = treeform::totals;

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <int Dimensions>
using Amounts = nb::ndarray<const std::int64_t, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Start = std::optional<std::tuple<Column, Column, Column, Column>>;

template <class T>
nb::object to_array(const std::vector<T>& values) {
    auto* copy = new std::vector<T>(values);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

nb::object to_dict(const tt::FlatTree& tree, tt::Amount cost) {
    if (tree.empty()) return nb::none();
    nb::dict out;
    out["feature"] = to_array(tree.feature), out["left"] = to_array(tree.left), out["right"] = to_array(tree.right);
    out["label"] = to_array(tree.label), out["cost"] = cost;
    return std::move(out);
}

nb::dict to_dict(const tt::Counters& c) {
    nb::dict out;
    out["prices"] = c.prices, out["depth_two"] = c.depth_two, out["subproblems"] = c.subproblems;
    out["cache_hits"] = c.cache_hits, out["pruned_bound"] = c.pruned_bound,
    out["pruned_similarity"] = c.pruned_similarity;
    out["fronts"] = c.fronts, out["kept"] = c.kept, out["largest_front"] = c.largest, out["pairs"] = c.pairs;
    out["guesses"] = c.guesses, out["activated"] = c.activated;
    return out;
}

/// Every index is checked, as the search follows them.
tt::FlatTree to_tree(const Start& start, std::size_t columns, int labels) {
    tt::FlatTree tree;
    if (!start) return tree;
    const auto& [feature, left, right, label] = *start;
    const std::size_t n = feature.shape(0);
    if (left.shape(0) != n || right.shape(0) != n || label.shape(0) != n)
        throw std::invalid_argument("the start's columns differ in length");
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t f = feature.data()[i], a = left.data()[i], b = right.data()[i], c = label.data()[i];
        const bool inside = std::size_t(f) < columns && a > std::int32_t(i) && b > std::int32_t(i) && std::size_t(a) < n
                            && std::size_t(b) < n;
        if (f >= 0 ? !inside : c < 0 || c >= labels) throw std::invalid_argument("the start is not a tree");
        tree.feature.push_back(f), tree.left.push_back(a), tree.right.push_back(b), tree.label.push_back(c);
    }
    return tree;
}

/// The search on a thread of its own; this thread sleeps without the GIL and wakes up to poll.
tt::Outcome run(const tt::Table& table, const tt::Settings& settings, double time_limit, const nb::object& poll) {
    tt::Control control;
    tt::Outcome out;
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            out = tt::solve(table, settings, control);
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
            const tt::Improvement* last = nullptr;
            for (const auto& one : news) {
                list.append(nb::make_tuple(one.seconds, one.upper, one.lower));
                if (!one.tree.empty()) last = &one;
            }
            const nb::object tree = last ? to_dict(last->tree, last->upper) : nb::none();
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

void need(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

nb::dict totals(const Bytes& x, const Amounts<2>& count, const Amounts<2>& cost, const Amounts<3>& row,
                const Amounts<1>& test_cost, const Amounts<2>& test_row, const Amounts<1>& lo, const Amounts<1>& hi,
                const Column& source, const Amounts<2>& mark, const Column& clash_begin, const Amounts<1>& clash_low,
                const Amounts<1>& clash_high, int depth, std::int64_t min_support, std::int64_t min_flow,
                int max_features, std::optional<std::int64_t> upper, const std::vector<std::int64_t>& multipliers,
                std::int64_t multiplier_unit, const std::vector<std::string>& use, std::int64_t memory,
                const std::string& simd, const Start& start, double time_limit, const nb::object& poll) {
    tt::Table t;
    t.x = x.data(), t.points = x.shape(0), t.columns = x.shape(1);
    t.count = count.data(), t.kinds = int(count.shape(1)), t.labels = int(cost.shape(1)), t.rows = int(row.shape(2));
    t.cost = cost.data(), t.row = row.data(), t.test_cost = test_cost.data(), t.test_row = test_row.data();
    t.lo = lo.data(), t.hi = hi.data(), t.source = source.data();
    const std::size_t rows = std::size_t(t.rows), kinds = std::size_t(t.kinds), labels = std::size_t(t.labels);
    need(t.points > 0 && kinds > 0 && labels > 0, "an array is empty");
    need(count.shape(0) == t.points && cost.shape(0) == kinds, "points or kinds differ in number");
    need(row.shape(0) == kinds && row.shape(1) == labels, "the rows' array has another shape than the costs");
    need(test_cost.shape(0) == t.columns && test_row.shape(0) == t.columns && test_row.shape(1) == rows,
         "tests differ in number");
    need(source.shape(0) == t.columns && lo.shape(0) == rows && hi.shape(0) == rows,
         "rows or columns differ in number");
    need(mark.shape(0) == kinds && mark.shape(1) == labels && clash_begin.shape(0) == t.columns + 1,
         "marks or clashes differ in number");
    need(clash_low.shape(0) == clash_high.shape(0), "clashes differ in number");
    for (std::size_t f = 0; f <= t.columns; ++f)
        need(clash_begin.data()[f] >= (f ? clash_begin.data()[f - 1] : 0), "clashes are out of order");
    need(std::size_t(clash_begin.data()[t.columns]) == clash_low.shape(0), "clashes differ in number");
    if (clash_low.shape(0) > 0) {
        t.mark = reinterpret_cast<const std::uint64_t*>(mark.data()), t.clash_begin = clash_begin.data();
        t.clash_low = reinterpret_cast<const std::uint64_t*>(clash_low.data());
        t.clash_high = reinterpret_cast<const std::uint64_t*>(clash_high.data());
    }
    need(multipliers.empty() || multipliers.size() == rows, "there is one multiplier per row");
    need(depth >= 0 && depth <= 9 && t.columns < 32767 && labels <= 38,
         "the depth, the columns or the labels are too many");
    need(multiplier_unit > 0 && min_support >= 0 && min_flow >= 0, "a setting is negative");
    tt::Settings s;
    s.depth = depth, s.min_support = min_support, s.min_flow = min_flow, s.max_features = max_features;
    s.upper = upper.value_or(tt::kNone), s.multipliers = multipliers, s.multiplier_unit = multiplier_unit;
    const auto uses = [&](const char* what) { return std::find(use.begin(), use.end(), what) != use.end(); };
    s.use_multipliers = uses("multipliers"), s.use_lazy = uses("lazy"), s.use_steps = uses("steps"),
    s.use_shallow = uses("shallow");
    s.use_rough = uses("rough"), s.use_similarity = uses("similarity"), s.use_dominance = uses("dominance");
    s.memory = std::size_t(memory), s.simd = simd, s.start = to_tree(start, t.columns, t.labels);
    const tt::Outcome out = run(t, s, time_limit, poll);
    nb::dict result;
    result["tree"] = to_dict(out.tree, out.upper), result["lower"] = out.lower, result["complete"] = out.complete;
    result["relaxed"] = out.relaxed, result["memory"] = out.memory_stop, result["infeasible"] = out.infeasible;
    result["seconds"] = out.seconds, result["simd"] = out.simd, result["columns"] = out.columns;
    result["multipliers"] = to_array(out.multipliers), result["multiplier_unit"] = out.multiplier_unit;
    result["active"] = to_array(out.active), result["counters"] = to_dict(out.counters);
    return result;
}

}  // namespace

void bind_totals(nb::module_& m) {
    m.def("totals", &totals, nb::arg("x"), nb::arg("count"), nb::arg("cost"), nb::arg("row"), nb::arg("test_cost"),
          nb::arg("test_row"), nb::arg("lo"), nb::arg("hi"), nb::arg("source"), nb::arg("mark"), nb::arg("clash_begin"),
          nb::arg("clash_low"), nb::arg("clash_high"), nb::arg("depth"), nb::arg("min_support"), nb::arg("min_flow"),
          nb::arg("max_features"), nb::arg("upper").none(), nb::arg("multipliers"), nb::arg("multiplier_unit"),
          nb::arg("use"), nb::arg("memory"), nb::arg("simd"), nb::arg("start").none(), nb::arg("time_limit"),
          nb::arg("poll").none(),
          "Solve for the cheapest decision tree under rows on totals; see treeform.engines.TotalsSearch.");
}
