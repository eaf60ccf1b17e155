#pragma once
// Solutions of at most one test on one side of a split: every leaf and every test whose price is within a limit. A
// feature that the scans found to hold such tests is walked through once.
#include <functional>

#include "amounts.hpp"

namespace treeform::continuous_totals {

/// The rows of a node on one side of a split, or all of them (feature -1).
struct Part {
    contree::Test split;
    bool left = true;
};

/// A solution of at most one test: labels[0] alone, or left and right of the test.
struct Stump {
    contree::Test test;
    int labels[2] = {0, 0};
};

template <class W, int K>
class Stumps {
public:
    using Node = contree::Node<W>;
    using Cost = typename W::Cost;
    using Visit = std::function<void(const Solution<K>&, const Stump&)>;

    Stumps(const Priced<W>& data, const Settings& settings, const Amounts<K>& amounts)
        : data_(data), settings_(settings), amounts_(amounts), price_(data.samples.labels),
          below_price_(data.samples.labels) {}

    /// Known bounds of a part before it is walked through.
    struct Sums {
        std::vector<Amount> weight;          // per kind
        Amount total = 0;
        std::vector<Solution<K>> constant;   // per label
    };
    void sum(Sums& out) const {
        out.total = 0;
        for (const Amount w : out.weight) out.total += w;
        out.constant.clear();
        for (int c = 0; c < data_.samples.labels; ++c) out.constant.push_back(amounts_.of(out.weight, c));
    }

    /// `visit(solution, stump)` for every leaf within the limit.
    void leaves(const Sums& part, Cost limit, const Visit& visit) const {
        if (part.total < settings_.min_support) return;
        for (int c = 0; c < data_.samples.labels; ++c)
            if (part.constant[c].excess <= limit) visit(part.constant[c], Stump{{}, {c, c}});
    }

    /// `visit(solution, stump)` for every test of feature g within the limit.
    void tests(const Node& node, const Part& part, const Sums& sums, int g, Cost limit, const Visit& visit) {
        if (sums.total < settings_.min_flow || sums.total - settings_.min_support < settings_.min_support) return;
        walk_.begin(*this, node, part, g);
        const Cost room = limit - static_cast<Cost>(amounts_.test.excess);
        if (data_.samples.labels == 2)
            two_labels(node, part, sums, g, room, visit);
        else
            many_labels(node, part, sums, g, room, visit);
    }

private:
    const Priced<W>& data_;
    const Settings& settings_;
    const Amounts<K>& amounts_;
    std::vector<Cost> price_, below_price_;

    /// The weights per kind of the rows of a part below a place in the order of a feature. They are added up only when
    /// asked for, which is seldom.
    struct Walk {
        const typename W::Id* rows = nullptr;
        const typename W::Key* outer = nullptr;  // ranks in the split's feature
        std::uint32_t key = 0;
        bool left = true;
        std::vector<Amount> below;
        Amount under = 0;
        std::size_t place = 0;

        void begin(const Stumps& of, const Node& node, const Part& part, int g) {
            rows = node.order(g);
            outer = part.split.feature < 0 ? nullptr : of.data_.table.rank[part.split.feature].data();
            key = part.split.key, left = part.left;
            below.assign(of.data_.samples.kinds, 0);
            under = 0, place = 0;
        }
        bool has(std::size_t row) const { return !outer || (outer[row] < key) == left; }
        /// Up to that place; false when no row has been added, or none is left above it.
        bool advance(const Samples& samples, std::size_t to, Amount total) {
            const Amount before = under;
            for (; place < to; ++place) {
                const auto row = rows[place];
                if (!has(row)) continue;
                const Amount w = samples.weight_of(row);
                below[samples.kind[row]] += w, under += w;
            }
            return under > before && under < total;
        }
    };
    Walk walk_;

    bool supported(Amount total) const {
        return walk_.under >= settings_.min_support && total - walk_.under >= settings_.min_support;
    }
    /// A test before `place` of feature g: label a below it, b above.
    void found(const Node& node, const Sums& sums, int g, std::size_t place, int a, int b, const Visit& visit) const {
        Solution<K> both = plus(amounts_.moved(sums.constant[b], walk_.below, b, a), amounts_.test);
        if (amounts_.marks && !amounts_.join_marks(g, sums.weight, walk_.below, a, b, both)) return;
        visit(both, Stump{{g, node.key(g)[place]}, {a, b}});
    }

    /// With d = what the rows below pay more for label 0 than for label 1, the two ways to label a test cost (all 1) +
    /// d and (all 0) - d.
    void two_labels(const Node& node, const Part& part, const Sums& sums, int g, Cost room, const Visit& visit) {
        const Cost most = room - static_cast<Cost>(sums.constant[1].excess);
        const Cost least = static_cast<Cost>(sums.constant[0].excess) - room;
        const auto* step = data_.table.delta.data();
        const auto* keys = node.key(g);
        const auto* rows = walk_.rows;
        const auto* outer = part.split.feature < 0 ? data_.table.rank[g].data() : walk_.outer;
        const std::uint32_t key = part.split.feature < 0 ? ~std::uint32_t{0} : walk_.key;
        const bool left = part.split.feature < 0 || walk_.left;
        Cost d = 0;
        for (std::size_t k = 0; k < node.n; ++k) {
            if (d <= most || d >= least) [[unlikely]]
                if (k > 0 && keys[k] != keys[k - 1] && walk_.advance(data_.samples, k, sums.total)
                    && supported(sums.total)) {
                    if (d <= most) found(node, sums, g, k, 0, 1, visit);
                    if (d >= least) found(node, sums, g, k, 1, 0, visit);
                }
            const auto row = rows[k];
            d += (outer[row] < key) == left ? step[row] : 0;
        }
    }
    void many_labels(const Node& node, const Part&, const Sums& sums, int g, Cost room, const Visit& visit) {
        const int labels = data_.samples.labels;
        const auto* keys = node.key(g);
        for (int c = 0; c < labels; ++c) price_[c] = sums.constant[c].excess, below_price_[c] = 0;
        for (std::size_t k = 0; k < node.n; ++k) {
            const auto row = walk_.rows[k];
            if (k > 0 && keys[k] != keys[k - 1])
                for (int a = 0; a < labels; ++a)
                    for (int b = 0; b < labels; ++b)
                        if (a != b && below_price_[a] + price_[b] - below_price_[b] <= room)
                            within(node, sums, g, k, a, b, visit);
            if (!walk_.has(row)) continue;
            const Cost* price = data_.row_price.data() + static_cast<std::size_t>(row) * labels;
            for (int c = 0; c < labels; ++c) below_price_[c] += price[c];
        }
    }
    void within(const Node& node, const Sums& sums, int g, std::size_t place, int a, int b, const Visit& visit) {
        walk_.advance(data_.samples, place, sums.total);
        if (walk_.under > 0 && walk_.under < sums.total && supported(sums.total))
            found(node, sums, g, place, a, b, visit);
    }
};

}  // namespace treeform::continuous_totals
