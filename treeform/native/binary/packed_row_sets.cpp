#include "packed_row_sets.hpp"
#include "compression.hpp"

namespace treeform::binary {

template <class L, class S>
PackedRowSets<L, S>::PackedRowSets(const Points& p, const Settings& settings, Layout&& layout)
    : layout_(std::move(layout)), min_support_(settings.min_support), ops_(choose_ops<L, S>(settings.simd.c_str())) {
    offset = layout_.offset;
    points = int(layout_.kept.size());
    words = (points + 63) / 64;
    planes = layout_.planes;
    lane_bits = kBits;
    simd = ops_.name;
    root_columns_ = int(p.features);
    root_pad_ = padded(std::max(1, root_columns_));
    for (const auto& members : layout_.members) {
        const int begin = root_chunks_;
        root_chunks_ += int((members.size() + kBits - 1) / kBits);
        root_runs_.push_back({begin, root_chunks_});
    }
    L* bits = root_bits_.take<L>(std::size_t(root_chunks_ + 1) * root_pad_);
    std::memset(bits, 0, std::size_t(root_chunks_ + 1) * root_pad_ * sizeof(L));
    root_valid_.assign(root_chunks_, 0);
    for (std::size_t r = 0; r < layout_.members.size(); ++r)
        for (std::size_t i = 0; i < layout_.members[r].size(); ++i) {
            const int chunk = root_runs_[r].begin + int(i / kBits);
            const L bit = L(L(1) << (i % kBits));
            root_valid_[chunk] |= bit;
            const std::uint8_t* row = p.x + layout_.kept[layout_.members[r][i]] * p.features;
            for (std::size_t f = 0; f < p.features; ++f)
                if (row[f]) bits[std::size_t(chunk) * root_pad_ + f] |= bit;
        }
    literal.assign(p.features, std::vector<std::uint64_t>(words));
    for (int i = 0; i < points; ++i)
        for (std::size_t f = 0; f < p.features; ++f)
            if (p.x[layout_.kept[i] * p.features + f]) literal[f][i / 64] |= std::uint64_t(1) << (i % 64);
}

template <class L, class S>
template <class MaskOf>
void PackedRowSets<L, S>::plan(const std::vector<Run>& runs, int n_runs, MaskOf mask_of, std::vector<Run>& out_runs,
                               std::vector<L>& out_valid) {
    plan_compression<L>(runs, n_runs, mask_of, steps_, out_runs, out_valid);
}

template <class L, class S>
void PackedRowSets<L, S>::root(Node& out) {
    std::vector<std::uint64_t> all(words, ~std::uint64_t(0));
    if (points % 64) all.back() = (std::uint64_t(1) << (points % 64)) - 1;
    out.path.clear();
    restrict_to(all, out, true);
}

template <class L, class S>
void PackedRowSets<L, S>::restrict_to(const std::vector<std::uint64_t>& cover, Node& out, bool reduced) {
    std::vector<L> masks(root_chunks_);
    for (std::size_t r = 0; r < layout_.members.size(); ++r)
        for (std::size_t i = 0; i < layout_.members[r].size(); ++i) {
            const int p = layout_.members[r][i];
            if (cover[p / 64] >> (p % 64) & 1) masks[root_runs_[r].begin + i / kBits] |= L(L(1) << (i % kBits));
        }
    out.cover = cover;
    out.hash = hash(cover);
    out.feature.resize(root_columns_);
    std::iota(out.feature.begin(), out.feature.end(), 0);
    out.flip.assign(root_columns_, 0);
    out.columns = root_columns_, out.pad = root_pad_;
    plan(root_runs_, int(root_runs_.size()), [&](int c) { return masks[c]; }, out.runs, new_valid_);
    L* bits = out.bits.template take<L>(std::size_t(new_valid_.size() + 1) * out.pad);
    ops_.compress(root_bits_.template get<L>(), root_pad_, steps_.data(), int(steps_.size()), bits);
    finish(out, reduced);
}

template <class L, class S>
void PackedRowSets<L, S>::child(const Node& parent, int column, int side, Node& out, bool reduced) {
    const L* from = parent.bits.template get<L>();
    const L* valid = parent.valid.template get<L>();
    const auto mask = [&](int c) {
        const L x = from[std::size_t(c) * parent.pad + column];
        return side == 0 ? x : L(valid[c] & ~x);
    };
    plan(parent.runs, int(parent.runs.size()), mask, out.runs, new_valid_);
    out.columns = parent.columns, out.pad = parent.pad;
    out.feature = parent.feature;
    out.flip = parent.flip;
    L* bits = out.bits.template take<L>(std::size_t(new_valid_.size() + 1) * out.pad);
    ops_.compress(from, parent.pad, steps_.data(), int(steps_.size()), bits);
    const std::vector<std::uint64_t>& ones = literal[parent.feature[column]];
    const std::uint64_t turn = (side == 0) == bool(parent.flip[column]) ? ~std::uint64_t(0) : 0;
    out.cover.resize(words);
    for (int w = 0; w < words; ++w) out.cover[w] = parent.cover[w] & (ones[w] ^ turn);
    out.hash = hash(out.cover);
    out.path = parent.path;
    out.path.push_back(2 * std::uint32_t(parent.feature[column]) + (turn ? 0 : 1));
    finish(out, reduced);
}

template <class L, class S>
void PackedRowSets<L, S>::finish(Node& out, bool reduced) {
    out.chunks = int(new_valid_.size());
    L* valid = out.valid.template take<L>(new_valid_.size() + 1);
    std::copy(new_valid_.begin(), new_valid_.end(), valid);
    out.has_pairs = false;
    count(out);
    if (reduced) reduce_columns(out);
    sides(out);
}

/// Channel counts of all columns and of the node; two classes: channel 0 minus channel 1, and their sum as mass.
template <class L, class S>
void PackedRowSets<L, S>::count(Node& node) {
    const int all = layout_.all_channels;
    const L* bits = node.bits.template get<L>();
    const L* valid = node.valid.template get<L>();
    S* counts = node.counts.template take<S>(std::size_t(all) * node.pad);
    ops_.count(view(node, bits), 0, all, counts);
    S* totals = node.totals.template take<S>(all);
    for (int k = 0; k < all; ++k) {
        S sum = 0;
        for (int r = k * layout_.planes; r < (k + 1) * layout_.planes; ++r) {
            sum = S(2 * sum);
            for (int c = node.runs[r].begin; c < node.runs[r].end; ++c) sum = S(sum + std::popcount(valid[c]));
        }
        totals[k] = sum;
    }
    if (layout_.mode == Mode::two_classes) {  // (a, b) -> (a - b, a + b)
        for (int j = 0; j < node.pad; ++j) {
            const S a = counts[j], b = counts[node.pad + j];
            counts[j] = S(a - b), counts[node.pad + j] = S(a + b);
        }
        const S a = totals[0], b = totals[1];
        totals[0] = S(a - b), totals[1] = S(a + b);
    }
    node.mass = layout_.unit * Cost(totals[all - 1]);
}

template <class L, class S>
void PackedRowSets<L, S>::reduce_columns(Node& node) {
    const L* bits = node.bits.template get<L>();
    const L* valid = node.valid.template get<L>();
    S* counts = node.counts.template get<S>();
    const S* totals = node.totals.template get<S>();
    const int last = layout_.all_channels - 1;
    const S* mass = counts + std::size_t(last) * node.pad;
    const S whole = totals[last];
    column_hash_.assign(node.columns, 0x9e3779b97f4a7c15ull);
    for (int c = 0; c < node.chunks; ++c) {
        const L* row = bits + std::size_t(c) * node.pad;
        for (int j = 0; j < node.columns; ++j) {
            const L turned = L(row[j] ^ (bits[j] & 1 ? valid[c] : L(0)));
            column_hash_[j] = (column_hash_[j] ^ turned) * 0xff51afd7ed558ccdull;
        }
        if (c % 2 == 1)
            for (int j = 0; j < node.columns; ++j) column_hash_[j] ^= column_hash_[j] >> 29;
    }
    order_.clear();
    for (int j = 0; j < node.columns; ++j)
        if (mass[j] > 0 && mass[j] < whole) order_.push_back(j);
    const auto minor = [&](int j) { return std::min<S>(mass[j], S(whole - mass[j])); };
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
        const S x = minor(a), y = minor(b);
        return x != y ? x < y : column_hash_[a] != column_hash_[b] ? column_hash_[a] < column_hash_[b] : a < b;
    });
    const auto equal = [&](int a, int b) {
        const bool turn = (bits[a] ^ bits[b]) & 1;
        for (int c = 0; c < node.chunks; ++c) {
            const L* row = bits + std::size_t(c) * node.pad;
            if (L(row[a] ^ row[b]) != (turn ? valid[c] : L(0))) return false;
        }
        return true;
    };
    int n = 0;
    for (std::size_t i = 0; i < order_.size(); ++i)
        if (n == 0 || column_hash_[order_[n - 1]] != column_hash_[order_[i]] || !equal(order_[n - 1], order_[i]))
            order_[n++] = order_[i];
    order_.resize(n);

    const int pad = padded(std::max(1, n));
    L* packed = spare_bits_.take<L>(std::size_t(node.chunks + 1) * pad);
    std::vector<L> turn(n);
    for (int j = 0; j < n; ++j) turn[j] = 2 * Cost(mass[order_[j]]) > Cost(whole) ? L(~L(0)) : L(0);
    for (int c = 0; c < node.chunks; ++c) {
        const L* row = bits + std::size_t(c) * node.pad;
        L* to = packed + std::size_t(c) * pad;
        for (int j = 0; j < n; ++j) to[j] = L(row[order_[j]] ^ (turn[j] & valid[c]));
        std::fill(to + n, to + pad, L(0));
    }
    std::vector<int> feature(n);
    std::vector<std::uint8_t> flip(n);
    raw_.assign(std::size_t(layout_.all_channels) * pad, 0);
    for (int j = 0; j < n; ++j) {
        const int from = order_[j];
        feature[j] = node.feature[from];
        flip[j] = node.flip[from] ^ std::uint8_t(turn[j] != 0);
        for (int k = 0; k <= last; ++k) {
            const S x = counts[std::size_t(k) * node.pad + from];
            raw_[std::size_t(k) * pad + j] = turn[j] ? S(totals[k] - x) : x;
        }
    }
    std::swap(node.bits, spare_bits_);
    node.feature = std::move(feature);
    node.flip = std::move(flip);
    node.columns = n, node.pad = pad;
    std::copy(raw_.begin(), raw_.end(), node.counts.template take<S>(raw_.size()));
}

