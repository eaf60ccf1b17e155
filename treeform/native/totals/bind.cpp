// The binding of the engine for requirements on totals.
#include <cmath>

#include "../common/binding.hpp"
#include "engine.hpp"
#include "parts.hpp"

namespace treeform::totals {
namespace {

template <int Dimensions>
using Amounts = Array<Amount, Dimensions>;
using Column = Array<std::int32_t, 1>;

constexpr int kFewRows = 8;

Table table_of(const Array<std::uint8_t, 2>& x, const Amounts<2>& count, const Amounts<1>& unit, const Amounts<2>& cost,
               const Amounts<3>& row, const Amounts<1>& test_cost, const Amounts<2>& test_row, const Amounts<1>& lo,
               const Amounts<1>& hi, const Column& source) {
    require_aligned(count, unit, cost, row, test_cost, test_row, lo, hi, source);
    Table t;
    t.x = x.data(), t.points = x.shape(0), t.columns = x.shape(1);
    t.count = count.data(), t.unit = unit.data(), t.kinds = int(count.shape(1)), t.labels = int(cost.shape(1)),
    t.rows = int(row.shape(2));
    t.cost = cost.data(), t.row = row.data(), t.test_cost = test_cost.data(), t.test_row = test_row.data();
    t.lo = lo.data(), t.hi = hi.data(), t.source = source.data();
    const std::size_t rows = std::size_t(t.rows), kinds = std::size_t(t.kinds), labels = std::size_t(t.labels);
    require(t.points > 0 && kinds > 0 && labels > 0, "an array is empty");
    require(count.shape(0) == t.points && unit.shape(0) == kinds && cost.shape(0) == kinds,
            "points or kinds differ in number");
    require(row.shape(0) == kinds && row.shape(1) == labels, "the rows' array has another shape than the costs");
    require(test_cost.shape(0) == t.columns && test_row.shape(0) == t.columns && test_row.shape(1) == rows,
            "tests differ in number");
    require(source.shape(0) == t.columns && lo.shape(0) == rows && hi.shape(0) == rows,
            "rows or columns differ in number");
    require(t.columns < 32767 && labels <= kMostLabels, "the columns or the labels are too many");
    require(t.points < std::size_t(1) << 31 && kinds < std::size_t(1) << 31, "the points or the kinds are too many");
    require_sum(t.count, t.points, kinds, 0, kLargestSum, "the counts");
    require_all_between(t.unit, kinds, 1, kLargestSum, "a unit");
    require_all_between(t.cost, kinds * labels, 0, kAnyAmount, "a cost");
    require_all_between(t.test_cost, t.columns, 0, kAnyAmount, "a test's cost");
    require_all_between(t.row, row.size(), -kLargestAmount, kLargestAmount, "an amount");
    require_all_between(t.test_row, test_row.size(), -kLargestAmount, kLargestAmount, "a test's amount");
    require_all_between(t.lo, rows, -kLargestAmount, kLargestAmount, "a bound");
    require_all_between(t.hi, rows, -kLargestAmount, kLargestAmount, "a bound");
    return t;
}

void set_marks(Table& t, const Amounts<2>& mark, const Column& clash_begin, const Amounts<1>& clash_low,
               const Amounts<1>& clash_high) {
    require_aligned(mark, clash_begin, clash_low, clash_high);
    require(mark.shape(0) == std::size_t(t.kinds) && mark.shape(1) == std::size_t(t.labels), "marks differ in number");
    require(clash_begin.shape(0) == t.columns + 1 && clash_low.shape(0) == clash_high.shape(0),
            "clashes differ in number");
    const std::int32_t* begin = clash_begin.data();
    for (std::size_t f = 0; f <= t.columns; ++f)
        require(begin[f] >= (f ? begin[f - 1] : 0), "the clashes are out of order");
    require(std::size_t(begin[t.columns]) == clash_low.shape(0), "clashes differ in number");
    if (clash_low.shape(0) == 0) return;
    t.mark = reinterpret_cast<const std::uint64_t*>(mark.data()), t.clash_begin = begin;
    t.clash_low = reinterpret_cast<const std::uint64_t*>(clash_low.data());
    t.clash_high = reinterpret_cast<const std::uint64_t*>(clash_high.data());
}

Settings settings_of(Keywords& keywords, const Table& table) {
    Settings s;
    s.depth = int(keywords.integer_between("depth", 0, 9)), s.min_support = keywords.amount("min_support");
    s.min_flow = keywords.amount("min_flow"), s.max_features = keywords.integer_as<int>("max_features");
    s.upper = keywords.integer_or("upper", kNone), s.start = keywords.tree("start", table.columns, table.labels);
    s.multipliers = keywords.integers("multipliers"),
    s.multiplier_unit = keywords.integer_between("multiplier_unit", 1, kLargestAmount);
    s.memory = keywords.integer_as<std::size_t>("memory"), s.simd = keywords.text("simd");
    s.threads = keywords.threads(), s.least_steps = keywords.real("least_steps");
    const Names use = keywords.names("use");
    s.use_multipliers = use("multipliers"), s.use_lazy = use("lazy"), s.use_steps = use("steps");
    s.use_shallow = use("shallow"), s.use_rough = use("rough");
    s.use_similarity = use("similarity"), s.use_dominance = use("dominance");
    require_all_between(s.multipliers.data(), s.multipliers.size(), -kLargestAmount, kLargestAmount, "a multiplier");
    require(s.multipliers.empty() || s.multipliers.size() == std::size_t(table.rows),
            "there is one multiplier per row");
    return s;
}

nb::dict to_dict(const Counters& c) {
    nb::dict out;
    out["prices"] = c.prices, out["depth_two"] = c.depth_two, out["subproblems"] = c.subproblems;
    out["cache_hits"] = c.cache_hits, out["pruned_bound"] = c.pruned_bound;
    out["pruned_similarity"] = c.pruned_similarity, out["fronts"] = c.fronts, out["kept"] = c.kept;
    out["largest_front"] = c.largest, out["pairs"] = c.pairs, out["guesses"] = c.guesses;
    out["activated"] = c.activated;
    return out;
}

nb::dict to_dict(const Outcome& out) {
    nb::dict result;
    result["tree"] = to_object(out.tree, out.upper), result["lower"] = out.lower, result["complete"] = out.complete;
    result["relaxed"] = out.relaxed, result["memory"] = out.memory_stop, result["infeasible"] = out.infeasible;
    result["seconds"] = out.seconds, result["simd"] = out.simd.c_str(), result["columns"] = out.columns;
    result["multipliers"] = to_array(out.multipliers), result["multiplier_unit"] = out.multiplier_unit;
    result["active"] = to_array(out.active), result["counters"] = to_dict(out.counters);
    return result;
}

/// The arrays of a table, which it points into.
struct Arrays {
    Array<std::uint8_t, 2> x;
    Amounts<2> count;
    Amounts<1> unit;
    Amounts<2> cost;
    Amounts<3> row;
    Amounts<1> test_cost;
    Amounts<2> test_row;
    Amounts<1> lo, hi;
    Column source;
    Amounts<2> mark;
    Column clash_begin;
    Amounts<1> clash_low, clash_high;

