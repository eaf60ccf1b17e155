// Which scan runs here: decided once per run, from the processor's features and the setting `simd`.
#include "../contree/scan.hpp"
#include "scan.hpp"

#include <string_view>

namespace treeform::regression {

ScanChoice choose_scan(const char* simd) {
#if defined(__x86_64__)
    const std::string_view name(simd);
    if (name != "plain") {
        if (name != "avx2" && contree::simd_available("avx512")) return avx512_scan();
        if (contree::simd_available("avx2")) return avx2_scan();
    }
#else
    static_cast<void>(simd);
#endif
    return plain_scan();
}

}  // namespace treeform::regression
