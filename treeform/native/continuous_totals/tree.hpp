#pragma once
// Trees judged by routing every sample, which shares nothing with the search; and their two forms.
#include <algorithm>
#include <limits>
#include <vector>

#include "priced.hpp"

namespace treeform::continuous_totals {

struct Valued {
    Amount cost = 0;
    std::vector<Amount> row;
    bool admissible = true;  // supports, and no marks that clash
    bool satisfied = true;   // and rows
};

template <class W>
Valued value_of(const Tree& tree, const Priced<W>& data, const Settings& settings) {
    const Samples& s = data.samples;
    const std::size_t size = tree.feature.size();
    std::vector<Amount> load(size, 0);
    std::vector<std::uint64_t> marks(size, 0);
    Valued out;
    out.row.assign(s.rows, 0);
    for (std::size_t i = 0; i < s.n; ++i) {
        const Amount w = s.weight_of(i);
        std::size_t at = 0;
        load[0] += w;
        while (tree.feature[at] >= 0) {
            at = data.table.rank[tree.feature[at]][i] < tree.key[at] ? tree.left[at] : tree.right[at];
            load[at] += w;
        }
        const std::size_t k = static_cast<std::size_t>(s.kind[i]) * s.labels + tree.label[at];
        out.cost += w * s.cost[k];
        marks[at] |= std::uint64_t(s.mark[k]);
        for (int r = 0; r < s.rows; ++r) out.row[r] += w * s.row[k * s.rows + r];
    }
    for (std::size_t v = 0; v < size; ++v) {
        if (tree.feature[v] >= 0) {
            out.cost += s.test_cost;
            for (int r = 0; r < s.rows; ++r) out.row[r] += s.test_row[r];
            out.admissible &= load[v] >= settings.min_flow;
        } else {
            out.admissible &= load[v] >= settings.min_support && (size == 1 || load[v] > 0);
        }
    }
    for (std::size_t v = size; v-- > 0;) {
        if (tree.feature[v] < 0) continue;
        const std::uint64_t left = marks[tree.left[v]], right = marks[tree.right[v]];
        out.admissible &= s.may_meet(tree.feature[v], left, right);
        marks[v] = left | right;
    }
    out.satisfied = out.admissible;
    for (int r = 0; r < s.rows; ++r) out.satisfied &= out.row[r] >= s.lo[r] && out.row[r] <= s.hi[r];
    return out;
}

/// Thresholds between the values that occur at the node.
template <class W>
TREEFORM_COLD FlatTree flattened(const Tree& tree, Amount cost, const Priced<W>& data) {
    FlatTree out{tree.feature, tree.left, tree.right, tree.label, {}, {}, cost};
    const std::size_t size = tree.feature.size();
    constexpr double kLargest = std::numeric_limits<double>::infinity();
    out.low.assign(size, -kLargest), out.high.assign(size, kLargest);
    for (std::size_t i = 0; i < data.samples.n; ++i)
        for (std::size_t at = 0; tree.feature[at] >= 0;) {
            const std::int32_t f = tree.feature[at];
            const bool left = data.table.rank[f][i] < tree.key[at];
            const double value = data.table.value_of(static_cast<typename W::Id>(i), f);
            if (left)
                out.low[at] = std::max(out.low[at], value);
            else
                out.high[at] = std::min(out.high[at], value);
            at = left ? tree.left[at] : tree.right[at];
        }
    for (std::size_t v = 0; v < size; ++v) {
        const std::int32_t f = tree.feature[v];
        if (f < 0) out.low[v] = out.high[v] = 0;
        if (out.low[v] == -kLargest) out.low[v] = data.table.value_of(data.root.order(f)[0], f);
        if (out.high[v] == kLargest) out.high[v] = data.table.value_of(data.root.order(f)[data.root.n - 1], f);
    }
    return out;
}

/// A tree that ConTree found, over ranks.
template <class W>
TREEFORM_COLD Tree ranked(const FlatTree& flat, const Priced<W>& data) {
    Tree out{flat.feature, flat.left, flat.right, flat.label, {}};
    for (std::size_t v = 0; v < flat.feature.size(); ++v) {
        std::uint32_t key = 0;
        if (flat.feature[v] >= 0) {
            const std::int32_t f = flat.feature[v];
            const auto* rows = data.root.order(f);
            const auto* above = std::partition_point(rows, rows + data.root.n, [&](auto row) {
                return data.table.value_of(row, f) <= flat.low[v];
            });
            key = above == rows + data.root.n ? static_cast<std::uint32_t>(data.table.distinct[f])
                                              : std::uint32_t{data.table.rank[f][*above]};
        }
        out.key.push_back(key);
    }
    return out;
}

}  // namespace treeform::continuous_totals
