// A transposition, done eight lanes by eight rows at a time in registers for 16-bit elements (vector types of GCC and
// Clang, any processor). Not in the header: -O3 unrolls it and -O2 does not, which takes twice as long, and of a
// template that two files compile the linker keeps either.
#include "spread.hpp"

#include <cstdint>
#include <cstring>

#include "scan.hpp"
#include "shuffle.hpp"

namespace treeform::contree {
namespace {

#if defined(__GNUC__)
using Eight __attribute__((vector_size(16))) = std::uint16_t;

/// Eight rows of eight lanes: in[l][s] -> out[s][l].
void transpose_eight(const std::uint16_t* in, std::size_t lane_step, std::uint16_t* out, std::size_t row_step) {
    Eight a[8], b[8];
    for (int l = 0; l < 8; ++l) std::memcpy(&a[l], in + l * lane_step, sizeof(Eight));
    for (int i = 0; i < 4; ++i) {   // interleave lanes i and i + 4, three times
        b[2 * i] = TREEFORM_SHUFFLE(a[i], a[i + 4], Eight, 0, 8, 1, 9, 2, 10, 3, 11);
        b[2 * i + 1] = TREEFORM_SHUFFLE(a[i], a[i + 4], Eight, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 4; ++i) {
        a[2 * i] = TREEFORM_SHUFFLE(b[i], b[i + 4], Eight, 0, 8, 1, 9, 2, 10, 3, 11);
        a[2 * i + 1] = TREEFORM_SHUFFLE(b[i], b[i + 4], Eight, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 4; ++i) {
        b[2 * i] = TREEFORM_SHUFFLE(a[i], a[i + 4], Eight, 0, 8, 1, 9, 2, 10, 3, 11);
        b[2 * i + 1] = TREEFORM_SHUFFLE(a[i], a[i + 4], Eight, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int s = 0; s < 8; ++s) std::memcpy(out + s * row_step, &b[s], sizeof(Eight));
}
#endif

}  // namespace

template <class T>
void spread(const T* sorted, std::size_t n, std::size_t rows, T padding, T* table) {
    std::size_t lane = 0;
#if defined(__GNUC__)
    if constexpr (sizeof(T) == 2) {
        for (; lane < kLanes && (lane + 8) * rows <= n; lane += 8) {
            const auto* in = reinterpret_cast<const std::uint16_t*>(sorted) + lane * rows;
            auto* out = reinterpret_cast<std::uint16_t*>(table) + lane;
            std::size_t s = 0;
            for (; s + 8 <= rows; s += 8) transpose_eight(in + s, rows, out + s * kLanes, kLanes);
            for (; s < rows; ++s)
                for (std::size_t l = 0; l < 8; ++l) out[s * kLanes + l] = in[l * rows + s];
        }
    }
#endif
    for (; lane < kLanes; ++lane) {
        T* out = table + lane;
        const std::size_t first = lane * rows, real = first >= n ? 0 : n - first < rows ? n - first : rows;
        for (std::size_t s = 0; s < real; ++s) out[s * kLanes] = sorted[first + s];
        for (std::size_t s = real; s < rows; ++s) out[s * kLanes] = padding;
    }
}

template void spread(const std::uint16_t*, std::size_t, std::size_t, std::uint16_t, std::uint16_t*);
template void spread(const std::uint32_t*, std::size_t, std::size_t, std::uint32_t, std::uint32_t*);

}  // namespace treeform::contree
