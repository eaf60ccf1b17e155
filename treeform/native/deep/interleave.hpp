#pragma once
// A proof and an improvement search in turns, by the work of each.
#include <cstdint>
#include <functional>

#include "../common/stoppable.hpp"
#include "improver.hpp"

namespace treeform::deep {

/// The work of the improvement search for each unit of the proof: `part`, plus `early` until that makes `ahead` units.
/// If `early` is 0, these `ahead` units come before the proof.
struct Share {
    std::uint64_t ahead = 0;
    double part = 0, early = 0;
};

/// Runs `prove` on this thread, which has several workers, and the improvement search on another, at the same time. The
/// proof is not told what is found: its answer does not depend on timing.
void side_by_side(Stoppable& control, Improver& improver, const std::function<void()>& prove);

/// Runs `prove` on this thread and the improvement search on another, one at a time. Returns when the proof has ended,
/// or throws what it throws.
void in_turns(Stoppable& control, Improver& improver, const Share& share, const std::function<void()>& prove,
              const std::function<std::uint64_t()>& proof_work);

}  // namespace treeform::deep
