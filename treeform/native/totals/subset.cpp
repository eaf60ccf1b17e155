#include "subset.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

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

/// Columns that tell points apart, each once; of a column and its complement the first.
static std::vector<int> useful_columns(const Table& t, bool merge) {
    std::vector<int> kept;
    std::map<std::vector<std::uint64_t>, int> seen;
    const std::size_t words = (t.points + 63) / 64;
    for (std::size_t f = 0; f < t.columns; ++f) {
        std::vector<std::uint64_t> bits(words);
        const bool turn = t.x[f] != 0;  // the first point's bit is 0
        std::size_t ones = 0;
        for (std::size_t p = 0; p < t.points; ++p)
            if ((t.x[p * t.columns + f] != 0) != turn) bits[p / 64] |= std::uint64_t(1) << (p % 64), ++ones;
        if (ones == 0) continue;
        if (merge && !seen.emplace(std::move(bits), int(f)).second) continue;
        kept.push_back(int(f));
    }
    return kept;
}

Rows::Rows(const Table& t, const std::string& path, bool merge_columns)
    : table_(t), ops_(binary::choose_ops<std::uint32_t, std::int32_t>(path.c_str())) {
    simd = ops_.name;
    original = useful_columns(t, merge_columns);
    columns = int(original.size());
    pad = (std::max(1, columns) + 15) / 16 * 16;
    points = int(t.points), words = (points + 63) / 64;
    all.assign(words, ~std::uint64_t(0));
    if (points % 64) all.back() = (std::uint64_t(1) << (points % 64)) - 1;
    literal.assign(columns, std::vector<std::uint64_t>(words));
    for (int p = 0; p < points; ++p)
        for (int j = 0; j < columns; ++j)
            if (t.x[p * t.columns + original[j]]) literal[j][p / 64] |= std::uint64_t(1) << (p % 64);
    Amount largest = 1;
    for (std::size_t i = 0; i < t.points * t.kinds; ++i) largest = std::max(largest, t.count[i]);
    planes_ = std::bit_width(std::uint64_t(largest));
    for (int k = 0; k < t.kinds; ++k)
        for (int plane = planes_ - 1; plane >= 0; --plane) {
            const int begin = int(valid_.size());
            int at = 0;
            for (int p = 0; p < points; ++p) {
                if (!(t.count[std::size_t(p) * t.kinds + k] >> plane & 1)) continue;
                if (at % 32 == 0) valid_.push_back(0), bits_.resize(bits_.size() + pad, 0);
                const std::uint32_t bit = std::uint32_t(1) << (at % 32);
                valid_.back() |= bit;
                std::uint32_t* chunk = bits_.data() + bits_.size() - pad;
                for (int j = 0; j < columns; ++j)
                    if (literal[j][p / 64] >> (p % 64) & 1) chunk[j] |= bit;
                ++at;
            }
            runs_.push_back({begin, int(valid_.size())});
        }
}

void Rows::root(Subset& out) const {
    out.key = {};
    out.chunks = int(valid_.size());
    out.runs = runs_;
    std::copy(bits_.begin(), bits_.end(), out.bits.take<std::uint32_t>(bits_.size() + pad));
    std::copy(valid_.begin(), valid_.end(), out.valid.take<std::uint32_t>(valid_.size() + 1));
    out.cover = all;
    out.has_pairs = false;
    out.total.assign(table_.kinds, 0);
    out.with.assign(std::size_t(table_.kinds) * pad, 0);
    for (int p = 0; p < points; ++p)
        for (int k = 0; k < table_.kinds; ++k) {
            const Amount q = table_.count[std::size_t(p) * table_.kinds + k];
            out.total[k] += q;
            if (!q) continue;
            for (int j = 0; j < columns; ++j)
                if (literal[j][p / 64] >> (p % 64) & 1) out.with[std::size_t(k) * pad + j] += std::int32_t(q);
        }
    out.weight = 0, out.unit = table_.unit;
    for (int k = 0; k < table_.kinds; ++k) out.weight += out.total[k] * out.unit[k];
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
    if (!parent.has_pairs) {
        const binary::Bits<std::uint32_t> view{out.bits.get<std::uint32_t>(), columns, pad, out.runs.data(), planes_};
        ops_.count(view, 0, kinds, scratch_.take<std::int32_t>(std::size_t(kinds) * pad));
        std::copy(scratch_.get<std::int32_t>(), scratch_.get<std::int32_t>() + std::size_t(kinds) * pad,
                  out.with.data());
        return;
    }
    for (int k = 0; k < kinds; ++k) {
        const std::int32_t *row = pair(parent, k, column), *all_rows = parent.with.data() + std::size_t(k) * pad;
        std::int32_t* to = out.with.data() + std::size_t(k) * pad;
        if (side)
            std::copy(row, row + pad, to);
        else
            for (int j = 0; j < pad; ++j) to[j] = all_rows[j] - row[j];
    }
}

void Rows::pairs(Subset& s) {
    if (s.has_pairs) return;
    const int kinds = table_.kinds;
    const binary::Bits<std::uint32_t> view{s.bits.get<std::uint32_t>(), columns, pad, s.runs.data(), planes_};
    std::int32_t* table = s.table.take<std::int32_t>(std::size_t(kinds) * columns * pad + 64);
    std::uint32_t* scratch = scratch_.take<std::uint32_t>(std::size_t(columns) * s.chunks + 64 * (s.chunks + 4)
                                                          + 4 * columns + 64 * 4 * (kinds + 1) + 256);
    ops_.pairs(view, binary::Mode::classes, kinds, scratch, table);
    s.has_pairs = true;
}

}  // namespace treeform::totals
