#pragma once
// Arrays for the scans.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/give_back.hpp"

namespace treeform::regression {

/// An array aligned for the scans that only grows, and forgets what it held when it does. A small one grows by more than it
/// needs.
template <class T>
class Aligned {
public:
    T* need(std::size_t n) {
        if (n > size_) {
            size_ = n + (size_ > 0 && n < kLarge ? n / 4 : 0) + 64;
            give_back(memory_);
            memory_.resize(size_ * sizeof(T) + 64);
            const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
            start_ = reinterpret_cast<T*>(memory_.data() + (64 - at % 64) % 64);
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
};

}  // namespace treeform::regression
