#pragma once
// A graph of which more was written out than cheap trees use, less the rest: see reduced.cpp.
#include "graph.hpp"

namespace treeform::and_or {

/// `own`: what each alternative adds to the price by itself. What is left is what trees of a price of at most `limit`
/// use, and `least` the least price of a tree through each; `own` counts by the alternatives of before.
void reduce(Alternatives& graph, const std::vector<Amount>& own, Amount limit);

}  // namespace treeform::and_or
