// The vector kernels. Lanes are features: no horizontal sums, no gathers, no branches on data.
//
// Let x(g, h) be the weight (class 1 minus class 0, or of one class) of the rows with both g and h, counted as
// popcounts of `bits(g) AND bits(h)`. Everything about two tests follows from x by subtraction:
//     x(g, not h) = x(g) - x(g, h),   x(not g, h) = x(h) - x(g, h),   and so on.
// With two classes a leaf with difference d is right on (n + |d|) / 2 of its n rows, and the best test h below a
// leaf maximises |x| + |d - x| = max(|d|, 2x - d, d - 2x): a convex function of x, so that only the largest and
// the smallest x over all h matter. That leaves one max and one min per (pair, h).
//
// For depth three the same is done for the rows that have f (fewer than half of the node's): x(f, g, h) is
// counted there, and the three other quadrants of (f, g) follow from the node's own pair table:
//     x(f, -g, h) = x(f, h) - x(f, g, h)          x(-f, g, h) = x(g, h) - x(f, g, h)
//     x(-f, -g, h) = x(h) - x(f, h) - x(-f, g, h)
// A quadrant serves both f and g as the root, so only pairs f < g are visited.
#include <limits>
#include <type_traits>

#include "ops.hpp"
#include "simd.hpp"

namespace treeform::binary::TREEFORM_ISA {

template <class L>
using Twin = std::conditional_t<sizeof(L) == 2, std::uint32_t, L>;  // 16-bit chunks twice: 32-bit broadcasts are free

template <class L>
static inline Twin<L> twin(L x) {
    if constexpr (sizeof(L) == 2) return Twin<L>(x) | Twin<L>(x) << 16;
    else return x;
}
template <class L>
static inline typename Lanes<L>::U spread(Twin<L> x) {
    if constexpr (sizeof(L) == 2) return (typename Lanes<L>::U)(Lanes<std::uint32_t>::all(x));
    else return Lanes<L>::all(x);
}

template <class L>
void compress(const L* bits, int pad, const Step<L>* steps, int n_steps, L* out) {
    using W = Lanes<L>;
    using U = typename W::U;
    constexpr int kHalvings = sizeof(L) == 2 ? 4 : sizeof(L) == 4 ? 5 : 6;
    for (int v = 0; v < pad; v += W::kCount) {
        U pending{};
        L* to = out + v;
        for (const Step<L>* s = steps; s != steps + n_steps; ++s) {
            U x = W::load(bits + std::size_t(s->from) * pad + v) & s->mask;
            if (!s->whole) {
#pragma GCC unroll 6
                for (int i = 0; i < kHalvings; ++i) {
                    const U t = x & s->move[i];
                    x = (x ^ t) | W::shr(t, 1 << i);
                }
            }
            pending |= W::shl(x, s->at);
            if (s->emit) {
                W::store(to, pending);
                to += pad;
                pending = s->at ? W::shr(x, W::kBits - s->at) : U{};
            }
            if (s->flush) {
                W::store(to, pending);
                to += pad;
                pending = U{};
            }
        }
    }
}

template <class L, class S>
void count(const Bits<L>& b, int first, int last, S* counts) {
    using W = Lanes<L>;
    for (int v = 0; v < b.pad; v += W::kCount)
        for (int k = first; k < last; ++k) {
            typename W::V sum{};
            for (const Run* r = b.runs + k * b.planes; r != b.runs + (k + 1) * b.planes; ++r) {
                sum = sum + sum;
                for (int c = r->begin; c < r->end; ++c) sum += W::popcount(W::load(b.bits + std::size_t(c) * b.pad + v));
            }
            W::store(counts + std::size_t(k - first) * b.pad + v, sum);
        }
}

/// Weight of the rows that are set in the block and in the other feature, over the runs of channel k.
template <class L>
static inline typename Lanes<L>::V both(const typename Lanes<L>::U* block, const Twin<L>* other, const Run* run, int planes) {
    typename Lanes<L>::V sum{};
    for (int p = 0; p < planes; ++p) {
        if (p) sum = sum + sum;
        for (int c = run[p].begin; c < run[p].end; ++c) sum += Lanes<L>::popcount(block[c] & spread<L>(other[c]));
    }
    return sum;
}
/// The same for channel 0 minus channel 1.
template <class L>
static inline typename Lanes<L>::V difference(const typename Lanes<L>::U* block, const Twin<L>* other, const Run* run, int planes) {
    using W = Lanes<L>;
    typename W::V sum{};
    for (int p = 0; p < planes; ++p) {
        if (p) sum = sum + sum;
        for (int c = run[p].begin; c < run[p].end; ++c) sum += W::popcount(block[c] & spread<L>(other[c]));
        for (int c = run[planes + p].begin; c < run[planes + p].end; ++c)
            sum -= W::popcount(block[c] & spread<L>(other[c]));
    }
    return sum;
}

/// Scratch layout: the bits once more, feature-major and twinned for broadcasts; then one block of columns.
template <class L>
struct Scratch {
    Twin<L>* rows;
    typename Lanes<L>::U* block;
    L* rest;
};
template <class L>
static inline Scratch<L> lay_out(const Bits<L>& b, int chunks, L* scratch) {
    Scratch<L> s;
    s.block = reinterpret_cast<typename Lanes<L>::U*>(scratch);
    s.rows = reinterpret_cast<Twin<L>*>(scratch + std::size_t(chunks) * Lanes<L>::kCount);
    for (int h = 0; h < b.columns; ++h)
        for (int c = 0; c < chunks; ++c) s.rows[std::size_t(h) * chunks + c] = twin<L>(b.bits[std::size_t(c) * b.pad + h]);
    std::size_t used = std::size_t(b.columns) * chunks * (sizeof(Twin<L>) / sizeof(L)) + std::size_t(chunks) * Lanes<L>::kCount;
    used = (used + 63) / 64 * 64;
    s.rest = scratch + used;
    return s;
}
template <class L>
static inline void take_block(const Bits<L>& b, int chunks, int v, Scratch<L>& s) {
    for (int c = 0; c < chunks; ++c) s.block[c] = Lanes<L>::load(b.bits + std::size_t(c) * b.pad + v);
}

template <class L, class S>
void pairs(const Bits<L>& b, Mode mode, int channels, L* scratch, S* table) {
    using W = Lanes<L>;
    const int scanned = mode == Mode::two_classes ? 2 : channels;
    const int chunks = b.runs[scanned * b.planes - 1].end;
    Scratch<L> s = lay_out(b, chunks, scratch);
    for (int v = 0; v < b.columns; v += W::kCount) {
        if (b.stopped()) return;
        take_block(b, chunks, v, s);
        for (int h = 0; h < b.columns; ++h) {
            const Twin<L>* row = s.rows + std::size_t(h) * chunks;
            if (mode == Mode::two_classes) {
                W::store(table + std::size_t(h) * b.pad + v, difference<L>(s.block, row, b.runs, b.planes));
            } else {
                for (int k = 0; k < channels; ++k)
                    W::store(table + (std::size_t(k) * b.columns + h) * b.pad + v,
                             both<L>(s.block, row, b.runs + k * b.planes, b.planes));
            }
        }
    }
}

template <class L, class S>
void mass_pairs(const Bits<L>& b, int first, int last, L* scratch, S* table) {
    using W = Lanes<L>;
    const int chunks = b.runs[last * b.planes - 1].end;
    Scratch<L> s = lay_out(b, chunks, scratch);
    for (int v = 0; v < b.columns; v += W::kCount) {
        if (b.stopped()) return;
        take_block(b, chunks, v, s);
        for (int h = 0; h < b.columns; ++h) {
            typename W::V sum{};
            for (int k = first; k < last; ++k)
                sum += both<L>(s.block, s.rows + std::size_t(h) * chunks, b.runs + k * b.planes, b.planes);
            W::store(table + std::size_t(h) * b.pad + v, sum);
        }
    }
}

/// max(|d|, 2 high - d, d - 2 low) without leaving the range of the counts.
template <class L>
static inline typename Lanes<L>::V best_below(typename Lanes<L>::V d, typename Lanes<L>::V high, typename Lanes<L>::V low) {
    using W = Lanes<L>;
    return W::max(W::abs(d), W::max(high + (high - d), (d - low) - low));
}

template <class S>
constexpr S kLeast = std::numeric_limits<S>::min();
template <class S>
constexpr S kMost = std::numeric_limits<S>::max();

}  // namespace treeform::binary::TREEFORM_ISA
#include "kernel_two.inl"
#include "kernel_many.inl"

