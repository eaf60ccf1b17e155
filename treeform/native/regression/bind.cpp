// The binding of the engine for regression trees.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "../common/binding.hpp"
#include "../contree/scan.hpp"
#include "engine.hpp"
#include "priced.hpp"

namespace treeform::regression {
namespace {

using Whole = Array<std::int64_t, 1>;
constexpr std::int64_t kLargestPrice = std::int64_t{1} << 62;

Rows rows_of(const Array<double, 2>& x, const Whole& target, const Whole& weight, Keywords& keywords) {
    require_numbers(x), require_aligned(target, weight);
    Rows rows;
    rows.x = x.data(), rows.n = x.shape(0), rows.stride = x.shape(1), rows.target = target.data();
    require(target.shape(0) == rows.n, "targets and rows differ in number");
    require(rows.n >= 1 && rows.n < 0x3FFFFFFFu, "between 1 and 2^30 - 2 rows are possible");
    rows.columns = keywords.integers_as<std::size_t>("columns");
    require(!rows.columns.empty(), "there is no feature");
    for (const std::size_t column : rows.columns) require(column < rows.stride, "there is no such column");
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

Settings settings_of(Keywords& keywords, std::size_t features) {
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
    s.improve = keywords.flag("improve"), s.seed = static_cast<std::uint64_t>(keywords.amount("seed"));
    s.start = keywords.start_over_ranks(features, std::numeric_limits<int>::max());
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
    const Rows rows = rows_of(x, target, weight, keywords);
    const Settings settings = settings_of(keywords, rows.columns.size());
    const double time_limit = keywords.real("time_limit");
    const nb::object poll = keywords.object("poll");
    keywords.finish();
    Control control(settings.memory_limit);
    if (settings.threads == 1) {  // without any bound, each threshold is followed by all thresholds
        const double each = settings.loss == Loss::squared ? 1 : std::log2(double(rows.n) + 1);
        control.expect_steps(each * std::pow(double(rows.n * rows.columns.size()), settings.depth));
    }
    Outcome outcome;
    run_without_gil(
        control, time_limit, [&] { outcome = solve(rows, settings, control); },
        poll.is_none() ? std::function<bool()>() : [&] { return report(control, poll); });
    nb::dict answer = to_dict(outcome);
    add_memory(answer, control, false);
    return answer;
}

/// The sum of weight * number^2, exactly: its upper 64 bits, and the lower ones.
nb::tuple sum_of_squares(const Whole& numbers, const Whole& weights) {
    require_aligned(numbers, weights);
    require(numbers.shape(0) == weights.shape(0), "weights and numbers differ in number");
    __int128 sum = 0;
    for (std::size_t i = 0; i < numbers.shape(0); ++i) {
        const __int128 number = numbers.data()[i];
        __int128 each;
        const bool is_too_large = __builtin_mul_overflow(number * number, __int128{weights.data()[i]}, &each) ||
                                  __builtin_add_overflow(sum, each, &sum);
        require(!is_too_large, "the squares are too large to be added exactly");
    }
    return nb::make_tuple(static_cast<std::int64_t>(sum >> 64), static_cast<std::uint64_t>(sum));
}

using Reals = Array<double, 1>;

/// The costs of all thresholds of all columns under absolute errors with prices, and which are the wrong way round.
nb::tuple priced_tests(const Array<std::int64_t, 2>& order, const Reals& weight, const Reals& price,
                       const Reals& target, const Whole& level, const Reals& levels, const Whole& ways, double near,
                       std::size_t first_level, std::size_t last_level) {
    for (const Reals* numbers : {&weight, &price, &target, &levels}) require_numbers(*numbers);
    require_ordered(&near, 1);
    require_aligned(order, level, ways);
    const std::size_t columns = order.shape(0), count = order.shape(1), n = weight.shape(0);
    require(price.shape(0) == n && target.shape(0) == n && level.shape(0) == n, "rows differ in number");
    require(ways.shape(0) == columns, "columns differ in number");
    require(columns == 0 || count == 0 || order.size() / columns == count, "the orders are too large");
    const auto within = [](const std::int64_t* numbers, std::size_t size, std::size_t limit) {
        return std::all_of(numbers, numbers + size,
                           [limit](std::int64_t k) { return k >= 0 && static_cast<std::uint64_t>(k) < limit; });
    };
    require(within(order.data(), order.size(), n), "an order names a row that is not there");
    require(within(level.data(), n, levels.shape(0)), "a target has no level");
    require(first_level <= last_level && last_level < std::max<std::size_t>(1, levels.shape(0)),
            "there is no such level");
    const std::size_t tests = count < 2 ? 0 : count - 1;
    std::vector<double> cost(columns * tests);
    std::vector<std::int32_t> wrong(columns * tests);
    if (tests > 0) {
        PricedTests work({weight.data(), price.data(), target.data(), level.data(), levels.data(), levels.shape(0),
                          first_level, last_level});
        for (std::size_t c = 0; c < columns; ++c)
            work.run(order.data() + c * count, count, ways.data()[c], near, cost.data() + c * tests,
                     wrong.data() + c * tests);
    }
    return nb::make_tuple(to_array(cost), to_array(wrong));
}

}  // namespace

void bind(nb::module_& m) {
    m.def("priced_tests", &priced_tests, nb::arg("order"), nb::arg("weight"), nb::arg("price"), nb::arg("target"),
          nb::arg("level"), nb::arg("levels"), nb::arg("ways"), nb::arg("near"), nb::arg("first_level"),
          nb::arg("last_level"),
          "Costs of all thresholds of all columns under absolute errors with prices on values; see "
          "treeform.engines.leaf_values.costs.");
    m.def("sum_of_squares", &sum_of_squares, nb::arg("numbers"), nb::arg("weights"),
          "The sum of weight * number^2 in two parts, of 64 bits each; see treeform.objectives.regression.");
    m.def("regression", &regression, nb::arg("x"), nb::arg("target"), nb::arg("weight").none(), nb::arg("keywords"),
          "Solve for the best regression tree over continuous features; see treeform.engines.RegressionSearch. "
          "Keywords: columns, loss, depth, max_nodes, min_support, min_flow, price, price_denominator, threads, simd, pairs, "
          "memory_limit, "
          "time_limit, poll.");
}

}  // namespace treeform::regression
