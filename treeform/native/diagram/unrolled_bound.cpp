// Below a node of a layer, a layer with c nodes offers it at most min(c, 2) of them as children, and leaves the rest of
// the tests for the layers further down. What a diagram unrolls to is therefore a tree in which every node either sends
// one side on, which takes one test from the layers below, or both sides, which takes two:
//
//     T(x, l, b) = min { leaf,
//                        min over tests of x of { leaf + leaf,
//                                                 T(left, l + 1, b - 1) + leaf, leaf + T(right, l + 1, b - 1),
//                                                 T(left, l + 1, b - 2) + T(right, l + 1, b - 2) },
//                        T(x, l + 1, b - 1) },
//
// the two sides together where the next layer has two nodes (the arcs of a test have different heads), the last line
// for a pass-through, whose one arc takes one test. T bounds what a diagram with b tests below that node of layer l
// does with x, and no subset of x costs more.
//
// Where every layer below l holds two nodes, T depends on their number L and on b alone, and a pass-through is not
// needed: T(x, L, b) <= T(x, L - 1, b - 1). Whatever attains the right side is possible on the left, with one more
// layer and one more test: a leaf, a test that ends, a test with one or both sides sent on, which by induction on L
// cost no more with L - 1 layers and b - 1 or b - 2 tests than with L - 2 layers and one test less; a pass-through is
// not needed there either. Where a layer of one node is below, as for the root of 1-1-2, a tree may start later, and be
// wider.
#include <algorithm>
#include <utility>

#include "tree_bounds.hpp"

