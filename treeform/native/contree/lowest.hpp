#pragma once
// The open features of the lowest bounds of two sides, again and again. One pass over all features is quickest for a
// few of them, and where the first one ends the search; of many, the others come from a heap.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace treeform::contree {

/// The first feature of the lowest bound on each side; -1, and the bound `closed`, when there is none.
template <class Cost>
struct LowestOfSides {
    Cost low_left, low_right;
    int at_left = -1, at_right = -1;
};

/// By one pass over the bounds of both sides.
template <class Cost>
inline LowestOfSides<Cost> lowest_by_pass(const std::vector<Cost>& left, const std::vector<Cost>& right, Cost closed) {
    LowestOfSides<Cost> out{closed, closed};
    const Cost *of_left = left.data(), *of_right = right.data();
    const int features = static_cast<int>(left.size());
    for (int g = 0; g < features; ++g) {
        if (of_left[g] < out.low_left) out.low_left = of_left[g], out.at_left = g;
        if (of_right[g] < out.low_right) out.low_right = of_right[g], out.at_right = g;
    }
    return out;
}

/// The open features of one side in the order of their bounds, which must be those of its beginning.
template <class Cost>
class LowestByHeap {
public:
    void begin(const std::vector<Cost>& open, Cost closed) {
        heap_.clear();
        for (std::size_t g = 0; g < open.size(); ++g)
            if (open[g] < closed) heap_.emplace_back(open[g], g);
        std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
    int find(const std::vector<Cost>& open, Cost closed, Cost& low) {
        while (!heap_.empty() && open[heap_.front().second] == closed) {
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
            heap_.pop_back();
        }
        low = heap_.empty() ? closed : heap_.front().first;
        return heap_.empty() ? -1 : static_cast<int>(heap_.front().second);
    }

private:
    std::vector<std::pair<Cost, std::size_t>> heap_;  // those of equal bounds in the order of the features
};

template <class Cost>
class Lowest {
public:
    /// To be called when all bounds are new. Later on a feature may only be closed, by the bound `closed`.
    void begin() { asked_ = 0; }

    LowestOfSides<Cost> find(const std::vector<Cost>& left, const std::vector<Cost>& right, Cost closed) {
        if (left.size() <= kFew || asked_++ == 0) return lowest_by_pass(left, right, closed);
        if (asked_ == 2) left_.begin(left, closed), right_.begin(right, closed);
        LowestOfSides<Cost> out;
        out.at_left = left_.find(left, closed, out.low_left), out.at_right = right_.find(right, closed, out.low_right);
        return out;
    }

private:
    static constexpr std::size_t kFew = 64;
    std::size_t asked_ = 0;
    LowestByHeap<Cost> left_, right_;
};

}  // namespace treeform::contree
