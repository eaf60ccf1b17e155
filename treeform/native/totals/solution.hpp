#pragma once
// Solutions of a subproblem and the two operations on lists of them: dropping what another solution makes needless
// (tidy.hpp), and joining the lists of two sides.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <vector>

#include "tidy.hpp"

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
    void copy_to(Amount* out) const { std::copy(std::begin(word), std::end(word), out); }
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
    void copy_to(Amount*) const {}
};

/// A tree for a subproblem: its price above the subproblem's minimum, its cost and its active rows.
template <int K, int Words>
struct Solution {
    [[no_unique_address]] Carried<Words> carried;
    Amount excess, cost;
    Amount row[K > 0 ? K : 1];
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

/// Drops needless solutions and sorts by excess. Not every needless one is found when many rows are one-sided, or when
/// features are counted: each is compared with the last few kept. That is a matter of speed only.
template <int K, int Words>
void tidy(Front<K, Words>& list, const Dominance& d) {
    if (list.size() < 2) return;
    Compared& compared = Compared::of_this_thread();
    compared.begin(list.size(), Words, d);
    for (std::size_t i = 0; i < list.size(); ++i) {
        Amount* out = compared.values(i);
        for (const int k : d.equal) *out++ = list[i].row[k];
        for (const int k : d.upper) *out++ = list[i].row[k];
        *out++ = list[i].cost, *out++ = list[i].excess;
        list[i].carried.copy_to(out);
    }
    Front<K, Words> kept;
    for (const std::uint32_t i : compared.kept()) kept.push_back(list[i]);
    list.assign(kept.begin(), kept.end());  // which keeps its room
}

}  // namespace treeform::totals
