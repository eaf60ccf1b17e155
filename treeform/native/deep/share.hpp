#pragma once
// How much an improvement search may do beside a proof at the same depth.
#include <algorithm>
#include <cstdint>
#include <limits>

namespace treeform::deep {

/// The search has most of the time while it finds better trees. Where it has found none for long and a proof is in reach,
/// the proof has most of it: it ends, or finds trees that the search does not.
class Share {
public:
    /// The work that the search may have done, beyond `ahead`, for so much work of a proof. `done` is what it has done, `best`
    /// the cost of the best tree known.
    double of(double proof, bool in_reach, double done, double ahead, std::int64_t best) {
        if (best < best_) best_ = best, last_gain_ = done;
        const bool finds = done < kPatience * std::max(last_gain_, ahead);
        granted_ += (finds || !in_reach ? kMost : kLess) * (proof - proof_);
        proof_ = proof;
        return granted_;
    }

private:
    static constexpr double kMost = 4, kLess = 0.25;  // units of the search for one of the proof
    static constexpr double kPatience = 3;  // times the work up to the last better tree

    std::int64_t best_ = std::numeric_limits<std::int64_t>::max();
    double last_gain_ = 0, granted_ = 0, proof_ = 0;
};

}  // namespace treeform::deep
