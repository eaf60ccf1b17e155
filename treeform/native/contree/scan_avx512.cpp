// The scan on AVX-512 (F, BW, VL): 32 lanes of 16 bits, or 16 lanes of 32. Compiled with these instructions allowed;
// called only where the processor has them.
#include "scan_bytes_256.hpp"

namespace treeform::contree {
namespace {

/// Exclusive scan over the 32 lane sums in five doubling steps, then the extremes over all lanes.
inline void join_words(__m512i sum, __m512i most_of, __m512i least_of, std::int64_t& most_out,
                       std::int64_t& least_out) {
    using Reg = __m512i;
    const Reg lane = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                                      11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    Reg x = sum;
    const auto shifted = [&lane](Reg v, int by) {
        return _mm512_maskz_permutexvar_epi16(~__mmask32{0} << by,
                                              _mm512_sub_epi16(lane, _mm512_set1_epi16(static_cast<short>(by))), v);
    };
    for (int by = 1; by < 32; by *= 2) x = _mm512_add_epi16(x, shifted(x, by));
    const Reg before = shifted(x, 1);
    const Reg most = _mm512_adds_epi16(most_of, before), least = _mm512_adds_epi16(least_of, before);
    extremes_of_words(_mm256_max_epi16(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1)),
                      _mm256_min_epi16(_mm512_castsi512_si256(least), _mm512_extracti64x4_epi64(least, 1)), most_out,
                      least_out);
}

struct V16 {
    using Reg = __m512i;
    using Mask = __mmask32;
    using Key = std::uint16_t;
    using Sum = std::int16_t;
    static constexpr int lanes = 32;

    static inline Reg zero() { return _mm512_setzero_si512(); }
    static inline Reg lowest() { return _mm512_set1_epi16(-32768); }
    static inline Reg highest() { return _mm512_set1_epi16(32767); }
    static inline Reg broadcast(Key key) { return _mm512_set1_epi16(static_cast<short>(key)); }
    static inline Reg keys(const Key* p) { return _mm512_loadu_si512(p); }
    static inline Reg steps(const Sum* p) { return _mm512_loadu_si512(p); }
    static inline Reg labels(const std::uint16_t* p) { return _mm512_loadu_si512(p); }
    static inline void store(Sum* p, Reg x) { _mm512_storeu_si512(p, x); }
    static inline Mask less(Reg k, Reg below) { return _mm512_cmplt_epu16_mask(k, below); }
    static inline std::uint32_t differ(Reg k, Reg l) { return _mm512_cmpneq_epi16_mask(k, l); }
    static inline Mask cuts(const std::uint32_t* valid, std::size_t s, int) { return valid[s]; }
    static inline Reg add_if(Reg a, Mask m, Reg d) { return _mm512_mask_add_epi16(a, m, a, d); }
    static inline Reg add_unless(Reg a, Mask m, Reg d) { return _mm512_mask_add_epi16(a, _knot_mask32(m), a, d); }
    static inline Reg raise(Reg x, Reg a) { return _mm512_max_epi16(x, a); }
    static inline Reg lower(Reg x, Reg a) { return _mm512_min_epi16(x, a); }
    static inline Reg raise_if(Reg x, Mask v, Reg a) { return _mm512_mask_max_epi16(x, v, x, a); }
    static inline Reg lower_if(Reg x, Mask v, Reg a) { return _mm512_mask_min_epi16(x, v, x, a); }

    static inline Reg signed_by(Reg x, Reg s) { return _mm512_mullo_epi16(x, s); }

