#include "tree.hpp"

#include <set>

namespace treeform::totals {

Valued value_of(const FlatTree& tree, const Table& t, const Settings& settings) {
    const std::size_t n = tree.feature.size();
    std::vector<Amount> count(n * t.kinds, 0), weight(n, 0);
    for (std::size_t p = 0; p < t.points; ++p) {
        const std::uint8_t* x = t.x + p * t.columns;
        std::size_t at = 0;
        while (tree.feature[at] >= 0) at = x[tree.feature[at]] ? tree.right[at] : tree.left[at];
        for (int k = 0; k < t.kinds; ++k) count[at * t.kinds + k] += t.count[p * t.kinds + k];
    }
    Valued out;
    out.row.assign(t.rows, 0);
    out.admissible = true;
    std::set<int> used;
    std::vector<std::uint64_t> marks(n, 0);
    for (std::size_t v = n; v-- > 0;) {  // children stand behind their parents
        const int f = tree.feature[v];
        if (f >= 0) {
            const std::uint64_t low = marks[tree.left[v]], high = marks[tree.right[v]];
            if (!meet(t, f, low, high)) out.admissible = false;
            marks[v] = low | high;
            weight[v] = weight[tree.left[v]] + weight[tree.right[v]];
            out.cost += t.test_cost[f];
            for (int r = 0; r < t.rows; ++r) out.row[r] += t.test_row[std::size_t(f) * t.rows + r];
            if (weight[v] < settings.min_flow) out.admissible = false;
            used.insert(t.source[f]);
            continue;
        }
        for (int k = 0; k < t.kinds; ++k) weight[v] += count[v * t.kinds + k] * t.unit[k];
        if (weight[v] < settings.min_support || (n > 1 && weight[v] == 0)) out.admissible = false;
        for (int k = 0; k < t.kinds; ++k) {
            const Amount q = count[v * t.kinds + k];
            const std::size_t i = std::size_t(k) * t.labels + tree.label[v];
            out.cost += q * t.cost[i];
            if (t.mark && q > 0) marks[v] |= t.mark[i];
            for (int r = 0; r < t.rows; ++r) out.row[r] += q * t.row[i * t.rows + r];
        }
        for (int r = 0; t.leaf_row && r < t.rows; ++r) out.row[r] += t.leaf_row[tree.label[v] * t.rows + r];
    }
    if (settings.max_features > 0 && used.size() > std::size_t(settings.max_features)) out.admissible = false;
    out.satisfied = out.admissible;
    for (int r = 0; r < t.rows; ++r) out.satisfied &= out.row[r] >= t.lo[r] && out.row[r] <= t.hi[r];
    return out;
}

}  // namespace treeform::totals
