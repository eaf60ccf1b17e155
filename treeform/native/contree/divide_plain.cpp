// Dividing sorted arrays in portable C++, and the choice of the path.
#include <string_view>

#include "divide.hpp"
#include "scan.hpp"

namespace treeform::contree {
namespace {

template <class T>
void mark(const T* key, std::size_t n, T below, std::uint32_t* left) {
    for (std::size_t block = 0; block < n; block += 32) {
        const std::size_t here = n - block < 32 ? n - block : 32;
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < here; ++k) bits |= static_cast<std::uint32_t>(key[block + k] < below) << k;
        left[block / 32] = bits;
    }
}

template <class T>
void divide(const T* from, std::size_t n, const std::uint32_t* left, T* a, T* b) {
    for (std::size_t block = 0; block < n; block += 32) {
        const std::size_t here = n - block < 32 ? n - block : 32;
        std::uint32_t bits = left[block / 32];
        for (std::size_t k = 0; k < here; ++k, bits >>= 1) {   // branch-free: write both, advance one
            const T value = from[block + k];
            *a = value, *b = value;
            a += bits & 1, b += 1 - (bits & 1);
        }
    }
}

}  // namespace

Divider choose_divider(const char* simd) {
#if defined(__x86_64__)
    const std::string_view name(simd);
    const bool any = name == "auto";
    if ((any || name == "avx512") && simd_available("avx512") && __builtin_cpu_supports("avx512vbmi2"))
        return avx512_divider();
    if ((any || name == "avx512" || name == "avx2") && simd_available("avx2")) return avx2_divider();
#else
    static_cast<void>(simd);
#endif
    return {mark<std::uint16_t>, mark<std::uint32_t>, divide<std::uint16_t>, divide<std::uint32_t>};
}

}  // namespace treeform::contree
