#pragma once
// The search in parts, one for each test at the root, that are answered in another process (common/away.hpp and
// treeform/engines/binary/distributed.py). The cache and the bounds of the root tests stay from one part to the next:
// what they state holds whatever the upper bound was.
#include "../common/away.hpp"
#include "search.hpp"

namespace treeform::binary {

/// Answers parts of one table; not for two threads at a time.
class PartSearch {
public:
    PartSearch(const Points& points, const Settings& settings, Control& control);
    /// Whether trees that begin with that test are among those of the search: it has no tests that tell no rows apart.
    bool has(int feature) const { return search_->has(feature); }
    /// [upper, number of hints, bounds of pairs or nothing, test] -> [settled, cost, bounds of both sides, counters,
    /// bounds of pairs if some were given, the tree]. Those of pairs are four for each feature:
    /// for the value 0 of the test those of value 0 and 1 of every feature, then for its value 1. Memory that runs out is
    /// an exception.
    Message evaluate(const Message& question);

private:
    Settings settings_;
    Control& control_;
    std::unique_ptr<SharedIncumbent> shared_;
    std::unique_ptr<Search> search_;
};

}  // namespace treeform::binary
