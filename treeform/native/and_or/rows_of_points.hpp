#pragma once
// A table of points as ConTree's search has it: by row.
#include <algorithm>
#include <vector>

#include "../continuous_totals/problem.hpp"
#include "intervals.hpp"

namespace treeform::and_or {

/// The rows of the search: each kind of each point.
struct IntervalGraph::RowsOfPoints {
    std::vector<double> x;
    std::vector<std::int32_t> kind, point;
    std::vector<Amount> weight, mark;
    std::vector<std::int32_t> no_clashes;
    continuous_totals::Samples samples;

    explicit RowsOfPoints(const Thresholds& given) {
        const totals::Table& t = given.table;
        for (std::size_t p = 0; p < t.points; ++p)
            for (int k = 0; k < t.kinds; ++k) {
                if (t.count[p * t.kinds + k] == 0) continue;
                x.insert(x.end(), given.x + p * t.columns, given.x + (p + 1) * t.columns);
                kind.push_back(k), point.push_back(std::int32_t(p)), weight.push_back(t.count[p * t.kinds + k]);
            }
        mark.assign(std::size_t(t.kinds) * t.labels, 0), no_clashes.assign(t.columns + 1, 0);
        samples.x = x.data(), samples.n = kind.size(), samples.features = t.columns;
        samples.kind = kind.data(), samples.weight = weight.data();
        samples.kinds = t.kinds, samples.labels = t.labels, samples.rows = t.rows;
        samples.cost = t.cost, samples.row = t.row, samples.lo = t.lo, samples.hi = t.hi;
        samples.test_cost = t.test_cost[0], samples.test_row = t.test_row;
        samples.mark = mark.data(), samples.clash_begin = no_clashes.data();
    }
    RowsOfPoints(const RowsOfPoints&) = delete;
    Amount heaviest() const { return weight.empty() ? 0 : *std::max_element(weight.begin(), weight.end()); }
};

}  // namespace treeform::and_or
