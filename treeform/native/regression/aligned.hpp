#pragma once
// Arrays for the scans.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace treeform::regression {

/// An array aligned for the scans that only grows, and forgets what it held when it does.
template <class T>
class Aligned {
public:
    T* need(std::size_t n) {
        if (n > size_) {
            size_ = n + (size_ > 0 ? n / 4 : 0) + 64;
            memory_ = {};
            memory_.resize(size_ * sizeof(T) + 64);
            const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
            start_ = reinterpret_cast<T*>(memory_.data() + (64 - at % 64) % 64);
        }
        return start_;
    }
    T* data() const { return start_; }
    std::size_t bytes() const { return memory_.size(); }

private:
    std::vector<unsigned char> memory_;
    T* start_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace treeform::regression
