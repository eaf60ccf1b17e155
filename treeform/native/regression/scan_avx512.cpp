#define TREEFORM_LANES 16
#include "pair_lanes.hpp"
#include "scan_lanes.hpp"

namespace treeform::regression {
ScanChoice avx512_scan() { return {&scan_here, kLanes, &scan_pairs_here}; }
}  // namespace treeform::regression
