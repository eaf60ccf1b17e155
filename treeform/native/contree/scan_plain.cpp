// The scan in portable C++: the definition of what the other paths compute. Compilers vectorise the loops over lanes.
#include <algorithm>
#include <bit>
#include <limits>

#include "scan.hpp"

namespace treeform::contree {
namespace {

template <class Sum>
struct Lanes {
    Sum sum[kLanes], most[kLanes], least[kLanes];

    Lanes() {
        std::fill_n(sum, kLanes, Sum{0});
        std::fill_n(most, kLanes, std::numeric_limits<Sum>::min());
        std::fill_n(least, kLanes, std::numeric_limits<Sum>::max());
    }
    void join(bool cuts_only, std::int64_t& most_out, std::int64_t& least_out) const {
        std::int64_t before = 0, high = cuts_only ? std::numeric_limits<std::int64_t>::min() : 0,
                     low = cuts_only ? std::numeric_limits<std::int64_t>::max() : 0;
        for (int lane = 0; lane < kLanes; ++lane) {
            if (most[lane] >= least[lane]) {  // the lane has a cut
                high = std::max<std::int64_t>(high, before + most[lane]);
                low = std::min<std::int64_t>(low, before + least[lane]);
            }
            before += sum[lane];
        }
        most_out = high, least_out = low;
    }
};

template <class Key, class Sum, bool AllCuts, class Step>
void run(const ScanInput<Key, Sum>& in, Extremes& out, Step step) {
    Lanes<Sum> left, right;
    for (std::size_t s = 0; s < in.rows; ++s) {
        const std::uint32_t cuts = AllCuts ? ~std::uint32_t{0} : in.valid[s];
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::size_t i = s * kLanes + lane;
            const bool is_left = in.key[i] < in.below;
            left.sum[lane] = static_cast<Sum>(left.sum[lane] + (is_left ? step(i, 0) : Sum{0}));
            right.sum[lane] = static_cast<Sum>(right.sum[lane] + (is_left ? Sum{0} : step(i, 2)));
            if (AllCuts || (cuts >> lane & 1)) {
                left.most[lane] = std::max(left.most[lane], left.sum[lane]);
                left.least[lane] = std::min(left.least[lane], left.sum[lane]);
                right.most[lane] = std::max(right.most[lane], right.sum[lane]);
                right.least[lane] = std::min(right.least[lane], right.sum[lane]);
            }
        }
    }
    if (in.sides & kLeft) left.join(in.cuts_only, out.most_left, out.least_left);
    if (in.sides & kRight) right.join(in.cuts_only, out.most_right, out.least_right);
}

template <class Key, class Sum>
void delta_scan(const ScanInput<Key, Sum>& in, Extremes& out) {
    const auto step = [&in](std::size_t i, int) { return in.step[i]; };
    if (in.valid)
        run<Key, Sum, false>(in, out, step);
    else
        run<Key, Sum, true>(in, out, step);
}

template <class Key, class Sum>
void pair_scan(const ScanInput<Key, Sum>& in, Extremes& out) {
    const auto step = [&in](std::size_t i, int side) {
        return static_cast<Sum>((in.label[i] == in.pairs[side + 1]) - (in.label[i] == in.pairs[side]));
    };
    if (in.valid)
        run<Key, Sum, false>(in, out, step);
    else
        run<Key, Sum, true>(in, out, step);
}

template <class Key, class Sum>
void weighted_pair_scan(const ScanInput<Key, Sum>& in, Extremes& out) {
    const auto step = [&in](std::size_t i, int side) {
        return static_cast<Sum>(in.step[i]
                                * ((in.label[i] == in.pairs[side + 1]) - (in.label[i] == in.pairs[side])));
    };
    if (in.valid)
        run<Key, Sum, false>(in, out, step);
    else
        run<Key, Sum, true>(in, out, step);
}

template <class Key>
std::size_t mark_cuts(const Key* key, std::size_t rows, std::uint32_t* valid) {
    std::size_t marked = 0;
    for (std::size_t s = 0; s < rows; ++s) {
        const Key* here = key + s * kLanes;
        const bool last = s + 1 == rows;   // followed by the first row of the next lane
        const Key* there = last ? key + 1 : here + kLanes;
        std::uint32_t cuts = 0;
        for (int lane = 0; lane < kLanes - (last ? 1 : 0); ++lane)
            cuts |= static_cast<std::uint32_t>(here[lane] != there[lane]) << lane;
        valid[s] = cuts;
        marked += static_cast<std::size_t>(std::popcount(cuts));
    }
    return marked;
}

}  // namespace

template <class Key, class Sum>
ScanTable<Key, Sum> plain_scans() {
    return {delta_scan<Key, Sum>, pair_scan<Key, Sum>, weighted_pair_scan<Key, Sum>, mark_cuts<Key>, "plain"};
}
template ScanTable<std::uint16_t, std::int16_t> plain_scans();
template ScanTable<std::uint32_t, std::int32_t> plain_scans();
template ScanTable<std::uint16_t, std::int32_t> plain_scans();
template ScanTable<std::uint32_t, std::int64_t> plain_scans();

}  // namespace treeform::contree
