#pragma once
// From a plan to the diagram that is handed out: points are sent through it, flows to terminals get the class that is
// cheapest for them, nodes that are left without a test or without points disappear, and so do tests whose arcs all
// lead to one terminal. The cost is counted anew.
#include "instance.hpp"
#include "plan.hpp"

namespace treeform::diagram {

/// The diagram of a plan for all points; `cost` receives what it costs (relative, as everything in the search).
FlatDiagram flatten(const Instance& in, const Plan* plan, Cost& cost);

/// Take out the tests whose arcs all lead to one terminal, from the last layer up: (8) has no such test, and nothing is
/// predicted otherwise without it.
void drop_idle(FlatDiagram& out);

}  // namespace treeform::diagram
