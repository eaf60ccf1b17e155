// The search in each width of its numbers. One file: what does not depend on the width is compiled once.
#include "solve.hpp"
#include "widest.hpp"

namespace treeform::continuous_totals {

template void solve_as<contree::Priced>(const Samples&, const Settings&, contree::RankedTable&, Amount,
                                        Control&, Outcome&);
template void solve_as<contree::PricedWide>(const Samples&, const Settings&, contree::RankedTable&,
                                            Amount, Control&, Outcome&);
template void solve_as<contree::Huge>(const Samples&, const Settings&, contree::RankedTable&, Amount,
                                      Control&, Outcome&);

}  // namespace treeform::continuous_totals
