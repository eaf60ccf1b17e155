// The binding of the engine for requirements on totals.
#include "../common/binding.hpp"
#include "engine.hpp"

namespace treeform::totals {
namespace {

template <int Dimensions>
using Amounts = Array<Amount, Dimensions>;
using Column = Array<std::int32_t, 1>;

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
    require(t.columns < 32767 && labels <= 38, "the columns or the labels are too many");
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
    s.depth = keywords.integer_as<int>("depth"), s.min_support = keywords.integer("min_support");
    s.min_flow = keywords.integer("min_flow"), s.max_features = keywords.integer_as<int>("max_features");
    s.upper = keywords.integer_or("upper", kNone), s.start = keywords.tree("start", table.columns, table.labels);
    s.multipliers = keywords.integers("multipliers"), s.multiplier_unit = keywords.integer("multiplier_unit");
    s.memory = keywords.integer_as<std::size_t>("memory"), s.simd = keywords.text("simd");
    s.threads = keywords.integer_as<int>("threads");
    const Names use = keywords.names("use");
    s.use_multipliers = use("multipliers"), s.use_lazy = use("lazy"), s.use_steps = use("steps");
    s.use_shallow = use("shallow"), s.use_rough = use("rough");
    s.use_similarity = use("similarity"), s.use_dominance = use("dominance");
    require(s.depth >= 0 && s.depth <= 9, "the depth is not between 0 and 9");
    require(s.threads >= 1 && s.threads <= 4096, "the threads are not between 1 and 4096");
    require(s.multiplier_unit > 0 && s.min_support >= 0 && s.min_flow >= 0, "a setting is negative");
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

nb::dict totals(const Array<std::uint8_t, 2>& x, const Amounts<2>& count, const Amounts<1>& unit,
                const Amounts<2>& cost, const Amounts<3>& row, const Amounts<1>& test_cost, const Amounts<2>& test_row,
                const Amounts<1>& lo, const Amounts<1>& hi, const Column& source, const Amounts<2>& mark,
                const Column& clash_begin, const Amounts<1>& clash_low, const Amounts<1>& clash_high,
                const nb::kwargs& given) {
    Keywords keywords(given);
    Table table = table_of(x, count, unit, cost, row, test_cost, test_row, lo, hi, source);
    set_marks(table, mark, clash_begin, clash_low, clash_high);
    const Settings settings = settings_of(keywords, table);
    const double time_limit = keywords.real("time_limit");
    const auto memory_limit = keywords.integer_as<std::size_t>("memory_limit");
    const nb::object poll = keywords.object("poll");
    keywords.finish();
    Control control;
    control.limit_memory(memory_limit);
    Outcome out;
    run_tree_search(control, time_limit, poll, [&] { out = solve(table, settings, control); });
    nb::dict answer = to_dict(out);
    add_memory(answer, control, out.memory_stop);
    return answer;
}

}  // namespace

void bind(nb::module_& m) {
    m.def("totals", &totals, nb::arg("x"), nb::arg("count"), nb::arg("unit"), nb::arg("cost"), nb::arg("row"),
          nb::arg("test_cost"), nb::arg("test_row"), nb::arg("lo"), nb::arg("hi"), nb::arg("source"), nb::arg("mark"),
          nb::arg("clash_begin"), nb::arg("clash_low"), nb::arg("clash_high"), nb::arg("keywords"),
          "Solve for the cheapest decision tree under rows on totals; see treeform.engines.TotalsSearch. Keywords: "
          "depth, min_support, min_flow, max_features, upper, start, multipliers, multiplier_unit, memory, simd, "
          "threads, use, "
          "time_limit, poll.");
}

}  // namespace treeform::totals
