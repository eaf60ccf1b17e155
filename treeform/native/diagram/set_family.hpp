#pragma once
// A limited number of sets of points with a cost each, those that are often found first. With more of them more is found,
// and a look at all takes longer: 128 and 1024 took a tenth and a fifth longer (breast-cancer-wisconsin III).
#include <algorithm>
#include <vector>

#include "instance.hpp"

namespace treeform::diagram {

class SetFamily {
public:
    explicit SetFamily(const Instance& in)
        : in_(in), words_(in.words()), most_(std::clamp(kMostWords / in.words(), 16, 256)) {}

    int size() const { return int(cost_.size()); }
    const Word* points(int i) const { return points_.data() + at(i); }
    Cost cost(int i) const { return cost_[i]; }
    /// The first set, `from` or later, that is within `x`, or that `x` is within; the size if there is none.
    int find_within(const Word* x, int from) const {
        return in_.kernels->find_within(points_.data(), from, size(), x, words_);
    }
    int find_around(const Word* x) const { return in_.kernels->find_around(points_.data(), 0, size(), x, words_); }

    /// That one was found: it moves halfway to the front. Returns its place.
    int raise(int i) {
        const int up = i / 2;
        if (up == i) return i;
        std::swap_ranges(points_.begin() + at(i), points_.begin() + at(i + 1), points_.begin() + at(up));
        std::swap(cost_[i], cost_[up]);
        return up;
    }
    /// Where there is no room, in place of one that is seldom found.
    void add(const Set& set, Cost cost) {
        if (size() < most_) {
            points_.insert(points_.end(), set.begin(), set.end());
            cost_.push_back(cost);
            return;
        }
        const int place = most_ / 2 + replaced_++ % (most_ / 2);
        std::copy(set.begin(), set.end(), points_.begin() + at(place));
        cost_[place] = cost;
    }

private:
    static constexpr int kMostWords = 8192;
    const Instance& in_;
    int words_, most_;
    std::vector<Word> points_;
    std::vector<Cost> cost_;
    int replaced_ = 0;

    std::ptrdiff_t at(int i) const { return std::ptrdiff_t(i) * words_; }
};

}  // namespace treeform::diagram
