#pragma once
// The depth-one scan that gives bounds under squared errors: for both sides of an outer threshold, the largest decrease
// of the error by a threshold of another feature, in 32-bit numbers. It is a filter; see squared.hpp for its error.
//
// The order of a feature is laid out as contiguous segments, one for each lane: row s, lane l is element l * rows + s.
// With s the sum and k the number of the samples below a threshold, S and n of all of the side,
//     gain = S_l^2 / k + S_r^2 / (n - k) - S^2 / n = n c^2 / (k (n - k)),   c = s - k S / n.
// No division: each lane keeps the best pair (c^2, k (n - k)) and compares by cross-multiplication.
//
// This file is compiled once for each instruction set and uses no standard containers, so that no inline function that
// is compiled for a newer processor can be picked by the linker for an older one.
#include <cstdint>

#include "pair_scan.hpp"

namespace treeform::regression {

constexpr int kMostLanes = 16;

/// What one scan reads. The arrays are of rows * lanes elements, aligned to 64 bytes.
struct ScanInput {
    // Twice the rank in the outer feature, in the order of the inner one, and 1 where a value of the inner feature ends, so
    // that a threshold may follow. Pads are above all thresholds, and even.
    const std::int32_t* key;
    const std::int32_t* target;  // scaled; 0 at pads
    int rows;
    std::int32_t threshold;  // twice a rank: the left side has keys below it
    std::int32_t n[2];  // samples on the left and on the right
    bool ties;  // whether the inner feature has equal values
};

/// Per side the largest gain, in squared scaled units; sides that are not wanted are left alone.
using Scan = void (*)(const ScanInput& in, bool want_left, bool want_right, double gain[2]);

struct ScanChoice {
    Scan scan;
    int lanes;
    PairScan pairs;
};

/// The scans for this processor and the setting `simd`.
ScanChoice choose_scan(const char* simd);

ScanChoice plain_scan();
#if defined(__x86_64__)
ScanChoice avx2_scan();
ScanChoice avx512_scan();
#endif

}  // namespace treeform::regression
