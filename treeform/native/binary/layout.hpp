#pragma once
// Preprocessing, once per run. Exact, and the same for every strategy:
//
//  * Cancelling (Blossom, "dataset reduction", carried over to any cost matrix). A row p (all equal rows merged)
//    costs v[p][c] when label c is predicted. min_c v[p][c] is lost whatever the tree does: it moves into an offset.
//    What is left is turned into rewards r[p][c] = max_c' v[p][c'] - v[p][c] >= 0, so that a tree that earns R in
//    total costs sum_p max_c r[p][c] - R above the offset. With two classes r is the surplus of one class. Rows
//    without any reward are dropped. The offset is the equivalent-points bound, so the search never sees it.
//  * Weights become bit planes: a reward of 5 puts the row's bit into plane 2 and plane 0 of its label.
//  * A common divisor of all rewards is divided out.
#include <algorithm>
#include <bit>
#include <numeric>

#include "ops.hpp"
#include "problem.hpp"

namespace treeform::binary {

struct Layout {
    Mode mode = Mode::two_classes;
    int labels = 0, channels = 0;       // channels that pair tables scan: labels (+ support)
    int all_channels = 0;               // + mass, when it is not simply channel 0 plus channel 1
    int planes = 1;
    Cost unit = 1, offset = 0, total = 0, total_support = 0;
    std::vector<std::size_t> kept;               // rows that matter
    std::vector<std::vector<int>> members;       // [channel * planes + run] -> kept rows whose bit is set there

    Layout(const Points& p, const Settings& settings) {
        labels = p.labels;
        const bool supported = settings.min_support > 1;
        mode = supported ? Mode::classes_and_support : labels == 2 ? Mode::two_classes : Mode::classes;
        channels = labels + supported;
        all_channels = channels + (mode != Mode::two_classes);
        std::vector<Cost> reward(p.rows * std::size_t(labels));
        unit = 0;
        for (std::size_t i = 0; i < p.rows; ++i) {
            const Cost* v = p.value + i * labels;
            const Cost most = *std::max_element(v, v + labels), least = *std::min_element(v, v + labels);
            offset += least;
            for (int c = 0; c < labels; ++c) unit = std::gcd(unit, reward[i * labels + c] = most - v[c]);
            if (most > least || supported) kept.push_back(i);
        }
        unit = std::max<Cost>(unit, 1);
        std::vector<std::vector<Cost>> amount(all_channels, std::vector<Cost>(kept.size()));
        Cost largest = 1;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            Cost most = 0;
            for (int c = 0; c < labels; ++c) most = std::max(most, amount[c][i] = reward[kept[i] * labels + c] / unit);
            if (supported) amount[labels][i] = p.weight[kept[i]], total_support += p.weight[kept[i]];
            if (mode != Mode::two_classes) amount[all_channels - 1][i] = most;
            total += most;
            largest = std::max({largest, most, supported ? p.weight[kept[i]] : 0});
        }
        planes = std::bit_width(std::uint64_t(largest));
        members.resize(std::size_t(all_channels) * planes);
        for (int k = 0; k < all_channels; ++k)
            for (int plane = 0; plane < planes; ++plane)
                for (std::size_t i = 0; i < kept.size(); ++i)
                    if (amount[k][i] >> plane & 1) members[k * planes + (planes - 1 - plane)].push_back(int(i));
    }
    int lane_bits() const {
        const Cost most = std::max(total, total_support);
        if (mode != Mode::classes_and_support && most < (1 << 15)) return 16;
        return most < (Cost(1) << 28) ? 32 : 64;
    }
};

}  // namespace treeform::binary
