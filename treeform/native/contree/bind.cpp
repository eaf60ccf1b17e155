// The binding of ConTree.
#include <cmath>
#include <numeric>

#include "../common/binding.hpp"
#include "../common/give_back.hpp"
#include "../deep/few_columns.hpp"
#include "engine.hpp"
#include "scan.hpp"

namespace treeform::contree {
namespace {

using Weights = Array<std::int64_t, 1>;
using Costs = Array<std::int64_t, 2>;

Rows rows_of(const Array<double, 2>& x, const Array<std::int32_t, 1>& y, const Weights& weight, const Costs& cost,
             int classes) {
    require_numbers(x), require_aligned(y, weight, cost);
    Rows rows;
    rows.x = x.data(), rows.n = x.shape(0), rows.features = x.shape(1), rows.classes = classes;
    require(y.shape(0) == rows.n, "labels and rows differ in number");
    require(classes >= 1 && classes <= 65534, "between 1 and 65,534 classes are possible");
    require(rows.n >= 1 && rows.n < 0xFFFFFFFFu, "between 1 and 2^32 - 2 rows are possible");
    rows.label = y.data();
    for (std::size_t i = 0; i < rows.n; ++i)
        require(rows.label[i] >= 0 && rows.label[i] < classes, "a class code is out of range");
    if (weight.is_valid()) {
        require(weight.shape(0) == rows.n, "weights and rows differ in number");
        rows.weight = weight.data();
        require_sum(rows.weight, rows.n, 1, 1, kLargestSum, "the weights");
    }
    const std::int64_t total = rows.weight ? std::accumulate(rows.weight, rows.weight + rows.n, std::int64_t{0})
                                           : static_cast<std::int64_t>(rows.n);
    if (cost.is_valid()) {
        const auto k = static_cast<std::size_t>(classes);
        require(cost.shape(0) == k && cost.shape(1) == k, "the cost matrix is not classes x classes");
        require_all_between(cost.data(), k * k, 0, kLargestSum / total, "a cost");
        rows.cost.assign(cost.data(), cost.data() + k * k);
    }
    return rows;
}

/// What the rows count for a minimum support, at most their weights, or nothing at all.
Weights support_in(Keywords& keywords, Rows& rows) {
    if (!keywords.has("supporting")) return {};
    Weights counted;
    if (!nb::try_cast(keywords.object("supporting"), counted)) throw nb::type_error("supporting has a wrong type");
    require_aligned(counted);
    require(rows.weight && counted.shape(0) == rows.n, "what counts for a support and weights differ in number");
    rows.supporting = counted.data();
    for (std::size_t i = 0; i < rows.n; ++i)
        require(0 <= rows.supporting[i] && rows.supporting[i] <= rows.weight[i], "a row counts for more than its weight");
    return counted;
}

/// Two sets of labels for each feature, or none at all.
std::vector<Clash> clashes_of(Keywords& keywords, const Rows& rows, bool prove) {
    if (!keywords.has("clashes")) return {};
    const auto sets = keywords.integers_as<std::uint64_t>("clashes");
    require(sets.empty() || sets.size() == 2 * rows.features, "the sets of clashing labels are not two for each feature");
    require(sets.empty() || !prove, "the proof knows no clashing labels");
    require(sets.empty() || rows.classes <= 62, "there are too many labels for sets of them");
    std::vector<Clash> all;
    for (std::size_t at = 0; at < sets.size(); at += 2) {
        require((sets[at] & sets[at + 1]) == 0, "a label clashes with itself");
        all.push_back({sets[at], sets[at + 1]});
    }
    return all;
}

Settings settings_of(Keywords& keywords, const Rows& rows) {
    Settings s;
    s.depth = keywords.depth(0), s.max_nodes = keywords.amount("max_nodes");
    s.min_support = keywords.amount("min_support");
    s.node_penalty = keywords.integer_between("node_penalty", 0, kLargestSum), s.gap = keywords.amount("gap");
    const Names prune = keywords.names("prune");
    s.neighbourhood = prune("neighbourhood"), s.shrinking = prune("shrinking");
    s.subinterval = prune("subinterval"), s.features = prune("features");
    s.ahead = keywords.integer_as<int>("ahead");
    require(s.ahead >= 3 && s.ahead <= 1 << 20, "ahead is not between 3 and 2^20");
    s.threads = keywords.threads(), s.simd = keywords.text("simd");
    s.memory_limit = keywords.integer_as<std::size_t>("memory_limit");
    s.improve = keywords.flag("improve"), s.prove = keywords.flag("prove");
    s.seed = static_cast<std::uint64_t>(keywords.amount("seed"));
    s.work_limit = static_cast<std::uint64_t>(keywords.amount("work_limit"));
    s.start = keywords.start_over_ranks(rows.features, rows.classes);
    s.clashes = clashes_of(keywords, rows, s.prove);
    if (!simd_available(s.simd.c_str())) throw std::invalid_argument("this processor has no " + s.simd);
    return s;
}

nb::dict to_dict(const Counters& c) {
    nb::dict out;
    out["nodes"] = c.nodes, out["splits"] = c.splits, out["scans"] = c.scans;
    out["gathers"] = c.gathers, out["bounded"] = c.bounded;
    out["pruned_neighbourhood"] = c.pruned_neighbourhood, out["pruned_shrinking"] = c.pruned_shrinking;
    out["pruned_subinterval"] = c.pruned_subinterval, out["pruned_features"] = c.pruned_features;
    out["raised"] = c.raised;
    return out;
}

nb::dict to_dict(const Outcome& out) {
    nb::dict result;
    result["tree"] = to_object(out.tree), result["lower"] = out.lower, result["complete"] = out.complete;
    result["seconds"] = out.seconds, result["simd"] = out.simd.c_str();
    result["width"] = out.width.c_str(), result["counters"] = to_dict(out.counters);
    result["work"] = out.work, result["moves"] = out.moves, result["stages"] = to_list(out.stages);
    return result;
}

nb::dict solve(const Rows& rows, const Settings& settings, double time_limit, const nb::object& poll,
               const Away& away) {
    Control control(settings.upper, settings.memory_limit);
    if (settings.threads == 1 && !away)  // without any bound, each threshold is followed by all thresholds
        control.expect_steps(rows.classes * std::pow(double(rows.n * rows.features), settings.depth));
    auto engine = std::make_unique<Engine>(rows, settings, control, away);
    run_tree_search(control, time_limit, poll, [&] { engine->solve(); }, [&] { return engine->improvements(); });
    nb::dict answer = to_dict(engine->outcome());
    engine.reset();
    if (rows.n * rows.features > kManyValues) give_freed_memory_back();
    add_memory(answer, control, false);
    return answer;
}

nb::dict contree(const Array<double, 2>& x, const Array<std::int32_t, 1>& y, const Weights& weight, const Costs& cost,
                 const nb::kwargs& given) {
    Keywords keywords(given);
    Rows rows = rows_of(x, y, weight, cost, keywords.integer_as<int>("classes"));
    const Weights counted = support_in(keywords, rows);
    Settings settings = settings_of(keywords, rows);
    settings.upper = keywords.integer_or("upper", kNone);
    const double time_limit = keywords.real("time_limit");
    const nb::object poll = keywords.object("poll"), ask = keywords.object("ask");
    const Away away = away_to(ask, keywords.integer_as<int>("callers"));
    keywords.finish();
    return solve(rows, settings, time_limit, poll, away);
}

/// Evaluates splits for `contree`; holds the arrays that it is given.
class Evaluator {
public:
    Evaluator(Array<double, 2> x, Array<std::int32_t, 1> y, Weights weight, Costs cost, const nb::kwargs& given)
        : x_(std::move(x)), y_(std::move(y)), weight_(std::move(weight)), cost_(std::move(cost)) {
        Keywords keywords(given);
        rows_ = rows_of(x_, y_, weight_, cost_, keywords.integer_as<int>("classes"));
        settings_ = settings_of(keywords, rows_);
        keywords.finish();
        settings_.threads = 1;
        control_ = std::make_unique<Control>(kNone, settings_.memory_limit);
        engine_ = std::make_unique<Engine>(rows_, settings_, *control_);
    }

