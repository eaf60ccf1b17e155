#pragma once
// Arrays for the scans.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/give_back.hpp"

namespace treeform::regression {

/// An array aligned for the scans that only grows, and may forget what it held when it does. A small one grows by more than
/// it needs.
template <class T>
class Aligned {
public:
    /// Room for `n`; where it is made anew, room for `most` is set aside, which takes no memory until it is needed.
    T* need(std::size_t n, std::size_t most = 0) {
        if (n > size_) {
            const std::size_t wanted = n + (size_ > 0 && n < kLarge ? n / 4 : 0) + 64;
            if (bytes_of(wanted) > memory_.capacity()) {
                size_ = 0, start_ = nullptr;  // there may be no memory
                give_back(memory_);
                memory_.reserve(bytes_of(std::max(wanted, most + 64)));
            }
            memory_.resize(bytes_of(wanted));
            const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
            start_ = reinterpret_cast<T*>(memory_.data() + (64 - at % 64) % 64), size_ = wanted;
        }
        return start_;
    }
    T* data() const { return start_; }
    std::size_t bytes() const { return memory_.size(); }

private:
    static constexpr std::size_t kLarge = std::size_t{1} << 14;
    std::vector<unsigned char> memory_;
    T* start_ = nullptr;
    std::size_t size_ = 0;

    static constexpr std::size_t bytes_of(std::size_t n) { return n * sizeof(T) + 64; }
};

}  // namespace treeform::regression
