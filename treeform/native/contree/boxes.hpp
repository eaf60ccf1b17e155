#pragma once
// Sets of rows that lie between two cuts of each of some features ("boxes"), and what trees on them cost at least.
//
// Tests of several features lead to the same box in any order, and higher targets ask about the same boxes again.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "table.hpp"

namespace treeform::contree {

/// The box of a node, and the lower bounds that are known.
template <class Cost>
class Boxes {
    struct Range {  // of ranks
        std::uint32_t feature, from, to;
        auto operator<=>(const Range&) const = default;
    };

public:
    TREEFORM_COLD ~Boxes() = default;

    /// While it lives, the box is one side of a test.
    class Side {
    public:
        Side(Boxes& boxes, Test test, bool left) : boxes_(boxes), before_(boxes.box_) {
            auto& box = boxes_.box_;
            const auto feature = static_cast<std::uint32_t>(test.feature);
            auto at = std::find_if(box.begin(), box.end(), [&](const Range& r) { return r.feature >= feature; });
            if (at == box.end() || at->feature != feature) at = box.insert(at, {feature, 0, ~std::uint32_t{0}});
            (left ? at->to : at->from) = test.key;
        }
        Side(const Side&) = delete;
        ~Side() { boxes_.box_.swap(before_); }

    private:
        Boxes& boxes_;
        std::vector<Range> before_;
    };

    /// No tree of that depth costs less on the rows of the box.
    Cost& lower(int depth) {
        if (known_.size() >= kMost) known_.clear();
        return known_[{depth, box_}];
    }
    void clear() { known_.clear(); }

private:
    static constexpr std::size_t kMost = std::size_t{1} << 18;  // about 40 MB
    std::vector<Range> box_;  // by feature
    std::map<std::pair<int, std::vector<Range>>, Cost> known_;
};

/// Quantiles of some rows: cuts that many nodes have in common.
template <class W>
class CommonCuts {
public:
    using Key = typename W::Key;

    TREEFORM_COLD void take(const Table<W>& table, std::vector<typename W::Id> rows, const Control& control) {
        keys_.resize(table.features);
        for (int f = 0; f < table.features && !rows.empty(); ++f) {
            control.check();
            const auto* rank = table.rank[f].data();
            std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return rank[a] < rank[b]; });
            for (std::size_t i = 1; i < kParts; ++i) keys_[f][i] = rank[rows[rows.size() * i / kParts]];
        }
    }
    /// The key low < key <= high that divides the rows into the fewest parts; 0 if there is none.
    Key between(int f, Key low, Key high) const {
        const auto& keys = keys_[f];
        const auto from = std::upper_bound(keys.begin() + 1, keys.end(), low) - keys.begin();
        const auto to = std::upper_bound(keys.begin() + 1, keys.end(), high) - keys.begin();
        std::ptrdiff_t best = 0;
        for (auto i = from; i < to; ++i)
            if (best == 0 || std::countr_zero(std::size_t(i)) > std::countr_zero(std::size_t(best))) best = i;
        return best == 0 ? Key{0} : keys[best];
    }

private:
    static constexpr std::size_t kParts = 256;
    std::vector<std::array<Key, kParts>> keys_;
};

}  // namespace treeform::contree
