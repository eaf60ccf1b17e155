#pragma once
// The one vector kernel of this engine, compiled once per instruction set.
#include <atomic>
#include <cstdint>

namespace treeform::totals {

/// Price differences of all pairs of columns for a set of rows. Difference d of a set is the price of predicting label
/// d + 1 on it minus that of label 0; where leaves need a support, one more "difference" is the weight.
struct PairPrices {
    const std::int32_t* table = nullptr;  // [kind][h][pad]: weight of the rows with both h and g
    int kinds = 0, columns = 0, pad = 0;
    int differences = 1;                  // without the weight
    bool supported = false;
    double support = 0;
    const double* delta = nullptr;        // [difference][kind]
    const double* test = nullptr;         // [h] price of a test over two leaves of label 0 without rows
    const double* start = nullptr;        // [difference]: by how much more a leaf costs by itself; null: nothing
    const double* parent = nullptr;  // [difference][h][pad] of these rows and their complement; null: no complement
    const double* with[2] = {};  // [difference][pad], of the rows and of the complement: where g holds
    const double* all[2] = {};  // [difference]
    double* best[2][2] = {};  // [rows, complement][g does not hold, g holds]: best test there, one array each
    double* store = nullptr;  // [difference][h][pad] of the rows, or null
    const std::atomic<bool>* stopping = nullptr;  // once it is true the rest is left out
};

constexpr double kDear = 1e300;  // the price of what cannot be

using PairKernel = void (*)(const PairPrices&);
PairKernel choose_kernel(const char* simd);  // "auto", "avx512", "avx2", "plain"

}  // namespace treeform::totals
