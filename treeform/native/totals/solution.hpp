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

/// What a subtree carries beside sums, joined by union: its marks in the first word, the features that it tests in the
/// others. Fewer of them never forbid more.
template <int Words>
struct Carried {
    std::uint64_t word[Words];
    void clear() { std::fill(std::begin(word), std::end(word), 0); }
    void join(const Carried& a, const Carried& b) {
        for (int i = 0; i < Words; ++i) word[i] = a.word[i] | b.word[i];
    }
    void set_marks(std::uint64_t marks) { word[0] = marks; }
    std::uint64_t marks() const { return word[0]; }
    void test(int feature) {
        if (Words > 1) word[1 + feature / 64] |= std::uint64_t(1) << (feature % 64);
    }
    bool within(const Carried& o) const {
        std::uint64_t outside = 0;
        for (int i = 0; i < Words; ++i) outside |= word[i] & ~o.word[i];
        return outside == 0;
    }
    int features() const {
        int sum = 0;
        for (int i = 1; i < Words; ++i) sum += std::popcount(word[i]);
        return sum;
    }
    bool operator==(const Carried&) const = default;
};
template <>
struct Carried<0> {
    void clear() {}
    void join(const Carried&, const Carried&) {}
    void set_marks(std::uint64_t) {}
    std::uint64_t marks() const { return 0; }
    void test(int) {}
    bool within(const Carried&) const { return true; }
    int features() const { return 0; }
    bool operator==(const Carried&) const = default;
};

/// A tree for a subproblem: its price above the subproblem's minimum, its cost and its active rows.
template <int K, int Words>
struct Solution {
    [[no_unique_address]] Carried<Words> carried;
    Amount excess, cost;
    Amount row[K > 0 ? K : 1];
};

/// What makes solution a needless next to b: b costs no more, is no higher on one-sided rows, equal on two-sided
/// ones, and tests no other features.
struct Dominance {
    std::vector<int> equal, upper;  // positions of active rows
    bool features = false;  // sets of features are compared, too: there are many of them
};

template <int K, int Words>
using Front = std::vector<Solution<K, Words>>;

template <int K, int Words>
bool dominates(const Solution<K, Words>& b, const Solution<K, Words>& a, const Dominance& d) {
    if (b.cost > a.cost || !b.carried.within(a.carried)) return false;
    for (const int k : d.upper)
        if (b.row[k] > a.row[k]) return false;
    for (const int k : d.equal)
        if (b.row[k] != a.row[k]) return false;
    return true;
}

/// The cheapest kept so far of those that carry the same: overall, or by the second of two one-sided rows.
template <int Words>
struct Cheapest {
    Carried<Words> carried;
    Amount least = kNone;
    std::map<Amount, Amount> stairs;
    explicit Cheapest(const Carried<Words>& what) : carried(what) {}
    bool dominates(Amount cost, Amount second, bool two) const {
        if (!two) return least <= cost;
        const auto at = stairs.upper_bound(second);
        return at != stairs.begin() && std::prev(at)->second <= cost;
    }
    void add(Amount cost, Amount second, bool two) {
        least = std::min(least, cost);
        if (!two) return;
        auto from = stairs.lower_bound(second);
        while (from != stairs.end() && from->second >= cost) from = stairs.erase(from);
        stairs[second] = cost;
    }
};

/// Drops needless solutions and sorts by excess. Not every needless one is found when many rows are one-sided, or when
/// features are counted: each is compared with the last few kept. That is a matter of speed only.
template <int K, int Words>
void tidy(Front<K, Words>& list, const Dominance& d) {
    using One = Solution<K, Words>;
    constexpr std::size_t kCompared = 256;
    std::sort(list.begin(), list.end(), [&](const One& a, const One& b) {
        for (const int k : d.equal)
            if (a.row[k] != b.row[k]) return a.row[k] < b.row[k];
        for (const int k : d.upper)
            if (a.row[k] != b.row[k]) return a.row[k] < b.row[k];
        return a.cost < b.cost;
    });
    const bool two = d.upper.size() == 2, stepwise = !d.features && d.upper.size() <= 2;
    std::size_t kept = 0, group = 0;
    std::vector<Cheapest<Words>> cheapest;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const One one = list[i];
        bool same = kept > group;
        if (same)
            for (const int k : d.equal) same = same && list[kept - 1].row[k] == one.row[k];
        if (!same) group = kept, cheapest.clear();
        bool keep = true;
        if (stepwise) {
            const Amount second = two ? one.row[d.upper[1]] : 0;
            Cheapest<Words>* own = nullptr;
            for (Cheapest<Words>& other : cheapest) {
                if (other.carried == one.carried) own = &other;
                if (other.carried.within(one.carried)) keep = keep && !other.dominates(one.cost, second, two);
                if (!keep) break;
            }
            if (keep) {
                if (!own && cheapest.size() < kCompared) own = &cheapest.emplace_back(one.carried);
                if (own) own->add(one.cost, second, two);
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
