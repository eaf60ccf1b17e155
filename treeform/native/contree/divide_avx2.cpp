// Dividing sorted arrays on AVX2: eight elements by one shuffle for each side, from a table of the 256 ways to divide
// eight. Compiled with these instructions allowed; called only where the processor has them.
#include <immintrin.h>

#include "divide.hpp"

namespace treeform::contree {
namespace {

/// place[m][k]: where the k-th of the elements whose bits are set in m stands among eight.
struct Places {
    std::uint8_t place[256][8] = {};
    std::uint8_t bytes[256][16] = {};   // the same as pairs of bytes

    constexpr Places() {
        for (int mask = 0; mask < 256; ++mask) {
            int count = 0;
            for (std::uint8_t k = 0; k < 8; ++k) {
                if (!(mask >> k & 1)) continue;
                place[mask][count] = k;
                bytes[mask][2 * count] = static_cast<std::uint8_t>(2 * k);
                bytes[mask][2 * count + 1] = static_cast<std::uint8_t>(2 * k + 1);
                ++count;
            }
        }
    }
};
constexpr Places kPlaces;

template <class T>
inline void divide_rest(const T* from, std::size_t k, std::size_t n, const std::uint32_t* left, T* a, T* b) {
    for (; k < n; ++k) {
        const bool is_left = left[k / 32] >> (k % 32) & 1;
        *(is_left ? a++ : b++) = from[k];
    }
}
/// Eight bits of `left`; k is a multiple of eight.
inline unsigned eight_bits(const std::uint32_t* left, std::size_t k) { return left[k / 32] >> (k % 32) & 0xFF; }

/// key >= below for 16 keys, as 16 bits of the complement.
inline std::uint32_t less_16(const std::uint16_t* key, __m256i bound) {
    const __m256i k = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(key));
    const __m256i not_less = _mm256_cmpeq_epi16(_mm256_max_epu16(k, bound), k);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(not_less), _mm256_extracti128_si256(not_less, 1));
    return ~static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)) & 0xFFFF;
}
void mark_16(const std::uint16_t* key, std::size_t n, std::uint16_t below, std::uint32_t* left) {
    const __m256i bound = _mm256_set1_epi16(static_cast<short>(below));
    for (std::size_t k = 0; k < n; k += 32) {
        const std::uint32_t here = n - k < 32 ? (std::uint32_t{1} << (n - k)) - 1 : ~std::uint32_t{0};
        left[k / 32] = (less_16(key + k, bound) | less_16(key + k + 16, bound) << 16) & here;
    }
}
void divide_16(const std::uint16_t* from, std::size_t n, const std::uint32_t* left, std::uint16_t* a,
               std::uint16_t* b) {
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        const unsigned l = eight_bits(left, k), r = l ^ 0xFF;
        const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k));
        const auto shuffled = [&values](unsigned side) {
            return _mm_shuffle_epi8(values, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kPlaces.bytes[side])));
        };
        _mm_storeu_si128(reinterpret_cast<__m128i*>(a), shuffled(l));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(b), shuffled(r));
        const int count = __builtin_popcount(l);
        a += count, b += 8 - count;
    }
    divide_rest(from, k, n, left, a, b);
}

void mark_32(const std::uint32_t* key, std::size_t n, std::uint32_t below, std::uint32_t* left) {
    const __m256i bound = _mm256_set1_epi32(static_cast<int>(below));
    for (std::size_t k = 0; k < n; k += 32) {
        std::uint32_t bits = 0;
        for (int part = 0; part < 32; part += 8) {
            const __m256i keys = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(key + k + part));
            const __m256i not_less = _mm256_cmpeq_epi32(_mm256_max_epu32(keys, bound), keys);
            bits |= (~static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(not_less))) & 0xFF) << part;
        }
        left[k / 32] = bits & (n - k < 32 ? (std::uint32_t{1} << (n - k)) - 1 : ~std::uint32_t{0});
    }
}
void divide_32(const std::uint32_t* from, std::size_t n, const std::uint32_t* left, std::uint32_t* a,
               std::uint32_t* b) {
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        const unsigned l = eight_bits(left, k), r = l ^ 0xFF;
        const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k));
        const auto shuffled = [&values](unsigned side) {
            const auto* place = reinterpret_cast<const __m128i*>(kPlaces.place[side]);
            return _mm256_permutevar8x32_epi32(values, _mm256_cvtepu8_epi32(_mm_loadl_epi64(place)));
        };
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(a), shuffled(l));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(b), shuffled(r));
        const int count = __builtin_popcount(l);
        a += count, b += 8 - count;
    }
    divide_rest(from, k, n, left, a, b);
}

}  // namespace

Divider avx2_divider() { return {mark_16, mark_32, divide_16, divide_32}; }

}  // namespace treeform::contree
