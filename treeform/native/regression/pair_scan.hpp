#pragma once
// The scan over all pairs of tests: for each outer test and both of its sides, the inner test that leaves most of the
// squares to the means of two leaves, sum s^2 / w. All pairs of a table are scanned at once, each serving as outer and
// inner test in both orders.
//
// This file is compiled once for each instruction set and uses no standard containers; see scan.hpp.
#include <cstdint>

namespace treeform::regression {

/// What one scan reads. Tests are numbered feature after feature; rows of the tables have `stride` elements, aligned to
/// 64 bytes, and hold the samples beyond the test of the row and that of the column, for columns of later features.
struct PairInput {
    const double *weight, *sum;  // of pairs
    const double *own_weight, *own_sum;  // by test: of the samples beyond it; `stride` elements, 0 from `tests` on
    const std::int32_t* next;  // by test: the first test of the next feature
    int tests, stride;
    double all_weight, all_sum;
    double centre;  // sums are taken about it; whole, so that nothing is rounded
    double support;  // each leaf has to weigh so much; less than 1: no leaf has to
};

/// By test, `stride` elements: the most that two leaves on the far and on the near side keep, whatever they weigh, and
/// with leaves that weigh enough. 0 where there are none.
struct PairOutput {
    double *far, *near;
    double *far_allowed, *near_allowed;
};

/// Raises what stands in the output.
using PairScan = void (*)(const PairInput& in, const PairOutput& out);

}  // namespace treeform::regression