    /// The reply; None when `poll` returned true, or memory ran out. Not for two threads at a time.
    nb::object evaluate(const nb::object& question, const nb::object& poll) {
        return answer_part(*control_, question, poll, [&](const Message& asked) { return engine_->evaluate(asked); });
    }

private:
    Array<double, 2> x_;
    Array<std::int32_t, 1> y_;
    Weights weight_;
    Costs cost_;
    Rows rows_;
    Settings settings_;
    std::unique_ptr<Control> control_;
    std::unique_ptr<Engine> engine_;
};

}  // namespace

void bind(nb::module_& m) {
    m.def("contree", &contree, nb::arg("x"), nb::arg("y"), nb::arg("weight").none(), nb::arg("cost").none(),
          nb::arg("keywords"),
          "Solve for the cheapest decision tree over continuous features; see treeform.engines.ConTree. Keywords: "
          "classes, depth, max_nodes, min_support, node_penalty, upper, gap, prune, threads, ahead, simd, memory_limit, "
          "time_limit, poll, ask (None, or what evaluates splits of the root: ask(int64 array) returns the reply of a "
          "ContreeEvaluator, or None to stop), callers; start and start_key, a tree to begin with, may be left out; "
          "clashes: for each feature the labels, as bits, that do not stand below its tests while those of a second set "
          "stand above; none with a proof, and they may be left out; supporting: beside weights, what each row counts "
          "for a minimum support, at most its weight; its weight if it is left out.");
    nb::class_<Evaluator>(m, "ContreeEvaluator",
                          "Evaluates splits of the root on the same rows. Keywords: those of `contree` but upper, "
                          "time_limit, poll, ask and callers.")
        .def(nb::init<Array<double, 2>, Array<std::int32_t, 1>, Weights, Costs, const nb::kwargs&>(), nb::arg("x"),
             nb::arg("y"), nb::arg("weight").none(), nb::arg("cost").none(), nb::arg("keywords"))
        .def("evaluate", &Evaluator::evaluate, nb::arg("question"), nb::arg("poll"),
             "The reply to a question; None once poll() returned True.");
    m.def(
        "is_dear",
        [](std::size_t n, std::size_t features, std::size_t classes) {
            return deep::is_dear(deep::depth_two_work(n, features, classes));
        },
        nb::arg("n"), nb::arg("features"), nb::arg("classes"),
        "Whether a good tree of depth two takes a proof long.");
    m.def(
        "simd_available", [](nb::str simd) { return simd_available(simd.c_str()); }, nb::arg("simd"),
        "Whether the scans of that instruction set run on this processor.");
}

}  // namespace treeform::contree