template <class L, class S>
void PackedRowSets<L, S>::sides(Node& node) {
    const S* counts = node.counts.template get<S>();
    const S* totals = node.totals.template get<S>();
    const int last = layout_.all_channels - 1;
    const auto leaf = [&](Cost mass, auto amount) -> Cost {
        if (layout_.mode == Mode::two_classes) return price(mass, S(std::abs(amount(0))));
        if (layout_.mode == Mode::classes_and_support && amount(layout_.labels) < min_support_) return kNever;
        S best = 0;
        for (int k = 0; k < layout_.labels; ++k) best = std::max<S>(best, amount(k));
        return price(mass, best);
    };
    node.leaf = leaf(node.mass, [&](int k) { return totals[k]; });
    for (int side = 0; side < 2; ++side) {
        node.side_mass[side].resize(node.columns);
        node.side_leaf[side].resize(node.columns);
    }
    for (int j = 0; j < node.columns; ++j)
        for (int side = 0; side < 2; ++side) {
            const auto amount = [&](int k) -> S {
                const S x = counts[std::size_t(k) * node.pad + j];
                return side == 0 ? x : S(totals[k] - x);
            };
            node.side_mass[side][j] = layout_.unit * Cost(amount(last));
            node.side_leaf[side][j] = leaf(node.side_mass[side][j], amount);
        }
}