    explicit Arrays(const nb::tuple& given) {
        require(given.size() == 14, "the table has 14 arrays");
        std::size_t at = 0;
        const auto take = [&](auto&... arrays) {
            ((arrays = nb::cast<std::remove_reference_t<decltype(arrays)>>(given[at++])), ...);
        };
        take(x, count, unit, cost, row, test_cost, test_row, lo, hi, source, mark, clash_begin, clash_low, clash_high);
    }
    Table table() const {
        Table table = table_of(x, count, unit, cost, row, test_cost, test_row, lo, hi, source);
        set_marks(table, mark, clash_begin, clash_low, clash_high);
        return table;
    }
};

nb::dict totals(const nb::tuple& given_arrays, const nb::kwargs& given) {
    Keywords keywords(given);
    const Arrays arrays(given_arrays);
    const Table table = arrays.table();
    const Settings settings = settings_of(keywords, table);
    const double time_limit = keywords.real("time_limit");
    const auto memory_limit = keywords.integer_as<std::size_t>("memory_limit");
    const nb::object poll = keywords.object("poll"), ask = keywords.object("ask");
    const Away away = away_to(ask, keywords.integer_as<int>("callers"));
    keywords.finish();
    Control control;
    control.limit_memory(memory_limit);
    if (settings.threads == 1 && !away && settings.depth <= 2 && table.rows <= kFewRows) {
        // Counts of all pairs of tests for some dozens of prices; and all trees of three tests and four labels.
        const double tests = double(table.columns), labels = double(table.labels);
        control.expect_steps(double(table.points) * tests * tests + std::pow(tests, 3) * std::pow(labels, 4));
    }
    Outcome out;
    run_tree_search(control, time_limit, poll, [&] { out = solve(table, settings, control, away); });
    nb::dict answer = to_dict(out);
    add_memory(answer, control, out.memory_stop);
    return answer;
}

/// Answers the parts that `totals` asks for; holds the arrays that it is given.
class Evaluator {
public:
    Evaluator(const nb::tuple& given_arrays, const nb::kwargs& given) : arrays_(given_arrays), table_(arrays_.table()) {
        Keywords keywords(given);
        const Settings settings = settings_of(keywords, table_);
        control_.limit_memory(keywords.integer_as<std::size_t>("memory_limit"));
        keywords.finish();
        search_ = std::make_unique<PartSearch>(table_, settings, control_);
    }
    nb::object evaluate(const nb::object& question, const nb::object& poll, bool at_nodes) {
        return answer_part(
            control_, question, poll, [&](const Message& asked) { return search_->evaluate(asked); },
            [&](std::int64_t upper) { search_->tighten(upper); }, at_nodes);
    }

private:
    Arrays arrays_;
    Table table_;
    Control control_;
    std::unique_ptr<PartSearch> search_;
};

}  // namespace

void bind(nb::module_& m) {
    m.def(
        "totals", &totals, nb::arg("arrays"), nb::arg("keywords"),
        "Solve for the cheapest decision tree under rows on totals; see treeform.engines.TotalsSearch. Arrays: x, "
        "count, unit, cost, row, test_cost, test_row, lo, hi, source, mark, clash_begin, clash_low, clash_high. "
        "Keywords: depth, min_support, min_flow, max_features, upper, start, multipliers, multiplier_unit, memory, "
        "simd, threads, use, least_steps, time_limit, poll, ask (None, or what answers parts of the search: ask(int64 "
        "array) returns the reply of a TotalsEvaluator, or None to stop), callers.");
    nb::class_<Evaluator>(m, "TotalsEvaluator",
                          "Answers parts of the search on the same arrays. Keywords: those of `totals` but time_limit, "
                          "poll, ask and callers.")
        .def(nb::init<const nb::tuple&, const nb::kwargs&>(), nb::arg("arrays"), nb::arg("keywords"))
        .def("evaluate", &Evaluator::evaluate, nb::arg("question"), nb::arg("poll"), nb::arg("at_nodes") = false,
             "The reply to a question; None once poll() returned (True, _), or memory ran out. poll() returns whether "
             "to stop, and None or an upper bound that has fallen. at_nodes: it is called at every sixteenth node of "
             "the search, the same ones in every run, and not by the clock.");
}

}  // namespace treeform::totals
