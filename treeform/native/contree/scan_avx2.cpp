// The scan on AVX2: 16 lanes of 16 bits (two passes over a table of 32), or 8 lanes of 32 bits (four). Compiled with
// these instructions allowed; called only where the processor has them. A mask is a vector of zeros and ones.
#include "scan_bytes_256.hpp"

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

    static inline Reg signed_by(Reg x, Reg s) { return _mm256_sign_epi16(x, s); }

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

    static inline Reg signed_by(Reg x, Reg s) { return _mm256_sign_epi32(x, s); }

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

/// All 32 lanes in bytes (see scan_bytes.hpp); words are two registers.
struct Bytes : Bytes256 {
    using Mask = __m256i;   // key >= below
    struct Cuts {           // 127 and -128 at cuts, -128 and 127 elsewhere
        Reg most, least;
    };
    struct Words {
        Reg low, high;
    };

    template <class Key>
    struct Below {
        Reg key;
        inline explicit Below(Key k)
            : key(sizeof(Key) == 2 ? _mm256_set1_epi16(static_cast<short>(k))
                                   : _mm256_set1_epi32(static_cast<int>(k))) {}
        inline Mask mask(const Key* p) const {
            if constexpr (sizeof(Key) == 2) {
                return _mm256_permute4x64_epi64(_mm256_packs_epi16(words(p), words(p + 16)), 0xD8);
            } else {
                const Reg a = _mm256_packs_epi32(longs(p), longs(p + 8)),
                          b = _mm256_packs_epi32(longs(p + 16), longs(p + 24));
                return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
            }
        }
        inline Reg words(const Key* p) const {
            const Reg k = load(p);
            return _mm256_cmpeq_epi16(_mm256_max_epu16(k, key), k);
        }
        inline Reg longs(const Key* p) const {
            const Reg k = load(p);
            return _mm256_cmpeq_epi32(_mm256_max_epu32(k, key), k);
        }
    };
    static inline Cuts cuts(std::uint32_t bits) {
        const Reg byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
        const Reg bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
        const Reg spread = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), byte);
        const Reg cut = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
        return {_mm256_xor_si256(cut, lowest()), _mm256_xor_si256(cut, highest())};
    }
    static inline Reg add_if(Reg a, Mask not_less, Reg d) {
        return _mm256_add_epi8(a, _mm256_andnot_si256(not_less, d));
    }
    static inline Reg add_unless(Reg a, Mask not_less, Reg d) {
        return _mm256_add_epi8(a, _mm256_and_si256(not_less, d));
    }
    static inline Reg raise_if(Reg x, const Cuts& c, Reg a) { return raise(x, lower(a, c.most)); }
    static inline Reg lower_if(Reg x, const Cuts& c, Reg a) { return lower(x, raise(a, c.least)); }

    static inline Words zero_words() { return {zero(), zero()}; }
    static inline Words lowest_words() { return {V16::lowest(), V16::lowest()}; }
    static inline Words highest_words() { return {V16::highest(), V16::highest()}; }
    static inline Words widen(Reg x) {
        return {_mm256_cvtepi8_epi16(_mm256_castsi256_si128(x)), _mm256_cvtepi8_epi16(_mm256_extracti128_si256(x, 1))};
    }
    static inline Words above(const Words& x, const Words& y) {
        return {_mm256_cmpgt_epi16(x.low, y.low), _mm256_cmpgt_epi16(x.high, y.high)};
    }
    static inline Words replace(const Words& x, const Words& where, const Words& y) {
        return {_mm256_blendv_epi8(x.low, y.low, where.low), _mm256_blendv_epi8(x.high, y.high, where.high)};
    }
    static inline Words add_words(const Words& x, const Words& y) {
        return {_mm256_add_epi16(x.low, y.low), _mm256_add_epi16(x.high, y.high)};
    }
    static inline Words raise_words(const Words& x, const Words& y) {
        return {_mm256_max_epi16(x.low, y.low), _mm256_max_epi16(x.high, y.high)};
    }
    static inline Words lower_words(const Words& x, const Words& y) {
        return {_mm256_min_epi16(x.low, y.low), _mm256_min_epi16(x.high, y.high)};
    }
    static inline void store_words(std::int16_t* p, const Words& x) {
        V16::store(p, x.low), V16::store(p + 16, x.high);
    }

    /// Sums up to and including each lane, within halves of 128 bits.
    static inline Reg within_halves(Reg x) {
        x = _mm256_add_epi16(x, _mm256_slli_si256(x, 2));
        x = _mm256_add_epi16(x, _mm256_slli_si256(x, 4));
        return _mm256_add_epi16(x, _mm256_slli_si256(x, 8));
    }
    /// The sums of all lanes before, then the extremes over all lanes.
    static inline void join(const Words& sum, const Words& most, const Words& least, std::int64_t& most_out,
                            std::int64_t& least_out) {
        const Reg a = within_halves(sum.low), b = within_halves(sum.high);
        const Reg last = _mm256_set1_epi16(0x0F0E);   // the last word of each half, everywhere in it
        const Reg total_a = _mm256_shuffle_epi8(a, last), total_b = _mm256_shuffle_epi8(b, last);
        const Reg first = _mm256_permute2x128_si256(total_a, total_a, 0x08);   // nothing, then the first half
        const Reg both = _mm256_add_epi16(total_a, _mm256_permute2x128_si256(total_a, total_a, 0x01));
        const Reg third = _mm256_permute2x128_si256(total_b, total_b, 0x08);
        const Reg before_a = _mm256_add_epi16(_mm256_sub_epi16(a, sum.low), first);
        const Reg before_b = _mm256_add_epi16(_mm256_sub_epi16(b, sum.high), _mm256_add_epi16(both, third));
        const Reg high =
            _mm256_max_epi16(_mm256_adds_epi16(most.low, before_a), _mm256_adds_epi16(most.high, before_b));
        const Reg low =
            _mm256_min_epi16(_mm256_adds_epi16(least.low, before_a), _mm256_adds_epi16(least.high, before_b));
        extremes_of_words(high, low, most_out, least_out);
    }

    struct Compare {
        Reg a, b;
        inline Compare(std::uint16_t p, std::uint16_t q)
            : a(_mm256_set1_epi8(static_cast<char>(p))), b(_mm256_set1_epi8(static_cast<char>(q))) {}
        inline Reg operator()(Reg labels) const {
            return _mm256_sub_epi8(_mm256_cmpeq_epi8(labels, a), _mm256_cmpeq_epi8(labels, b));
        }
    };
};

template <class V>
ScanTable<typename V::Key, typename V::Sum> table() {
    return {delta_scan_in_bytes<Bytes, V>, pair_scan_in_bytes<Bytes, V>, weighted_pair_scan<V>, mark_cuts<V>, "avx2", true};
}

}  // namespace

ScanTable<std::uint16_t, std::int16_t> avx2_scans_16() { return table<V16>(); }
ScanTable<std::uint32_t, std::int32_t> avx2_scans_32() { return table<V32>(); }
/// Prices are no small steps: without bytes.
ScanTable<std::uint16_t, std::int32_t> avx2_scans_16_32() {
    return {delta_scan<V16By32>, pair_scan<V16By32>, weighted_pair_scan<V16By32>, mark_cuts<V16By32>, "avx2"};
}

}  // namespace treeform::contree
