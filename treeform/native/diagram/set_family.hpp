#pragma once
// A limited number of sets of points with a cost each, those that are often found first.
#include <algorithm>
#include <vector>

#include "instance.hpp"

namespace treeform::diagram {

/// Whether no point of `a` is outside of `b`.
inline bool is_within(const Word* a, const Word* b, int words) {
    Word out = 0;
    for (int w = 0; w < words; ++w) out |= a[w] & ~b[w];
    return out == 0;
}

class SetFamily {
public:
    explicit SetFamily(int words) : words_(words) {}

    std::size_t size() const { return cost_.size(); }
    const Word* points(std::size_t i) const { return points_.data() + i * words_; }
    Cost cost(std::size_t i) const { return cost_[i]; }

    /// That one was found: it moves halfway to the front. Returns its place.
    std::size_t raise(std::size_t i) {
        const std::size_t up = i / 2;
        if (up == i) return i;
        std::swap_ranges(points_.begin() + at(i), points_.begin() + at(i + 1), points_.begin() + at(up));
        std::swap(cost_[i], cost_[up]);
        return up;
    }
    /// Where there is no room, in place of one that is seldom found.
    void add(const Set& set, Cost cost) {
        if (size() < kMost) {
            points_.insert(points_.end(), set.begin(), set.end());
            cost_.push_back(cost);
            return;
        }
        const std::size_t place = kMost / 2 + replaced_++ % (kMost / 2);
        std::copy(set.begin(), set.end(), points_.begin() + at(place));
        cost_[place] = cost;
    }

private:
    static constexpr std::size_t kMost = 512;
    int words_;
    std::vector<Word> points_;
    std::vector<Cost> cost_;
    std::size_t replaced_ = 0;

    std::ptrdiff_t at(std::size_t i) const { return std::ptrdiff_t(i) * words_; }
};

}  // namespace treeform::diagram
