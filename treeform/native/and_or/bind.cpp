// The binding of the AND/OR graph of trees.
#include <nanobind/stl/vector.h>

#include "../common/give_back.hpp"
#include "../common/run_again.hpp"
#include "../contree/scan.hpp"
#include "../totals/arrays.hpp"
#include "column_sets.hpp"
#include "graph.hpp"
#include "intervals.hpp"

namespace treeform::and_or {
namespace {

using totals::Arrays;
using totals::kNone;
using totals::Settings;
using totals::Table;

Settings settings_of(const nb::kwargs& given) {
    Keywords keywords(given);
    Settings settings;
    settings.depth = int(keywords.integer_between("depth", 1, 9));
    settings.min_support = keywords.amount("min_support"), settings.min_flow = keywords.amount("min_flow");
    settings.memory = keywords.integer_as<std::size_t>("memory"), settings.simd = keywords.text("simd");
    keywords.finish();
    return settings;
}

std::vector<std::int32_t> groups_of(const Array<std::int32_t, 1>& group, const Table& table) {
    require_aligned(group);
    require(group.shape(0) == table.columns, "there is one group per column");
    return {group.data(), group.data() + group.shape(0)};
}

/// One table with its search, which keeps what it learns between calls.
template <class Trees, class Control>
class BoundGraph {
public:
    BoundGraph(const nb::tuple& given_arrays, const Array<std::int32_t, 1>& group, const nb::kwargs& given)
        requires std::is_same_v<Trees, Graph>
        : arrays_(given_arrays), table_(arrays_.table()) {
        settings_ = settings_of(given);
        const auto groups = groups_of(group, table_);
        control_.limit_memory(settings_.memory);
        search([&] { graph_ = std::make_unique<Trees>(table_, settings_, control_, groups); }, kForever, nb::none());
    }
    BoundGraph(const nb::tuple& given_arrays, const Array<double, 2>& x, const Array<std::int32_t, 1>& group,
               const nb::kwargs& given)
        requires std::is_same_v<Trees, IntervalGraph>
        : arrays_(given_arrays), x_(x), table_(arrays_.table()) {
        require_numbers(x);
        settings_ = settings_of(given);
        const auto groups = groups_of(group, table_);
        require(!table_.leaf_row, "leaves add nothing by themselves");
        require(x.shape(0) == table_.points && x.shape(1) == table_.columns, "points or columns differ in number");
        require(table_.columns > 0 && contree::simd_available(settings_.simd.c_str()),
                "there is no column, or this processor lacks these instructions");
        for (std::size_t f = 1; f < table_.columns; ++f)
            require(table_.test_cost[f] == table_.test_cost[0]
                        && std::equal(table_.test_row, table_.test_row + table_.rows,
                                      table_.test_row + f * std::size_t(table_.rows)),
                    "tests of different columns add the same");
        control_.limit_memory(settings_.memory);
        search([&] {
            graph_ = std::make_unique<Trees>(Thresholds{table_, x_.data()}, settings_, control_, groups);
        }, kForever, nb::none());
    }

