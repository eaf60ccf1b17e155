// The scan on the vector types of GCC and Clang, for processors without AVX2: SSE2, NEON, or whatever the compiler's
// target has. A mask is a vector of zeros and ones in all bits, as comparisons of such vectors are.
#if defined(__GNUC__)
#include <array>
#include <cstring>
#include <type_traits>

#include "scan_bytes.hpp"
#include "shuffle.hpp"

namespace treeform::contree {
namespace {

using Int8x16 __attribute__((vector_size(16))) = std::int8_t;
using Int16x8 __attribute__((vector_size(16))) = std::int16_t;
using Uint16x8 __attribute__((vector_size(16))) = std::uint16_t;
using Uint16x4 __attribute__((vector_size(8))) = std::uint16_t;
using Int32x4 __attribute__((vector_size(16))) = std::int32_t;
using Uint32x4 __attribute__((vector_size(16))) = std::uint32_t;

template <class Vector>
inline Vector load(const void* p) {
    Vector x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
template <class Vector>
inline Vector larger(Vector x, Vector y) {
    return x > y ? x : y;
}
template <class Vector>
inline Vector smaller(Vector x, Vector y) {
    return x < y ? x : y;
}

/// A few lanes of whole numbers. `Unsigned` and `Signed` are vectors of as many numbers of one width.
template <class Signed, class Unsigned, class KeyOf, class SumOf, int Lanes>
struct Whole {
    using Reg = Signed;
    using Mask = Signed;
    using Key = KeyOf;
    using Sum = SumOf;
    static constexpr int lanes = Lanes;

    static inline Reg zero() { return Reg{}; }
    static inline Reg lowest() { return Reg{} + static_cast<Sum>(Sum{1} << (8 * sizeof(Sum) - 1)); }
    static inline Reg highest() { return ~lowest(); }
    static inline Unsigned broadcast(Key key) { return Unsigned{} + key; }
    static inline Reg steps(const Sum* p) { return load<Reg>(p); }
    static inline void store(Sum* p, Reg x) { std::memcpy(p, &x, sizeof x); }
    static inline Mask less(Unsigned k, Unsigned below) { return k < below; }
    static inline std::uint32_t differ(Unsigned k, Unsigned l) {
        std::uint32_t bits = 0;
        for (int lane = 0; lane < lanes; ++lane) bits |= static_cast<std::uint32_t>(k[lane] != l[lane]) << lane;
        return bits;
    }
    static inline Mask cuts(const std::uint32_t* valid, std::size_t s, int part) {
        Unsigned bit;
        for (int lane = 0; lane < lanes; ++lane) bit[lane] = static_cast<std::uint8_t>(1u << lane);
        const auto bits = static_cast<std::uint8_t>(valid[s] >> (lanes * part));
        return ((Unsigned{} + bits) & bit) != 0;
    }
    static inline Reg add_if(Reg a, Mask m, Reg d) { return a + (d & m); }
    static inline Reg add_unless(Reg a, Mask m, Reg d) { return a + (d & ~m); }
    static inline Reg raise(Reg x, Reg a) { return larger(x, a); }
    static inline Reg lower(Reg x, Reg a) { return smaller(x, a); }
    static inline Reg raise_if(Reg x, Mask v, Reg a) { return raise(x, v ? a : lowest()); }
    static inline Reg lower_if(Reg x, Mask v, Reg a) { return lower(x, v ? a : highest()); }

    static inline Reg signed_by(Reg x, Reg s) { return x * s; }

    struct Compare {
        Reg a, b;
        inline Compare(std::uint16_t p, std::uint16_t q)
            : a(Reg{} + static_cast<Sum>(p)), b(Reg{} + static_cast<Sum>(q)) {}
        inline Reg operator()(Reg labels) const { return (labels == a) - (labels == b); }
    };
};

struct V16 : Whole<Int16x8, Uint16x8, std::uint16_t, std::int16_t, 8> {
    static inline Uint16x8 keys(const Key* p) { return load<Uint16x8>(p); }
    static inline Reg labels(const std::uint16_t* p) { return load<Int16x8>(p); }
};
struct V32 : Whole<Int32x4, Uint32x4, std::uint32_t, std::int32_t, 4> {
    static inline Uint32x4 keys(const Key* p) { return load<Uint32x4>(p); }
    static inline Reg labels(const std::uint16_t* p) { return __builtin_convertvector(load<Uint16x4>(p), Int32x4); }
};
/// Keys of 16 bits beside sums of 32.
struct V16By32 : Whole<Int32x4, Uint32x4, std::uint16_t, std::int32_t, 4> {
    static inline Uint32x4 keys(const Key* p) { return __builtin_convertvector(load<Uint16x4>(p), Uint32x4); }
    static inline Reg labels(const std::uint16_t* p) { return __builtin_convertvector(load<Uint16x4>(p), Int32x4); }
};

/// The 256 ways to set eight bits, as eight bytes.
constexpr std::array<std::uint64_t, 256> kSpread = [] {
    std::array<std::uint64_t, 256> out{};
    for (unsigned bits = 0; bits < 256; ++bits)
        for (unsigned k = 0; k < 8; ++k)
            if (bits >> k & 1) out[bits] |= std::uint64_t{0xFF} << (8 * k);
    return out;
}();

/// `Count` registers as one: compilers split larger vectors into single numbers.
template <class Vector, int Count>
struct Several {
    Vector part[Count];

    template <class Function>
    static inline Several of(const Function& make) {
        Several out;
        for (int k = 0; k < Count; ++k) out.part[k] = make(k);
        return out;
    }
    static inline Several all(Vector x) {
        return of([&x](int) { return x; });
    }
};

/// Masks of eight words each, as 16 bytes.
inline Int8x16 narrow(Int16x8 x, Int16x8 y) {
    return TREEFORM_SHUFFLE(reinterpret_cast<Int8x16>(x), reinterpret_cast<Int8x16>(y), Int8x16, 0, 2, 4, 6, 8, 10, 12,
                            14, 16, 18, 20, 22, 24, 26, 28, 30);
}
inline Int16x8 narrow(Int32x4 x, Int32x4 y) {
    return TREEFORM_SHUFFLE(reinterpret_cast<Int16x8>(x), reinterpret_cast<Int16x8>(y), Int16x8, 0, 2, 4, 6, 8, 10, 12,
                            14);
}

/// All 32 lanes in bytes (see scan_bytes.hpp).
struct Bytes {
    using Reg = Several<Int8x16, 2>;
    using Mask = Reg;
    using Cuts = Reg;
    using Words = Several<Int16x8, 4>;
    static constexpr int kLookUpLabels = 0;   // not every processor looks up a table by vectors

    static inline Reg zero() { return Reg::all(Int8x16{}); }
    static inline Reg lowest() { return Reg::all(Int8x16{} + static_cast<std::int8_t>(-128)); }
    static inline Reg highest() { return Reg::all(Int8x16{} + static_cast<std::int8_t>(127)); }
    static inline Reg labels(const void* p) {
        const auto* bytes = static_cast<const std::int8_t*>(p);
        return Reg::of([bytes](int k) { return load<Int8x16>(bytes + 16 * k); });
    }
    static inline Reg steps(const void* p) { return labels(p); }

    template <class Key>
    struct Below {
        using Keys = std::conditional_t<sizeof(Key) == 2, Uint16x8, Uint32x4>;
        Keys key;
        inline explicit Below(Key k) : key(Keys{} + k) {}
        inline Int16x8 words(const Key* p) const {
            if constexpr (sizeof(Key) == 2)
                return load<Keys>(p) < key;
            else
                // On Windows the elements of a comparison are long, as wide as int and another type.
                return narrow(Int32x4(load<Keys>(p) < key), Int32x4(load<Keys>(p + 4) < key));
        }
        inline Mask mask(const Key* p) const {
            return Mask::of([this, p](int k) { return narrow(words(p + 16 * k), words(p + 16 * k + 8)); });
        }
    };
    static inline Cuts cuts(std::uint32_t bits) {
        const std::uint64_t spread[4] = {kSpread[bits & 0xFF], kSpread[bits >> 8 & 0xFF], kSpread[bits >> 16 & 0xFF],
                                         kSpread[bits >> 24]};
        return labels(spread);
    }
    static inline Reg add_if(const Reg& a, const Mask& m, const Reg& d) {
        return Reg::of([&](int k) { return a.part[k] + (d.part[k] & m.part[k]); });
    }
    static inline Reg add_unless(const Reg& a, const Mask& m, const Reg& d) {
        return Reg::of([&](int k) { return a.part[k] + (d.part[k] & ~m.part[k]); });
    }
    static inline Reg raise(const Reg& x, const Reg& a) {
        return Reg::of([&](int k) { return larger(x.part[k], a.part[k]); });
    }
    static inline Reg lower(const Reg& x, const Reg& a) {
        return Reg::of([&](int k) { return smaller(x.part[k], a.part[k]); });
    }
    static inline Reg where(const Cuts& c, const Reg& a, const Reg& b) {
        return Reg::of([&](int k) { return (a.part[k] & c.part[k]) | (b.part[k] & ~c.part[k]); });
    }
    static inline Reg raise_if(const Reg& x, const Cuts& c, const Reg& a) { return raise(x, where(c, a, lowest())); }
    static inline Reg lower_if(const Reg& x, const Cuts& c, const Reg& a) { return lower(x, where(c, a, highest())); }

    static inline Words zero_words() { return Words::all(Int16x8{}); }
    static inline Words lowest_words() { return Words::all(V16::lowest()); }
    static inline Words highest_words() { return Words::all(V16::highest()); }
    static inline Words widen(const Reg& x) {
        return Words::of([&x](int k) {
            std::int8_t eight[8];
            std::memcpy(eight, reinterpret_cast<const char*>(&x) + 8 * k, sizeof eight);
            Int16x8 out;
            for (int i = 0; i < 8; ++i) out[i] = eight[i];
            return out;
        });
    }
    static inline Words above(const Words& x, const Words& y) {
        return Words::of([&](int k) { return x.part[k] > y.part[k]; });
    }
    static inline Words replace(const Words& x, const Words& where, const Words& y) {
        return Words::of([&](int k) { return (x.part[k] & ~where.part[k]) | (y.part[k] & where.part[k]); });
    }
    static inline Words add_words(const Words& x, const Words& y) {
        return Words::of([&](int k) { return x.part[k] + y.part[k]; });
    }
    static inline Words raise_words(const Words& x, const Words& y) {
        return Words::of([&](int k) { return larger(x.part[k], y.part[k]); });
    }
    static inline Words lower_words(const Words& x, const Words& y) {
        return Words::of([&](int k) { return smaller(x.part[k], y.part[k]); });
    }
    static inline void store_words(std::int16_t* p, const Words& x) { std::memcpy(p, &x, sizeof x); }
    static inline void join(const Words& sum, const Words& most, const Words& least, std::int64_t& most_out,
                            std::int64_t& least_out) {
        std::int16_t lanes[3][kLanes];
        store_words(lanes[0], sum), store_words(lanes[1], most), store_words(lanes[2], least);
        join_lanes(lanes[0], lanes[1], lanes[2], false, most_out, least_out);
    }

    struct Compare {
        Int8x16 a, b;
        inline Compare(std::uint16_t p, std::uint16_t q)
            : a(Int8x16{} + static_cast<std::int8_t>(p)), b(Int8x16{} + static_cast<std::int8_t>(q)) {}
        inline Reg operator()(const Reg& labels) const {
            return Reg::of([&](int k) { return (labels.part[k] == a) - (labels.part[k] == b); });
        }
    };
    using LookUp = Compare;
};

template <class V>
ScanTable<typename V::Key, typename V::Sum> table() {
    return {delta_scan_in_bytes<Bytes, V>, pair_scan_in_bytes<Bytes, V>, weighted_pair_scan<V>, mark_cuts<V>, "portable",
            true};
}

}  // namespace

ScanTable<std::uint16_t, std::int16_t> portable_scans_16() { return table<V16>(); }
ScanTable<std::uint32_t, std::int32_t> portable_scans_32() { return table<V32>(); }
/// Prices are no small steps: without bytes.
ScanTable<std::uint16_t, std::int32_t> portable_scans_16_32() {
    return {delta_scan<V16By32>, pair_scan<V16By32>, weighted_pair_scan<V16By32>, mark_cuts<V16By32>, "portable"};
}

}  // namespace treeform::contree
#endif
