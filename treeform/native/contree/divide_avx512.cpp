// Dividing sorted arrays on AVX-512 (F, BW, VL, VBMI2). Compiled with these instructions allowed; called only where the
// processor has them.
#include <immintrin.h>

#include "divide.hpp"

namespace treeform::contree {
namespace {

void mark_16(const std::uint16_t* key, std::size_t n, std::uint16_t below, std::uint32_t* left) {
    const __m512i bound = _mm512_set1_epi16(static_cast<short>(below));
    for (std::size_t k = 0; k < n; k += 32) {
        const __mmask32 here = n - k < 32 ? (__mmask32{1} << (n - k)) - 1 : ~__mmask32{0};
        left[k / 32] = _mm512_mask_cmplt_epu16_mask(here, _mm512_maskz_loadu_epi16(here, key + k), bound);
    }
}
void divide_16(const std::uint16_t* from, std::size_t n, const std::uint32_t* left, std::uint16_t* a,
               std::uint16_t* b) {
    for (std::size_t k = 0; k < n; k += 32) {
        const __mmask32 here = n - k < 32 ? (__mmask32{1} << (n - k)) - 1 : ~__mmask32{0};
        const __mmask32 l = left[k / 32], r = ~l & here;
        const __m512i values = _mm512_maskz_loadu_epi16(here, from + k);
        _mm512_storeu_si512(a, _mm512_maskz_compress_epi16(l, values));
        _mm512_storeu_si512(b, _mm512_maskz_compress_epi16(r, values));
        a += __builtin_popcount(l), b += __builtin_popcount(r);
    }
}

void mark_32(const std::uint32_t* key, std::size_t n, std::uint32_t below, std::uint32_t* left) {
    const __m512i bound = _mm512_set1_epi32(static_cast<int>(below));
    for (std::size_t k = 0; k < n; k += 32) {
        std::uint32_t bits = 0;
        for (std::size_t half = 0; half < 32 && k + half < n; half += 16) {
            const std::size_t rest = n - k - half;
            const __mmask16 here = rest < 16 ? static_cast<__mmask16>((1u << rest) - 1) : __mmask16{0xFFFF};
            const __mmask16 l =
                _mm512_mask_cmplt_epu32_mask(here, _mm512_maskz_loadu_epi32(here, key + k + half), bound);
            bits |= static_cast<std::uint32_t>(l) << half;
        }
        left[k / 32] = bits;
    }
}
void divide_32(const std::uint32_t* from, std::size_t n, const std::uint32_t* left, std::uint32_t* a,
               std::uint32_t* b) {
    for (std::size_t k = 0; k < n; k += 16) {
        const __mmask16 here = n - k < 16 ? static_cast<__mmask16>((1u << (n - k)) - 1) : __mmask16{0xFFFF};
        const __mmask16 l = static_cast<__mmask16>(left[k / 32] >> (k % 32)), r = static_cast<__mmask16>(~l & here);
        const __m512i values = _mm512_maskz_loadu_epi32(here, from + k);
        _mm512_storeu_si512(a, _mm512_maskz_compress_epi32(l, values));
        _mm512_storeu_si512(b, _mm512_maskz_compress_epi32(r, values));
        a += __builtin_popcount(l), b += __builtin_popcount(r);
    }
}

}  // namespace

Divider avx512_divider() { return {mark_16, mark_32, divide_16, divide_32}; }

}  // namespace treeform::contree
