// Lanes are columns g; the loop runs over second tests h. With x(g, h) the price difference of the rows with both,
//     x(g, not h) = x(g) - x(g, h),   x(not g, h) = x(h) - x(g, h),   x(neither) = x - x(g) - x(not g, h),
// and a leaf is worth min(0, its differences) above the price of label 0, which adds up whatever the tree. (Where a leaf
// of a label has a price of its own, its difference starts there.) The
// complement of the rows in their parent needs no counting: its pairs are the parent's minus these. All numbers are
// whole and below 2^53, so doubles are exact.
#include "../binary/simd.hpp"
#include "kernel.hpp"

namespace treeform::totals::TREEFORM_ISA {

constexpr int kBytes = TREEFORM_VECTOR_BYTES;
constexpr int kLanes = kBytes / 8;
typedef double Vector __attribute__((vector_size(kBytes)));
typedef double Unaligned __attribute__((vector_size(kBytes), may_alias, aligned(8)));
typedef std::int32_t Counts __attribute__((vector_size(kBytes / 2), may_alias, aligned(4)));
constexpr int kMost = 40;  // differences

static inline Vector load(const double* p) { return *reinterpret_cast<const Unaligned*>(p); }
static inline void store(double* p, Vector v) { *reinterpret_cast<Unaligned*>(p) = v; }
static inline Vector least(Vector a, Vector b) { return a < b ? a : b; }
static inline Vector spread(double x) { return Vector{} + x; }

/// Of one side of g and all tests h so far: the best price.
template <int D, bool Supported, bool Started>
struct Below {
    Vector with[D > 0 ? D + Supported : kMost], out[D > 0 ? D + Supported : kMost];
    Vector inside = spread(kDear), outside = spread(kDear);

    inline void add(int differences, const Vector* x, const double* with_h, int pad, double test, double support,
                    const double* start) {
        const int n = D > 0 ? D : differences;
        Vector a{}, b{}, c{}, e{};
        for (int d = 0; d < n; ++d) {
            const Vector xc = with_h[std::size_t(d) * pad] - x[d];
            if constexpr (Started) {
                const Vector s = spread(start[d]);
                a = least(a, x[d] + s), b = least(b, with[d] - x[d] + s);
                c = least(c, xc + s), e = least(e, out[d] - xc + s);
            } else {
                a = least(a, x[d]), b = least(b, with[d] - x[d]);
                c = least(c, xc), e = least(e, out[d] - xc);
            }
        }
        Vector in = a + b + test, off = c + e + test;
        if constexpr (Supported) {
            const Vector xc = with_h[std::size_t(n) * pad] - x[n], s = spread(support);
            in = (x[n] >= s) & (with[n] - x[n] >= s) ? in : spread(kDear);
            off = (xc >= s) & (out[n] - xc >= s) ? off : spread(kDear);
        }
        inside = least(inside, in), outside = least(outside, off);
    }
};

template <int D, bool Supported, bool Started, bool Both>
void pair_prices(const PairPrices& p) {
    const int n = D > 0 ? D : p.differences, all = n + Supported;
    const std::size_t square = std::size_t(p.columns) * p.pad;
    for (int v = 0; v < p.columns; v += kLanes) {
        if (p.stopping->load(std::memory_order_relaxed)) return;
        Below<D, Supported, Started> side[Both ? 2 : 1];
        for (int s = 0; s < (Both ? 2 : 1); ++s)
            for (int d = 0; d < all; ++d) {
                side[s].with[d] = load(p.with[s] + std::size_t(d) * p.pad + v);
                side[s].out[d] = p.all[s][d] - side[s].with[d];
            }
        for (int h = 0; h < p.columns; ++h) {
            Vector x[D > 0 ? D + Supported : kMost];
            for (int d = 0; d < all; ++d) x[d] = Vector{};
            const std::int32_t* from = p.table + std::size_t(h) * p.pad + v;
            for (int k = 0; k < p.kinds; ++k) {
                const Vector count =
                    __builtin_convertvector(*reinterpret_cast<const Counts*>(from + k * square), Vector);
                for (int d = 0; d < all; ++d) x[d] += count * p.delta[d * p.kinds + k];
            }
            if (p.store)
                for (int d = 0; d < all; ++d) store(p.store + d * square + std::size_t(h) * p.pad + v, x[d]);
            side[0].add(n, x, p.with[0] + h, p.pad, p.test[h], p.support, p.start);
            if constexpr (Both) {
                for (int d = 0; d < all; ++d) x[d] = load(p.parent + d * square + std::size_t(h) * p.pad + v) - x[d];
                side[1].add(n, x, p.with[1] + h, p.pad, p.test[h], p.support, p.start);
            }
        }
        for (int s = 0; s < (Both ? 2 : 1); ++s)
            store(p.best[s][1] + v, side[s].inside), store(p.best[s][0] + v, side[s].outside);
    }
}

template <int D, bool Supported, bool Started = false>
void by_sides(const PairPrices& p) {
    if (p.parent)
        pair_prices<D, Supported, Started, true>(p);
    else
        pair_prices<D, Supported, Started, false>(p);
}
template <bool Supported>
void by_labels(const PairPrices& p) {
    if (p.start) return p.differences == 1 ? by_sides<1, Supported, true>(p) : by_sides<0, Supported, true>(p);
    switch (p.differences) {
        case 1:
            return by_sides<1, Supported>(p);
        case 2:
            return by_sides<2, Supported>(p);
        case 3:
            return by_sides<3, Supported>(p);
        default:
            return by_sides<0, Supported>(p);
    }
}
void kernel(const PairPrices& p) {
    if (p.supported)
        by_labels<true>(p);
    else
        by_labels<false>(p);
}

}  // namespace treeform::totals::TREEFORM_ISA
