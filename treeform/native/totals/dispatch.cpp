#include <stdexcept>
#include <string>
#include <string_view>

#include "kernel.hpp"

namespace treeform::totals {

namespace plain {
void kernel(const PairPrices&);
}
#if defined(__x86_64__)
namespace avx2 {
void kernel(const PairPrices&);
}
namespace avx512 {
void kernel(const PairPrices&);
}
#endif

PairKernel choose_kernel(const char* wanted) {
    const std::string_view name = wanted;
    const bool any = name == "auto";
#if defined(__x86_64__)
    const bool has512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if ((any || name == "avx512") && has512) return avx512::kernel;
    if ((any || name == "avx2") && __builtin_cpu_supports("avx2")) return avx2::kernel;
#endif
    if (any || name == "plain") return plain::kernel;
    throw std::invalid_argument("simd = " + std::string(name) + ": not offered by this processor");
}

}  // namespace treeform::totals
