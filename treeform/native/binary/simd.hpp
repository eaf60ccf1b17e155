#pragma once
// The few vector operations that the kernels need, once per instruction set. Each kernel file defines one of
// TREEFORM_AVX512 / TREEFORM_AVX2 / nothing before including this, and is compiled with the matching flags; all
// code lives in a namespace named after the instruction set, and uses no standard containers, so that no inline
// function compiled for a newer processor can be picked by the linker for an older one.
#include <cstddef>
#include <cstdint>
#if defined(TREEFORM_AVX512) || defined(TREEFORM_AVX2)
#include <immintrin.h>
#endif

#if defined(TREEFORM_AVX512)
#define TREEFORM_ISA avx512
#define TREEFORM_VECTOR_BYTES 64
#elif defined(TREEFORM_AVX2)
#define TREEFORM_ISA avx2
#define TREEFORM_VECTOR_BYTES 32
#else
#define TREEFORM_ISA plain
#define TREEFORM_VECTOR_BYTES 16
#endif

#pragma GCC diagnostic ignored "-Wignored-attributes"
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace treeform::binary::TREEFORM_ISA {

constexpr int kBytes = TREEFORM_VECTOR_BYTES;

template <class L>
struct Signed;
template <>
struct Signed<std::uint16_t> {
    using type = std::int16_t;
};
template <>
struct Signed<std::uint32_t> {
    using type = std::int32_t;
};
template <>
struct Signed<std::uint64_t> {
    using type = std::int64_t;
};

template <class L>
struct Lanes {
    using S = typename Signed<L>::type;
    static constexpr int kBits = 8 * sizeof(L);
    static constexpr int kCount = kBytes / int(sizeof(L));
    typedef L U __attribute__((vector_size(kBytes), may_alias));
    typedef S V __attribute__((vector_size(kBytes), may_alias));

    static inline U load(const L* p) { return *reinterpret_cast<const U*>(p); }
    static inline void store(L* p, U v) { *reinterpret_cast<U*>(p) = v; }
    static inline V load(const S* p) { return *reinterpret_cast<const V*>(p); }
    static inline void store(S* p, V v) { *reinterpret_cast<V*>(p) = v; }
    static inline U all(L x) { return U{} + x; }
    static inline V all(S x) { return V{} + x; }

    static inline V max(V a, V b) {
#if defined(TREEFORM_AVX512)
        if constexpr (sizeof(L) == 2) return (V)_mm512_max_epi16((__m512i)a, (__m512i)b);
        if constexpr (sizeof(L) == 4) return (V)_mm512_max_epi32((__m512i)a, (__m512i)b);
        if constexpr (sizeof(L) == 8) return (V)_mm512_max_epi64((__m512i)a, (__m512i)b);
#elif defined(TREEFORM_AVX2)
        if constexpr (sizeof(L) == 2) return (V)_mm256_max_epi16((__m256i)a, (__m256i)b);
        if constexpr (sizeof(L) == 4) return (V)_mm256_max_epi32((__m256i)a, (__m256i)b);
#endif
        return a > b ? a : b;
    }
    static inline V min(V a, V b) {
#if defined(TREEFORM_AVX512)
        if constexpr (sizeof(L) == 2) return (V)_mm512_min_epi16((__m512i)a, (__m512i)b);
        if constexpr (sizeof(L) == 4) return (V)_mm512_min_epi32((__m512i)a, (__m512i)b);
        if constexpr (sizeof(L) == 8) return (V)_mm512_min_epi64((__m512i)a, (__m512i)b);
#elif defined(TREEFORM_AVX2)
        if constexpr (sizeof(L) == 2) return (V)_mm256_min_epi16((__m256i)a, (__m256i)b);
        if constexpr (sizeof(L) == 4) return (V)_mm256_min_epi32((__m256i)a, (__m256i)b);
#endif
        return a < b ? a : b;
    }
    static inline V abs(V a) { return max(a, -a); }

    static inline V popcount(U x) {
#if defined(TREEFORM_AVX512)
        if constexpr (sizeof(L) == 2) return (V)_mm512_popcnt_epi16((__m512i)x);
        if constexpr (sizeof(L) == 4) return (V)_mm512_popcnt_epi32((__m512i)x);
        if constexpr (sizeof(L) == 8) return (V)_mm512_popcnt_epi64((__m512i)x);
#elif defined(TREEFORM_AVX2)
        const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3,
                                               1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i nibble = _mm256_set1_epi8(15);
        const __m256i low = _mm256_and_si256((__m256i)x, nibble);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16((__m256i)x, 4), nibble);
        const __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
        if constexpr (sizeof(L) == 8) return (V)_mm256_sad_epu8(bytes, _mm256_setzero_si256());
        const __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
        if constexpr (sizeof(L) == 2) return (V)pairs;
        return (V)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#else
        // Counts of ever wider fields, all lanes at once.
        const L m1 = L(0x5555555555555555ull), m2 = L(0x3333333333333333ull), m4 = L(0x0f0f0f0f0f0f0f0full);
        x = x - ((x >> 1) & m1);
        x = (x & m2) + ((x >> 2) & m2);
        x = (x + (x >> 4)) & m4;
        for (int shift = 8; shift < kBits; shift *= 2) x = x + (x >> shift);
        return (V)(x & L(0x7f));
#endif
    }
    static inline U shl(U x, int k) {
#if defined(TREEFORM_AVX512)
        const __m128i c = _mm_cvtsi32_si128(k);
        if constexpr (sizeof(L) == 2) return (U)_mm512_sll_epi16((__m512i)x, c);
        if constexpr (sizeof(L) == 4) return (U)_mm512_sll_epi32((__m512i)x, c);
        if constexpr (sizeof(L) == 8) return (U)_mm512_sll_epi64((__m512i)x, c);
#elif defined(TREEFORM_AVX2)
        const __m128i c = _mm_cvtsi32_si128(k);
        if constexpr (sizeof(L) == 2) return (U)_mm256_sll_epi16((__m256i)x, c);
        if constexpr (sizeof(L) == 4) return (U)_mm256_sll_epi32((__m256i)x, c);
        if constexpr (sizeof(L) == 8) return (U)_mm256_sll_epi64((__m256i)x, c);
#else
        return x << L(k);
#endif
    }
    static inline U shr(U x, int k) {
#if defined(TREEFORM_AVX512)
        const __m128i c = _mm_cvtsi32_si128(k);
        if constexpr (sizeof(L) == 2) return (U)_mm512_srl_epi16((__m512i)x, c);
        if constexpr (sizeof(L) == 4) return (U)_mm512_srl_epi32((__m512i)x, c);
        if constexpr (sizeof(L) == 8) return (U)_mm512_srl_epi64((__m512i)x, c);
#elif defined(TREEFORM_AVX2)
        const __m128i c = _mm_cvtsi32_si128(k);
        if constexpr (sizeof(L) == 2) return (U)_mm256_srl_epi16((__m256i)x, c);
        if constexpr (sizeof(L) == 4) return (U)_mm256_srl_epi32((__m256i)x, c);
        if constexpr (sizeof(L) == 8) return (U)_mm256_srl_epi64((__m256i)x, c);
#else
        return x >> L(k);
#endif
    }
};

}  // namespace treeform::binary::TREEFORM_ISA