template <class L, class S>
void PackedRowSets<L, S>::pairs(Node& node) {
    if (node.has_pairs) return;
    const Bits<L> b = view(node, node.bits.template get<L>());
    const int tables = layout_.mode == Mode::two_classes ? 1 : layout_.channels;
    const std::size_t cells = std::size_t(tables) * node.columns * node.pad + 64;
    if (limits) limits->check_table(cells * sizeof(S));
    S* table = node.table.template take<S>(cells);
    ops_.pairs(b, layout_.mode, layout_.channels, scratch(node.columns, node.chunks), table);
    S* out = rewards_.take<S>(std::size_t(8) * node.pad);
    Best<S> best{};
    for (int side = 0; side < 2; ++side)
        best.leaf[side] = out + side * node.pad, best.one[side] = out + (2 + side) * node.pad;
    ops_.stumps(b, layout_.mode, layout_.channels, table, node.counts.template get<S>(), node.totals.template get<S>(),
                S(std::min<Cost>(min_support_, std::numeric_limits<S>::max() / 8)), best);
    for (int side = 0; side < 2; ++side) {
        node.side_one[side].resize(node.columns);
        for (int j = 0; j < node.columns; ++j)
            node.side_one[side][j] = price(node.side_mass[side][j], best.one[side][j]);
    }
    node.has_pairs = true;
    if (counters) ++counters->depth_two;
}

