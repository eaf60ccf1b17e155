#pragma once
// What the scans in bytes of AVX2 and AVX-512 share: all 32 lanes in one register of 256 bits, and steps from labels by
// one shuffle. Included only by files that are compiled for these (see scan_vector.hpp).
#include <immintrin.h>

#include "scan_bytes.hpp"

namespace treeform::contree {
namespace {

/// The greatest of `high` and 0, the least of `low` and 0; phminposuw finds the least of eight unsigned numbers.
inline void extremes_of_words(__m256i high, __m256i low, std::int64_t& most_out, std::int64_t& least_out) {
    const __m128i most = _mm_max_epi16(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
    const __m128i least = _mm_min_epi16(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    const int up = 32767 - _mm_extract_epi16(_mm_minpos_epu16(_mm_sub_epi16(_mm_set1_epi16(32767), most)), 0);
    const int down = _mm_extract_epi16(_mm_minpos_epu16(_mm_add_epi16(least, _mm_set1_epi16(-32768))), 0) - 32768;
    most_out = up > 0 ? up : 0;
    least_out = down < 0 ? down : 0;
}

struct Bytes256 {
    using Reg = __m256i;
    static constexpr int kLookUpLabels = 16;

    static inline Reg zero() { return _mm256_setzero_si256(); }
    static inline Reg lowest() { return _mm256_set1_epi8(-128); }
    static inline Reg highest() { return _mm256_set1_epi8(127); }
    static inline Reg labels(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
    static inline Reg steps(const void* p) { return labels(p); }
    static inline Reg raise(Reg x, Reg a) { return _mm256_max_epi8(x, a); }
    static inline Reg lower(Reg x, Reg a) { return _mm256_min_epi8(x, a); }

    /// At most 16 labels: one shuffle looks the steps up; the padding, 255, adds nothing.
    struct LookUp {
        Reg table;
        inline LookUp(std::uint16_t a, std::uint16_t b) {
            const __m128i lane = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            const __m128i is_a = _mm_cmpeq_epi8(lane, _mm_set1_epi8(static_cast<char>(a)));
            const __m128i is_b = _mm_cmpeq_epi8(lane, _mm_set1_epi8(static_cast<char>(b)));
            table = _mm256_broadcastsi128_si256(_mm_sub_epi8(is_a, is_b));
        }
        inline Reg operator()(Reg labels) const { return _mm256_shuffle_epi8(table, labels); }
    };
};

}  // namespace
}  // namespace treeform::contree
