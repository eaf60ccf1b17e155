#pragma once
// ConTree's search in the widest of its numbers, which is compiled with that engine.
#include "../contree/rebuild.hpp"
#include "../contree/search.hpp"
#include "../contree/width.hpp"

namespace treeform::contree {

// Compiled in contree/engine.cpp.
extern template class DepthTwo<Huge>;
extern template class Search<Huge>;
extern template class Rebuild<Huge>;
extern template void load<Huge>(const Rows&, const Losses&, RankedTable&, Table<Huge>&, Node<Huge>&,
                                Control&);

}  // namespace treeform::contree
