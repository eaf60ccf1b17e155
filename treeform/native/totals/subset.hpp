#pragma once
// Sets of rows as packed bits, on the binary engine's kernels: bits of the same kind and of the same power of two in
// the weight stand in one run, so that counts of pairs per kind are popcounts.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "../binary/node.hpp"
#include "problem.hpp"

namespace treeform::totals {

/// The literals on the way to a subproblem, sorted: 16 bits each. Equal keys, equal rows. Below the last
/// test of the deepest tree a path has one literal more: leaves are written without subsets of their own.
struct Key {
    std::uint64_t high = 0, low = 0;
    bool operator==(const Key&) const = default;
    Key with(int column, int side) const;
};
constexpr int kLongestPath = 8;
struct KeyHash {
    std::size_t operator()(const Key& k) const {
        std::uint64_t h = (k.high ^ 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
        h = (h ^ (h >> 29) ^ k.low) * 0xc4ceb9fe1a85ec53ull;
        return std::size_t(h ^ (h >> 32));
    }
};

struct Subset {
    Key key;
    int chunks = 0;
    std::vector<binary::Run> runs;
    binary::Buffer bits, valid;
    std::vector<std::int32_t> with;      // [kind][pad]: weight of the rows where the column is 1
    std::vector<Amount> total;           // [kind]
    Amount weight = 0;
    const Amount* unit = nullptr;        // [kind]: of the table
    std::vector<std::uint64_t> cover;    // over the points
    binary::Buffer table;                // pair counts [kind][h][pad]
    bool has_pairs = false;
    Amount with_weight(int column, int pad) const {
        Amount sum = 0;
        for (std::size_t k = 0; k < total.size(); ++k) sum += with[k * pad + column] * unit[k];
        return sum;
    }
};

class Rows {
public:
    Rows(const Table& table, const std::string& simd, bool merge_columns);
    void root(Subset& out);
    /// The rows of `parent` where the column is `side`, for a tree of that depth. A leaf reads the totals only, and one
    /// test the columns' counts, which are the parent's counts of pairs where these are known.
    void child(const Subset& parent, int column, int side, int depth, Subset& out);
    /// Counts of all pairs of columns. `has_pairs` stays false where `stopping` ended it.
    void pairs(Subset& s, const std::atomic<bool>& stopping);
    const std::int32_t* pair(const Subset& s, int kind, int column) const {
        return s.table.get<std::int32_t>() + (std::size_t(kind) * columns + column) * pad;
    }

    int columns = 0, pad = 0, words = 0, points = 0;
    std::vector<int> original;  // column -> column of the table
    std::vector<std::vector<std::uint64_t>> literal;  // column -> points where it is 1
    std::vector<std::uint64_t> all;  // all points
    std::string simd;

private:
    void choose_columns(bool merge);
    void set_bits();
    void count_bits(Subset& s);
    void compressed(const Subset& parent, int column, int side, Subset& out);
    void count(const Subset& parent, int column, int side, Subset& out);

    const Table& table_;
    const binary::Ops<std::uint32_t, std::int32_t>& ops_;
    int planes_ = 1;
    std::vector<binary::Run> runs_;
    std::vector<std::uint32_t> bits_, valid_;
    std::vector<binary::Step<std::uint32_t>> steps_;
    std::vector<std::uint32_t> new_valid_;
    binary::Buffer scratch_;
};

}  // namespace treeform::totals
