// The binding of the engine for requirements on totals.
#include <cmath>

#include "arrays.hpp"
#include "engine.hpp"
#include "parts.hpp"

namespace treeform::totals {
namespace {

constexpr int kFewRows = 8;

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

nb::dict totals(const nb::tuple& given_arrays, const nb::kwargs& given) {
    Keywords keywords(given);
    const Arrays arrays(given_arrays);
    const Table table = arrays.table();
    const Settings settings = settings_of(keywords, table);
    const SharedRun run(keywords);
    Control control;
    control.limit_memory(run.memory_limit);
    if (settings.threads == 1 && !run.away && settings.depth <= 2 && table.rows <= kFewRows) {
        // Counts of all pairs of tests for some dozens of prices; and all trees of three tests and four labels.
        const double tests = double(table.columns), labels = double(table.labels);
        control.expect_steps(double(table.points) * tests * tests + std::pow(tests, 3) * std::pow(labels, 4));
    }
    Outcome out;
    run_tree_search(control, run.time_limit, run.poll, [&] { out = solve(table, settings, control, run.away); });
    nb::dict answer = to_dict(out);
    add_memory(answer, control, out.memory_stop);
    return answer;
}

/// Answers the parts that `totals` asks for; holds the arrays that it is given.
class Evaluator : public PartAnswers<Control> {
public:
    Evaluator(const nb::tuple& given_arrays, const nb::kwargs& given) : arrays_(given_arrays), table_(arrays_.table()) {
        Keywords keywords(given);
        settings_ = settings_of(keywords, table_);
        control_.limit_memory(keywords.integer_as<std::size_t>("memory_limit"));
        keywords.finish();
        search_ = part_search(table_, settings_, control_);
    }

private:
    Arrays arrays_;
    Table table_;
    Settings settings_;
};

}  // namespace

void bind(nb::module_& m) {
    m.def(
        "totals", &totals, nb::arg("arrays"), nb::arg("keywords"),
        "Solve for the cheapest decision tree under rows on totals; see treeform.engines.TotalsSearch. Arrays: x, "
        "count, unit, cost, row, test_cost, test_row, leaf_row, lo, hi, source, mark, clash_begin, clash_low, clash_high. "
        "Keywords: depth, min_support, min_flow, max_features, upper, start, multipliers, multiplier_unit, memory, "
        "simd, threads, use, least_steps, time_limit, poll, ask (None, or what answers parts of the search: ask(int64 "
        "array) returns the reply of a TotalsEvaluator, or None to stop), callers.");
    nb::class_<Evaluator>(m, "TotalsEvaluator",
                          "Answers parts of the search on the same arrays. Keywords: those of `totals` but time_limit, "
                          "poll, ask and callers.")
        .def(nb::init<const nb::tuple&, const nb::kwargs&>(), nb::arg("arrays"), nb::arg("keywords"))
        .def("evaluate", &Evaluator::evaluate, nb::arg("question"), nb::arg("poll"),
             "The reply to a question; None once poll() returned True, or memory ran out.");
}

}  // namespace treeform::totals