template <class L, class S>
void PackedRowSets<L, S>::triples(Node& node, const std::atomic<bool>& stopping) {
    pairs(node);
    const L* bits = node.bits.template get<L>();
    S* out = rewards_.take<S>(std::size_t(8) * node.pad);
    const S least = layout_.mode == Mode::classes_and_support ? forbidden<S>() : std::numeric_limits<S>::min();
    std::fill(out, out + std::size_t(8) * node.pad, least);
    Best<S> best{};
    for (int side = 0; side < 2; ++side)
        best.two[side] = out + (4 + side) * node.pad, best.three[side] = out + (6 + side) * node.pad;
    const int scanned = layout_.mode == Mode::two_classes ? 2 : layout_.channels;
    L* tmp = inside_.take<L>(std::size_t(node.chunks + 1) * node.pad);
    for (int f = 0; f < node.columns; ++f) {
        if (stopping.load(std::memory_order_relaxed)) return;
        plan(
            node.runs, scanned * layout_.planes, [&](int c) { return bits[std::size_t(c) * node.pad + f]; },
            inside_runs_, inside_valid_);
        ops_.compress(bits, node.pad, steps_.data(), int(steps_.size()), tmp);
        const Bits<L> b{tmp, node.columns, node.pad, inside_runs_.data(), layout_.planes};
        ops_.triples(b, layout_.mode, layout_.channels, f, node.table.template get<S>(), node.counts.template get<S>(),
                     node.totals.template get<S>(), S(std::min<Cost>(min_support_, std::numeric_limits<S>::max() / 8)),
                     scratch(node.columns, int(inside_valid_.size())), best);
    }
    for (int side = 0; side < 2; ++side) {
        node.side_two[side].resize(node.columns);
        node.side_three[side].resize(node.columns);
        for (int j = 0; j < node.columns; ++j) {
            const Cost mass = node.side_mass[side][j];
            node.side_two[side][j] = std::min(node.side_one[side][j], price(mass, best.two[side][j]));
            node.side_three[side][j] = std::min(node.side_two[side][j], price(mass, best.three[side][j]));
        }
    }
    if (counters) ++counters->depth_three, counters->rows += node.columns;
}

template <class L, class S>
void PackedRowSets<L, S>::prepare_distances(Node& node) {
    const Bits<L> b = view(node, node.bits.template get<L>());
    const bool two = layout_.mode == Mode::two_classes;
    const std::size_t cells = std::size_t(node.columns) * node.pad + 64;
    if (limits) limits->check_table(2 * cells * sizeof(S));  // beside the table of pairs
    S* table = node.shared.template take<S>(cells);
    ops_.mass_pairs(b, two ? 0 : layout_.all_channels - 1, two ? 2 : layout_.all_channels,
                    scratch(node.columns, node.chunks), table);
}

template <class L, class S>
int PackedRowSets<L, S>::label(const Node& node) const {
    const S* totals = node.totals.template get<S>();
    if (layout_.mode == Mode::two_classes) return totals[0] >= 0 ? 0 : 1;
    return int(std::max_element(totals, totals + layout_.labels) - totals);
}

template <class L, class S>
void PackedRowSets<L, S>::class_weights(const Node& node, int column, double* with, double* all) const {
    const S* counts = node.counts.template get<S>();
    const S* totals = node.totals.template get<S>();
    if (layout_.mode == Mode::two_classes) {
        const double d = counts[column], m = counts[node.pad + column], dt = totals[0], mt = totals[1];
        with[0] = (m + d) / 2, with[1] = (m - d) / 2, all[0] = (mt + dt) / 2, all[1] = (mt - dt) / 2;
        return;
    }
    for (int k = 0; k < layout_.labels; ++k) with[k] = counts[std::size_t(k) * node.pad + column], all[k] = totals[k];
}

template class PackedRowSets<std::uint16_t, std::int16_t>;
template class PackedRowSets<std::uint32_t, std::int32_t>;
template class PackedRowSets<std::uint64_t, std::int64_t>;

}  // namespace treeform::binary
