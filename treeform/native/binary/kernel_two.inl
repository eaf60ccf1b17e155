// Two classes: one signed count per pair, one max and one min per quadrant (see kernel.inl).

namespace treeform::binary::TREEFORM_ISA {

template <class L, class S>
void stumps_two(const Bits<L>& b, const S* table, const S* counts, const S* totals, Best<S>& best) {
    using W = Lanes<L>;
    using V = typename W::V;
    for (int v = 0; v < b.columns; v += W::kCount) {
        V high = W::all(kLeast<S>), low = W::all(kMost<S>), high_out = high, low_out = low;
        for (int h = 0; h < b.columns; ++h) {
            const V x = W::load(table + std::size_t(h) * b.pad + v), y = counts[h] - x;
            high = W::max(high, x), low = W::min(low, x);
            high_out = W::max(high_out, y), low_out = W::min(low_out, y);
        }
        const V d = W::load(counts + v), rest = totals[0] - d;
        W::store(best.leaf[0] + v, W::abs(d));
        W::store(best.leaf[1] + v, W::abs(rest));
        W::store(best.one[0] + v, best_below<L>(d, high, low));
        W::store(best.one[1] + v, best_below<L>(rest, high_out, low_out));
    }
}

template <class L>
struct Quadrants {
    using V = typename Lanes<L>::V;
    V high[4], low[4];
    Quadrants() {
        using S = typename Lanes<L>::S;
        for (int q = 0; q < 4; ++q) high[q] = Lanes<L>::all(kLeast<S>), low[q] = Lanes<L>::all(kMost<S>);
    }
    inline void add(int q, V x) {
        high[q] = Lanes<L>::max(high[q], x);
        low[q] = Lanes<L>::min(low[q], x);
    }
};

/// The innermost loop: all h against one block of g, P + N chunks of the two classes held in registers.
template <class L, class S, int P, int N>
static inline void sweep_fixed(const typename Lanes<L>::U* block, const Twin<L>* rows, int columns, const Twin<L>* with_f,
                               const Twin<L>* without_f, const S* table, int pad, Quadrants<L>& q) {
    using W = Lanes<L>;
    using V = typename W::V;
    typename W::U mine[P + N > 0 ? P + N : 1];
    for (int c = 0; c < P + N; ++c) mine[c] = block[c];
    for (int h = 0; h < columns; ++h) {
        V x{};
#pragma GCC unroll 16
        for (int c = 0; c < P; ++c) x += W::popcount(mine[c] & spread<L>(rows[c]));
#pragma GCC unroll 16
        for (int c = P; c < P + N; ++c) x -= W::popcount(mine[c] & spread<L>(rows[c]));
        rows += P + N;
        const V not_f = W::load(table) - x;
        table += pad;
        q.add(0, x);
        q.add(1, (V)spread<L>(with_f[h]) - x);
        q.add(2, not_f);
        q.add(3, (V)spread<L>(without_f[h]) - not_f);
    }
}
template <class L, class S>
static inline void sweep_any(const typename Lanes<L>::U* block, const Twin<L>* rows, int columns, const Run* runs, int planes,
                             int chunks, const Twin<L>* with_f, const Twin<L>* without_f, const S* table, int pad,
                             Quadrants<L>& q) {
    using W = Lanes<L>;
    using V = typename W::V;
    for (int h = 0; h < columns; ++h, rows += chunks, table += pad) {
        const V x = difference<L>(block, rows, runs, planes);
        const V not_f = W::load(table) - x;
        q.add(0, x);
        q.add(1, (V)spread<L>(with_f[h]) - x);
        q.add(2, not_f);
        q.add(3, (V)spread<L>(without_f[h]) - not_f);
    }
}

template <class L, class S>
using Sweep = void (*)(const typename Lanes<L>::U*, const Twin<L>*, int, const Twin<L>*, const Twin<L>*, const S*, int,
                       Quadrants<L>&);
constexpr int kFixed = 5;  // up to 4 chunks per class have a loop of their own
template <class L, class S, int P>
static inline Sweep<L, S> pick_sweep(int n) {
    static constexpr Sweep<L, S> table[kFixed] = {sweep_fixed<L, S, P, 0>, sweep_fixed<L, S, P, 1>, sweep_fixed<L, S, P, 2>,
                                                  sweep_fixed<L, S, P, 3>, sweep_fixed<L, S, P, 4>};
    return table[n];
}
template <class L, class S>
static inline Sweep<L, S> pick_sweep(int p, int n) {
    switch (p) {
        case 0: return pick_sweep<L, S, 0>(n);
        case 1: return pick_sweep<L, S, 1>(n);
        case 2: return pick_sweep<L, S, 2>(n);
        case 3: return pick_sweep<L, S, 3>(n);
        default: return pick_sweep<L, S, 4>(n);
    }
}

template <class S>
static inline void raise(S& value, S candidate) {
    if (candidate > value) value = candidate;
}

template <class L, class S>
void triples_two(const Bits<L>& b, int f, const S* table, const S* counts, const S* totals, L* scratch, Best<S>& best) {
    using W = Lanes<L>;
    using V = typename W::V;
    const int chunks = b.runs[2 * b.planes - 1].end;
    Scratch<L> s = lay_out(b, chunks, scratch);
    Twin<L>* with_f = reinterpret_cast<Twin<L>*>(s.rest);
    Twin<L>* without_f = with_f + b.columns;
    const S* row_f = table + std::size_t(f) * b.pad;
    for (int h = 0; h < b.columns; ++h) {
        with_f[h] = twin<L>(L(row_f[h]));
        without_f[h] = twin<L>(L(counts[h] - row_f[h]));
    }
    const int p = b.runs[0].end - b.runs[0].begin, n = chunks - p;
    const Sweep<L, S> fixed = b.planes == 1 && p < kFixed && n < kFixed ? pick_sweep<L, S>(p, n) : nullptr;
    V top[2][2];  // [two or three tests][side of f]
    for (auto& pair : top) pair[0] = pair[1] = W::all(kLeast<S>);
    for (int v = f / W::kCount * W::kCount; v < b.columns; v += W::kCount) {
        take_block(b, chunks, v, s);
        Quadrants<L> q;
        if (fixed) fixed(s.block, s.rows, b.columns, with_f, without_f, table + v, b.pad, q);
        else sweep_any<L, S>(s.block, s.rows, b.columns, b.runs, b.planes, chunks, with_f, without_f, table + v, b.pad, q);
        const V d11 = W::load(row_f + v), d10 = counts[f] - d11, d01 = W::load(counts + v) - d11;
        const V d[4] = {d11, d10, d01, (S(totals[0] - counts[f])) - d01};
        V leaf[4], stump[4];
        for (int i = 0; i < 4; ++i) leaf[i] = W::abs(d[i]), stump[i] = best_below<L>(d[i], q.high[i], q.low[i]);
        // Quadrants: 0 = f g, 1 = f -g, 2 = -f g, 3 = -f -g. A root f joins 0, 1 and 2, 3; a root g joins 0, 2 and 1, 3.
        for (int side = 0; side < 2; ++side) {
            const int a = 2 * side, c = a + 1;
            top[0][side] = W::max(top[0][side], W::max(stump[a] + leaf[c], leaf[a] + stump[c]));
            top[1][side] = W::max(top[1][side], stump[a] + stump[c]);
            const int i = side, j = side + 2;
            S* two = best.two[side] + v;
            S* three = best.three[side] + v;
            W::store(two, W::max(W::load(two), W::max(stump[i] + leaf[j], leaf[i] + stump[j])));
            W::store(three, W::max(W::load(three), stump[i] + stump[j]));
        }
    }
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < W::kCount; ++i) {
            raise(best.two[side][f], S(top[0][side][i]));
            raise(best.three[side][f], S(top[1][side][i]));
        }
}

}  // namespace treeform::binary::TREEFORM_ISA
