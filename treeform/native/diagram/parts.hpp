#pragma once
// The search for at most k tests in parts, each a range of tests at the root, that are answered elsewhere
// (common/away.hpp). A reply states the least cost of a diagram that begins with a test of its range; the diagram
// itself is found again here, below exactly that cost: so it does not depend on who answered, or on what else it was
// asked.
#include "../common/away.hpp"
#include "search.hpp"

namespace treeform::diagram {

/// As `Search::solve`, from the replies of callers.
Answer solve_in_parts(const Away& away, const Instance& in, const Control& control, Search& search, Counters& counters,
                      int tests, Cost need);

PartSearch part_search(const Points& points, const Settings& settings, const Control& control);

}  // namespace treeform::diagram