namespace treeform::diagram {

void Trees::unroll(const std::vector<int>& widths) {
    widths_ = widths;
    pairs_from_ = int(widths.size());
    while (pairs_from_ > 0 && widths[pairs_from_ - 1] >= 2) --pairs_from_;
}

/// The key of T. Where all layers below hold two nodes, only their number counts. Along a
/// path T takes at most two tests of a layer, so more than that change nothing.
Word Trees::number_of(int layer, int& tests) const {
    const int levels = int(widths_.size()) - 1 - layer;
    tests = std::min(tests, 2 * levels);
    const bool pairs = layer + 1 >= pairs_from_;
    const int name = pairs ? std::min(levels, tests) : 1024 + layer;
    return Word{1} << 62 | Word(name) << 32 | Word(tests);
}

/// Most leaves of the trees of T: a(b) = max(a(b - 1) + 1, 2 a(b - 2)), a(0) = 2. A pass-through gives a(b - 1).
std::int64_t Trees::leaves_of(int tests) const {
    std::int64_t before = 1, now = 2;
    for (int b = 1; b <= std::min(tests, 60); ++b) before = std::exchange(now, std::max(now + 1, 2 * before));
    return now;
}

Cost Trees::bound_unrolled(const Word* x, int layer, int tests, Cost need, std::int64_t work) {
    if (need <= 0) return 0;
    const Word number = number_of(layer, tests);
    return limited(x, number, need, work, [&](Cost below) {
        if (Cost value = 0; tests > 0 && settled_by_sets(x, number, below, value)) return value;
        take_floors(x, layer, tests);
        return unrolled(0, x, layer, tests, below);
    });
}

/// In the first frame, the known bounds of T for fewer tests.
void Trees::take_floors(const Word* x, int layer, int tests) {
    auto& floor = frame(0).floor;
    floor.assign(tests + 1, 0);
    for (int b = tests; b >= 0 && layer + 1 >= pairs_from_; --b) {
        int fewer = b;
        const Known* known = known_.find(x, number_of(layer, fewer));
        floor[b] = std::max(b < tests ? floor[b + 1] : 0, known ? known->lower : 0);
    }
}

/// At least the returned value; exactly that if it is below `need`.
Cost Trees::unrolled(int level, const Word* x, int layer, int tests, Cost need) {
    if (need <= 0) return 0;
    const Cost leaf = in_.leaf(x);
    if (leaf == 0) return 0;
    const Word number = number_of(layer, tests);
    if (const Known* known = known_.find(x, number)) {
        if (known->tried == Known::kWhole || known->lower >= need) {
            ++counters_.tree_hits;
            return known->lower;
        }
    }
    if (const Cost floor = frame(level).floor[tests]; floor >= need) return floor;
    if (in_.view.classes > 2) {
        if (const Cost few = in_.few_classes(x, leaves_of(tests)); few >= need) return few;
    }
    if (tests == 0) return search_unrolled(level, x, layer, tests, number, need);
    return with_sets(x, number, need, [&](const Word* points, Cost below) {
        if (is_learning_) frame(level).floor.assign(tests + 1, 0);
        return search_unrolled(level, points, layer, tests, number, below);
    });
}

/// The same by search.
Cost Trees::search_unrolled(int level, const Word* x, int layer, int tests, Word number, Cost need) {
    const Cost leaf = in_.leaf(x);
    if (leaf == 0) return 0;
    ++counters_.trees;
    Cost best = std::min(leaf, need);
    if (work_ <= 0) throw TooLong{};
    DepthTwo two;
    const int levels = int(widths_.size()) - 1 - layer;
    if (tests >= 1 && (tests == 1 || levels == 1) && depth_two(level, x, two)) {
        int none = 0;
        store(x, number_of(layer, none), two.one, true);
        const bool can_part = tests >= 2 && widths_[layer + 1] >= 2;
        const Cost value = can_part ? two.both : two.chain;
        if (value == 0) frame(level).free = free_of_pairs(layer, can_part), keep_free(level, x, number);
        return store(x, number, value, true);
    }
    if (tests == 0) {
        best = std::min(best, stump(x, best).value);
    } else if (tests == 1 && regions_.suits()) {
        search_regions(x, best);
    } else {
        control_.check();
        frame(level).free = {};
        branch_unrolled(level, x, layer, tests, best);
        if (best == 0) keep_free(level, x, number);
    }
    return store(x, number, best, best < need || leaf == best);
}

void Trees::branch_unrolled(int level, const Word* x, int layer, int tests, Cost& best) {
    Frame& here = frame(level);
    const bool can_part = tests >= 2 && widths_[layer + 1] >= 2;
    DepthTwo two;
    const bool has_two = depth_two(level, x, two);
    if (has_two) {
        int none = 0, single = 1;
        store(x, number_of(layer, none), two.one, true), store(x, number_of(layer, single), two.chain, true);
        best = std::min(best, can_part ? two.both : two.chain);
        if (best == 0) here.free = free_of_pairs(layer, can_part);
    } else if (!order_features(level, x, best)) {
        return;
    }
    here.floor[0] = std::max(here.floor[0], std::min(in_.leaf(x), here.stump));
    const Cost mass = in_.mass(x);
    // A pass-through; where all layers below hold two nodes it is not needed.
    if (layer + 1 < pairs_from_) {
        frame(level + 1).floor.assign(tests, 0);
        best = std::min(best, unrolled(level + 1, x, layer + 1, tests - 1, best));
    }
    for (int i = 0; i < in_.view.features && best > 0; ++i) {
        const int f = here.turn[i];
        if (can_part && !(has_two && tests == 2))
            extend_sides(level, f, x, mass, {layer + 1, tests - 2, tests - 2, false}, best);
        extend_sides(level, f, x, mass, {layer + 1, tests - 1, Below::kEnds, false}, best);
        extend_sides(level, f, x, mass, {layer + 1, Below::kEnds, tests - 1, false}, best);
    }
}

/// T of a side with so many tests, where a bound of T of a larger set bounds every number of tests: the points
/// taken out of a set save at most its largest costs. The bounds are those of the layer above, which hold a layer
/// further down where all layers below hold two nodes, and for no tests at all; elsewhere they are 0.
Cost Trees::side(int level, const Word* points, Cost taken_out, const Below& below, int tests, Cost need) {
    if (below.is_tree) return solve(level + 1, points, below.first, tests, need);
    const auto& above = frame(level).floor;
    auto& floor = frame(level + 1).floor;
    floor.resize(tests + 1);
    for (int b = 0; b <= tests; ++b) floor[b] = std::max<Cost>(0, above[b] - taken_out);
    return unrolled(level + 1, points, below.first, tests, need);
}

/// A threshold of the span between where both sides cost about the same as leaves: there each of them is the most
/// likely to rule out a part of the span. Not close to an end, so that spans get shorter.
int Trees::even(const Word* x, int lo, int hi, Word* left, Word* right) const {
    const int first = lo + 1, last = hi - 1, eighth = (hi - lo) / 8;
    lo += eighth, hi -= eighth;
    while (hi - lo > 1) {
        const int mid = lo + (hi - lo) / 2;
        both(x, in_.split(mid), left, in_.words()), without(x, in_.split(mid), right, in_.words());
        (in_.leaf(left) < in_.leaf(right) ? lo : hi) = mid;
    }
    return std::clamp(hi, first, last);
}

/// The tests of a feature, with what is `below` their sides. Along the feature the left side
/// grows, so what bounds it at one test bounds it at later ones, and, less the points between, at earlier ones.
void Trees::extend_sides(int level, int f, const Word* x, Cost mass, const Below& below, Cost& best) {
    Frame& here = frame(level);
    const int words = in_.words();
    const bool left_on = below.left != Below::kEnds, right_on = below.right != Below::kEnds;
    const Cost whole = below.is_tree ? 0 : here.floor[std::max(below.left, below.right)];
    const Cost leaf = in_.leaf(x), most = in_.most(x);
    Span stack[80];
    int top = 0;
    stack[top++] = {{in_.view.first[f] - 1, in_.view.first[f + 1], 0, 0, 0, mass},
                    left_on ? whole : leaf,
                    right_on ? whole : leaf,
                    0,
                    most};
    while (top > 0 && best > 0) {
        const Span r = stack[--top];
        const Cost between = r.most_hi - r.most_lo;
        if (r.hi - r.lo < 2 || r.left + r.right >= best || r.left_hi + r.right_lo - between >= best) continue;
        Word *left = here.left.data(), *right = here.right.data();
        const int mid = left_on && right_on ? even(x, r.lo, r.hi, left, right) : r.lo + (r.hi - r.lo) / 2;
        both(x, in_.split(mid), left, words), without(x, in_.split(mid), right, words);
        const Cost mass_mid = in_.mass(left), most_mid = in_.most(left);
        if (mass_mid == r.mass_lo || mass_mid == r.mass_hi) {
            Span one = r;
            if (one.lo = mid, one.mass_lo = mass_mid; mass_mid < r.mass_hi) stack[top++] = one;
            one = r;
            if (one.hi = mid, one.mass_hi = mass_mid; mass_mid > r.mass_lo) stack[top++] = one;
            continue;
        }
        if (!left_on || !right_on) {
            end_side(level, f, x, r, mid, below, best, stack, top);
            continue;
        }
        Cost low_left = std::max(r.left, r.left_hi - (r.most_hi - most_mid));
        Cost low_right = std::max(r.right, r.right_lo - (most_mid - r.most_lo));
        // Each side is solved to a larger bound than this test needs, and even if the other one rules the test out: the
        // result rules out the rest of the span. The side with more points first, whose bound is mostly the larger one.
        const bool right_first = 2 * mass_mid < mass;
        for (const bool is_right : {right_first, !right_first}) {
            if ((is_right ? low_right : low_left) >= best) continue;
            if (is_right)
                low_right = std::max(low_right, side(level, right, most_mid, below, below.right, best - r.left));
            else
                low_left = std::max(low_left, side(level, left, most - most_mid, below, below.left, best - r.right));
        }
        if (low_left + low_right < best) {
            best = low_left + low_right;
            if (best == 0) here.free = {mid, below};
        }
        stack[top++] = {{mid, r.hi, low_left, r.right, mass_mid, r.mass_hi}, r.left_hi, low_right, most_mid, r.most_hi};
        stack[top++] = {{r.lo, mid, r.left, low_right, r.mass_lo, mass_mid}, low_left, r.right_lo, r.most_lo, most_mid};
    }
}

/// A test of the span whose one side ends. Of the tests where that side costs the same, the one with the smallest other
/// side costs least: the first of them where the right side ends, the last where the left one does. The others are left
/// out, and beyond it the side that ends costs more.
void Trees::end_side(int level, int f, const Word* x, const Span& r, int mid, const Below& below, Cost& best,
                     Span* stack, int& top) {
    const bool left_on = below.left != Below::kEnds;
    Frame& here = frame(level);
    const int words = in_.words();
    Word *left = here.left.data(), *right = here.right.data();
    const Cost most = in_.most(x), mass_mid = in_.mass(left), most_mid = in_.most(left);
    const auto part = [&](int split) {
        both(x, in_.split(split), left, words), without(x, in_.split(split), right, words);
    };
    const Cost end = in_.leaf(left_on ? right : left);
    int same = mid, other = left_on ? r.lo : r.hi;
    while (std::abs(same - other) > 1) {
        const int next = same + (other - same) / 2;
        if (left_on)
            without(x, in_.split(next), right, words);
        else
            both(x, in_.split(next), left, words);
        (in_.leaf(left_on ? right : left) == end ? same : other) = next;
    }
    part(same);
    const Cost mass = in_.mass(left), largest = in_.most(left);
    Cost on = left_on ? std::max(r.left, r.left_hi - (r.most_hi - largest))
                      : std::max(r.right, r.right_lo - (largest - r.most_lo));
    const bool is_new = mass != r.mass_lo && mass != r.mass_hi;
    if (is_new && on + end < best) {
        on = std::max(on, left_on ? side(level, left, most - largest, below, below.left, best - r.right)
                                  : side(level, right, largest, below, below.right, best - r.left));
        best = std::min(best, on + end);
        if (best == 0) here.free = {same, below};
    }
    if (left_on) {
        stack[top++] = {{mid, r.hi, on, r.right, mass_mid, r.mass_hi}, r.left_hi, end, most_mid, r.most_hi};
        if (is_new) stack[top++] = {{r.lo, same, r.left, end + 1, r.mass_lo, mass}, on, r.right_lo, r.most_lo, largest};
    } else {
        stack[top++] = {{r.lo, mid, r.left, on, r.mass_lo, mass_mid}, end, r.right_lo, r.most_lo, most_mid};
        if (is_new) stack[top++] = {{same, r.hi, end + 1, r.right, mass, r.mass_hi}, r.left_hi, on, largest, r.most_hi};
    }
}

}  // namespace treeform::diagram
