#include "instance.hpp"

#include <algorithm>
#include <numeric>

namespace treeform::diagram {

void Instance::build(const Points& points, Cost min_support, std::size_t memory, const std::string& simd,
                     const Control& control) {
    kernels = &choose_kernels(simd.c_str());
    view.classes = points.classes;
    view.words = int((points.rows + 63) / 64);
    all.assign(view.words, 0);
    for (std::size_t p = 0; p < points.rows; ++p) all[p / 64] |= Word{1} << (p % 64);
    weight.assign(points.weight, points.weight + points.rows);
    is_unit_ = std::all_of(weight.begin(), weight.end(), [](Cost one) { return one == 1; });
    make_costs(points);
    make_planes(points.classes);
    find_words();
    make_most(points.classes);
    if (points.threshold)
        take_thresholds(points, min_support, control);
    else
        make_splits(points, min_support, memory, control);
    view.plane = plane_.data(), view.plane_class = plane_class_.data(), view.shift = shift_.data();
    view.from = from_.data(), view.to = to_.data();
    view.split = split_.data(), view.first = first_.data();
    view.planes = int(shift_.size()), view.splits = int(cuts.size()), view.features = int(first_.size()) - 1;
}

void Instance::make_costs(const Points& points) {
    const int k = points.classes;
    cost.assign(points.value, points.value + points.rows * k);
    offset = total = 0;
    for (std::size_t p = 0; p < points.rows; ++p) {
        Cost* row = cost.data() + p * k;
        const Cost least = *std::min_element(row, row + k);
        offset += least;
        for (int c = 0; c < k; ++c) row[c] -= least;
        total += *std::max_element(row, row + k);
    }
}

void Instance::make_planes(int classes) {
    const std::size_t n = weight.size();
    for (int c = 0; c < classes; ++c) {
        Cost bits = 0;
        for (std::size_t p = 0; p < n; ++p) bits |= cost[p * classes + c];
        for (int b = 0; b < 62; ++b) {
            if (!(bits >> b & 1)) continue;
            plane_class_.push_back(c), shift_.push_back(b);
            plane_.resize(plane_.size() + view.words, 0);
            Word* plane = plane_.data() + plane_.size() - view.words;
            for (std::size_t p = 0; p < n; ++p)
                if (cost[p * classes + c] >> b & 1) plane[p / 64] |= Word{1} << (p % 64);
        }
    }
}

/// The words of every plane that hold points.
void Instance::find_words() {
    for (std::size_t p = 0; p < shift_.size(); ++p) {
        const Word* plane = plane_.data() + p * view.words;
        int from = 0, to = view.words;
        while (to > 0 && plane[to - 1] == 0) --to;
        while (from < to && plane[from] == 0) ++from;
        from_.push_back(from), to_.push_back(to);
    }
}

void Instance::make_most(int classes) {
    const std::size_t n = weight.size();
    std::vector<Cost> most(n);
    Cost bits = 0;
    for (std::size_t p = 0; p < n; ++p) {
        most[p] = *std::max_element(cost.data() + p * classes, cost.data() + (p + 1) * classes);
        bits |= most[p];
    }
    for (int b = 0; b < 62; ++b) {
        if (!(bits >> b & 1)) continue;
        most_shift_.push_back(b);
        most_plane_.resize(most_plane_.size() + view.words, 0);
        Word* plane = most_plane_.data() + most_plane_.size() - view.words;
        for (std::size_t p = 0; p < n; ++p)
            if (most[p] >> b & 1) plane[p / 64] |= Word{1} << (p % 64);
    }
}

Cost Instance::most(const Word* x) const {
    Cost sum = 0;
    for (std::size_t i = 0; i < most_shift_.size(); ++i)
        sum += kernels->count_both(x, most_plane_.data() + i * view.words, view.words) << most_shift_[i];
    return sum;
}

Cost Instance::few_classes(const Word* x, std::int64_t leaves) const {
    if (leaves >= view.classes) return 0;
    const Cost most = this->most(x);
    std::copy_n(by_class_, view.classes, sorted_);
    std::nth_element(sorted_, sorted_ + leaves, sorted_ + view.classes);
    Cost lower = most;
    for (std::int64_t i = 0; i < leaves; ++i) lower -= most - sorted_[i];
    return std::max<Cost>(lower, 0);
}

Cost Instance::weight_of(const Word* x) const {
    if (is_unit_) return kernels->count(x, view.words);
    Cost sum = 0;
    for (int w = 0; w < view.words; ++w)
        for (Word bits = x[w]; bits; bits &= bits - 1) sum += weight[std::size_t(w) * 64 + __builtin_ctzll(bits)];
    return sum;
}

int Instance::label(const Word* x, Cost& value) const {
    value = leaf(x);
    for (int k = 0; k < view.classes; ++k)
        if (by_class_[k] == value) return k;
    return 0;
}

Cost Instance::mass(const Word* x) const {
    leaf(x);
    return std::accumulate(by_class_, by_class_ + view.classes, Cost{0});
}

}  // namespace treeform::diagram
