#pragma once
// Which bits of which chunks a restriction to some rows keeps, and where they go: the steps that `Ops::compress` runs
// for all features at once.
#include <bit>
#include <vector>

#include "ops.hpp"

namespace treeform::binary {

/// Keep the rows whose bit of mask_of(chunk) is set, run by run; fills the steps, the runs of the result and its valid
/// bits.
template <class L, class MaskOf>
void plan_compression(const std::vector<Run>& runs, int n_runs, MaskOf mask_of, std::vector<Step<L>>& steps,
                      std::vector<Run>& out_runs, std::vector<L>& out_valid) {
    constexpr int kBits = 8 * sizeof(L);
    constexpr int kHalvings = std::bit_width(unsigned(kBits)) - 1;
    steps.clear();
    out_runs.assign(runs.size(), {});
    out_valid.clear();
    for (int r = 0; r < n_runs; ++r) {
        out_runs[r].begin = int(out_valid.size());
        int at = 0;
        bool any = false;
        for (int c = runs[r].begin; c < runs[r].end; ++c) {
            L m = mask_of(c);
            if (!m) continue;
            any = true;
            Step<L>& s = steps.emplace_back();
            s.from = std::uint32_t(c), s.mask = m, s.at = std::uint8_t(at);
            s.whole = L(m & L(m + 1)) == 0;
            const int kept = std::popcount(m);
            if (!s.whole) {
                L zeros = L(L(~m) << 1);  // to the right of each bit: how far it moves
                for (int i = 0; i < kHalvings; ++i) {
                    L odd = zeros;
                    for (int k = 1; k < kBits; k *= 2) odd = L(odd ^ L(odd << k));
                    const L move = L(odd & m);
                    s.move[i] = move;
                    m = L((m ^ move) | L(move >> (1 << i)));
                    zeros = L(zeros & ~odd);
                }
            }
            at += kept;
            s.emit = at >= kBits;
            s.flush = false;
            if (s.emit) at -= kBits, out_valid.push_back(L(~L(0)));
        }
        if (any && at) {
            steps.back().flush = true;
            out_valid.push_back(L((L(1) << at) - 1));
        }
        out_runs[r].end = int(out_valid.size());
    }
}

}  // namespace treeform::binary
