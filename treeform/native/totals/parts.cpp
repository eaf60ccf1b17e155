#include "parts.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace treeform::totals {
namespace {

/// Beyond that many tests messages would be longer than ten thousand bytes.
constexpr std::size_t kMostColumns = 250;
constexpr Amount kUnknown = -2 * kNone;

/// The subproblem whose bound stands at that place in the bounds of pairs of a test; beside the test itself, its side.
std::optional<Key> key_of(int column, std::size_t place, std::size_t columns) {
    const int other = int(place / 2 % columns), value = int(place / (2 * columns)), second = int(place % 2);
    const Key side = Key().with(column, value);
    if (other == column) return value == second ? std::optional(side) : std::nullopt;
    return side.with(other, second);
}

/// Bounds of pairs, each twice the bound and 1 if it is exact.
void learn(Minima& minima, int column, std::span<const Amount> pairs) {
    for (std::size_t k = 0; k < pairs.size(); ++k)
        if (const auto key = key_of(column, k, pairs.size() / 4); key && pairs[k] != kUnknown)
            minima.learn(*key, {pairs[k] >> 1, (pairs[k] & 1) != 0});
}

}  // namespace

/// Steps of the counts of pairs below all paths of one test at the root, at most; the bounds leave a small part of
/// them.
bool Parts::travel(int depth) const {
    const double columns = here.rows.columns;
    return away && depth >= 4 && std::pow(columns, depth - 1) * here.rows.words * table.kinds >= settings.least_steps;
}

Amount Parts::minimum(Subset& root, int depth) {
    Minima& minima = here.minima;
    const std::size_t columns = std::size_t(here.rows.columns);
    Amount best = kNone;
    const std::vector<int> order = minima.order_of_root(root, best);
    Message about{0, depth, minima.prices().unit};
    about.insert(about.end(), minima.prices().multiplier.begin(), minima.prices().multiplier.end());
    price.assign(columns, -kNone);
    tree = {};
    // Of several tests that attain the minimum the first counts, as where a tree is built from minima.
    LeastCost least{best, best < kNone ? std::int64_t(columns) : -1};
    const auto own = [&](std::size_t i) { return minima.only.empty() ? order[i] : std::int64_t(i); };
    const auto question = [&](std::size_t i) {
        about[0] = order[i];
        return std::optional(Question{least.upper(own(i)), {}, about});
    };
    ask_all(away, control, counters, order.size(), question, [&](std::size_t i, const auto& reply) {
        Numbers::require(reply.pairs.empty() || reply.pairs.size() == 1 + 4 * columns);
        price[std::size_t(order[i])] = reply.settled;
        if (!reply.pairs.empty()) learn(minima, order[i], std::span(reply.pairs).subspan(1));
        if (!least.take(reply.cost, own(i))) return;
        Numbers::require(reply.tree.fits(table.columns, table.labels));
        tree = reply.tree;
    });
    int label = 0;
    if (minima.leaf(root.total, root.weight, &label) <= least.cost) tree = constant_tree(label);
    minima.keep_root(root, least.cost);
    return least.cost;
}

PartSearch part_search(const Table& table, const Settings& settings, const Control& control) {
    struct Here {
        const Table& table;
        const Settings& settings;
        const Control& control;
        Pricing pricing{table, settings};
        Store<Known> known{};
        Team team{table, settings, control, known};
        Subset root{};
        Message prices{};
    };
    const std::shared_ptr<Here> shared(new Here{table, settings, control});
    shared->team.first().rows.root(shared->root);
    return [shared](const Message& question) {
        Here& here = *shared;
        Worker& worker = here.team.first();
        return answered(question, worker.counters, [&](const Question& asked, auto& reply) {
            const std::size_t columns = std::size_t(worker.rows.columns);
            const Message& about = asked.about;
            Numbers::require(about.size() == 3 + std::size_t(here.table.rows) && about[0] >= 0
                             && std::size_t(about[0]) < columns
                             && (asked.hints.empty() || (asked.hints.size() == 4 * columns && columns <= kMostColumns)));
            const int column = int(about[0]), depth = int(about[1]);
            if (!std::ranges::equal(std::span(about).subspan(1), here.prices)) {  // nothing that was found before counts
                Prices made;
                Numbers::require(depth >= 4 && depth < 10
                                 && here.pricing.make({about.begin() + 3, about.end()}, about[2], made));
                here.known.clear();
                here.team.set(made);
                worker.minima.forget_settled(depth);
                here.prices.assign(about.begin() + 1, about.end());
            }
            learn(worker.minima, column, asked.hints);
            reply.settled = worker.minima.with_test(here.root, depth, column, asked.upper - 1);
            if (columns <= kMostColumns) reply.pairs = {kUnknown};
            for (std::size_t k = 0; columns <= kMostColumns && k < 4 * columns; ++k) {
                const auto key = key_of(column, k, columns);
                const auto known = key ? here.known.find(*key) : std::nullopt;
                reply.pairs.push_back(known ? 2 * known->lower + known->exact : kUnknown);
            }
            if (reply.settled >= std::min(asked.upper, kNone)) return;
            reply.cost = reply.settled;
            reply.tree = worker.minima.tree_with_test(here.root, depth, column);
        });
    };
}

}  // namespace treeform::totals
