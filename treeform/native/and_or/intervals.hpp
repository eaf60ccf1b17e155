#pragma once
// The AND/OR graph of trees over all thresholds of continuous columns: see intervals.cpp.
#include <memory>

#include "../continuous_totals/control.hpp"
#include "graph.hpp"

namespace treeform::and_or {

/// A table whose tests are thresholds. Its `columns` are features, with what each of their tests adds; its bits are not
/// read. The tests are numbered feature by feature, by threshold.
struct Thresholds {
    totals::Table table;
    const double* x = nullptr;            // [point][feature]
};

class IntervalGraph {
public:
    /// `group`: per feature. At a node, tests of one group that part its rows alike are one.
    IntervalGraph(const Thresholds&, const totals::Settings&, continuous_totals::Control&,
                  const std::vector<std::int32_t>& group);
    ~IntervalGraph();
    /// As those of Graph. `several`: at depth two, also omit alternatives that other multipliers exclude.
    Relaxed relax(Amount upper);
    Relaxed price(const std::vector<Amount>& multipliers, Amount unit);
    Alternatives up_to(Amount cost, Amount short_by, std::size_t most, bool several);
    /// How many trees of at most that cost there are, where no rows have multipliers and all groups differ; exact below
    /// 2^53.
    double count(Amount cost);

    class Search;
    struct RowsOfPoints;

private:
    std::unique_ptr<RowsOfPoints> rows_;
    std::unique_ptr<Search> search_;
};

}  // namespace treeform::and_or
