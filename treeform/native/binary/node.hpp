#pragma once
// A subproblem: a set of rows, the features that still tell them apart, and what counting them gave.
#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "ops.hpp"
#include "problem.hpp"

namespace treeform::binary {

/// Raw memory on cache-line boundaries that never shrinks. `live` counts the bytes of all of them, for the memory
/// limit.
class Buffer {
public:
    static inline std::atomic<std::int64_t> live{0};
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& o) noexcept : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
    Buffer& operator=(Buffer&& o) noexcept {
        std::swap(data_, o.data_);
        std::swap(size_, o.size_);
        return *this;
    }
    ~Buffer() {
        release();
        live.fetch_sub(std::int64_t(size_), std::memory_order_relaxed);
    }
    template <class T>
    T* take(std::size_t n) {
        const std::size_t bytes = (n * sizeof(T) + 127) / 64 * 64;
        if (bytes > size_) {
            release();
            live.fetch_sub(std::int64_t(size_), std::memory_order_relaxed);
            size_ = 0;
            const std::size_t wanted = bytes + bytes / 4 / 64 * 64;
            data_ = ::operator new(wanted, kAligned);
            size_ = wanted;
            live.fetch_add(std::int64_t(size_), std::memory_order_relaxed);
        }
        return static_cast<T*>(data_);
    }
    template <class T>
    T* get() const {
        return static_cast<T*>(data_);
    }

private:
    // std::aligned_alloc is missing on Windows.
    static constexpr std::align_val_t kAligned{64};

    void release() {
        ::operator delete(data_, kAligned);
        data_ = nullptr;
    }

    void* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Column j is true where its feature is 1 xor flip[j]. Side 0 of a test on it: the rows where it is true.
struct Node {
    std::vector<std::uint64_t> cover;   // over the points of the row sets
    std::uint64_t hash = 0;
    std::vector<std::uint32_t> path;    // literals that lead here: 2 * feature + value
    int columns = 0, pad = 0, chunks = 0;
    std::vector<int> feature;
    std::vector<std::uint8_t> flip;
    std::vector<Run> runs;
    Buffer bits, valid, counts, table, totals, shared;
    Cost mass = 0;                      // the most that any tree can lose here
    Cost leaf = 0;                      // cost of a leaf; kNever below the minimum support
    std::vector<Cost> side_mass[2], side_leaf[2], side_one[2];  // per column: nothing / one more test on that side
    std::vector<Cost> side_two[2], side_three[2];               // filled by triples()
    bool has_pairs = false;
};

/// The side of a column on which its feature has that value.
inline int side_of(const Node& node, int column, int value) {
    return (value == 1) != bool(node.flip[column]) ? 0 : 1;
}

inline std::int32_t column_of(const Node& node, int feature) {
    const auto found = std::find(node.feature.begin(), node.feature.end(), feature);
    return found == node.feature.end() ? -1 : std::int32_t(found - node.feature.begin());
}

}  // namespace treeform::binary
