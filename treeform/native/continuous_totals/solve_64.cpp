#include "../contree/width.hpp"
#include "solve.hpp"

namespace treeform::continuous_totals {
template void solve_as<contree::Huge>(const Samples&, const Settings&, std::vector<contree::RankedColumn>&, Amount,
                                      Control&, Outcome&);
}  // namespace treeform::continuous_totals
