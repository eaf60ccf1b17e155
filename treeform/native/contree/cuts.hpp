#pragma once
// The thresholds ("cuts") of one feature in a node. A cut is named by its place in the feature's order: cut c lies
// between rows c - 1 and c, and exists when their values differ. So nothing has to be listed; runs of equal values are
// stepped over by binary search. `z` is the mass left of a cut: the number of rows, or running sums if rows differ in
// mass.
#include <algorithm>
#include <limits>
#include <vector>

#include "table.hpp"

namespace treeform::contree {

template <class W>
class Cuts {
public:
    using Cost = typename W::Cost;
    using Key = typename W::Key;
    using Id = typename W::Id;

    /// The cuts of `feature` in `node`, which must stay as it is; only those with a weight of `support` on both sides.
    void take(const Table<W>& table, const Node<W>& node, int feature, Cost support) {
        take_keys(table, node, feature, support);
        if (plain_) return;
        const Id* rows = node.order(feature);
        z_.resize(node.n + 1);
        Cost z = 0;
        for (std::size_t k = 0; k < node.n; ++k) z_[k] = z, z += table.mass[rows[k]];
        z_[node.n] = z;
    }
    /// The same without their masses, for which every row is read where rows differ in mass.
    void take_keys(const Table<W>& table, const Node<W>& node, int feature, Cost support) {
        key_ = {node.keys.empty() ? nullptr : node.key(feature), node.order(feature), table.rank[feature].data()};
        plain_ = table.plain;
        first_ = 1, last_ = 0, left_may_split_ = 0, right_may_split_ = static_cast<int>(node.n);
        if (node.n < 2) return;
        const int n = static_cast<int>(node.n);
        first_ = key_.above(key_[0], 0, n), last_ = key_.from(key_[n - 1], 0, n);
        if (support > 0) leave(table, node.order(feature), static_cast<int>(node.n), support);
    }

    int first() const { return first_; }
    int last() const { return last_; }
    bool empty() const { return first_ > last_; }
    /// Whether the weight of a side is below twice the support, so that its only tree is a leaf.
    bool left_is_leaf(int c) const { return c < left_may_split_; }
    bool right_is_leaf(int c) const { return c > right_may_split_; }
    Cost z(int c) const { return plain_ ? static_cast<Cost>(c) : z_[c]; }
    /// Rows whose key is less go left.
    Key key(int c) const { return key_[c]; }

    /// The first cut at or after place c; to + 1 when that is beyond `to`.
    int after(int c, int to) const {
        if (c > to) return to + 1;
        return key_[c] == key_[c - 1] ? key_.above(key_[c], c, to + 1) : c;
    }
    /// The last cut at or before place c; from - 1 when that is before `from`.
    int before(int c, int from) const {
        if (c < from) return from - 1;
        if (key_[c] == key_[c - 1]) c = key_.from(key_[c], from - 1, c);
        return c < from ? from - 1 : c;
    }
    /// The first cut of [from, to] with z > bound, else to + 1.
    int above(Cost bound, int from, int to) const {
        if (plain_) return bound >= to ? to + 1 : after(std::max(from, static_cast<int>(bound) + 1), to);
        return after(static_cast<int>(std::upper_bound(z_.begin() + from, z_.begin() + to + 1, bound) - z_.begin()),
                     to);
    }
    /// The last cut of [from, to] with z < bound, else from - 1.
    int below(Cost bound, int from, int to) const {
        if (plain_) return bound <= from ? from - 1 : before(std::min(to, static_cast<int>(bound) - 1), from);
        return before(
            static_cast<int>(std::lower_bound(z_.begin() + from, z_.begin() + to + 1, bound) - z_.begin()) - 1, from);
    }
    /// The cut of [from, to] (both cuts) nearest to the middle of the mass between them.
    int middle(int from, int to) const {
        const Cost half = z(from) + (z(to) - z(from)) / 2;
        const int high = above(half - 1, from, to);
        if (high == from) return from;
        const int low = before(high - 1, from);
        return half - z(low) < z(high) - half ? low : high;
    }
    /// The first cut of [from, to] whose key is at least that; `to` if there is none.
    int nearest(std::uint32_t key, int from, int to) const {
        return key_.from(key, from, to);
    }
    std::size_t bytes() const { return z_.capacity() * sizeof(Cost); }

private:
    /// The keys of the rows in order; of a node with orders alone they are looked up.
    struct SortedKeys {
        const Key* held = nullptr;  // may be null
        const Id* order = nullptr;
        const Key* rank = nullptr;

        Key operator[](int place) const { return held ? held[place] : rank[order[place]]; }
        /// The first place in [from, to) with at least that key, or with more; else `to`.
        int from(std::uint32_t key, int from, int to) const {
            return first(from, to, [key](Key at) { return at >= key; });
        }
        int above(std::uint32_t key, int from, int to) const {
            return first(from, to, [key](Key at) { return at > key; });
        }

    private:
        template <class Is>
        int first(int from, int to, const Is& is) const {
            while (from < to) {
                const int middle = from + (to - from) / 2;
                is((*this)[middle]) ? to = middle : from = middle + 1;
            }
            return from;
        }
    };
    SortedKeys key_;
    std::vector<Cost> z_;  // only if rows differ in mass
    int first_ = 1, last_ = 0;
    int left_may_split_ = 0, right_may_split_ = 0;  // from that cut on; up to that one
    bool plain_ = true;

    void leave(const Table<W>& table, const Id* rows, int n, Cost support) {
        int low = 0, high = n;
        Cost below = 0, above = 0;
        const auto weigh = [&](Cost least) {
            while (low < n && below < least) below += table.support_of(rows[low++]);
            while (high > 0 && above < least) above += table.support_of(rows[--high]);
        };
        weigh(support);
        first_ = after(std::max(first_, low), last_);
        last_ = before(std::min(last_, high), first_);
        const Cost twice = 2 * std::min(support, std::numeric_limits<Cost>::max() / 2);  // more than all rows have, at most
        weigh(twice);
        left_may_split_ = below < twice ? n + 1 : low, right_may_split_ = above < twice ? -1 : high;
    }
};

}  // namespace treeform::contree
