// The binding of the engine for regression trees.
#include <memory>

#include "../common/binding.hpp"
#include "../contree/scan.hpp"
#include "engine.hpp"

namespace treeform::regression {
namespace {

using Whole = Array<std::int64_t, 1>;
constexpr std::int64_t kLargestPrice = std::int64_t{1} << 62;

Rows rows_of(const Array<double, 2>& x, const Whole& target, const Whole& weight) {
    require_aligned(x, target, weight);
    Rows rows;
    rows.x = x.data(), rows.n = x.shape(0), rows.features = x.shape(1), rows.target = target.data();
    require(target.shape(0) == rows.n, "targets and rows differ in number");
    require(rows.n >= 1 && rows.n < 0x7FFFFFFFu, "between 1 and 2^31 - 2 rows are possible");
    require(rows.features >= 1, "there is no feature");
    if (weight.is_valid()) {
        require(weight.shape(0) == rows.n, "weights and rows differ in number");
        rows.weight = weight.data();
    }
    double weighed = 0, total = 0;
    for (std::size_t i = 0; i < rows.n; ++i) {
        const std::int64_t w = rows.weight ? rows.weight[i] : 1;
        require(w >= 1, "weights must be positive");
        const double y = static_cast<double>(rows.target[i]);
        total += static_cast<double>(w), weighed += static_cast<double>(w) * (y < 0 ? -y : y);
    }
    require(weighed <= 0x1.01p53 && total <= 0x1p53, "targets or weights are too large to be added exactly");
    return rows;
}

Settings settings_of(Keywords& keywords) {
    Settings s;
    const std::string loss = keywords.text("loss");
    require(loss == "squared" || loss == "absolute", "the loss is squared or absolute");
    s.loss = loss == "squared" ? Loss::squared : Loss::absolute;
    s.depth = keywords.depth(1), s.max_nodes = keywords.amount("max_nodes");
    s.min_support = keywords.amount("min_support"), s.min_flow = keywords.amount("min_flow");
    s.price = {keywords.integer_between("price", 0, kLargestPrice),
               keywords.integer_between("price_denominator", 1, kLargestPrice)};
    require(s.loss == Loss::squared || s.price.denominator == 1, "absolute errors have whole prices");
    s.threads = keywords.threads(), s.simd = keywords.text("simd");
    const std::string pairs = keywords.text("pairs");
    require(pairs == "auto" || pairs == "always" || pairs == "never", "pairs are auto, always or never");
    s.pairs = pairs == "auto" ? PairTables::automatic : pairs == "always" ? PairTables::always : PairTables::never;
    s.memory_limit = keywords.integer_as<std::size_t>("memory_limit");
    if (!contree::simd_available(s.simd.c_str())) throw std::invalid_argument("this processor has no " + s.simd);
    return s;
}

nb::dict to_dict(const Outcome& out) {
    nb::dict counters;
    const Counters& c = out.counters;
    counters["nodes"] = c.nodes, counters["splits"] = c.splits, counters["scans"] = c.scans;
    counters["exact"] = c.exact, counters["bounded"] = c.bounded, counters["pairs"] = c.pairs,
    counters["near_ties"] = c.near_ties;
    nb::dict result;
    result["tree"] = to_object(out.tree), result["lower"] = out.lower, result["complete"] = out.complete;
    result["seconds"] = out.seconds, result["counters"] = counters;
    return result;
}

/// Hands the news to Python, as poll([(seconds, lower), ...], last tree or None, nodes); true to stop.
bool report(Control& control, const nb::object& poll) {
    nb::list bounds;
    nb::object tree = nb::none();
    for (const News& one : control.take()) {
        bounds.append(nb::make_tuple(one.seconds, one.lower));
        if (!one.tree.empty()) tree = to_object(one.tree);
    }
    return nb::cast<bool>(poll(bounds, tree, control.nodes()));
}

nb::dict regression(const Array<double, 2>& x, const Whole& target, const Whole& weight, const nb::kwargs& given) {
    Keywords keywords(given);
    const Rows rows = rows_of(x, target, weight);
    const Settings settings = settings_of(keywords);
    const double time_limit = keywords.real("time_limit");
    const nb::object poll = keywords.object("poll");
    keywords.finish();
    Control control(settings.memory_limit);
    Outcome outcome;
    run_without_gil(
        control, time_limit, [&] { outcome = solve(rows, settings, control); },
        poll.is_none() ? std::function<bool()>() : [&] { return report(control, poll); });
    nb::dict answer = to_dict(outcome);
    add_memory(answer, control, false);
    return answer;
}

}  // namespace

void bind(nb::module_& m) {
    m.def("regression", &regression, nb::arg("x"), nb::arg("target"), nb::arg("weight").none(), nb::arg("keywords"),
          "Solve for the best regression tree over continuous features; see treeform.engines.RegressionSearch. "
          "Keywords: loss, depth, max_nodes, min_support, min_flow, price, price_denominator, threads, simd, pairs, "
          "memory_limit, "
          "time_limit, poll.");
}

}  // namespace treeform::regression
