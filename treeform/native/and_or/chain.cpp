// Neighbouring thresholds of a feature part the rows almost alike, and so do their best trees cost almost the same. Let
// d be what the rows on which two tests differ can lose at most (the price of their worst label less that of their
// best). A best tree for the sides of one test, on the sides of the other, costs at most d more. So when the trees of a
// test cost g more than the limit, every test within a distance below g is left out unseen. Distances are added up along
// the order of tests: those of one feature stand next to each other. This is the similarity bound of ConTree (Brita, van
// der Linden and Demirovic, AAAI 2025), with prices in place of errors.
#include "chain.hpp"

#include <algorithm>
#include <bit>
#include <deque>

namespace treeform::and_or {

using namespace totals;
constexpr int kFewTests = 256;

Chain::Chain(const Table& table, const Settings& settings, const Control& control, Rows& rows, Minima& minima)
    : table_(table), settings_(settings), control_(control), rows_(rows), minima_(minima) {}

bool Chain::applies() const {
    if (settings_.depth != 2 || settings_.min_support > 1 || settings_.min_flow > 1) return false;
    if (rows_.columns < kFewTests) return false;
    for (int j = 0; j < rows_.columns; ++j)
        if (minima_.test(j) < 0) return false;
    return true;
}

/// Places of all tests, at the prices of now.
void Chain::place() {
    place_.assign(rows_.columns, 0);
    const Amount whole = minima_.regret(rows_.all);
    std::vector<std::uint64_t> differ(rows_.words);
    for (int j = 1; j < rows_.columns; ++j) {
        for (int w = 0; w < rows_.words; ++w) differ[w] = rows_.literal[j][w] ^ rows_.literal[j - 1][w];
        const Amount apart = minima_.regret(differ);
        place_[j] = place_[j - 1] + std::min(apart, whole - apart);  // the sides may have changed names
    }
}

/// What both sides of a test cost at least: one side is counted, the other is the rest.
bool Chain::sides(Subset& root, int column, Cut& out) {
    const Amount held = root.with_weight(column, rows_.pad);
    if (!minima_.parts(held, root.weight - held)) return false;
    const int small = 2 * held <= root.weight ? 1 : 0;
    rows_.child(root, column, small, 1, child_);
    other_.unit = root.unit, other_.weight = root.weight - child_.weight;
    other_.total = root.total, other_.with = root.with;
    for (std::size_t k = 0; k < other_.total.size(); ++k) other_.total[k] -= child_.total[k];
    for (std::size_t i = 0; i < other_.with.size(); ++i) other_.with[i] -= child_.with[i];
    out.column = column;
    out.least[small] = minima_.minimum(child_, 1, kNone);
    out.least[1 - small] = minima_.minimum(other_, 1, kNone);
    return true;
}

/// Tries tests until all others are known to cost more than `limit`, which `tried` may lower.
template <class Tried>
void Chain::search(Subset& root, Amount& limit, const Tried& tried) {
    place();
    Amount least_test = kNone;
    for (int j = 0; j < rows_.columns; ++j) least_test = std::min(least_test, minima_.test(j));
    std::deque<std::pair<int, int>> open{{0, rows_.columns}};
    while (!open.empty()) {
        control_.check();
        auto [from, to] = open.front();
        open.pop_front();
        if (from >= to) continue;
        const int middle = from + (to - from) / 2;
        Cut cut;
        int left = middle, right = middle + 1;
        if (sides(root, middle, cut)) {
            tried(cut);
            const Amount gap = cut.least[0] + cut.least[1] + least_test - limit;
            // Those between are closer than the gap.
            const auto begin = place_.begin();
            if (gap > 0) {
                left = int(std::upper_bound(begin + from, begin + middle, place_[middle] - gap) - begin);
                right = int(std::lower_bound(begin + middle + 1, begin + to, place_[middle] + gap) - begin);
            }
        }
        open.push_back({from, left});
        open.push_back({right, to});
    }
}

std::vector<Cut> Chain::within(Subset& root, Amount limit) {
    std::vector<Cut> out;
    search(root, limit, [&](const Cut& cut) {
        if (cut.least[0] + cut.least[1] + minima_.test(cut.column) <= limit) out.push_back(cut);
    });
    std::sort(out.begin(), out.end(), [](const Cut& a, const Cut& b) { return a.column < b.column; });
    return out;
}

bool Chain::cheapest(Subset& root, Amount limit, Cut& out) {
    bool found = false;
    search(root, limit, [&](const Cut& cut) {
        const Amount price = cut.least[0] + cut.least[1] + minima_.test(cut.column);
        if (price > limit) return;
        limit = price - 1;  // the others have to be cheaper
        out = cut, found = true;
    });
    return found;
}

}  // namespace treeform::and_or
