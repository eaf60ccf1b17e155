#include "regions.hpp"

#include <algorithm>

namespace treeform::diagram {
namespace {

/// Boxes between two looks at the clock.
constexpr int kCheckEach = 256;

}  // namespace

Regions::Regions(const Instance& in, const Control& control, bool used)
    : in_(in), control_(control), used_(used && in.view.classes == 2), none_(in.words(), 0) {
    for (int p = 0; p < in.view.planes && used_; ++p) planes_[in.view.plane_class[p]].push_back(p);
    for (auto& guess : guess_) guess.assign(2 * in.view.features, 1);
    for (const int c : {0, 1})
        for (const int p : planes_[c]) words_of_[c] += in.view.to[p] - in.view.from[p];
}

bool Regions::search(const Word* x, Cost& best, double most) {
    const int words = in_.words();
    words_read_ = 0, most_words_ = most;
    for (int c = 0; c < 2; ++c) {
        within_[c].resize(planes_[c].size() * words);
        for (std::size_t i = 0; i < planes_[c].size(); ++i)
            both(x, in_.view.plane + std::int64_t(planes_[c][i]) * words, within_[c].data() + i * words, words);
        total_[c] = 0;
        total_[c] = sum_of(c, [&](const Word* within, int from, int words) {
            return in_.kernels->count_both(within + from, x + from, words);
        });
    }
    best = std::min({best, total_[0], total_[1]});
    for (const int c : {0, 1}) {
        const int d = 1 - c;
        list_sides(c, best);
        list_left_over(d);
        for (std::size_t a = 0; a < sides_.size(); ++a) {
            control_.check();
            for (std::size_t b = a; b < sides_.size(); ++b) {
                if (total_[d] - sides_[a].saved - sides_[b].saved >= best) break;
                if (left_over(a, b, d) < best && !search_pair(c, sides_[a], sides_[b], best)) return false;
            }
        }
    }
    return true;
}

/// Region `i` of a side, which may hold points outside of the set.
Regions::Points Regions::region(const Side& one, int i) const {
    const View& v = in_.view;
    if (i == 0) return {none_.data(), 0};
    if (one.is_left) return {in_.split(v.first[one.feature] + i - 1), 0};
    return {in_.split(v.first[one.feature + 1] - i), ~Word{0}};
}

/// The sum over the planes of class `c` of what `count` finds in the words that hold its points.
template <class Count>
Cost Regions::sum_of(int c, const Count& count) {
    Cost sum = 0;
    for (std::size_t i = 0; i < planes_[c].size(); ++i) {
        const int p = planes_[c][i], from = in_.view.from[p], words = in_.view.to[p] - from;
        sum += count(within_[c].data() + i * in_.words(), from, words) << in_.view.shift[p];
        words_read_ += words;
    }
    return sum;
}

Within Regions::within(int c) const {
    return {planes_[c].data(), int(planes_[c].size()), within_[c].data(), total_[c]};
}

/// All regions on that side of the feature.
Nested Regions::nested(const Side& one) const {
    const View& v = in_.view;
    const int from = v.first[one.feature], to = v.first[one.feature + 1];
    if (one.is_left) return {in_.split(from), v.words, to - from, false};
    return {in_.split(to - 1), -v.words, to - from, true};
}

/// What the points of the set that are in neither cost as class `c`.
Cost Regions::cost_outside(int c, const Points& a, const Points& b) {
    return sum_of(c, [&](const Word* within, int from, int words) {
        return in_.kernels->count_outside(within + from, a.set + from, a.flip, b.set + from, b.flip, words);
    });
}

/// The sides as far as they cost less than `need` as class `c`, those that save most of the other class first. Those
/// that save too little together with any other are left out.
void Regions::list_sides(int c, Cost need) {
    const View& v = in_.view;
    sides_.clear(), level_.clear();
    Cost most = 0;
    std::int64_t looks = 0;
    const Within as_c = within(c), as_d = within(1 - c);
    for (int f = 0; f < v.features; ++f)
        for (const bool is_left : {true, false}) {
            Side one{f, is_left};
            const Nested regions = nested(one);
            int& guess = guess_[c][2 * f + is_left];
            one.size = guess = in_.kernels->largest(v, as_c, regions, need, guess, looks);
            one.saved = in_.kernels->region(v, as_d, regions, one.size);
            most = std::max(most, one.saved);
            if (one.saved > 0) sides_.push_back(one);
        }
    words_read_ += looks * words_of_[c] + std::int64_t{2} * v.features * words_of_[1 - c];
    const Cost least = total_[1 - c] - need - most;
    std::erase_if(sides_, [&](const Side& one) { return one.saved <= least; });
    std::stable_sort(sides_.begin(), sides_.end(), [](auto& a, auto& b) { return a.saved > b.saved; });
}

/// What the largest region of every side leaves over, in every plane of class `d`.
void Regions::list_left_over(int d) {
    const std::size_t words = in_.words(), all = within_[d].size();
    left_over_.resize(all * sides_.size());
    for (std::size_t i = 0; i < sides_.size(); ++i) {
        const auto [set, flip] = region(sides_[i], sides_[i].size);
        for (std::size_t p = 0; p < all; p += words) {
            const Word* from = within_[d].data() + p;
            Word* rest = left_over_.data() + i * all + p;
            if (flip)
                both(from, set, rest, in_.words());
            else
                without(from, set, rest, in_.words());
        }
    }
}

/// What the largest regions of two sides leave over together, as class `d`.
Cost Regions::left_over(std::size_t a, std::size_t b, int d) {
    const Word *of_a = left_over_.data() + a * within_[d].size(), *of_b = left_over_.data() + b * within_[d].size();
    return sum_of(d, [&](const Word* within, int from, int words) {
        const std::ptrdiff_t at = within - within_[d].data() + from;
        return in_.kernels->count_both(of_a + at, of_b + at, words);
    });
}

/// Of the regions of one cost the largest leaves the least over: the others are left out.
void Regions::list_levels(int c, Side& one) {
    const Within as_c = within(c);
    Nested regions = nested(one);
    regions.size = one.size;
    std::int64_t looks = 0;
    one.first_level = int(level_.size());
    for (int i = 0, step = 1; i <= one.size; ++i, ++looks) {
        const Cost now = in_.kernels->region(in_.view, as_c, regions, i);
        i = in_.kernels->largest(in_.view, as_c, regions, now + 1, i + step, looks);
        if (one.levels++ > 0) step = std::max(1, i - level_.back());
        level_.push_back(i);
    }
    words_read_ += looks * words_of_[c];
}

/// The best two regions of two sides. False: more words read than allowed.
bool Regions::search_pair(int c, Side& a, Side& b, Cost& best) {
    if (a.levels == 0) list_levels(c, a);
    if (b.levels == 0) list_levels(c, b);
    const auto at = [&](const Side& one, int level) { return region(one, level_[one.first_level + level]); };
    boxes_.assign(1, {0, a.levels - 1, 0, b.levels - 1});
    for (int i = 1; !boxes_.empty(); ++i) {
        if (i % kCheckEach == 0) control_.check();
        if (double(words_read_) > most_words_) return false;
        const Box r = boxes_.back();
        boxes_.pop_back();
        const Cost value = total_[c] - cost_outside(c, at(a, r.first_a), at(b, r.first_b))
                           + cost_outside(1 - c, at(a, r.last_a), at(b, r.last_b));
        if (value >= best) continue;
        if (r.first_a == r.last_a && r.first_b == r.last_b) {
            best = value;
            continue;
        }
        Box low = r, high = r;
        if (r.last_a - r.first_a >= r.last_b - r.first_b)
            low.last_a = r.first_a + (r.last_a - r.first_a) / 2, high.first_a = low.last_a + 1;
        else
            low.last_b = r.first_b + (r.last_b - r.first_b) / 2, high.first_b = low.last_b + 1;
        boxes_.push_back(low), boxes_.push_back(high);
    }
    return true;
}

}  // namespace treeform::diagram
