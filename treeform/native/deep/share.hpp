#pragma once
// How much an improvement search may do beside a proof at the same depth.
#include <algorithm>
#include <cstdint>
#include <limits>

namespace treeform::deep {

/// Work of a proof: so far, and about of the whole of it; infinity where that is not known.
struct ProofWork {
    double done = 0, whole = std::numeric_limits<double>::infinity();
    bool in_reach = false;  // the table is so small that it takes seconds or minutes

    bool is_known() const { return whole < std::numeric_limits<double>::infinity(); }
    /// Whether it ends in less time than a search for better trees has use for.
    bool ends_soon() const {
        constexpr double kSoon = 2e10, kInReach = 1.5e11;  // some seconds, and some more
        return std::max(done, whole) <= (in_reach ? kInReach : kSoon);
    }
};

/// The search has most of the time while it finds better trees. Where it has found none for long and a proof is in reach,
/// the proof has most of it: it ends, or finds trees that the search does not. Beside a proof that ends soon, the search has
/// a small part of the work of the whole of it first, and as much again by the end.
class Share {
public:
    /// The work that the search may have done, beyond `ahead`, for so much of a proof. `done` is what it has done, `best`
    /// the cost of the best tree known.
    double of(const ProofWork& proof, double done, double ahead, std::int64_t best) {
        if (best < best_) best_ = best, last_gain_ = done;
        const bool finds = proof.is_known() && done < kPatience * std::max(last_gain_, ahead);
        granted_ += (finds || !proof.in_reach ? kMost : kLess) * (proof.done - proof_);
        proof_ = proof.done;
        if (proof.in_reach && proof.done < kAlone) return 0;
        return proof.ends_soon() ? std::min(granted_, kPart * (proof.whole + proof.done)) : granted_;
    }

private:
    static constexpr double kMost = 4, kLess = 0.25;  // units of the search for one of the proof
    static constexpr double kAlone = 5e7;  // some 25 milliseconds, in which many a proof in reach ends
    static constexpr double kPatience = 3;  // times the work up to the last better tree
    static constexpr double kPart = 0.02;  // a unit of the search takes up to four times the time of one of the proof

    std::int64_t best_ = std::numeric_limits<std::int64_t>::max();
    double last_gain_ = 0, granted_ = 0, proof_ = 0;
};

}  // namespace treeform::deep
