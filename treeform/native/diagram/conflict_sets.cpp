#include "conflict_sets.hpp"

#include <algorithm>
#include <bit>
#include <random>

namespace treeform::diagram {

ConflictSets::ConflictSets(const Instance& in, bool used) : in_(in), least_of_(in.weight.size()), rest_(in.words()) {
    if (!used) return;
    const std::size_t classes = in.view.classes;
    for (std::size_t i = 0; i < least_of_.size(); ++i) {
        Cost& least = least_of_[i] = kNever;
        for (std::size_t k = 0; k < classes; ++k)
            if (const Cost cost = in.cost[i * classes + k]; cost > 0) least = std::min(least, cost);
        least_ = least_ == 0 ? least : std::min(least_, least);
    }
}

Cost ConflictSets::bound(const Word* x, Word key, Cost need) {
    std::copy_n(x, in_.words(), rest_.begin());
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return 0;
    SetFamily& family = found->second;
    Cost sum = 0;
    for (int i = 0; sum < need && (i = family.find_within(rest_.data(), i)) < family.size(); ++i) {
        for (int w = 0; w < in_.words(); ++w) rest_[w] &= ~family.points(i)[w];
        sum += family.cost(i);
        family.raise(i);
    }
    return sum;
}

void ConflictSets::learn(const Word* x, Word key, const CostsSomething& costs) {
    Set left(x, x + in_.words()), less;
    std::vector<int> points = shuffled(x);
    for (std::size_t many = points.size() / 2; many > 0; many /= 2)
        for (std::size_t from = 0; from < points.size();) {
            const std::size_t to = std::min(points.size(), from + many);
            less = left;
            for (std::size_t i = from; i < to; ++i) less[points[i] / 64] &= ~(Word{1} << points[i] % 64);
            if (costs(less.data())) {
                left = less;
                points.erase(points.begin() + std::ptrdiff_t(from), points.begin() + std::ptrdiff_t(to));
            } else {
                from = to;
            }
        }
    Cost cost = kNever;
    for (const int i : points) cost = std::min(cost, least_of_[i]);
    by_key_.try_emplace(key, in_).first->second.add(left, cost);
}

/// The points of a set in random order, so that other conflict sets are learnt from sets that are alike.
std::vector<int> ConflictSets::shuffled(const Word* x) {
    std::vector<int> points;
    for (int w = 0; w < in_.words(); ++w)
        for (Word rest = x[w]; rest; rest &= rest - 1) points.push_back(w * 64 + std::countr_zero(rest));
    std::mt19937_64 draw(++drawn_);
    for (std::size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[draw() % i]);
    return points;
}

}  // namespace treeform::diagram
