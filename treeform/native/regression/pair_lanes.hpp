#pragma once
// The scan of pair_scan.hpp for one instruction set; each scan_*.cpp defines TREEFORM_LANES, the 32-bit lanes, and
// includes it.
#include "pair_scan.hpp"

namespace treeform::regression {
namespace {

constexpr int kPairLanes = TREEFORM_LANES / 2;
typedef double Doubles __attribute__((vector_size(8 * kPairLanes)));
typedef std::int64_t Longs __attribute__((vector_size(8 * kPairLanes)));

inline Doubles& at(double* from) { return *reinterpret_cast<Doubles*>(from); }
inline const Doubles& at(const double* from) { return *reinterpret_cast<const Doubles*>(from); }
inline Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }
inline Doubles smaller(Doubles a, Doubles b) { return a < b ? a : b; }
inline Doubles where(Longs mask, Doubles a) { return mask ? a : Doubles{}; }
inline double largest(Doubles a) {
    double most = a[0];
    for (int l = 1; l < kPairLanes; ++l) most = a[l] > most ? a[l] : most;
    return most;
}

/// The squares that the mean of some samples explains; weights are whole, and without weight there is no sum.
inline Doubles explained(Doubles weight, Doubles sum) { return sum * sum / larger(weight, Doubles{} + 1.0); }

template <bool Supported>
void scan_pairs(const PairInput& in, const PairOutput& out) {
    Longs lane;
    for (int l = 0; l < kPairLanes; ++l) lane[l] = l;
    const Doubles centre = Doubles{} + in.centre, support = Doubles{} + in.support;
    const double all_sum = in.all_sum - in.centre * in.all_weight;
    for (int t = 0; t < in.tests; ++t) {
        const double weight = in.own_weight[t], sum = in.own_sum[t] - in.centre * weight;
        const Doubles far_weight = Doubles{} + weight, far_sum = Doubles{} + sum;
        const Doubles near_weight = Doubles{} + (in.all_weight - weight), near_sum = Doubles{} + (all_sum - sum);
        Doubles far{}, near{}, far_allowed{}, near_allowed{};
        const double *weights = in.weight + std::int64_t{t} * in.stride, *sums = in.sum + std::int64_t{t} * in.stride;
        const int first = in.next[t];
        for (int u = first / kPairLanes * kPairLanes; u < in.tests; u += kPairLanes) {
            // Both beyond; only the outer one (the row's); only the inner one; neither.
            const Doubles w11 = at(weights + u), s11 = at(sums + u) - centre * w11;
            const Doubles w10 = far_weight - w11, s10 = far_sum - s11;
            const Doubles w01 = at(in.own_weight + u) - w11;
            const Doubles s01 = at(in.own_sum + u) - centre * at(in.own_weight + u) - s11;
            const Doubles w00 = near_weight - w01, s00 = near_sum - s01;
            const Doubles e11 = explained(w11, s11), e10 = explained(w10, s10);
            const Doubles e01 = explained(w01, s01), e00 = explained(w00, s00);
            const Longs valid = lane >= Longs{} + (first - u);
            const Doubles row_far = where(valid, e11 + e10), row_near = where(valid, e01 + e00);
            const Doubles column_far = where(valid, e11 + e01), column_near = where(valid, e10 + e00);
            far = larger(far, row_far), near = larger(near, row_near);
            at(out.far + u) = larger(at(out.far + u), column_far);
            at(out.near + u) = larger(at(out.near + u), column_near);
            if constexpr (Supported) {
                const auto enough = [&](Doubles a, Doubles b) { return smaller(a, b) >= support; };
                far_allowed = larger(far_allowed, where(enough(w11, w10), row_far));
                near_allowed = larger(near_allowed, where(enough(w01, w00), row_near));
                at(out.far_allowed + u) = larger(at(out.far_allowed + u), where(enough(w11, w01), column_far));
                at(out.near_allowed + u) = larger(at(out.near_allowed + u), where(enough(w10, w00), column_near));
            }
        }
        const auto raise = [&](double* to, Doubles by) {
            const double most = largest(by);
            to[t] = to[t] > most ? to[t] : most;
        };
        raise(out.far, far), raise(out.near, near);
        if constexpr (Supported) raise(out.far_allowed, far_allowed), raise(out.near_allowed, near_allowed);
    }
}

void scan_pairs_here(const PairInput& in, const PairOutput& out) {
    if (in.support >= 1)
        scan_pairs<true>(in, out);
    else
        scan_pairs<false>(in, out);
}

}  // namespace
}  // namespace treeform::regression
