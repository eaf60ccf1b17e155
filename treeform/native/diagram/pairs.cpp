#include "pairs.hpp"

#include <algorithm>
#include <cmath>

namespace treeform::diagram {

double words_of_planes(const View& v) {
    double sum = 0;
    for (int p = 0; p < v.planes; ++p) sum += v.to[p] - v.from[p];
    return sum;
}

double steps_of_stump(const View& v) {
    const double thresholds = double(v.splits) / std::max(v.features, 1);
    return 1 + v.features * words_of_planes(v) * std::log2(2 + thresholds);
}

Pairs::Pairs(const Instance& in, bool used)
    : in_(in), stump_steps_(steps_of_stump(in.view)), words_per_point_(words_of_planes(in.view) / in.view.words / 64) {
    const View& v = in.view;
    const int most = std::min(kMostSplits, v.splits);
    at_.stride = (most + 7) / 8 * 8;
    const std::size_t stride = at_.stride;
    if (!used || most == 0 || std::int64_t(v.planes) * v.words > kMostWithin)
        return;  // no room, or no use: `count` refuses
    column_.resize(stride * v.words), plane_.resize(std::size_t(v.planes) * v.words);
    by_.resize(stride * v.classes), total_.resize(v.classes), split_.resize(stride);
    from_.resize(v.planes), to_.resize(v.planes);
    for (auto* one : {&left_, &right_, &left_leaf_, &right_leaf_}) one->resize(stride);
    at_.column = column_.data(), at_.plane = plane_.data(), at_.by = by_.data(), at_.total = total_.data();
    at_.split = split_.data(), at_.from = from_.data(), at_.to = to_.data();
}

/// So many splits may part a set of so many points.
int Pairs::most_splits(int points) const {
    int sum = 0;
    for (int f = 0; f < in_.view.features; ++f)
        sum += std::min(in_.view.first[f + 1] - in_.view.first[f], points - 1);
    return sum;
}

bool Pairs::count(const Word* x) {
    if (!pack(x)) return false;
    in_.kernels->pairs(in_.view, at_, left_.data(), right_.data());
    return true;
}

bool Pairs::pack(const Word* x) {
    const View& v = in_.view;
    if (plane_.empty()) return false;
    const int points = in_.kernels->count(x, v.words);
    const double per_pair = (words_per_point_ * (points + 63) + 14) / 16;
    const int most = int(std::min<double>(std::min(kMostSplits, v.splits), std::sqrt(kMostSteps / per_pair)));
    if (most_splits(points) > 2 * most || !in_.kernels->pack(v, x, most, at_)) return false;
    const double steps = double(at_.splits) * at_.splits * per_pair;
    work_ = 1 + std::int64_t(steps / stump_steps_);
    std::fill_n(left_leaf_.begin(), at_.splits, kNever), std::fill_n(right_leaf_.begin(), at_.splits, kNever);
    for (int k = 0; k < v.classes; ++k) {
        const Cost* by = by_.data() + std::size_t(k) * at_.stride;
        for (int s = 0; s < at_.splits; ++s) {
            left_leaf_[s] = std::min(left_leaf_[s], by[s]);
            right_leaf_[s] = std::min(right_leaf_[s], total_[k] - by[s]);
        }
    }
    return true;
}

}  // namespace treeform::diagram
