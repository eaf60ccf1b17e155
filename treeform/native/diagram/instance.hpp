#pragma once
// The points as bit sets: ranks, splits, planes of costs and of weights.
#include <string>
#include <vector>

#include "control.hpp"
#include "kernel.hpp"
#include "problem.hpp"

namespace treeform::diagram {

using Set = std::vector<Word>;

/// A test as it is returned.
struct Cut {
    int feature = -1;
    double low = 0, high = 0;   // neighbouring values: low goes left, high right
};

/// Immutable after `build`. Costs are relative: the least entry of each point is taken off (`offset` is their sum).
class Instance {
public:
    View view;
    const Kernels* kernels = nullptr;
    std::vector<Cut> cuts;              // by split
    Set all;                            // every point
    Cost offset = 0, total = 0;         // `total`: an upper bound of any relative cost
    std::vector<Cost> weight;           // per point
    std::vector<Cost> cost;             // [point * classes + class], relative

    void build(const Points& points, Cost min_support, std::size_t memory, const std::string& simd,
               const Control& control);

    int words() const { return view.words; }
    const Word* split(int s) const { return split_.data() + std::size_t(s) * view.words; }
    /// Weight of the points of a set.
    Cost weight_of(const Word* x) const;
    Cost leaf(const Word* x) const { return kernels->leaf(view, x, by_class_); }
    /// A lower bound of the cost of any model with at most `leaves` leaves on the set: it predicts no more classes.
    /// What a class saves on a point is its row's largest cost less its own, and a point saves by one class at a time:
    /// cost >= (sum of the largest costs) - (what the best classes save, each on all points). After `leaf`.
    Cost few_classes(const Word* x, std::int64_t leaves) const;
    /// Sum of the largest costs of the points: what a set can cost more than one without them.
    Cost most(const Word* x) const;
    /// Cost per class, and the cheapest class.
    int label(const Word* x, Cost& value) const;
    /// Sum over classes of the costs: 0 exactly when every prediction is free on the set.
    Cost mass(const Word* x) const;
    std::size_t bytes() const { return (split_.size() + plane_.size()) * sizeof(Word); }

private:
    std::vector<Word> split_, plane_;
    std::vector<Word> most_plane_;  // of the largest cost of every point, bit by bit
    std::vector<int> most_shift_;
    std::vector<int> plane_class_, shift_, from_, to_, first_;
    mutable Cost by_class_[kMostClasses], sorted_[kMostClasses];
    bool is_unit_ = false;  // every point weighs 1

    void make_costs(const Points& points);
    void make_planes(int classes);
    void find_words();
    void make_most(int classes);
    // splits.cpp
    void make_splits(const Points& points, Cost min_support, std::size_t memory, const Control& control);
    void take_thresholds(const Points& points, Cost min_support, const Control& control);
};

inline bool empty(const Word* a, int words) {
    Word any = 0;
    for (int w = 0; w < words; ++w) any |= a[w];
    return any == 0;
}
inline void both(const Word* a, const Word* b, Word* out, int words) {
    for (int w = 0; w < words; ++w) out[w] = a[w] & b[w];
}
inline void without(const Word* a, const Word* b, Word* out, int words) {
    for (int w = 0; w < words; ++w) out[w] = a[w] & ~b[w];
}
/// The words are mixed one by one and added: none waits for the one before.
inline std::uint64_t hash_of(const Word* a, int words, std::uint64_t seed) {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;
    std::uint64_t h = seed * kStep + 0x632be59bd9b4e019ull, place = kStep;
    for (int w = 0; w < words; ++w, place += kStep) {
        std::uint64_t mixed = (a[w] ^ place) * 0xbf58476d1ce4e5b9ull;
        mixed ^= mixed >> 32;
        h += mixed * 0x94d049bb133111ebull;
    }
    h ^= h >> 29, h *= 0xbf58476d1ce4e5b9ull;
    return h ^ h >> 32;
}
struct SetHash {
    std::size_t operator()(const Set& key) const { return hash_of(key.data(), int(key.size()), 1); }
};

}  // namespace treeform::diagram