namespace treeform::binary::TREEFORM_ISA {

template <class L, class S>
void stumps(const Bits<L>& b, Mode mode, int channels, const S* table, const S* counts, const S* totals, S support, Best<S>& best) {
    if (mode == Mode::two_classes) stumps_two<L, S>(b, table, counts, totals, best);
    else stumps_many<L, S>(b, mode == Mode::classes_and_support, channels, table, counts, totals, support, best);
}
template <class L, class S>
void triples(const Bits<L>& b, Mode mode, int channels, int f, const S* table, const S* counts, const S* totals, S support,
             L* scratch, Best<S>& best) {
    if (mode == Mode::two_classes) triples_two<L, S>(b, f, table, counts, totals, scratch, best);
    else triples_many<L, S>(b, mode == Mode::classes_and_support, channels, f, table, counts, totals, support, scratch, best);
}

#define TREEFORM_TEXT(x) #x
#define TREEFORM_NAME(x) TREEFORM_TEXT(x)
template <class L, class S>
const Ops<L, S>& ops() {
    static constexpr Ops<L, S> all = {TREEFORM_NAME(TREEFORM_ISA), kBytes, compress<L>, count<L, S>, pairs<L, S>,
                                      mass_pairs<L, S>, stumps<L, S>, triples<L, S>};
    return all;
}
template const Ops<std::uint16_t, std::int16_t>& ops();
template const Ops<std::uint32_t, std::int32_t>& ops();
template const Ops<std::uint64_t, std::int64_t>& ops();

}  // namespace treeform::binary::TREEFORM_ISA
