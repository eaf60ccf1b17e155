#include "subset.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "../binary/compression.hpp"

namespace treeform::binary {
extern template const Ops<std::uint32_t, std::int32_t>& choose_ops(const char*);
}

namespace treeform::totals {

using binary::Run;

Key Key::with(int column, int side) const {
    std::uint16_t part[kLongestPath];
    int n = 0;
    for (int i = 0; i < 4; ++i)
        if (const auto x = std::uint16_t(low >> (16 * i))) part[n++] = x;
    for (int i = 0; i < 4; ++i)
        if (const auto x = std::uint16_t(high >> (16 * i))) part[n++] = x;
    part[n++] = std::uint16_t(2 * column + side + 1);
    std::sort(part, part + n);
    Key out;
    for (int i = 0; i < n; ++i) (i < 4 ? out.low : out.high) |= std::uint64_t(part[i]) << (16 * (i % 4));
    return out;
}

/// Sixteen columns at a time: the compiler turns loops of a fixed length into vectors.
constexpr int kBlock = 16;
static std::size_t padded(std::size_t columns) {
    return (std::max<std::size_t>(1, columns) + kBlock - 1) / kBlock * kBlock;
}

/// Column by column, the points where it is 1.
static std::vector<std::vector<std::uint64_t>> literals(const Table& t) {
    const std::size_t words = (t.points + 63) / 64, pad = padded(t.columns);
    std::vector<std::uint8_t> row(pad, 0);
    std::vector<std::uint64_t> word(pad);
    std::vector<std::vector<std::uint64_t>> out(t.columns, std::vector<std::uint64_t>(words));
    for (std::size_t w = 0; w < words; ++w) {
        std::fill(word.begin(), word.end(), 0);
        for (std::size_t p = w * 64; p < std::min(t.points, w * 64 + 64); ++p) {
            const std::uint8_t* x = t.x + p * t.columns;
            for (std::size_t f = 0; f < t.columns; ++f) row[f] = x[f] != 0;
            for (std::size_t f = 0; f < pad; f += kBlock)
                for (int i = 0; i < kBlock; ++i) word[f + i] |= std::uint64_t(row[f + i]) << (p % 64);
        }
        for (std::size_t f = 0; f < t.columns; ++f) out[f][w] = word[f];
    }
    return out;
}

Rows::Rows(const Table& t, const std::string& path, bool merge_columns)
    : table_(t), ops_(binary::choose_ops<std::uint32_t, std::int32_t>(path.c_str())) {
    simd = ops_.name;
    points = int(t.points), words = (points + 63) / 64;
    all.assign(words, ~std::uint64_t(0));
    if (points % 64) all.back() = (std::uint64_t(1) << (points % 64)) - 1;
    choose_columns(merge_columns);
    pad = int(padded(columns));
    Amount largest = 1;
    for (std::size_t i = 0; i < t.points * t.kinds; ++i) largest = std::max(largest, t.count[i]);
    planes_ = std::bit_width(std::uint64_t(largest));
    set_bits();
}

/// Those that tell points apart, each once; of a column and its complement the first.
void Rows::choose_columns(bool merge) {
    std::set<std::vector<std::uint64_t>> seen;
    std::vector<std::vector<std::uint64_t>> every = literals(table_);
    for (std::size_t f = 0; f < table_.columns; ++f) {
        std::vector<std::uint64_t> side = every[f];
        if (side[0] & 1)  // the side without the first point
            for (int w = 0; w < words; ++w) side[w] = all[w] & ~side[w];
        if (std::all_of(side.begin(), side.end(), [](std::uint64_t x) { return x == 0; })) continue;
        if (merge && !seen.insert(std::move(side)).second) continue;
        original.push_back(int(f));
        literal.push_back(std::move(every[f]));
    }
    columns = int(original.size());
}

/// The bits of all rows, a run for each kind and power of two in its weights.
void Rows::set_bits() {
    const Table& t = table_;
    std::vector<std::uint8_t> bytes(std::size_t(points) * pad, 0);
    for (int p = 0; p < points; ++p)
        for (int j = 0; j < columns; ++j)
            bytes[std::size_t(p) * pad + j] = t.x[std::size_t(p) * t.columns + original[j]] != 0;
    std::vector<std::pair<int, Amount>> there;  // the points with some weight of a kind
    for (int k = 0; k < t.kinds; ++k) {
        there.clear();
        for (int p = 0; p < points; ++p)
            if (const Amount count = t.count[std::size_t(p) * t.kinds + k]) there.push_back({p, count});
        for (int plane = planes_ - 1; plane >= 0; --plane) {
            const int begin = int(valid_.size());
            int at = 0;
            for (const auto& [p, count] : there) {
                if (!(count >> plane & 1)) continue;
                if (at % 32 == 0) valid_.push_back(0), bits_.resize(bits_.size() + pad, 0);
                valid_.back() |= std::uint32_t(1) << (at % 32);
                std::uint32_t* chunk = bits_.data() + bits_.size() - pad;
                const std::uint8_t* row = bytes.data() + std::size_t(p) * pad;
                for (int j = 0; j < pad; j += kBlock)
                    for (int i = 0; i < kBlock; ++i) chunk[j + i] |= std::uint32_t(row[j + i]) << (at % 32);
                ++at;
            }
            runs_.push_back({begin, int(valid_.size())});
        }
    }
}

void Rows::root(Subset& out) {
    out.key = {};
    out.chunks = int(valid_.size());
    out.runs = runs_;
    std::copy(bits_.begin(), bits_.end(), out.bits.take<std::uint32_t>(bits_.size() + pad));
    std::copy(valid_.begin(), valid_.end(), out.valid.take<std::uint32_t>(valid_.size() + 1));
    out.cover = all;
    out.has_pairs = false;
    out.total.assign(table_.kinds, 0);
    for (int p = 0; p < points; ++p)
        for (int k = 0; k < table_.kinds; ++k) out.total[k] += table_.count[std::size_t(p) * table_.kinds + k];
    out.weight = 0, out.unit = table_.unit;
    for (int k = 0; k < table_.kinds; ++k) out.weight += out.total[k] * out.unit[k];
    out.with.resize(std::size_t(table_.kinds) * pad);
    count_bits(out);
}

void Rows::child(const Subset& parent, int column, int side, int depth, Subset& out) {
    out.key = parent.key.with(column, side);
    out.cover.resize(words);
    for (int w = 0; w < words; ++w) out.cover[w] = parent.cover[w] & (side ? literal[column][w] : ~literal[column][w]);
    out.has_pairs = false;
    const int kinds = table_.kinds;
    out.total.resize(kinds);
    out.weight = 0, out.unit = parent.unit;
    for (int k = 0; k < kinds; ++k) {
        const Amount inside = parent.with[std::size_t(k) * pad + column];
        out.total[k] = side ? inside : parent.total[k] - inside;
        out.weight += out.total[k] * out.unit[k];
    }
    if (depth == 0) return;
    if (depth >= 2 || !parent.has_pairs) compressed(parent, column, side, out);
    count(parent, column, side, out);
}

/// The bits of the rows.
void Rows::compressed(const Subset& parent, int column, int side, Subset& out) {
    const std::uint32_t* from = parent.bits.get<std::uint32_t>();
    const std::uint32_t* valid = parent.valid.get<std::uint32_t>();
    const auto mask = [&](int c) {
        const std::uint32_t x = from[std::size_t(c) * pad + column];
        return side ? x : valid[c] & ~x;
    };
    binary::plan_compression<std::uint32_t>(parent.runs, int(parent.runs.size()), mask, steps_, out.runs, new_valid_);
    out.chunks = int(new_valid_.size());
    std::uint32_t* bits = out.bits.take<std::uint32_t>(std::size_t(out.chunks + 1) * pad);
    ops_.compress(from, pad, steps_.data(), int(steps_.size()), bits);
    std::copy(new_valid_.begin(), new_valid_.end(), out.valid.take<std::uint32_t>(new_valid_.size() + 1));
}

/// How much of each kind has a one in each column.
void Rows::count(const Subset& parent, int column, int side, Subset& out) {
    const int kinds = table_.kinds;
    out.with.resize(std::size_t(kinds) * pad);
    if (!parent.has_pairs) return count_bits(out);
    for (int k = 0; k < kinds; ++k) {
        const std::int32_t *row = pair(parent, k, column), *all_rows = parent.with.data() + std::size_t(k) * pad;
        std::int32_t* to = out.with.data() + std::size_t(k) * pad;
        if (side)  // nothing writes what pads the rows of the table of pairs
            std::copy(row, row + columns, to);
        else
            for (int j = 0; j < columns; ++j) to[j] = all_rows[j] - row[j];
    }
}

/// The same from the bits of the rows.
void Rows::count_bits(Subset& s) {
    const std::size_t size = std::size_t(table_.kinds) * pad;
    const binary::Bits<std::uint32_t> view{s.bits.get<std::uint32_t>(), columns, pad, s.runs.data(), planes_};
    ops_.count(view, 0, table_.kinds, scratch_.take<std::int32_t>(size));
    std::copy_n(scratch_.get<std::int32_t>(), size, s.with.data());
}

void Rows::pairs(Subset& s, const std::atomic<bool>& stopping) {
    if (s.has_pairs) return;
    const int kinds = table_.kinds;
    const binary::Bits<std::uint32_t> view{s.bits.get<std::uint32_t>(), columns, pad, s.runs.data(), planes_, &stopping};
    std::int32_t* table = s.table.take<std::int32_t>(std::size_t(kinds) * columns * pad + 64);
    std::uint32_t* scratch = scratch_.take<std::uint32_t>(std::size_t(columns) * s.chunks + 64 * (s.chunks + 4)
                                                          + 4 * columns + 64 * 4 * (kinds + 1) + 256);
    ops_.pairs(view, binary::Mode::classes, kinds, scratch, table);
    s.has_pairs = !view.stopped();
}

}  // namespace treeform::totals
