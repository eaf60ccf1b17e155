// The binding of the engine for requirements on totals over all thresholds.
#include <algorithm>

#include "../common/binding.hpp"
#include "../contree/scan.hpp"
#include "engine.hpp"

namespace treeform::continuous_totals {
namespace {

template <int Dimensions>
using Amounts = Array<Amount, Dimensions>;

Samples samples_of(const Array<double, 2>& x, const Array<std::int32_t, 1>& kind, const Amounts<1>& weight,
                   const Amounts<2>& cost, const Amounts<3>& row, const Amounts<1>& test_row, const Amounts<1>& lo,
                   const Amounts<1>& hi, const Amounts<2>& mark, const Array<std::int32_t, 1>& clash_begin,
                   const Amounts<1>& clash_low, const Amounts<1>& clash_high) {
    require_numbers(x);
    require_aligned(kind, weight, cost, row, test_row, lo, hi, mark, clash_begin, clash_low, clash_high);
    Samples s;
    s.x = x.data(), s.n = x.shape(0), s.features = x.shape(1), s.kind = kind.data();
    s.weight = weight.is_valid() ? weight.data() : nullptr;
    require(cost.shape(0) <= 65000 && cost.shape(1) <= 65000, "the kinds or the labels are too many");
    s.kinds = int(cost.shape(0)), s.labels = int(cost.shape(1)), s.rows = int(row.shape(2));
    s.cost = cost.data(), s.row = row.data(), s.test_row = test_row.data(), s.lo = lo.data(), s.hi = hi.data();
    const std::size_t rows = row.shape(2);
    require(s.n > 0 && s.n < 0xFFFFFFFFu && s.features > 0 && s.kinds > 0 && s.labels > 0, "an array is empty");
    require(kind.shape(0) == s.n && (!s.weight || weight.shape(0) == s.n), "samples differ in number");
    require(row.shape(0) == cost.shape(0) && row.shape(1) == cost.shape(1),
            "the rows' array has another shape than the costs");
    require(test_row.shape(0) == rows && lo.shape(0) == rows && hi.shape(0) == rows, "rows differ in number");
    for (std::size_t i = 0; i < s.n; ++i) {
        require(s.kind[i] >= 0 && s.kind[i] < s.kinds, "a kind is out of range");
    }
    if (s.weight) require_sum(s.weight, s.n, 1, 1, kLargestSum, "the weights");
    require_all_between(s.cost, cost.size(), 0, kAnyAmount, "a cost");
    require_all_between(s.row, row.size(), -kLargestAmount, kLargestAmount, "an amount");
    require_all_between(s.test_row, rows, 0, kLargestAmount, "a test's amount");
    require_all_between(s.lo, rows, -kLargestAmount, kLargestAmount, "a bound");
    require_all_between(s.hi, rows, -kLargestAmount, kLargestAmount, "a bound");
    s.mark = mark.data(), s.clash_begin = clash_begin.data();
    s.clash_low = clash_low.data(), s.clash_high = clash_high.data();
    require(mark.shape(0) == cost.shape(0) && mark.shape(1) == cost.shape(1), "there is one mark per kind and label");
    require(clash_begin.shape(0) == s.features + 1 && s.clash_begin[0] == 0, "clashes begin once per feature");
    require(std::is_sorted(s.clash_begin, s.clash_begin + s.features + 1)
                && clash_low.shape(0) == std::size_t(s.clash_begin[s.features])
                && clash_high.shape(0) == clash_low.shape(0),
            "the clashes' arrays do not fit");
    return s;
}

Settings settings_of(Keywords& keywords, const Samples& samples) {
    Settings s;
    s.depth = int(keywords.integer_between("depth", 1, 9)), s.min_support = keywords.amount("min_support");
    s.min_flow = keywords.amount("min_flow"), s.upper = keywords.integer_or("upper", kNone);
    s.threads = keywords.threads();
    s.memory = keywords.integer_as<std::size_t>("memory"), s.simd = keywords.text("simd");
    const Names use = keywords.names("use");
    s.multipliers = use("multipliers"), s.lazy = use("lazy"), s.steps = use("steps"), s.shallow = use("shallow");
    s.rough = use("rough"), s.roots = use("roots"), s.dominance = use("dominance");
    s.neighbourhood = use("neighbourhood"), s.shrinking = use("shrinking");
    s.subinterval = use("subinterval"), s.features = use("features");
    const FlatTree start = keywords.start_over_ranks(samples.features, samples.labels);
    s.start = {start.feature, start.left, start.right, start.label, start.key};
    require(contree::simd_available(s.simd.c_str()), "this processor lacks these instructions");
    return s;
}

nb::dict to_dict(const Counters& c) {
    nb::dict out;
    out["prices"] = c.prices, out["nodes"] = c.nodes, out["splits"] = c.splits, out["scans"] = c.scans;
    out["pruned_neighbourhood"] = c.pruned_neighbourhood, out["pruned_shrinking"] = c.pruned_shrinking;
    out["pruned_subinterval"] = c.pruned_subinterval, out["pruned_features"] = c.pruned_features;
    out["alive"] = c.alive, out["walks"] = c.walks, out["fronts"] = c.fronts, out["kept"] = c.kept;
    out["largest_front"] = c.largest, out["pairs"] = c.pairs, out["guesses"] = c.guesses;
    out["activated"] = c.activated;
    return out;
}

nb::dict to_dict(const Outcome& out) {
    nb::dict result;
    result["tree"] = to_object(out.tree, out.upper), result["lower"] = out.lower, result["complete"] = out.complete;
    result["memory"] = out.memory_stop, result["too_many_active"] = out.too_many_active;
    result["infeasible"] = out.infeasible, result["seconds"] = out.seconds, result["simd"] = out.simd.c_str();
    result["multipliers"] = to_array(out.multipliers), result["multiplier_unit"] = out.multiplier_unit;
    result["active"] = to_array(out.active), result["counters"] = to_dict(out.counters);
    return result;
}

nb::dict continuous_totals(const Array<double, 2>& x, const Array<std::int32_t, 1>& kind, const Amounts<1>& weight,
                           const Amounts<2>& cost, const Amounts<3>& row, const Amounts<1>& test_row,
                           const Amounts<1>& lo, const Amounts<1>& hi, const Amounts<2>& mark,
                           const Array<std::int32_t, 1>& clash_begin, const Amounts<1>& clash_low,
                           const Amounts<1>& clash_high, const nb::kwargs& given) {
    Keywords keywords(given);
    Samples samples =
        samples_of(x, kind, weight, cost, row, test_row, lo, hi, mark, clash_begin, clash_low, clash_high);
    samples.test_cost = keywords.amount("test_cost");
    const Settings settings = settings_of(keywords, samples);
    const double time_limit = keywords.real("time_limit");
    const auto memory_limit = keywords.integer_as<std::size_t>("memory_limit");
    const nb::object poll = keywords.object("poll");
    keywords.finish();
    Control control;
    control.limit_memory(memory_limit);
    Outcome out;
    run_tree_search(
        control, time_limit, poll, [&] { out = solve(samples, settings, control); }, [&] { return control.take(); });
    nb::dict answer = to_dict(out);
    add_memory(answer, control, out.memory_stop);
    return answer;
}

}  // namespace

void bind(nb::module_& m) {
    m.def("continuous_totals", &continuous_totals, nb::arg("x"), nb::arg("kind"), nb::arg("weight").none(),
          nb::arg("cost"), nb::arg("row"), nb::arg("test_row"), nb::arg("lo"), nb::arg("hi"), nb::arg("mark"),
          nb::arg("clash_begin"), nb::arg("clash_low"), nb::arg("clash_high"), nb::arg("keywords"),
          "Solve for the cheapest decision tree over all thresholds under rows on totals; see "
          "treeform.engines.ContinuousTotals. Keywords: depth, min_support, min_flow, upper, start, start_key, "
          "test_cost, "
          "memory, memory_limit, simd, threads, use, time_limit, poll.");
}

}  // namespace treeform::continuous_totals
