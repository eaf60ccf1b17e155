#define TREEFORM_LANES 4
#include "scan_lanes.hpp"

namespace treeform::regression {
ScanChoice plain_scan() { return {&scan_here, kLanes}; }
}  // namespace treeform::regression