    void keep_to(const Array<std::uint8_t, 2>& allowed, const Array<std::int32_t, 3>& next,
                 const Array<std::uint8_t, 1>& may_end)
        requires std::is_same_v<Trees, Graph>
    {
        require_aligned(next);
        const std::size_t states = may_end.shape(0), columns = table_.columns;
        require(states > 0 && allowed.shape(0) == states && next.shape(0) == states, "states differ in number");
        require(allowed.shape(1) == columns && next.shape(1) == columns && next.shape(2) == 2,
                "tests differ in number, or sides are not two");
        for (std::size_t i = 0; i < next.size(); ++i)
            require_between(next.data()[i], kFree, std::int64_t(states) - 1, "a state");
        PathStates out;
        out.allowed.assign(allowed.data(), allowed.data() + allowed.size());
        out.next.assign(next.data(), next.data() + next.size());
        out.may_end.assign(may_end.data(), may_end.data() + may_end.size());
        out.columns = columns;
        graph().keep_to(std::move(out));
    }
    /// At given multipliers: a bound for each set of tests.
    nb::object over_sets(const std::vector<std::int64_t>& multipliers, std::int64_t unit,
                         const Array<std::int64_t, 1>& begin, const Array<std::int32_t, 1>& tests, double time_limit,
                         const nb::object& poll)
        requires std::is_same_v<Trees, Graph>
    {
        const std::vector<std::int64_t> from(begin.data(), begin.data() + begin.size());
        const std::vector<std::int32_t> list(tests.data(), tests.data() + tests.size());
        require_aligned(begin), require_aligned(tests);
        require(!from.empty() && from.front() == 0 && from.back() == std::int64_t(list.size())
                    && std::is_sorted(from.begin(), from.end()),
                "sets begin at their tests");
        for (const std::int32_t test : list) require_between(test, 0, std::int64_t(table_.columns) - 1, "a test");
        require(multipliers.size() == std::size_t(table_.rows), "there is one multiplier per row");
        const totals::Pricing pricing(table_, settings_);
        totals::Prices prices;
        require(unit > 0 && pricing.make(multipliers, unit, prices), "prices are small enough to be exact");
        std::vector<std::int64_t> out;
        const bool ended = search(
            [&] { out = least_over_sets(table_, settings_, control_, prices, from, list); }, time_limit, poll);
        for (std::int64_t& least : out) least = least >= kNone ? kNone : prices.bound(least);
        return ended ? nb::object(to_array(out)) : nb::none();
    }
    nb::object relax(std::int64_t upper, double time_limit, const nb::object& poll) {
        Relaxed out;
        const bool ended = search([&] { out = graph().relax(upper); }, time_limit, poll);
        return ended ? nb::object(to_dict(out)) : nb::none();
    }
    nb::object price(const std::vector<std::int64_t>& multipliers, std::int64_t unit, double time_limit,
                     const nb::object& poll) {
        require(multipliers.size() == std::size_t(table_.rows), "there is one multiplier per row");
        require_all_between(multipliers.data(), multipliers.size(), -kLargestAmount, kLargestAmount, "a multiplier");
        require_between(unit, 1, kLargestAmount, "unit");
        Relaxed out;
        const bool ended = search([&] { out = graph().price(multipliers, unit); }, time_limit, poll);
        return ended ? nb::object(to_dict(out)) : nb::none();
    }
    nb::object up_to(std::int64_t cost, std::int64_t short_by, std::int64_t most, bool fewer, double time_limit,
                     const nb::object& poll) {
        require_between(cost, 0, kLargestAmount, "cost");
        require_between(short_by, 0, kLargestAmount, "what it is short by");
        require_between(most, 1, std::int64_t(1) << 30, "most");
        Alternatives out;
        const auto work = [&] { out = graph().up_to(cost, short_by, std::size_t(most), fewer); };
        const bool ended = search(work, time_limit, poll);
        if (!ended || !out.complete) {
            // A smaller graph comes next: neither what this one took nor when that was last seen must refuse it.
            out = {};
            give_freed_memory_back();
            control_.limit_memory(settings_.memory);
            return nb::none();
        }
        nb::dict answer;
        answer["depth"] = to_array(out.depth), answer["begin"] = to_array(out.begin);
        answer["test"] = to_array(out.test), answer["label"] = to_array(out.label);
        answer["left"] = to_array(out.left), answer["right"] = to_array(out.right);
        answer["least"] = to_array(out.least), answer["sums"] = to_array(out.sums), answer["words"] = out.words;
        answer["cover"] = to_array(std::vector<std::int64_t>(out.cover.begin(), out.cover.end()));
        return answer;
    }
    nb::object count(std::int64_t cost, double time_limit, const nb::object& poll)
        requires std::is_same_v<Trees, IntervalGraph>
    {
        require_between(cost, 0, kLargestAmount, "cost");
        require(table_.rows == 0, "no rows have multipliers");
        double number = 0;
        const bool ended = search([&] { number = graph().count(cost); }, time_limit, poll);
        return ended ? nb::object(nb::float_(number)) : nb::none();
    }

private:
    Trees& graph() {
        if (!graph_) throw std::bad_alloc();  // it did not fit when it was made
        return *graph_;
    }
    static constexpr double kForever = std::numeric_limits<double>::infinity();

