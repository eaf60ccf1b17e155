#pragma once
// The open feature of the lowest bound, again and again. A pass over all features is quickest for a few of them, and
// where the first one ends the search; of many, the others come from a heap.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace treeform::contree {

template <class Cost>
class Lowest {
public:
    /// To be called when all bounds are new. Later on a feature may only be closed, by the bound `closed`.
    void begin() { asked_ = 0; }

    /// The first feature of the lowest bound, which goes to `low`; -1, and `closed`, when there is none.
    int find(const std::vector<Cost>& open, Cost closed, Cost& low) {
        if (open.size() <= kFew || asked_++ == 0) return first(open, closed, low);
        if (asked_ == 2) fill(open, closed);
        while (!heap_.empty() && open[heap_.front().second] == closed) {
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
            heap_.pop_back();
        }
        low = heap_.empty() ? closed : heap_.front().first;
        return heap_.empty() ? -1 : static_cast<int>(heap_.front().second);
    }

private:
    static constexpr std::size_t kFew = 64;
    std::size_t asked_ = 0;
    std::vector<std::pair<Cost, std::size_t>> heap_;  // those of equal bounds in the order of the features

    static int first(const std::vector<Cost>& open, Cost closed, Cost& low) {
        int at = -1;
        low = closed;
        for (std::size_t g = 0; g < open.size(); ++g)
            if (open[g] < low) low = open[g], at = static_cast<int>(g);
        return at;
    }
    void fill(const std::vector<Cost>& open, Cost closed) {
        heap_.clear();
        for (std::size_t g = 0; g < open.size(); ++g)
            if (open[g] < closed) heap_.emplace_back(open[g], g);
        std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
};

}  // namespace treeform::contree
