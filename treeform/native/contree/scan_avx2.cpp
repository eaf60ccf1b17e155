// The scan on AVX2: 16 lanes of 16 bits (two passes over a table of 32), or 8 lanes of 32 bits (four). Compiled with
// these instructions allowed; called only where the processor has them. A mask is a vector of zeros and ones.
#include <immintrin.h>

#include "scan_vector.hpp"

namespace treeform::contree {
namespace {

inline __m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

struct V16 {
    using Reg = __m256i;
    using Mask = __m256i;
    using Key = std::uint16_t;
    using Sum = std::int16_t;
    static constexpr int lanes = 16;

    static inline Reg zero() { return _mm256_setzero_si256(); }
    static inline Reg lowest() { return _mm256_set1_epi16(-32768); }
    static inline Reg highest() { return _mm256_set1_epi16(32767); }
    static inline Reg broadcast(Key key) { return _mm256_set1_epi16(static_cast<short>(key)); }
    static inline Reg keys(const Key* p) { return load(p); }
    static inline Reg steps(const Sum* p) { return load(p); }
    static inline Reg labels(const std::uint16_t* p) { return load(p); }
    static inline void store(Sum* p, Reg x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
    /// k >= below, unsigned; `add_if` and `add_unless` take it the other way round.
    static inline Mask less(Reg k, Reg below) { return _mm256_cmpeq_epi16(_mm256_max_epu16(k, below), k); }
    static inline std::uint32_t differ(Reg k, Reg l) {
        const Reg same = _mm256_cmpeq_epi16(k, l);   // 16 words to 16 bytes, in order, to 16 bits
        const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(same), _mm256_extracti128_si256(same, 1));
        return static_cast<std::uint32_t>(~_mm_movemask_epi8(bytes)) & 0xFFFFu;
    }
    static inline Mask cuts(const std::uint32_t* valid, std::size_t s, int part) {
        const Reg bit = _mm256_set_epi16(-32768, 1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 1 << 9, 1 << 8, 1 << 7,
                                         1 << 6, 1 << 5, 1 << 4, 1 << 3, 1 << 2, 1 << 1, 1);
        const Reg bits = _mm256_set1_epi16(static_cast<short>(valid[s] >> (16 * part)));
        return _mm256_cmpeq_epi16(_mm256_and_si256(bits, bit), bit);
    }
    static inline Reg add_if(Reg a, Mask not_less, Reg d) {
        return _mm256_add_epi16(a, _mm256_andnot_si256(not_less, d));
    }
    static inline Reg add_unless(Reg a, Mask not_less, Reg d) {
        return _mm256_add_epi16(a, _mm256_and_si256(not_less, d));
    }
    static inline Reg raise(Reg x, Reg a) { return _mm256_max_epi16(x, a); }
    static inline Reg lower(Reg x, Reg a) { return _mm256_min_epi16(x, a); }
    static inline Reg raise_if(Reg x, Mask v, Reg a) { return _mm256_blendv_epi8(x, raise(x, a), v); }
    static inline Reg lower_if(Reg x, Mask v, Reg a) { return _mm256_blendv_epi8(x, lower(x, a), v); }

    struct Compare {
        Reg a, b;
        inline Compare(std::uint16_t p, std::uint16_t q)
            : a(_mm256_set1_epi16(static_cast<short>(p))), b(_mm256_set1_epi16(static_cast<short>(q))) {}
        inline Reg operator()(Reg labels) const {
            return _mm256_sub_epi16(_mm256_cmpeq_epi16(labels, a), _mm256_cmpeq_epi16(labels, b));
        }
    };
};

struct V32 {
    using Reg = __m256i;
    using Mask = __m256i;
    using Key = std::uint32_t;
    using Sum = std::int32_t;
    static constexpr int lanes = 8;

    static inline Reg zero() { return _mm256_setzero_si256(); }
    static inline Reg lowest() { return _mm256_set1_epi32(static_cast<int>(0x80000000u)); }
    static inline Reg highest() { return _mm256_set1_epi32(0x7FFFFFFF); }
    static inline Reg broadcast(Key key) { return _mm256_set1_epi32(static_cast<int>(key)); }
    static inline Reg keys(const Key* p) { return load(p); }
    static inline Reg steps(const Sum* p) { return load(p); }
    static inline Reg labels(const std::uint16_t* p) {
        return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static inline void store(Sum* p, Reg x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
    static inline Mask less(Reg k, Reg below) { return _mm256_cmpeq_epi32(_mm256_max_epu32(k, below), k); }
    static inline std::uint32_t differ(Reg k, Reg l) {
        return static_cast<std::uint32_t>(~_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(k, l)))) & 0xFFu;
    }
    static inline Mask cuts(const std::uint32_t* valid, std::size_t s, int part) {
        const Reg bit = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
        const Reg bits = _mm256_set1_epi32(static_cast<int>(valid[s] >> (8 * part)));
        return _mm256_cmpeq_epi32(_mm256_and_si256(bits, bit), bit);
    }
    static inline Reg add_if(Reg a, Mask not_less, Reg d) {
        return _mm256_add_epi32(a, _mm256_andnot_si256(not_less, d));
    }
    static inline Reg add_unless(Reg a, Mask not_less, Reg d) {
        return _mm256_add_epi32(a, _mm256_and_si256(not_less, d));
    }
    static inline Reg raise(Reg x, Reg a) { return _mm256_max_epi32(x, a); }
    static inline Reg lower(Reg x, Reg a) { return _mm256_min_epi32(x, a); }
    static inline Reg raise_if(Reg x, Mask v, Reg a) { return _mm256_blendv_epi8(x, raise(x, a), v); }
    static inline Reg lower_if(Reg x, Mask v, Reg a) { return _mm256_blendv_epi8(x, lower(x, a), v); }

    struct Compare {
        Reg a, b;
        inline Compare(std::uint16_t p, std::uint16_t q) : a(_mm256_set1_epi32(p)), b(_mm256_set1_epi32(q)) {}
        inline Reg operator()(Reg labels) const {
            return _mm256_sub_epi32(_mm256_cmpeq_epi32(labels, a), _mm256_cmpeq_epi32(labels, b));
        }
    };
};

/// Keys of 16 bits beside sums of 32.
struct V16By32 : V32 {
    using Key = std::uint16_t;

    static inline Reg keys(const Key* p) {
        return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
};

}  // namespace

ScanTable<std::uint16_t, std::int16_t> avx2_scans_16() {
    return {delta_scan<V16>, pair_scan<V16>, mark_cuts<V16>, "avx2"};
}
ScanTable<std::uint32_t, std::int32_t> avx2_scans_32() {
    return {delta_scan<V32>, pair_scan<V32>, mark_cuts<V32>, "avx2"};
}
ScanTable<std::uint16_t, std::int32_t> avx2_scans_16_32() {
    return {delta_scan<V16By32>, pair_scan<V16By32>, mark_cuts<V16By32>, "avx2"};
}

}  // namespace treeform::contree
