#pragma once
// The loops where the time goes: costs of sets of points as population counts, and the best single test of a set.
// Compiled once per instruction set (kernel_*.cpp), chosen at run time. Raw pointers only, so that no inline function
// compiled for a newer processor can be picked by the linker for an older one.
#include <cstdint>

namespace treeform::diagram {

using Word = std::uint64_t;
using Cost = std::int64_t;
constexpr Cost kNever = Cost{1} << 61;

/// The data of a run as the kernels see it. Sets of points are rows of `words` words.
///
/// The cost of predicting class k on a set x is sum over planes p of class k: popcount(x & plane[p]) << shift[p].
/// Plane p has points in its words from[p] .. to[p] - 1 alone: few of them, where points of one class are neighbours.
/// The splits of feature f are first[f] .. first[f + 1] - 1, each the set of points on its left side, ascending.
struct View {
    int words = 0, classes = 0, planes = 0, splits = 0, features = 0;
    const int* plane_class = nullptr;
    const int* shift = nullptr;
    const int* from = nullptr;
    const int* to = nullptr;
    const Word* plane = nullptr;
    const Word* split = nullptr;
    const int* first = nullptr;
};

/// The best test found: `split` is -1 when none costs less than the bound that was given.
struct Stump {
    Cost value = kNever;
    int split = -1;
};

/// Room for the points of a set alone, without the others between them: `column` holds for every split that parts the
/// set its left side, word by word (word w of split s at w * stride + s), and `plane` the planes as in View. `by`: cost
/// per class of the left sides (class k of split s at k * stride + s), `total` those of the set.
struct Packed {
    int words = 0, splits = 0, stride = 0;
    Word* column = nullptr;
    Word* plane = nullptr;
    int* from = nullptr;
    int* to = nullptr;
    Cost* by = nullptr;
    Cost* total = nullptr;
    int* split = nullptr;  // the number in View
};

/// What a set costs as one class: the class's planes by number, and the set in each of them, one after the other.
struct Within {
    const int* planes = nullptr;
    int count = 0;
    const Word* set = nullptr;
    Cost total = 0;
};

/// Regions 1 .. size along a feature, each holding those before: sets at `first`, first + step, ..., or the points
/// outside of these. Region 0 is empty.
struct Nested {
    const Word* first = nullptr;
    std::int64_t step = 0;
    int size = 0;
    bool is_outside = false;
};

struct Kernels {
    const char* name;
    /// Costs per class of a set; returns the least.
    Cost (*leaf)(const View&, const Word* x, Cost* by_class);
    /// The best single test on `x` that costs less than `below`, by interval search over the thresholds of every
    /// feature. `scratch` holds (planes * words) words. `by_feature`, if not null, receives for every feature the
    /// least cost of a test of its own below `below`, else `below`.
    Stump (*stump)(const View&, const Word* x, Cost below, Word* scratch, Cost* by_feature);
    /// The splits of the set `x`, those that part it as an earlier one of their feature does left out; no more than
    /// `most` of them: false if there are more.
    bool (*pack)(const View&, const Word* x, int most, Packed& out);
    /// For every packed split the least cost of its left and of its right side with at most one test more each: counts
    /// of the four cells of every pair of splits. Both arrays have room for whole blocks of eight splits. Every class
    /// has a plane: where one is free for all points, so are all trees.
    void (*pairs)(const View&, const Packed&, Cost* left, Cost* right);
    /// A node that sets share: for every packed split t and every two classes a and b what the node costs that tests t
    /// and predicts a on its left and b on its right, if one side of a split of the set goes there and the other side
    /// ends. `out`: the least of that over the splits, of (a, b) at (a * classes + b) * stride + t; `left` and `right`:
    /// what the sides cost that end. Ways that do not cost less than `below` may be left out.
    void (*shared)(const View&, const Packed&, const Cost* left, const Cost* right, Cost below, Cost* out);
    int (*count)(const Word* a, int words);
    Cost (*count_both)(const Word* a, const Word* b, int words);
    /// The cost of a region, and the largest region that costs less than `need`; the first one looked at is `guess`, and
    /// `looks` grows by how many were.
    Cost (*region)(const View&, const Within&, const Nested&, int i);
    int (*largest)(const View&, const Within&, const Nested&, Cost need, int guess, std::int64_t& looks);
    /// Points of `x` that are in neither a ^ flip_a nor b ^ flip_b.
    Cost (*count_outside)(const Word* x, const Word* a, Word flip_a, const Word* b, Word flip_b, int words);
    /// Of so many sets one after the other the first one, `from` or later, that is within `x`, or that `x` is within;
    /// `many` if there is none.
    int (*find_within)(const Word* sets, int from, int many, const Word* x, int words);
    int (*find_around)(const Word* sets, int from, int many, const Word* x, int words);
};

const Kernels& choose_kernels(const char* simd);

/// Most words of all planes of a packed set.
constexpr int kMostWithin = 2048;

/// Most classes of `shared`.
constexpr int kMostShared = 6;

/// Most classes that fit in the kernels' fixed arrays.
constexpr int kMostClasses = 256;

}  // namespace treeform::diagram
