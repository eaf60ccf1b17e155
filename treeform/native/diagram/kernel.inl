// Body of kernel.hpp for one instruction set: TREEFORM_ISA names it. See kernel.hpp.
#include "kernel.hpp"
#if defined(__BMI2__)
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

static Cost count_outside(const Word* x, const Word* a, Word flip_a, const Word* b, Word flip_b, int words) {
#if defined(TREEFORM_AVX512)
    const __m512i one = _mm512_set1_epi64(static_cast<long long>(flip_a));
    const __m512i other = _mm512_set1_epi64(static_cast<long long>(flip_b));
    __m512i sum = _mm512_setzero_si512();
    for (int w = 0; w < words; w += 8) {
        const __mmask8 m = words - w >= 8 ? __mmask8(0xFF) : __mmask8((1u << (words - w)) - 1);
        const __m512i left = _mm512_xor_si512(_mm512_maskz_loadu_epi64(m, a + w), one);
        const __m512i right = _mm512_xor_si512(_mm512_maskz_loadu_epi64(m, b + w), other);
        const __m512i rest = _mm512_andnot_si512(_mm512_or_si512(left, right), _mm512_maskz_loadu_epi64(m, x + w));
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(rest));
    }
    return _mm512_reduce_add_epi64(sum);
#else
    Cost sum = 0;
    for (int w = 0; w < words; ++w) sum += __builtin_popcountll(x[w] & ~((a[w] ^ flip_a) | (b[w] ^ flip_b)));
    return sum;
#endif
}

/// Whether no point of `a` is outside of `b`.
static inline bool is_within(const Word* a, const Word* b, int words) {
#if defined(TREEFORM_AVX512)
    for (int w = 0; w < words; w += 8) {
        const __mmask8 m = words - w >= 8 ? __mmask8(0xFF) : __mmask8((1u << (words - w)) - 1);
        const __m512i out = _mm512_andnot_si512(_mm512_maskz_loadu_epi64(m, b + w), _mm512_maskz_loadu_epi64(m, a + w));
        if (_mm512_test_epi64_mask(out, out)) return false;
    }
    return true;
#else
    int w = 0;
    for (; w + 4 <= words; w += 4)
        if ((a[w] & ~b[w]) | (a[w + 1] & ~b[w + 1]) | (a[w + 2] & ~b[w + 2]) | (a[w + 3] & ~b[w + 3])) return false;
    for (; w < words; ++w)
        if (a[w] & ~b[w]) return false;
    return true;
#endif
}

static int find_within(const Word* sets, int from, int many, const Word* x, int words) {
    for (int i = from; i < many; ++i)
        if (is_within(sets + std::int64_t(i) * words, x, words)) return i;
    return many;
}

static int find_around(const Word* sets, int from, int many, const Word* x, int words) {
    for (int i = from; i < many; ++i)
        if (is_within(x, sets + std::int64_t(i) * words, words)) return i;
    return many;
}

static inline Cost least(const Cost* a, int n) {
    Cost best = a[0];
    for (int k = 1; k < n; ++k) best = a[k] < best ? a[k] : best;
    return best;
}

static Cost leaf(const View& v, const Word* x, Cost* by_class) {
    for (int k = 0; k < v.classes; ++k) by_class[k] = 0;
    for (int p = 0; p < v.planes; ++p)
        by_class[v.plane_class[p]] +=
            count_and(x + v.from[p], v.plane + std::int64_t(p) * v.words + v.from[p], v.to[p] - v.from[p]) << v.shift[p];
    return least(by_class, v.classes);
}

static Cost region(const View& v, const Within& x, const Nested& at, int i) {
    if (i == 0) return 0;
    const Word* set = at.first + (i - 1) * at.step;
    Cost sum = 0;
    for (int j = 0; j < x.count; ++j) {
        const int p = x.planes[j], from = v.from[p];
        sum += count_and(x.set + std::int64_t(j) * v.words + from, set + from, v.to[p] - from) << v.shift[p];
    }
    return at.is_outside ? x.total - sum : sum;
}

