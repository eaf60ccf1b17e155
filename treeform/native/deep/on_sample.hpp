#pragma once
// What leaves need on a sample.
#include <cmath>
#include <cstddef>

namespace treeform::deep {

/// While it lives, leaves need that part of the minimum support which the rows of a sample are of all.
template <class Weight>
class OnSample {
public:
    OnSample(Weight& support, std::size_t sample, std::size_t all) : support_(support), before_(support) {
        support_ = static_cast<Weight>(
            std::ceil(static_cast<double>(support) * (static_cast<double>(sample) / static_cast<double>(all))));
    }
    ~OnSample() { support_ = before_; }
    OnSample(const OnSample&) = delete;

private:
    Weight& support_;
    Weight before_;
};

}  // namespace treeform::deep
