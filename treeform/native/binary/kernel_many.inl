// Any number of classes (or labels with arbitrary integer rewards), with or without a minimum support per leaf.
// A test h splits a quadrant into two leaves, each worth its largest class weight; the best h is the largest sum.

namespace treeform::binary::TREEFORM_ISA {

/// The two leaves below one h, class by class.
template <class L>
struct TwoLeaves {
    using W = Lanes<L>;
    using V = typename W::V;
    V yes = W::all(kLeast<typename W::S>), no = yes;
    inline void add(V with, V all) {
        yes = W::max(yes, with);
        no = W::max(no, all - with);
    }
};
/// The best sum of two leaves over all h; h that leave a leaf below the support do not count.
template <class L>
static inline void keep(typename Lanes<L>::V& best, const TwoLeaves<L>& leaves) {
    best = Lanes<L>::max(best, leaves.yes + leaves.no);
}
template <class L, class S>
static inline void keep(typename Lanes<L>::V& best, const TwoLeaves<L>& leaves, typename Lanes<L>::V with, typename Lanes<L>::V all,
                        S support) {
    using V = typename Lanes<L>::V;
    const V sum = Lanes<L>::max(best, leaves.yes + leaves.no);
    best = ((with >= support) & (all - with >= support)) ? sum : best;
}

template <class L, class S>
void stumps_many(const Bits<L>& b, bool supported, int channels, const S* table, const S* counts, const S* totals, S support,
                 Best<S>& best) {
    using W = Lanes<L>;
    using V = typename W::V;
    const int classes = channels - supported;
    const V never = W::all(supported ? forbidden<S>() : S(0));
    for (int v = 0; v < b.columns; v += W::kCount) {
        V inside = never, outside = never, leaf_in{}, leaf_out{};
        for (int h = 0; h < b.columns; ++h) {
            TwoLeaves<L> in, out;
            for (int k = 0; k < classes; ++k) {
                const V x = W::load(table + (std::size_t(k) * b.columns + h) * b.pad + v);
                const V n = W::load(counts + std::size_t(k) * b.pad + v);
                in.add(x, n);
                out.add(counts[std::size_t(k) * b.pad + h] - x, totals[k] - n);
            }
            if (!supported) {
                keep<L>(inside, in);
                keep<L>(outside, out);
            } else {
                const V x = W::load(table + (std::size_t(classes) * b.columns + h) * b.pad + v);
                const V n = W::load(counts + std::size_t(classes) * b.pad + v);
                keep<L, S>(inside, in, x, n, support);
                keep<L, S>(outside, out, counts[std::size_t(classes) * b.pad + h] - x, totals[classes] - n, support);
            }
        }
        for (int k = 0; k < classes; ++k) {
            const V n = W::load(counts + std::size_t(k) * b.pad + v);
            leaf_in = W::max(leaf_in, n);
            leaf_out = W::max(leaf_out, totals[k] - n);
        }
        if (supported) {
            const V n = W::load(counts + std::size_t(classes) * b.pad + v);
            leaf_in = n >= support ? leaf_in : never;
            leaf_out = totals[classes] - n >= support ? leaf_out : never;
        }
        W::store(best.leaf[0] + v, leaf_in);
        W::store(best.leaf[1] + v, leaf_out);
        W::store(best.one[0] + v, W::max(inside, leaf_in));
        W::store(best.one[1] + v, W::max(outside, leaf_out));
    }
}

/// One block of columns of one row f: the four quadrants' leaf and stump rewards.
template <class L, class S>
static inline void quadrants_many(const Bits<L>& b, bool supported, int classes, int chunks, int f, int v, const S* table,
                                  const S* counts, const S* totals, S support, const Scratch<L>& s,
                                  typename Lanes<L>::V* size, typename Lanes<L>::V* leaf, typename Lanes<L>::V* stump) {
    using W = Lanes<L>;
    using V = typename W::V;
    const int channels = classes + supported;
    const V never = W::all(supported ? forbidden<S>() : S(0));
    for (int q = 0; q < 4; ++q) leaf[q] = V{}, stump[q] = never;
    for (int k = 0; k < channels; ++k) {
        const S* row_f = table + (std::size_t(k) * b.columns + f) * b.pad;
        const S* n = counts + std::size_t(k) * b.pad;
        V* mine = size + 4 * k;
        mine[0] = W::load(row_f + v), mine[1] = n[f] - mine[0];
        mine[2] = W::load(n + v) - mine[0], mine[3] = S(totals[k] - n[f]) - mine[2];
        for (int q = 0; q < 4; ++q) {
            if (k < classes) leaf[q] = W::max(leaf[q], mine[q]);
            else leaf[q] = mine[q] >= support ? leaf[q] : never;
        }
    }
    for (int h = 0; h < b.columns; ++h) {
        const Twin<L>* row = s.rows + std::size_t(h) * chunks;
        TwoLeaves<L> leaves[4];
        V with[4];
        for (int k = 0; k < channels; ++k) {
            const S* of_h = table + (std::size_t(k) * b.columns + h) * b.pad;
            with[0] = both<L>(s.block, row, b.runs + k * b.planes, b.planes);
            with[1] = of_h[f] - with[0];
            with[2] = W::load(of_h + v) - with[0];
            with[3] = S(counts[std::size_t(k) * b.pad + h] - of_h[f]) - with[2];
            if (k < classes)
                for (int q = 0; q < 4; ++q) leaves[q].add(with[q], size[4 * k + q]);
        }
        for (int q = 0; q < 4; ++q) {
            if (supported) keep<L, S>(stump[q], leaves[q], with[q], size[4 * classes + q], support);
            else keep<L>(stump[q], leaves[q]);
        }
    }
    for (int q = 0; q < 4; ++q) stump[q] = W::max(stump[q], leaf[q]);
}

template <class L, class S>
void triples_many(const Bits<L>& b, bool supported, int channels, int f, const S* table, const S* counts, const S* totals,
                  S support, L* scratch, Best<S>& best) {
    using W = Lanes<L>;
    using V = typename W::V;
    const int chunks = b.runs[channels * b.planes - 1].end;
    Scratch<L> s = lay_out(b, chunks, scratch);
    V* size = reinterpret_cast<V*>(s.rest);
    V top[2][2];
    for (auto& pair : top) pair[0] = pair[1] = W::all(supported ? forbidden<S>() : S(0));
    const auto sum = [&](V x, V y) { return supported ? W::max(x + y, W::all(forbidden<S>())) : x + y; };
    for (int v = f / W::kCount * W::kCount; v < b.columns; v += W::kCount) {
        take_block(b, chunks, v, s);
        V leaf[4], stump[4];
        quadrants_many<L, S>(b, supported, channels - supported, chunks, f, v, table, counts, totals, support, s, size, leaf,
                             stump);
        for (int side = 0; side < 2; ++side) {
            const int a = 2 * side, c = a + 1;
            top[0][side] = W::max(top[0][side], W::max(sum(stump[a], leaf[c]), sum(leaf[a], stump[c])));
            top[1][side] = W::max(top[1][side], sum(stump[a], stump[c]));
            const int i = side, j = side + 2;
            S* two = best.two[side] + v;
            S* three = best.three[side] + v;
            W::store(two, W::max(W::load(two), W::max(sum(stump[i], leaf[j]), sum(leaf[i], stump[j]))));
            W::store(three, W::max(W::load(three), sum(stump[i], stump[j])));
        }
    }
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < W::kCount; ++i) {
            raise(best.two[side][f], S(top[0][side][i]));
            raise(best.three[side][f], S(top[1][side][i]));
        }
}

}  // namespace treeform::binary::TREEFORM_ISA
