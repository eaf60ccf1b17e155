#include "tree_bounds.hpp"

#include <algorithm>
#include <numeric>

namespace treeform::diagram {
namespace {

/// Tests of a full tree.
std::int64_t full(int depth) { return depth >= 40 ? kNever : (std::int64_t{1} << depth) - 1; }

}  // namespace

Trees::Frame& Trees::frame(int level) {
    while (int(frames_.size()) <= level) {
        auto one = std::make_unique<Frame>();
        one->left.resize(in_.words()), one->right.resize(in_.words());
        one->by_feature.resize(in_.view.features), one->turn.resize(in_.view.features);
        frames_.push_back(std::move(one));
    }
    return *frames_[level];
}

Cost Trees::bound(const Word* x, int depth, std::int64_t tests, Cost need, std::int64_t work) {
    if (need <= 0) return 0;
    depth = int(std::min<std::int64_t>(depth, tests)), tests = std::min(tests, full(depth));
    if (depth <= 0) return in_.leaf(x);
    const Word number = Word(depth) << 48 | Word(tests);
    return limited(x, number, need, work, [&](Cost below) { return solve(0, x, depth, tests, below); });
}

/// At least the returned value; exactly that if it is below `need`.
Cost Trees::solve(int level, const Word* x, int depth, std::int64_t tests, Cost need) {
    if (need <= 0) return 0;
    depth = int(std::min<std::int64_t>(depth, tests)), tests = std::min(tests, full(depth));
    const Cost leaf = in_.leaf(x);
    if (depth <= 0 || leaf == 0) return leaf;
    const Word number = Word(depth) << 48 | Word(tests);
    if (const Known* known = known_.find(x, number)) {
        if (known->tried == Known::kWhole || known->lower >= need) {
            ++counters_.tree_hits;
            return known->lower;
        }
    }
    if (in_.view.classes > 2) {
        if (const Cost few = in_.few_classes(x, tests + 1); few >= need) return few;
    }
    if (tests == 1) return search(level, x, depth, tests, number, need);
    return with_sets(x, number, need, [&](const Word* points, Cost below) {
        return search(level, points, depth, tests, number, below);
    });
}

/// The same by search.
Cost Trees::search(int level, const Word* x, int depth, std::int64_t tests, Word number, Cost need) {
    const Cost leaf = in_.leaf(x);
    if (leaf == 0) return 0;
    control_.count(counters_.trees);
    Cost best = std::min(leaf, need);
    DepthTwo two;
    if (work_ <= 0) throw TooLong{};
    if (tests == 1) {
        best = std::min(best, stump(x, best).value);
    } else if (depth == 2 && depth_two(level, x, two)) {
        store(x, Word{1} << 48 | 1, two.one, true);
        if (tests == 3) store(x, Word{2} << 48 | 2, two.chain, true);
        return store(x, number, tests == 2 ? two.chain : two.both, true);
    } else if (tests == 2 && regions_.suits()) {
        search_regions(x, best);
    } else {
        control_.check();
        branch(level, x, depth, tests, best);
    }
    // `best` is what a tree attains, or `need`, or the cost of a leaf; nothing below it was left out.
    return store(x, number, best, best < need || leaf == best);
}

/// Stores a proved bound; returns the best one known.
Cost Trees::store(const Word* x, Word number, Cost proved, bool whole) {
    Known what{proved, whole ? Known::kWhole : 0};
    if (!whole)
        if (const Known* known = known_.find(x, number)) what = {std::max(proved, known->lower), known->tried};
    known_.put(x, number, what);
    return what.lower;
}

/// The best tree of at most two tests, if it costs less than `best`.
void Trees::search_regions(const Word* x, Cost& best) {
    ++counters_.regions;
    const bool whole = regions_.search(x, best, double(work_) * stump_steps_);
    const std::int64_t work = 1 + std::int64_t(regions_.words_read() / stump_steps_);
    work_ -= work, spent_ += work;
    if (!whole) throw TooLong{};
}

/// The tests below the root are divided between its sides in every way, each with bounds of its own.
void Trees::branch(int level, const Word* x, int depth, std::int64_t tests, Cost& best) {
    if (!order_features(level, x, best)) return;
    const Cost mass = in_.mass(x);
    const int rest = int(std::min<std::int64_t>(tests - 1, 2 * full(depth - 1)));
    const int most = int(std::min<std::int64_t>(rest, full(depth - 1)));
    const auto or_end = [](int side) { return side > 0 ? side : Below::kEnds; };
    for (int i = 0; i < in_.view.features && best > 0; ++i)
        for (int left = rest - most; left <= most && best > 0; ++left)
            extend_sides(level, frame(level).turn[i], x, mass, {depth - 1, or_end(left), or_end(rest - left), true},
                         best);
}

/// The features in the frame, those with a good single test first; false when such a test is as good as can be.
bool Trees::order_features(int level, const Word* x, Cost& best) {
    Frame& here = frame(level);
    if (work_ <= 0) throw TooLong{};
    ++counters_.stumps, --work_;
    const Stump one = in_.kernels->stump(in_.view, x, kNever, scratch_.data(), here.by_feature.data());
    here.stump = one.value;
    best = std::min(best, one.value);
    sort_features(here);
    return best > 0;
}

/// Trees of at most two levels, and in the frame the least cost of a single test, and the features by the best tree of
/// two levels with the feature at its root; false where there are too many pairs of splits.
bool Trees::depth_two(int level, const Word* x, DepthTwo& out) {
    if (!pairs_.count(x)) return false;
    work_ -= pairs_.work(), spent_ += pairs_.work(), ++counters_.pairs;
    Frame& here = frame(level);
    out = {kNever, kNever, kNever};
    std::fill(here.by_feature.begin(), here.by_feature.end(), kNever);
    for (int i = 0, f = 0; i < pairs_.size(); ++i) {
        while (pairs_.split(i) >= in_.view.first[f + 1]) ++f;
        const Cost left = pairs_.left(i), right = pairs_.right(i);
        out.one = std::min(out.one, pairs_.left_leaf(i) + pairs_.right_leaf(i));
        out.chain = std::min({out.chain, left + pairs_.right_leaf(i), pairs_.left_leaf(i) + right});
        out.both = std::min(out.both, left + right);
        here.by_feature[f] = std::min(here.by_feature[f], left + right);
    }
    const Cost leaf = in_.leaf(x);
    out.one = std::min(out.one, leaf), out.chain = std::min(out.chain, out.one);
    out.both = std::min(out.both, out.chain);
    here.stump = out.one;
    sort_features(here);
    return true;
}

void Trees::sort_features(Frame& here) {
    std::iota(here.turn.begin(), here.turn.end(), 0);
    std::sort(here.turn.begin(), here.turn.end(), [&](int a, int b) {
        return here.by_feature[a] != here.by_feature[b] ? here.by_feature[a] < here.by_feature[b] : a < b;
    });
}

}  // namespace treeform::diagram
