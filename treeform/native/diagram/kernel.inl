// Body of kernel.hpp for one instruction set: TREEFORM_ISA names it. See kernel.hpp.
#include "kernel.hpp"
#if defined(TREEFORM_AVX512)
#include <immintrin.h>
#endif

namespace treeform::diagram::TREEFORM_ISA {

static inline Cost count(const Word* a, int words) {
#if defined(TREEFORM_AVX512)
    __m512i sum = _mm512_setzero_si512();
    for (int w = 0; w < words; w += 8) {
        const __mmask8 m = words - w >= 8 ? __mmask8(0xFF) : __mmask8((1u << (words - w)) - 1);
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_maskz_loadu_epi64(m, a + w)));
    }
    return _mm512_reduce_add_epi64(sum);
#else
    Cost sum = 0;
    for (int w = 0; w < words; ++w) sum += __builtin_popcountll(a[w]);
    return sum;
#endif
}

static inline Cost count_and(const Word* a, const Word* b, int words) {
#if defined(TREEFORM_AVX512)
    if (words > 4) {
        __m512i sum = _mm512_setzero_si512();
        for (int w = 0; w < words; w += 8) {
            const __mmask8 m = words - w >= 8 ? __mmask8(0xFF) : __mmask8((1u << (words - w)) - 1);
            const __m512i v = _mm512_and_si512(_mm512_maskz_loadu_epi64(m, a + w), _mm512_maskz_loadu_epi64(m, b + w));
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(v));
        }
        return _mm512_reduce_add_epi64(sum);
    }
#endif
    Cost sum = 0;
    for (int w = 0; w < words; ++w) sum += __builtin_popcountll(a[w] & b[w]);
    return sum;
}

static inline Cost least(const Cost* a, int n) {
    Cost best = a[0];
    for (int k = 1; k < n; ++k) best = a[k] < best ? a[k] : best;
    return best;
}

static Cost leaf(const View& v, const Word* x, Cost* by_class) {
    for (int k = 0; k < v.classes; ++k) by_class[k] = 0;
    for (int p = 0; p < v.planes; ++p)
        by_class[v.plane_class[p]] += count_and(x, v.plane + std::int64_t(p) * v.words, v.words) << v.shift[p];
    return least(by_class, v.classes);
}

/// Thresholds lo + 1 .. hi - 1 are open: the cost of the left side is at least `left`, of the right side `right`.
struct Span {
    int lo, hi;
    Cost left, right, mass_lo, mass_hi;
};

/// The best test of one feature below `below`: bisection, leaving out spans whose bound is not below it. Sides only
/// grow along a feature, so a left side costs at least as much as the one at the span's low end, and a right side as
/// much as the one at its high end. A span without mass between its ends separates nothing new.
static Stump of_feature(const View& v, int f, const Word* xp, const Cost* total, Cost whole, Cost mass, Cost below) {
    Stump best{below, -1};
    Span stack[80];
    int depth = 0;
    Cost by[kMostClasses];
    stack[depth++] = {v.first[f] - 1, v.first[f + 1], 0, 0, 0, mass};
    while (depth > 0) {
        const Span s = stack[--depth];
        if (s.hi - s.lo < 2 || s.left + s.right >= best.value) continue;
        const int mid = s.lo + (s.hi - s.lo) / 2;
        const Word* split = v.split + std::int64_t(mid) * v.words;
        for (int k = 0; k < v.classes; ++k) by[k] = 0;
        for (int p = 0; p < v.planes; ++p)
            by[v.plane_class[p]] += count_and(xp + std::int64_t(p) * v.words, split, v.words) << v.shift[p];
        Cost left = by[0], right = total[0] - by[0], here = by[0];
        for (int k = 1; k < v.classes; ++k) {
            const Cost rest = total[k] - by[k];
            left = by[k] < left ? by[k] : left, right = rest < right ? rest : right, here += by[k];
        }
        if (left + right < best.value && here > 0 && here < mass) best = {left + right, mid};
        if (here < s.mass_hi) stack[depth++] = {mid, s.hi, left, s.right, here, s.mass_hi};
        if (here > s.mass_lo) stack[depth++] = {s.lo, mid, s.left, right, s.mass_lo, here};
    }
    (void)whole;
    return best;
}

static Stump stump(const View& v, const Word* x, Cost below, Word* xp, Cost* by_feature) {
    Cost total[kMostClasses];
    Cost mass = 0;
    for (int k = 0; k < v.classes; ++k) total[k] = 0;
    for (int p = 0; p < v.planes; ++p) {
        Word* out = xp + std::int64_t(p) * v.words;
        const Word* plane = v.plane + std::int64_t(p) * v.words;
        for (int w = 0; w < v.words; ++w) out[w] = x[w] & plane[w];
        total[v.plane_class[p]] += count(out, v.words) << v.shift[p];
    }
    for (int k = 0; k < v.classes; ++k) mass += total[k];
    const Cost whole = least(total, v.classes);
    Stump best{below, -1};
    for (int f = 0; f < v.features; ++f) {
        const Stump one = of_feature(v, f, xp, total, whole, mass, by_feature ? below : best.value);
        if (one.split >= 0 && one.value < best.value) best = one;
        if (by_feature)
            by_feature[f] = one.value;
        else if (best.value <= 0)
            break;
    }
    return best;
}

static int points(const Word* a, int words) { return int(count(a, words)); }

extern const Kernels kernels;
const Kernels kernels = {TREEFORM_NAME, &leaf, &stump, &points, &count_and};

}  // namespace treeform::diagram::TREEFORM_ISA
