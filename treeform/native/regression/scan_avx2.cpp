#define TREEFORM_LANES 8
#include "scan_lanes.hpp"

namespace treeform::regression {
ScanChoice avx2_scan() { return {&scan_here, kLanes}; }
}  // namespace treeform::regression
