#include <string_view>

#include "kernel.hpp"

namespace treeform::diagram {

namespace plain {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}

const Kernels& choose_kernels(const char* simd) {
#if defined(__x86_64__)
    const std::string_view name(simd);
    const bool two =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi2");
    const bool five = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                      && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
                      && __builtin_cpu_supports("avx512vpopcntdq");
    if ((name == "auto" || name == "avx512") && five && two) return avx512::kernels;
    if (name != "plain" && two) return avx2::kernels;
#else
    (void)simd;
#endif
    return plain::kernels;
}

}  // namespace treeform::diagram
