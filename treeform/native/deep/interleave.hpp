#pragma once
// A proof and an improvement search in turns, by the work of each.
#include <cstdint>
#include <functional>

#include "../common/stoppable.hpp"
#include "improver.hpp"

namespace treeform::deep {

/// Runs `prove` on this thread, which has several workers, and the improvement search on another, at the same time. The
/// proof is not told what is found: its answer does not depend on timing. The search ends after
/// `work_limit`; 0: with the proof.
void side_by_side(Stoppable& control, Improver& improver, std::uint64_t work_limit, const std::function<void()>& prove);

/// Runs `prove` on this thread and the improvement search on another, one at a time. Returns when the proof has ended,
/// or throws what it throws. `allowed` says how much work the improvement search may have done by now; while that
/// is none it has no thread. Before each of its turns the proof calls `rest`, on its own thread.
void in_turns(Stoppable& control, Improver& improver, const std::function<double()>& allowed,
              const std::function<void()>& prove, const std::function<void()>& rest);

}  // namespace treeform::deep