    /// Fewer than 31 labels: one permutation looks the steps up (label 31, the padding's low bits, adds nothing).
    struct LookUp {
        Reg table;
        inline LookUp(std::uint16_t a, std::uint16_t b) {
            const Reg lane = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14,
                                              13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
            const Mask is_a = _mm512_cmpeq_epi16_mask(lane, _mm512_set1_epi16(static_cast<short>(a)));
            const Mask is_b = _mm512_cmpeq_epi16_mask(lane, _mm512_set1_epi16(static_cast<short>(b)));
            table = _mm512_mask_mov_epi16(_mm512_maskz_set1_epi16(is_b, 1), is_a, _mm512_set1_epi16(-1));
            if (a == b) table = _mm512_setzero_si512();
        }
        inline Reg operator()(Reg labels) const { return _mm512_permutexvar_epi16(labels, table); }
    };
    struct Compare {
        Reg a, b;
        inline Compare(std::uint16_t p, std::uint16_t q)
            : a(_mm512_set1_epi16(static_cast<short>(p))), b(_mm512_set1_epi16(static_cast<short>(q))) {}
        inline Reg operator()(Reg labels) const {
            return _mm512_sub_epi16(_mm512_movm_epi16(_mm512_cmpeq_epi16_mask(labels, a)),
                                    _mm512_movm_epi16(_mm512_cmpeq_epi16_mask(labels, b)));
        }
    };

    static inline void join(const Part<V16>& part, std::int64_t& most_out, std::int64_t& least_out) {
        join_words(part.sum, part.most, part.least, most_out, least_out);
    }
};

struct V32 {
    using Reg = __m512i;
    using Mask = __mmask16;
    using Key = std::uint32_t;
    using Sum = std::int32_t;
    static constexpr int lanes = 16;

    static inline Reg zero() { return _mm512_setzero_si512(); }
    static inline Reg lowest() { return _mm512_set1_epi32(static_cast<int>(0x80000000u)); }
    static inline Reg highest() { return _mm512_set1_epi32(0x7FFFFFFF); }
    static inline Reg broadcast(Key key) { return _mm512_set1_epi32(static_cast<int>(key)); }
    static inline Reg keys(const Key* p) { return _mm512_loadu_si512(p); }
    static inline Reg steps(const Sum* p) { return _mm512_loadu_si512(p); }
    static inline Reg labels(const std::uint16_t* p) {
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static inline void store(Sum* p, Reg x) { _mm512_storeu_si512(p, x); }
    static inline Mask less(Reg k, Reg below) { return _mm512_cmplt_epu32_mask(k, below); }
    static inline std::uint32_t differ(Reg k, Reg l) { return _mm512_cmpneq_epi32_mask(k, l); }
    static inline Mask cuts(const std::uint32_t* valid, std::size_t s, int part) {
        return static_cast<Mask>(valid[s] >> (16 * part));
    }
    static inline Reg add_if(Reg a, Mask m, Reg d) { return _mm512_mask_add_epi32(a, m, a, d); }
    static inline Reg add_unless(Reg a, Mask m, Reg d) { return _mm512_mask_add_epi32(a, static_cast<Mask>(~m), a, d); }
    static inline Reg raise(Reg x, Reg a) { return _mm512_max_epi32(x, a); }
    static inline Reg lower(Reg x, Reg a) { return _mm512_min_epi32(x, a); }
    static inline Reg raise_if(Reg x, Mask v, Reg a) { return _mm512_mask_max_epi32(x, v, x, a); }
    static inline Reg lower_if(Reg x, Mask v, Reg a) { return _mm512_mask_min_epi32(x, v, x, a); }

    static inline Reg signed_by(Reg x, Reg s) { return _mm512_mullo_epi32(x, s); }

    struct Compare {
        Reg a, b;
        inline Compare(std::uint16_t p, std::uint16_t q) : a(_mm512_set1_epi32(p)), b(_mm512_set1_epi32(q)) {}
        inline Reg operator()(Reg labels) const {
            return _mm512_sub_epi32(_mm512_maskz_set1_epi32(_mm512_cmpeq_epi32_mask(labels, b), 1),
                                    _mm512_maskz_set1_epi32(_mm512_cmpeq_epi32_mask(labels, a), 1));
        }
    };
};

/// Keys of 16 bits beside sums of 32.
struct V16By32 : V32 {
    using Key = std::uint16_t;

    static inline __m256i broadcast(Key key) { return _mm256_set1_epi16(static_cast<short>(key)); }
    static inline __m256i keys(const Key* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
    static inline Mask less(__m256i k, __m256i below) { return _mm256_cmplt_epu16_mask(k, below); }
    static inline std::uint32_t differ(__m256i k, __m256i l) { return _mm256_cmpneq_epi16_mask(k, l); }
};

/// All 32 lanes in bytes (see scan_bytes.hpp): half a register, so that two fit where registers of 512 bits are split.
struct Bytes : Bytes256 {
    using Mask = __mmask32;
    using Cuts = __mmask32;
    using Words = __m512i;

