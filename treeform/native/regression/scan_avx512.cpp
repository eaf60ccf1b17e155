#define TREEFORM_LANES 16
#include "scan_lanes.hpp"

namespace treeform::regression {
ScanChoice avx512_scan() { return {&scan_here, kLanes}; }
}  // namespace treeform::regression
