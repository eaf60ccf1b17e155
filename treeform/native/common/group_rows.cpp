#include "group_rows.hpp"

#include <algorithm>

namespace treeform {
namespace {

constexpr std::int32_t kEmpty = -1;

/// An odd factor for each column (SplitMix64).
std::uint64_t factor(std::size_t column) {
    std::uint64_t z = (column + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) | 1;
}

/// The groups so far by their hashes, with linear probing; at most half full.
class Slots {
public:
    /// For at most so many; memory set aside for them is none until it is written.
    explicit Slots(std::size_t most) : slot_(1024, kEmpty) { hash_.reserve(most); }
    /// The group of that hash for which `same` holds, or a new one.
    template <class Same>
    std::size_t find_or_add(std::uint64_t hash, const Same& same) {
        std::size_t at = place(hash);
        for (; slot_[at] != kEmpty; at = (at + 1) & last_)
            if (hash_[slot_[at]] == hash && same(slot_[at])) return slot_[at];
        slot_[at] = std::int32_t(hash_.size());
        hash_.push_back(hash);
        if (2 * hash_.size() > slot_.size()) grow();
        return hash_.size() - 1;
    }

private:
    std::size_t place(std::uint64_t hash) const { return (hash >> 20) & last_; }
    void grow() {
        slot_.assign(4 * slot_.size(), kEmpty);
        last_ = slot_.size() - 1;
        for (std::size_t g = 0; g < hash_.size(); ++g) {
            std::size_t at = place(hash_[g]);
            while (slot_[at] != kEmpty) at = (at + 1) & last_;
            slot_[at] = std::int32_t(g);
        }
    }
    std::vector<std::int32_t> slot_;  // a power of two of them
    std::size_t last_ = slot_.size() - 1;
    std::vector<std::uint64_t> hash_;  // of each group
};

}  // namespace

RowGroups group_rows(const std::uint64_t* x, std::size_t rows, std::size_t columns) {
    std::vector<std::uint64_t> odd(columns);
    for (std::size_t f = 0; f < columns; ++f) odd[f] = factor(f);
    RowGroups out;
    out.group.resize(rows);
    Slots slots(rows);
    out.first.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint64_t* row = x + i * columns;
        std::uint64_t hash = 0;
        // Doubles of few digits differ in their upper half only.
        for (std::size_t f = 0; f < columns; ++f) hash += (row[f] ^ (row[f] >> 32)) * odd[f];
        hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9ull;
        const std::size_t group = slots.find_or_add(
            hash, [&](std::size_t g) { return std::equal(row, row + columns, x + out.first[g] * columns); });
        if (group == out.first.size()) out.first.push_back(std::int64_t(i));
        out.group[i] = std::int64_t(group);
    }
    return out;
}

}  // namespace treeform