    template <class Key>
    struct Below {
        __m512i key;
        inline explicit Below(Key k)
            : key(sizeof(Key) == 2 ? _mm512_set1_epi16(static_cast<short>(k))
                                   : _mm512_set1_epi32(static_cast<int>(k))) {}
        inline Mask mask(const Key* p) const {
            if constexpr (sizeof(Key) == 2)
                return _mm512_cmplt_epu16_mask(_mm512_loadu_si512(p), key);
            else
                return static_cast<Mask>(_mm512_cmplt_epu32_mask(_mm512_loadu_si512(p), key))
                       | static_cast<Mask>(_mm512_cmplt_epu32_mask(_mm512_loadu_si512(p + 16), key)) << 16;
        }
    };
    static inline Cuts cuts(std::uint32_t bits) { return bits; }
    static inline Reg add_if(Reg a, Mask m, Reg d) { return _mm256_mask_add_epi8(a, m, a, d); }
    static inline Reg add_unless(Reg a, Mask m, Reg d) { return _mm256_mask_add_epi8(a, _knot_mask32(m), a, d); }
    static inline Reg raise_if(Reg x, Cuts c, Reg a) { return _mm256_mask_max_epi8(x, c, x, a); }
    static inline Reg lower_if(Reg x, Cuts c, Reg a) { return _mm256_mask_min_epi8(x, c, x, a); }

    static inline Words zero_words() { return V16::zero(); }
    static inline Words lowest_words() { return V16::lowest(); }
    static inline Words highest_words() { return V16::highest(); }
    static inline Words widen(Reg x) { return _mm512_cvtepi8_epi16(x); }
    static inline Mask above(Words x, Words y) { return _mm512_cmpgt_epi16_mask(x, y); }
    static inline Words replace(Words x, Mask where, Words y) { return _mm512_mask_mov_epi16(x, where, y); }
    static inline Words add_words(Words x, Words y) { return _mm512_add_epi16(x, y); }
    static inline Words raise_words(Words x, Words y) { return _mm512_max_epi16(x, y); }
    static inline Words lower_words(Words x, Words y) { return _mm512_min_epi16(x, y); }
    static inline void store_words(std::int16_t* p, Words x) { _mm512_storeu_si512(p, x); }
    static inline void join(Words sum, Words most, Words least, std::int64_t& most_out, std::int64_t& least_out) {
        join_words(sum, most, least, most_out, least_out);
    }

    struct Compare {
        Reg a, b;
        inline Compare(std::uint16_t p, std::uint16_t q)
            : a(_mm256_set1_epi8(static_cast<char>(p))), b(_mm256_set1_epi8(static_cast<char>(q))) {}
        inline Reg operator()(Reg labels) const {
            return _mm256_sub_epi8(_mm256_movm_epi8(_mm256_cmpeq_epi8_mask(labels, a)),
                                   _mm256_movm_epi8(_mm256_cmpeq_epi8_mask(labels, b)));
        }
    };
};

}  // namespace

/// One register holds all lanes in 16 bits: without bytes, whose blocks cost more than their shorter loads save.
ScanTable<std::uint16_t, std::int16_t> avx512_scans_16() {
    return {delta_scan<V16>, pair_scan<V16>, weighted_pair_scan<V16>, mark_cuts<V16>, "avx512"};
}
ScanTable<std::uint32_t, std::int32_t> avx512_scans_32() {
    return {delta_scan_in_bytes<Bytes, V32>, pair_scan_in_bytes<Bytes, V32>, weighted_pair_scan<V32>, mark_cuts<V32>,
            "avx512", true};
}
/// Prices are no small steps: without bytes.
ScanTable<std::uint16_t, std::int32_t> avx512_scans_16_32() {
    return {delta_scan<V16By32>, pair_scan<V16By32>, weighted_pair_scan<V16By32>, mark_cuts<V16By32>, "avx512"};
}

}  // namespace treeform::contree
