#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>

#include "../common/give_back.hpp"
#include "../deep/interleave.hpp"
#include "../contree/listed_rows.hpp"
#include "../deep/value_improver.hpp"
#include "absolute.hpp"
#include "chains.hpp"
#include "pairs.hpp"
#include "root.hpp"
#include "squared.hpp"

namespace treeform::regression {
namespace {

// Pairs of thresholds are counted where nothing else is asked for: where there are few thresholds, or few to a feature.
// Measured: beside scans of intervals on tables of 400 to 20,000 rows, whose columns were cut at 10 to 250 quantiles.
constexpr std::size_t kFew = 384, kMost = 1024, kFewToFeature = 16;
constexpr std::size_t kMostAskedFor = 2048;
// Tables of pairs cost the square of the thresholds of a feature at each node, scans of intervals cost its rows: beyond
// so many times the rows, scans are faster (measured on 200 to 20,000 rows).
constexpr double kSquareToRows = 4;

/// Whether a search for better trees runs beside the proof.
bool improves(const Settings& settings) {
    return settings.improve && settings.memory_limit == 0 && settings.depth >= 3
           && settings.max_nodes >= full_tree(settings.depth);
}

/// The proof, and beside it the search for better trees of some depth, where so many tests are allowed.
template <class LossOf>
void run(const Table& table, const Settings& settings, Control& control, Incumbent& incumbent, Root<LossOf>& root) {
    constexpr double kPart = 0.015, kDeepPart = 4;  // of the work of the proof
    constexpr double kDeepAhead = 20;  // of that of the first trees
    std::unique_ptr<deep::Improver> improver;
    if constexpr (!LossOf::by_pairs)
        if (improves(settings)) improver = deep::value_improver<LossOf>(table, root.rows(), settings, control, incumbent);
    if (!improver) return root.prove();
    improver->first();
    if (settings.depth == 3) improver.reset();
    if (contree::has_orders_alone(table.n)) give_freed_memory_back();  // what the proof begins with may be as large
    if (!improver) return root.prove();
    if (settings.threads > 1) return deep::side_by_side(control, *improver, 0, [&] { root.prove(); });
    const bool is_deep = settings.depth > 4;
    const double ahead = static_cast<double>(improver->work()) * (is_deep ? 1 + kDeepAhead : 1);
    const auto allowed = [&] { return ahead + (is_deep ? kDeepPart : kPart) * static_cast<double>(root.work()); };
    deep::in_turns(control, *improver, allowed, [&] { root.prove(); }, [&] {
        if constexpr (!LossOf::by_pairs) root.release_layouts();
    });
}

template <class LossOf>
void search(const Table& table, const Settings& settings, Control& control, Incumbent& incumbent, Outcome& out) {
    Root<LossOf> root(table, settings, control, incumbent);
    try {
        // Of very many rows that search has trees of a sample first.
        const bool sampled = !LossOf::by_pairs && improves(settings) && contree::has_orders_alone(table.n);
        const bool more = root.begin(!sampled);
        if (contree::has_orders_alone(table.n)) give_freed_memory_back();
        if (more) run(table, settings, control, incumbent, root);
        out.complete = true;
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        control.stop_for_memory();
    }
    out.counters = root.counters();
}

/// The table for pairs of thresholds, where these are few enough.
std::optional<Chains> table_for_pairs(const Table& table, const Settings& settings) {
    if (settings.loss != Loss::squared || settings.pairs == PairTables::never) return {};
    double total = 0;
    for (std::size_t i = 0; i < table.n; ++i)
        total += static_cast<double>(table.weight[i]) * std::abs(static_cast<double>(table.target[i]));
    if (total > kLargestForPairs) return {};
    const bool always = settings.pairs == PairTables::always;
    std::optional<Chains> made = chains_of(table, always ? kMostAskedFor : kMost);
    if (!made) return {};
    const std::size_t count = made->count(), threads = static_cast<std::size_t>(std::max(1, settings.threads));
    if (settings.memory_limit > 0 && Pairs::bytes(count) * (threads + 1) > settings.memory_limit / 2) return {};
    if (always) return made;
    // Scans of columns that were joined to one feature would see each of its thresholds as a feature.
    const bool joined = made->table.features < table.features;
    const double each = static_cast<double>(count) / static_cast<double>(made->table.features);
    if (!joined && !table.weighted && each * each > kSquareToRows * static_cast<double>(table.n)) return {};
    return count <= kFew || count <= kFewToFeature * made->table.features ? std::move(made) : std::nullopt;
}

/// Whether tables of so many bytes may be built; it is noted if not.
bool fits(const Control& control, std::size_t bytes) {
    try {
        control.check_table(bytes);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

}  // namespace

Outcome solve(const Rows& rows, const Settings& settings, Control& control) {
    Outcome out;
    // Of each cell its rank and place in the order, and the places of two parts of the rows.
    const std::size_t cells = rows.n * rows.columns.size(), tables = cells * 4 * sizeof(std::uint32_t);
    if (!fits(control, tables)) {
        out.seconds = control.seconds();
        return out;
    }
    Table made;
    try {
        made = table_of(rows, settings.loss, control);
    } catch (const Stopped&) {
        out.seconds = control.seconds();
        return out;
    }
    if (contree::has_orders_alone(rows.n)) give_freed_memory_back();
    const Table& table = made;
    const std::optional<Chains> chains = table_for_pairs(table, settings);
    const bool scans = !chains && settings.loss == Loss::squared && !table.weighted;
    if (scans && !fits(control, tables + Squared::bytes_of_layouts(cells))) {
        out.seconds = control.seconds();
        return out;
    }
    Incumbent incumbent(table, chains ? &*chains : nullptr, settings, control);
    if (chains)
        search<Pairs>(chains->table, settings, control, incumbent, out);
    else if (settings.loss == Loss::squared)
        search<Squared>(table, settings, control, incumbent, out);
    else
        search<Absolute>(table, settings, control, incumbent, out);
    out.tree = incumbent.tree();
    out.lower = incumbent.lower();
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::regression
