#pragma once
// The nodes of a graph in the making, depth by depth: each set of points once, with the most that its tree may cost.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph.hpp"

namespace treeform::and_or {

using Cover = std::vector<std::uint64_t>;

inline std::uint64_t mixed(const std::uint64_t* words, std::size_t n) {
    std::uint64_t h = 0x9e3779b97f4a7c15ull;
    for (std::size_t i = 0; i < n; ++i) {
        h = (h ^ words[i]) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h;
}

struct Node {
    Amount budget;                        // the most that its tree may cost
    std::int32_t parent, column, side;    // one way to it
    std::int32_t state = kFree;           // of the rules on paths
};

/// The nodes of one depth, found by their points. Below a test without children of its own (depth 0) no subset is
/// counted: `total` is kept, so many numbers for each node as `kinds`.
struct Level {
    std::size_t words = 0, kinds = 0;
    std::vector<Node> nodes;
    std::vector<std::uint64_t> cover;
    std::vector<Amount> total;
    std::unordered_multimap<std::uint64_t, std::int32_t> by_rows;

    std::int32_t take(const Cover& rows, const Node& node, const std::vector<Amount>* sums) {
        const std::uint64_t key = mixed(rows.data(), words);
        const auto [from, to] = by_rows.equal_range(key);
        for (auto at = from; at != to; ++at) {
            if (nodes[at->second].state != node.state) continue;
            if (!std::equal(rows.begin(), rows.end(), cover.begin() + std::ptrdiff_t(at->second) * words)) continue;
            nodes[at->second].budget = std::max(nodes[at->second].budget, node.budget);
            return at->second;
        }
        const auto index = std::int32_t(nodes.size());
        by_rows.emplace(key, index);
        nodes.push_back(node);
        cover.insert(cover.end(), rows.begin(), rows.end());
        if (sums) total.insert(total.end(), sums->begin(), sums->end());
        return index;
    }
    std::size_t bytes() const { return nodes.size() * (sizeof(Node) + (words + kinds) * 8 + 48); }
};

/// Empties the levels however the making of a graph ends: what is left of one that is refused would count against the
/// memory of the next one.
struct Emptied {
    std::vector<Level>& levels;
    ~Emptied() { levels.clear(); }
};

/// What a leaf of a node with these totals per kind adds.
inline void add_sums_of_leaf(const totals::Table& t, const Amount* total, int label, Alternatives& out) {
    const std::size_t at = out.sums.size();
    out.sums.resize(at + 1 + t.rows, 0);
    for (int k = 0; k < t.kinds; ++k) {
        const std::size_t i = std::size_t(k) * t.labels + label;
        out.sums[at] += total[k] * t.cost[i];
        for (int r = 0; r < t.rows; ++r) out.sums[at + 1 + r] += total[k] * t.row[i * t.rows + r];
    }
    for (int r = 0; t.leaf_row && r < t.rows; ++r) out.sums[at + 1 + r] += t.leaf_row[label * t.rows + r];
}
inline void add_sums_of_test(const totals::Table& t, int column, Alternatives& out) {
    out.sums.push_back(t.test_cost[column]);
    for (int r = 0; r < t.rows; ++r) out.sums.push_back(t.test_row[std::size_t(column) * t.rows + r]);
}

}  // namespace treeform::and_or
