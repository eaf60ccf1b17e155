#pragma once
// Solutions of a subproblem and the two operations on lists of them: dropping what another solution makes needless, and
// joining the lists of two sides.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "problem.hpp"

namespace treeform::totals {

constexpr int kMostFeatures = 256;  // that a budget can count

/// The features that a solution tests, when there is a budget of them.
template <bool Masked>
struct Used {
    void clear() {}
    void join(const Used&, const Used&) {}
    void mark(int) {}
    bool within(const Used&) const { return true; }
    int count() const { return 0; }
};
template <>
struct Used<true> {
    std::uint64_t used[kMostFeatures / 64] = {};
    void clear() { std::fill(std::begin(used), std::end(used), 0); }
    void join(const Used& a, const Used& b) {
        for (int i = 0; i < kMostFeatures / 64; ++i) used[i] = a.used[i] | b.used[i];
    }
    void mark(int feature) { used[feature / 64] |= std::uint64_t(1) << (feature % 64); }
    bool within(const Used& o) const {
        std::uint64_t outside = 0;
        for (int i = 0; i < kMostFeatures / 64; ++i) outside |= used[i] & ~o.used[i];
        return outside == 0;
    }
    int count() const {
        int sum = 0;
        for (const std::uint64_t x : used) sum += std::popcount(x);
        return sum;
    }
};

/// A tree for a subproblem: its price above the subproblem's minimum, its cost and its active rows.
template <int K, bool Masked>
struct Solution : Used<Masked> {
    Amount excess, cost;
    Amount row[K > 0 ? K : 1];
};

/// What makes solution a needless next to b: b costs no more, is no higher on one-sided rows, equal on two-sided
/// ones, and tests no other features.
struct Dominance {
    std::vector<int> equal, upper;  // positions of active rows
    bool on = true;  // false: only equal rows are compared
};

template <int K, bool Masked>
using Front = std::vector<Solution<K, Masked>>;

template <int K, bool Masked>
bool dominates(const Solution<K, Masked>& b, const Solution<K, Masked>& a, const Dominance& d) {
    if (b.cost > a.cost || !b.within(a)) return false;
    for (const int k : d.upper)
        if (b.row[k] > a.row[k]) return false;
    for (const int k : d.equal)
        if (b.row[k] != a.row[k]) return false;
    return true;
}

/// Drops needless solutions and sorts by excess. Not every needless one is found when many rows are one-sided: each is
/// compared with the last few kept. That is a matter of speed only.
template <int K, bool Masked>
void tidy(Front<K, Masked>& list, const Dominance& d) {
    using One = Solution<K, Masked>;
    constexpr std::size_t kCompared = 256;
    std::sort(list.begin(), list.end(), [&](const One& a, const One& b) {
        for (const int k : d.equal)
            if (a.row[k] != b.row[k]) return a.row[k] < b.row[k];
        for (const int k : d.upper)
            if (a.row[k] != b.row[k]) return a.row[k] < b.row[k];
        return a.cost < b.cost;
    });
    std::size_t kept = 0, group = 0;
    Amount least = kNone;
    std::map<Amount, Amount> stairs;  // two one-sided rows: second row -> least cost so far
    for (std::size_t i = 0; i < list.size(); ++i) {
        const One one = list[i];
        bool same = kept > group;
        if (same)
            for (const int k : d.equal) same = same && list[kept - 1].row[k] == one.row[k];
        if (!same) group = kept, least = kNone, stairs.clear();
        bool keep = true;
        if (!Masked && d.upper.size() <= 1) {
            keep = one.cost < least;
            least = std::min(least, one.cost);
        } else if (!Masked && d.upper.size() == 2) {
            const Amount y = one.row[d.upper[1]];
            auto at = stairs.upper_bound(y);
            if (at != stairs.begin() && std::prev(at)->second <= one.cost)
                keep = false;
            else {
                auto from = stairs.lower_bound(y);
                while (from != stairs.end() && from->second >= one.cost) from = stairs.erase(from);
                stairs[y] = one.cost;
            }
        } else {
            for (std::size_t k = kept; k > group && kept - k < kCompared && keep; --k)
                keep = !dominates(list[k - 1], one, d);
        }
        if (keep) list[kept++] = one;
    }
    list.resize(kept);
    std::sort(list.begin(), list.end(), [](const One& a, const One& b) { return a.excess < b.excess; });
}

}  // namespace treeform::totals