    static nb::dict to_dict(const Relaxed& r) {
        nb::dict out;
        out["multipliers"] = to_list(r.multipliers), out["unit"] = r.unit, out["lower"] = r.lower;
        out["infeasible"] = r.infeasible, out["complete"] = r.complete;
        return out;
    }
    bool search(const std::function<void()>& work, double time_limit, const nb::object& poll) {
        return run_again(control_, time_limit, poll, work);
    }

    Arrays arrays_;
    Array<double, 2> x_;
    Table table_;
    Settings settings_;
    Control control_;
    std::unique_ptr<Trees> graph_;
};

template <class Bound>
nb::class_<Bound>& with_methods(nb::class_<Bound>& bound) {
    return bound
        .def("relax", &Bound::relax, nb::arg("upper"), nb::arg("time_limit"), nb::arg("poll").none(),
             "Search for multipliers: a dictionary of them, their unit, the bound, whether there is no tree, and whether "
             "the search ended; None when it was stopped before it had a bound.")
        .def("price", &Bound::price, nb::arg("multipliers"), nb::arg("unit"), nb::arg("time_limit"),
             nb::arg("poll").none(), "The same at given multipliers.")
        .def("up_to", &Bound::up_to, nb::arg("cost"), nb::arg("short_by"), nb::arg("most"),
             nb::arg("fewer"), nb::arg("time_limit"), nb::arg("poll").none(),
             "All alternatives of trees of at most that cost, and of a price that is short by so much of its limit; "
             "None when it was stopped, or for more than `most` of them. With `fewer`, listed tests over two leaves are "
             "left out in whose place another one adds the same to all rows at no more cost; of thresholds in intervals, "
             "at depth two, alternatives that other multipliers exclude.");
}

}  // namespace

void bind(nb::module_& m) {
    using Tests = BoundGraph<Graph, totals::Control>;
    nb::class_<Tests> tests(m, "AndOrGraph",
                            "The alternatives of all cheap trees over a table; see treeform.engines.and_or_graph. "
                            "Arrays: those of `totals`; group (T,) int32. Keywords: depth, min_support, min_flow, "
                            "memory, simd.");
    tests.def(nb::init<const nb::tuple&, const Array<std::int32_t, 1>&, const nb::kwargs&>(), nb::arg("arrays"),
              nb::arg("group"), nb::arg("keywords"));
    tests.def("keep_to", &Tests::keep_to, nb::arg("allowed"), nb::arg("next"), nb::arg("may_end"),
              "Rules on paths, in state 0 at the root: (S, T) uint8 whether a test may come next, (S, T, 2) int32 the "
              "state on each side of it (-1: everything may follow), (S,) uint8 whether a leaf may stand there.");
    tests.def("over_sets", &Tests::over_sets, nb::arg("multipliers"), nb::arg("unit"), nb::arg("begin"),
              nb::arg("tests"), nb::arg("time_limit"), nb::arg("poll").none(),
              "Bounds at given multipliers for trees over sets of tests, set i from begin[i] to begin[i + 1]: (S,) int64; "
              "None when it was stopped.");
    with_methods(tests);
    using Intervals = BoundGraph<IntervalGraph, continuous_totals::Control>;
    nb::class_<Intervals> intervals(m, "IntervalAndOrGraph",
                                    "The same over all thresholds of continuous columns. Arrays: as above, with "
                                    "columns in place of tests and bits that are not read; x (P, F) float64; group "
                                    "(F,) int32. Tests are numbered column by column, by threshold.");
    intervals.def(nb::init<const nb::tuple&, const Array<double, 2>&, const Array<std::int32_t, 1>&, const nb::kwargs&>(),
                  nb::arg("arrays"), nb::arg("x"), nb::arg("group"), nb::arg("keywords"));
    intervals.def("count", &Intervals::count, nb::arg("cost"), nb::arg("time_limit"), nb::arg("poll").none(),
                  "How many trees of at most that cost there are, without rows; None when it was stopped.");
    with_methods(intervals);
}

}  // namespace treeform::and_or