static int largest(const View& v, const Within& x, const Nested& at, Cost need, int guess, std::int64_t& looks) {
    int in = 0, out = at.size + 1;
    guess = guess < 1 ? 1 : guess > at.size ? at.size : guess;
    for (int step = 1; out - in > 1; step *= 2, ++looks) {
        const bool fits = region(v, x, at, guess) < need;
        (fits ? in : out) = guess;
        guess = fits ? in + step : out - step;
        if (guess <= in || guess >= out) guess = in + (out - in) / 2;
    }
    return in;
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
            by[v.plane_class[p]] +=
                count_and(xp + std::int64_t(p) * v.words + v.from[p], split + v.from[p], v.to[p] - v.from[p]) << v.shift[p];
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
        for (int w = v.from[p]; w < v.to[p]; ++w) out[w] = x[w] & plane[w];
        total[v.plane_class[p]] += count(out + v.from[p], v.to[p] - v.from[p]) << v.shift[p];
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

/// The bits of `a` where `mask` has one, next to each other.
static inline Word gather(Word a, Word mask) {
#if defined(__BMI2__)
    return _pext_u64(a, mask);
#else
    Word out = 0;
    for (int i = 0; mask; mask &= mask - 1, ++i) out |= ((a & mask & -mask) != 0 ? Word{1} : Word{0}) << i;
    return out;
#endif
}

/// The bits of `a` at the points of `x` into every `step`-th word from `out` on; returns how many are set.
static inline Cost gather_all(const Word* a, const Word* x, int words, Word* out, int step) {
    Word now = 0;
    int fill = 0;
    Cost sum = 0;
    for (int w = 0; w < words; ++w) {
        const int bits = __builtin_popcountll(x[w]);
        if (bits == 0) continue;
        const Word one = gather(a[w], x[w]);
        sum += __builtin_popcountll(one);
        now |= one << fill;
        fill += bits;
        if (fill < 64) continue;
        *out = now, out += step;
        fill -= 64;
        now = fill ? one >> (bits - fill) : 0;
    }
    if (fill) *out = now;
    return sum;
}

/// The words of `a` that hold points: from .. to - 1.
static inline void find_words(const Word* a, int words, int& from, int& to) {
    from = 0, to = words;
    while (to > 0 && a[to - 1] == 0) --to;
    while (from < to && a[from] == 0) ++from;
}

static bool pack(const View& v, const Word* x, int most, Packed& out) {
    const Cost points = count(x, v.words);
    out.words = int((points + 63) / 64), out.splits = 0;
    for (int p = 0; p < v.planes; ++p)
        gather_all(v.plane + std::int64_t(p) * v.words, x, v.words, out.plane + std::int64_t(p) * out.words, 1);
    for (int f = 0; f < v.features; ++f) {
        Cost before = 0;
        for (int s = v.first[f]; s < v.first[f + 1]; ++s) {
            if (out.splits == most) return false;
            const Cost here =
                gather_all(v.split + std::int64_t(s) * v.words, x, v.words, out.column + out.splits, out.stride);
            if (here == before) continue;
            if (here == points) break;
            before = here;
            out.split[out.splits++] = s;
        }
    }
    // Unused columns of the last block hold no points.
    const int filled = (out.splits + 7) / 8 * 8;
    for (int w = 0; w < out.words; ++w)
        for (int s = out.splits; s < filled; ++s) out.column[std::int64_t(w) * out.stride + s] = 0;
    for (int k = 0; k < v.classes; ++k) {
        out.total[k] = 0;
        for (int s = 0; s < filled; ++s) out.by[std::int64_t(k) * out.stride + s] = 0;
    }
    for (int p = 0; p < v.planes; ++p) {
        const Word* plane = out.plane + std::int64_t(p) * out.words;
        const int k = v.plane_class[p];
        out.total[k] += count(plane, out.words) << v.shift[p];
        find_words(plane, out.words, out.from[p], out.to[p]);
        Cost* by = out.by + std::int64_t(k) * out.stride;
        for (int w = out.from[p]; w < out.to[p]; ++w)
            for (int s = 0; s < filled; ++s)
                by[s] += Cost(__builtin_popcountll(plane[w] & out.column[std::int64_t(w) * out.stride + s]))
                         << v.shift[p];
    }
    return true;
}

/// What the points on the left of s (`within`) and of t = first .. first + 7 cost as the class of plane p; returns the
/// first plane of the next class.
static inline int count_lefts(const View& v, const Packed& at, const Word* within, int p, int first, Cost* sum) {
    for (const int k = v.plane_class[p]; p < v.planes && v.plane_class[p] == k; ++p)
        for (int w = at.from[p]; w < at.to[p]; ++w) {
            const Word one = within[p * at.words + w];
            const Word* other = at.column + std::int64_t(w) * at.stride + first;
            for (int i = 0; i < 8; ++i) sum[i] += Cost(__builtin_popcountll(one & other[i])) << v.shift[p];
        }
    return p;
}

/// Costs of the four cells of the tests s and t = first .. first + 7, per class; then the least of each cell.
static inline void pair_block(const View& v, const Packed& at, const Word* within, int s, int first, Cost* left,
                              Cost* right) {
    const std::int64_t step = at.stride;
#if defined(TREEFORM_AVX512)
    const __m512i never = _mm512_set1_epi64(kNever);
    __m512i in_in = never, in_out = never, out_in = never, out_out = never;
    for (int p = 0; p < v.planes;) {
        const int k = v.plane_class[p];
        __m512i sum = _mm512_setzero_si512();
        for (; p < v.planes && v.plane_class[p] == k; ++p) {
            __m512i bits = _mm512_setzero_si512();
            for (int w = at.from[p]; w < at.to[p]; ++w) {
                const __m512i one = _mm512_set1_epi64(static_cast<long long>(within[p * at.words + w]));
                const __m512i other = _mm512_loadu_si512(at.column + w * step + first);
                bits = _mm512_add_epi64(bits, _mm512_popcnt_epi64(_mm512_and_si512(one, other)));
            }
            sum = _mm512_add_epi64(sum, _mm512_slli_epi64(bits, unsigned(v.shift[p])));
        }
        const __m512i of_s = _mm512_set1_epi64(at.by[k * step + s]);
        const __m512i of_t = _mm512_loadu_si512(at.by + k * step + first);
        const __m512i rest = _mm512_sub_epi64(_mm512_set1_epi64(at.total[k] - at.by[k * step + s]), of_t);
        in_in = _mm512_min_epi64(in_in, sum);
        in_out = _mm512_min_epi64(in_out, _mm512_sub_epi64(of_s, sum));
        out_in = _mm512_min_epi64(out_in, _mm512_sub_epi64(of_t, sum));
        out_out = _mm512_min_epi64(out_out, _mm512_add_epi64(rest, sum));
    }
    const auto lower = [](Cost* where, __m512i value) {
        _mm512_storeu_si512(where, _mm512_min_epi64(_mm512_loadu_si512(where), value));
    };
    lower(left + first, _mm512_add_epi64(in_in, out_in));
    lower(right + first, _mm512_add_epi64(in_out, out_out));
    const Cost of_left = _mm512_reduce_min_epi64(_mm512_add_epi64(in_in, in_out));
    const Cost of_right = _mm512_reduce_min_epi64(_mm512_add_epi64(out_in, out_out));
    left[s] = of_left < left[s] ? of_left : left[s];
    right[s] = of_right < right[s] ? of_right : right[s];
#else
    Cost in_in[8], in_out[8], out_in[8], out_out[8];
    for (int i = 0; i < 8; ++i) in_in[i] = in_out[i] = out_in[i] = out_out[i] = kNever;
    for (int p = 0; p < v.planes;) {
        const int k = v.plane_class[p];
        Cost sum[8] = {};
        p = count_lefts(v, at, within, p, first, sum);
        const Cost of_s = at.by[k * step + s], rest = at.total[k] - of_s;
        const Cost* of_t = at.by + k * step + first;
        for (int i = 0; i < 8; ++i) {
            const Cost a = sum[i], b = of_s - a, c = of_t[i] - a, d = rest - c;
            in_in[i] = a < in_in[i] ? a : in_in[i], in_out[i] = b < in_out[i] ? b : in_out[i];
            out_in[i] = c < out_in[i] ? c : out_in[i], out_out[i] = d < out_out[i] ? d : out_out[i];
        }
    }
    for (int i = 0; i < 8; ++i) {
        const Cost a = in_in[i] + out_in[i], b = in_out[i] + out_out[i];
        const Cost c = in_in[i] + in_out[i], d = out_in[i] + out_out[i];
        left[first + i] = a < left[first + i] ? a : left[first + i];
        right[first + i] = b < right[first + i] ? b : right[first + i];
        left[s] = c < left[s] ? c : left[s], right[s] = d < right[s] ? d : right[s];
    }
#endif
}

/// The points of the packed set on the left of s, plane by plane.
static inline void set_within(const View& v, const Packed& at, int s, Word* within) {
    for (int p = 0; p < v.planes; ++p)
        for (int w = at.from[p], i = p * at.words + w; w < at.to[p]; ++w, ++i)
            within[i] = at.plane[i] & at.column[std::int64_t(w) * at.stride + s];
}

static void pairs(const View& v, const Packed& at, Cost* left, Cost* right) {
    Word within[kMostWithin];
    for (int s = 0; s < (at.splits + 7) / 8 * 8; ++s) left[s] = right[s] = kNever;
    for (int s = 0; s < at.splits; ++s) {
        set_within(v, at, s, within);
        // Pairs within the first block may be met twice, and s with itself, which is no second test.
        for (int first = s / 8 * 8; first < at.splits; first += 8) pair_block(v, at, within, s, first, left, right);
    }
}

/// Eight tests t = first .. first + 7 of a shared node, for one split s of the set. `own`: cost per class of the left of s.
static inline void shared_block(const View& v, const Packed& at, const Word* within, const Cost* own, int first,
                                const Cost* ends, Cost below, Cost* out) {
    const std::int64_t step = at.stride;
    Cost in_in[kMostShared][8], in_out[kMostShared][8], out_in[kMostShared][8], out_out[kMostShared][8];
    for (int p = 0; p < v.planes;) {
        const int k = v.plane_class[p];
        Cost sum[8] = {};
        p = count_lefts(v, at, within, p, first, sum);
        const Cost* of_t = at.by + k * step + first;
        const Cost rest = at.total[k] - own[k];
        for (int i = 0; i < 8; ++i) {
            in_in[k][i] = sum[i], in_out[k][i] = own[k] - sum[i];
            out_in[k][i] = of_t[i] - sum[i], out_out[k][i] = rest - out_in[k][i];
        }
    }
    for (int a = 0; a < v.classes; ++a)
        for (int b = 0; b < v.classes; ++b) {
            if (a == b) continue;
            Cost* best = out + (a * v.classes + b) * step + first;
            if (ends[1] < below)
                for (int i = 0; i < 8; ++i) {
                    const Cost one = in_in[a][i] + in_out[b][i] + ends[1];
                    best[i] = one < best[i] ? one : best[i];
                }
            if (ends[0] < below)
                for (int i = 0; i < 8; ++i) {
                    const Cost one = out_in[a][i] + out_out[b][i] + ends[0];
                    best[i] = one < best[i] ? one : best[i];
                }
        }
}

static void shared(const View& v, const Packed& at, const Cost* left, const Cost* right, Cost below, Cost* out) {
    Word within[kMostWithin];
    Cost own[kMostShared];
    for (int ab = 0; ab < v.classes * v.classes; ++ab)
        for (int t = 0; t < (at.splits + 7) / 8 * 8; ++t) out[std::int64_t(ab) * at.stride + t] = kNever;
    for (int s = 0; s < at.splits; ++s) {
        if (left[s] >= below && right[s] >= below) continue;
        set_within(v, at, s, within);
        for (int k = 0; k < v.classes; ++k) own[k] = at.by[std::int64_t(k) * at.stride + s];
        const Cost ends[2] = {left[s], right[s]};
        for (int first = 0; first < at.splits; first += 8) shared_block(v, at, within, own, first, ends, below, out);
    }
}

static int points(const Word* a, int words) { return int(count(a, words)); }

extern const Kernels kernels;
const Kernels kernels = {TREEFORM_NAME, &leaf,   &stump,   &pack,          &pairs,       &shared,     &points,
                         &count_and,    &region, &largest, &count_outside, &find_within, &find_around};

}  // namespace treeform::diagram::TREEFORM_ISA
