#pragma once
// The samples as ConTree sees them at some prices.
//
// Two labels: whatever the prices are, a sample that pays its cheapest label anyway can only be "misclassified", at the
// difference. So it has the cheaper label as its class and the difference as its weight. Several labels: a sample's
// class is its kind, and a matrix of kinds by labels says what it pays. Either way all of ConTree's bounds hold, with
// distances in what samples can pay at most: more samples never cost less, and moving one between two sides changes
// either by no more than that.
#include <algorithm>
#include <limits>
#include <vector>

#include "../common/cold.hpp"
#include "../contree/table.hpp"
#include "prices.hpp"

namespace treeform::continuous_totals {

template <class W>
struct Priced {
    using Cost = typename W::Cost;
    using Id = typename W::Id;

    const Samples& samples;
    contree::Table<W> table;
    contree::Node<W> root;
    Prices prices;
    std::vector<Cost> row_price;  // [row * labels + label], with the weight
    Cost support = 0;  // that every leaf has; 0 where the weights of samples are too large for the widths of prices

    TREEFORM_COLD Priced(const Samples& s, contree::RankedTable& ranked, Amount min_support,
                         Control& control)
        : samples(s) {
        const std::vector<std::int32_t> none(s.n, 0);
        contree::Rows rows;
        rows.x = s.x, rows.n = s.n, rows.features = s.features, rows.label = none.data();
        rows.classes = classes();
        rows.cost.assign(static_cast<std::size_t>(rows.classes) * rows.classes, 0);
        contree::load(rows, contree::Losses::of(rows), ranked, table, root, control);
        table.plain = false;
        table.predictions = s.labels;
        table.weight.assign(s.n + 1, 0), table.mass.assign(s.n + 1, 0);
        table.delta.assign(s.n + 1, 0);
        row_price.assign((s.n + 1) * s.labels, 0);
        set_support(min_support);
    }

    void set(const Prices& now) {
        prices = now;
        auto& losses = table.losses;
        losses.classes = table.classes, losses.predictions = samples.labels;
        losses.of_error = samples.labels == 2 ? 1 : 0, losses.unit_weight = false;
        losses.offset = losses.max_step = losses.total_mass = losses.total_weight = 0;
        const int labels = samples.labels;
        if (labels == 2) {
            losses.cost = {0, 1, 1, 0}, losses.worst = {1, 1};
        } else {
            losses.cost.assign(static_cast<std::size_t>(table.classes) * labels, 0);
            std::copy(now.leaf.begin(), now.leaf.end(), losses.cost.begin());
            losses.worst.assign(table.classes, 0);
            for (int k = 0; k < samples.kinds; ++k)
                losses.worst[k] = *std::max_element(now.leaf.begin() + k * labels, now.leaf.begin() + (k + 1) * labels);
        }
        table.cost.assign(losses.cost.begin(), losses.cost.end());
        root.weight.assign(table.classes, 0);
        for (std::size_t i = 0; i < samples.n; ++i) set_row(i);
        contree::add_totals(table, root);
        for (int f = 0; f < table.features; ++f)
            for (std::size_t k = 0; k < samples.n; ++k) root.label(f)[k] = table.label[root.order(f)[k]];
    }

private:
    int classes() const { return samples.labels == 2 ? 2 : std::max(3, samples.kinds); }

    /// A price is no weight: what samples count for a minimum support stands beside it.
    void set_support(Amount least) {
        Wide total = 0;
        for (std::size_t i = 0; i < samples.n; ++i) total += samples.weight_of(i);
        if (least <= 1 || total > std::numeric_limits<Cost>::max() / 4) return;
        support = static_cast<Cost>(least);
        table.supporting.assign(samples.n + 1, 0);
        for (std::size_t i = 0; i < samples.n; ++i) table.supporting[i] = static_cast<Cost>(samples.weight_of(i));
    }
    void set_row(std::size_t i) {
        const int labels = samples.labels, kind = samples.kind[i];
        const Amount* price = prices.leaf.data() + static_cast<std::size_t>(kind) * labels;
        const Amount w = samples.weight_of(i);
        for (int c = 0; c < labels; ++c) row_price[i * labels + c] = static_cast<Cost>(w * price[c]);
        const int label = labels == 2 ? price[1] < price[0] : kind;
        const Amount weight = labels == 2 ? w * (price[0] + price[1]) : w;  // one of the two is 0
        table.label[i] = static_cast<std::uint16_t>(label);
        table.weight[i] = static_cast<Cost>(weight);
        table.mass[i] = static_cast<Cost>(weight * table.losses.worst[label]);
        table.delta[i] = static_cast<typename W::Sum>(labels == 2 && label == 0 ? -weight : weight);
        table.losses.max_step = std::max<std::int64_t>(table.losses.max_step, table.mass[i]);
        root.weight[label] += static_cast<Cost>(weight);
    }
};

}  // namespace treeform::continuous_totals
