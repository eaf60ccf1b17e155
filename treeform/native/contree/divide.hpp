#pragma once
// Dividing the sorted arrays of a node between the two sides of a split: first one bit per row (left or right), then
// every array of that order by these bits, its own order kept. No array is indexed by row; on AVX-512 with VBMI2 a
// register of 32 rows is divided by two instructions, on AVX2 eight rows by two shuffles.
#include <cstddef>
#include <cstdint>

namespace treeform::contree {

/// Arrays that are read or written here have room for this many elements after their end.
constexpr std::size_t kSlack = 32;

/// The functions of one instruction set, for elements of 16 and of 32 bits.
struct Divider {
    void (*mark_16)(const std::uint16_t* key, std::size_t n, std::uint16_t below, std::uint32_t* left);
    void (*mark_32)(const std::uint32_t* key, std::size_t n, std::uint32_t below, std::uint32_t* left);
    void (*divide_16)(const std::uint16_t* from, std::size_t n, const std::uint32_t* left, std::uint16_t* a,
                      std::uint16_t* b);
    void (*divide_32)(const std::uint32_t* from, std::size_t n, const std::uint32_t* left, std::uint32_t* a,
                      std::uint32_t* b);

    /// Bit k % 32 of left[k / 32] is key[k] < below. Bits from n on are zero.
    template <class T>
    void mark(const T* key, std::size_t n, T below, std::uint32_t* left) const {
        if constexpr (sizeof(T) == 2)
            mark_16(key, n, below, left);
        else
            mark_32(key, n, below, left);
    }
    /// Elements with their bit set go to `a`, the others to `b`.
    template <class T>
    void divide(const T* from, std::size_t n, const std::uint32_t* left, T* a, T* b) const {
        if constexpr (sizeof(T) == 2)
            divide_16(from, n, left, a, b);
        else
            divide_32(from, n, left, a, b);
    }
};

/// The fastest that this processor and `simd` allow.
Divider choose_divider(const char* simd);
#if defined(__x86_64__)
Divider avx2_divider();
Divider avx512_divider();
#endif

}  // namespace treeform::contree
