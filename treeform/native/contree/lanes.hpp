#pragma once
// A node in the lanes of the scan (see scan.hpp): for every second feature g its rows in g's order, what they add,
// where cuts are, and the ranks of the root feature in work. Laid out once per node; the ranks are gathered when (f, g)
// is first scanned.
#include <algorithm>
#include <array>
#include <vector>

#include "../common/cold.hpp"
#include "listed_rows.hpp"
#include "scan.hpp"
#include "spread.hpp"
#include "table.hpp"

namespace treeform::contree {

template <class W>
class Lanes {
public:
    using Id = typename W::Id;
    using Key = typename W::Key;
    using Sum = typename W::Sum;
    using Cost = typename W::Cost;

    struct Lane {  // one feature's order
        std::vector<Id> order;
        std::vector<Key> key;  // own ranks at first, then those of the root feature in work
        std::vector<Sum> step;  // two classes: what the row adds; otherwise its weight, if not one
        std::vector<std::uint16_t> label;
        std::vector<std::int8_t> step_bytes;  // in place of `step` and `label`, where the scans take bytes
        std::vector<std::uint8_t> label_bytes;
        std::vector<std::uint32_t> valid;
        bool ties = false, key_ready = false;
    };

    Lanes(const Table<W>& table, const ScanTable<Key, Sum>& scans)
        : table_(table), scans_(scans), lanes_(table.features) {}

    TREEFORM_COLD void release() {
        std::vector<Lane>(lanes_.size()).swap(lanes_), std::vector<std::uint16_t>().swap(labels_);
    }
    TREEFORM_COLD std::size_t bytes() const {
        std::size_t sum = labels_.capacity() * sizeof(std::uint16_t);
        for (const auto& lane : lanes_)
            sum += lane.order.capacity() * sizeof(Id) + lane.key.capacity() * sizeof(Key)
                   + lane.step.capacity() * sizeof(Sum) + lane.label.capacity() * 2 + lane.valid.capacity() * 4
                   + lane.step_bytes.capacity() + lane.label_bytes.capacity();
        return sum;
    }
    std::size_t size() const { return rows_ * kLanes; }
    const Lane& operator[](int feature) const { return lanes_[feature]; }
    /// Elements that were read so far, about; a scan is counted by who makes it.
    std::uint64_t work() const { return work_; }

    ListedRows<W>* lists = nullptr;  // for nodes that are lists, or have orders alone
    /// The node, or its rows in the order of the feature until the next call; see ListedRows::labelled_by.
    const Node<W>& sorted(const Node<W>& node, int feature) {
        return lists ? lists->labelled_by(node, feature) : node;
    }

    void lay_out(const Node<W>& all, const Control& control) {
        n_ = all.n, rows_ = (n_ + kLanes - 1) / kLanes;
        small_total_ = static_cast<double>(n_) * static_cast<double>(table_.losses.max_step) <= 16000;
        block_ = rows_in_block();
        work_ += 4 * size() * lanes_.size();
        for (int f = 0; f < table_.features; ++f) {
            control.check();
            const Node<W>& node = sorted(all, f);
            Lane& lane = lanes_[f];
            need(lane.order, size()), need(lane.key, size());
            spread(node.order(f), node.n, rows_, static_cast<Id>(table_.n), lane.order.data());
            lane.ties = has_ties(node, f);
            if (lane.ties) {
                need(lane.valid, rows_);
                spread(node.key(f), node.n, rows_, static_cast<Key>(~Key{0}), lane.key.data());
                scans_.mark(lane.key.data(), rows_, lane.valid.data());
            } else {
                std::fill_n(lane.key.data(), size(), Key{0});
            }
            fill(node, f, lane);
        }
    }

    /// From here on the keys are those of another root feature.
    void forget_keys() {
        for (auto& lane : lanes_) lane.key_ready = false;
    }
    void need_keys(int root, int feature, Counters& counters) {
        Lane& lane = lanes_[feature];
        if (lane.key_ready) return;
        lane.key_ready = true;
        ++counters.gathers;
        work_ += 4 * size();
        gather(lane, root);
    }

    ScanInput<Key, Sum> input(const Lane& lane, Key key, bool left, bool right) const {
        ScanInput<Key, Sum> in;
        in.key = lane.key.data(), in.step = lane.step.data(), in.label = lane.label.data();
        in.valid = lane.ties ? lane.valid.data() : nullptr;
        in.rows = rows_, in.below = key, in.sides = (left ? kLeft : 0) | (right ? kRight : 0);
        in.small_total = small_total_, in.classes = table_.classes, in.block = block_;
        if (block_ > 0 && table_.classes == 2) in.step_bytes = lane.step_bytes.data();
        if (block_ > 0 && table_.classes > 2) in.label_bytes = lane.label_bytes.data();
        return in;
    }

    /// The cuts of `lane` that leave a weight of `support` on both sides of them, counting only the rows that are on
    /// one side of the split {rank < key}; false if there is none. An interval of places, as bits in the manner of
    /// `valid`.
    bool confine(const Lane& lane, Key key, bool left, Cost support, std::vector<std::uint32_t>& valid) {
        std::size_t first = 0, last = n_;
        LaneSums sums;
        weigh_lanes(lane, key, left, sums);
        if (!walk<1>(lane, key, left, support, sums, first) || !walk<-1>(lane, key, left, support, sums, last)
            || last <= first - 1)
            return false;
        --first, --last;  // a cut is named by the place before it
        valid.resize(rows_);
        const std::size_t first_lane = first / rows_, last_lane = last / rows_;
        for (std::size_t s = 0; s < rows_; ++s) {
            const std::size_t from = first_lane + (s < first % rows_), to = last_lane + (s <= last % rows_);  // lanes
            const std::uint64_t bits =
                to > from ? ((std::uint64_t{1} << to) - 1) & ~((std::uint64_t{1} << from) - 1) : 0;
            valid[s] = static_cast<std::uint32_t>(bits) & (lane.ties ? lane.valid[s] : ~std::uint32_t{0});
        }
        return true;
    }

private:
    const Table<W>& table_;
    const ScanTable<Key, Sum>& scans_;
    std::vector<Lane> lanes_;
    std::vector<std::uint16_t> labels_;  // of the feature in work
    std::size_t n_ = 0, rows_ = 0, block_ = 0;
    std::uint64_t work_ = 0;
    bool small_total_ = false;
    bool unit_ = false, unit_known_ = false;  // every row counts one for a support

    template <class T>
    void need(std::vector<T>& out, std::size_t size) const {
        if (out.size() < size) renew(out, size, (table_.n / kLanes + 1) * kLanes);
    }
    /// Rows of the lane table whose steps sum up to at most 127; 0 where steps are not scanned in bytes.
    std::size_t rows_in_block() const {
        const std::int64_t step = table_.losses.max_step;
        const bool narrow = step >= 1 && step <= 31 && static_cast<std::int64_t>(rows_) * step < 32000;
        const bool known = table_.classes == 2 || (table_.plain && table_.classes <= 254);
        return scans_.bytes && narrow && known ? static_cast<std::size_t>(127 / step) : 0;
    }

    using LaneSums = std::array<Cost, kLanes>;
    /// What the rows of one side of the split count for a support, lane by lane.
    void weigh_lanes(const Lane& lane, Key key, bool left, LaneSums& out) {
        if (!unit_known_) unit_ = counts_one(), unit_known_ = true;
        if (!unit_) {
            out.fill(0);
            for (std::size_t at = 0; at < size(); at += kLanes)
                for (int l = 0; l < kLanes; ++l)
                    out[l] += (lane.key[at + l] < key) == left ? table_.support_of(lane.order[at + l]) : Cost{0};
            return;
        }
        std::array<Key, kLanes> below{};  // less than a lane has rows
        for (std::size_t at = 0; at < size(); at += kLanes)
            for (int l = 0; l < kLanes; ++l) below[l] += static_cast<Key>(lane.key[at + l] < key);
        for (std::size_t k = n_; k < size(); ++k)  // padding
            below[k / rows_] -= static_cast<Key>(lane.key[k % rows_ * kLanes + k / rows_] < key);
        for (int l = 0; l < kLanes; ++l) {
            const std::size_t from = std::min(n_, l * rows_), to = std::min(n_, (l + 1) * rows_);
            out[l] = left ? static_cast<Cost>(below[l]) : static_cast<Cost>(to - from) - static_cast<Cost>(below[l]);
        }
    }
    bool counts_one() const {
        if (table_.supporting.empty()) return table_.weight.empty();
        return std::all_of(table_.supporting.begin(), table_.supporting.begin() + table_.n,
                           [](Cost x) { return x == 1; });
    }
    /// Rows from the first on, or (Step -1) from the last, until those of one side of the split have a weight of
    /// `support`: `place` is behind them, or at them. False if they never do.
    template <int Step>
    bool walk(const Lane& lane, Key key, bool left, Cost support, const LaneSums& sums, std::size_t& place) const {
        int column = Step > 0 ? 0 : kLanes - 1;
        Cost sum = 0;
        for (; column >= 0 && column < kLanes && sum + sums[column] < support; column += Step) sum += sums[column];
        if (column < 0 || column == kLanes) return false;
        const std::size_t begin = static_cast<std::size_t>(column) * rows_;
        place = Step > 0 ? begin : std::min(n_, begin + rows_);
        const std::size_t at = (place - (Step > 0 ? 0 : 1) - begin) * kLanes + static_cast<std::size_t>(column);
        const Key* keys = lane.key.data() + at;
        const Id* rows = lane.order.data() + at;
        const auto count = [&](auto counted) {
            std::ptrdiff_t k = 0;
            for (; sum < support; place += Step, k += Step * kLanes)
                sum += (keys[k] < key) == left ? counted(rows[k]) : Cost{0};
        };
        unit_ ? count([](Id) { return Cost{1}; }) : count([this](Id row) { return table_.support_of(row); });
        return true;
    }
    bool has_ties(const Node<W>& node, int f) const {
        if (table_.distinct[f] == table_.n) return false;
        const Key* key = node.key(f);
        return std::adjacent_find(key, key + node.n) != key + node.n;
    }
    void fill(const Node<W>& node, int f, Lane& lane) {
        if (block_ > 0) {
            table_.classes == 2 ? fill_step_bytes(node, f, lane) : fill_label_bytes(node, f, lane);
            return;
        }
        const bool two = table_.classes == 2;
        const std::size_t size = this->size();
        const Id* order = lane.order.data();
        if (two || !table_.plain) {
            need(lane.step, size);
            if (two && table_.plain) {
                step_from_label(node, f, lane);
            } else if (two) {
                look_up(table_.delta.data(), order, lane.step.data(), size);
            } else {
                for (std::size_t i = 0; i < size; ++i) lane.step[i] = static_cast<Sum>(table_.weight[order[i]]);
            }
        }
        if (!two) {
            need(lane.label, size);
            spread(node.label(f), node.n, rows_, kNoLabel, lane.label.data());
        }
        if (node.unlabelled_weight > 0 && !lane.step.empty() && (two || !table_.plain))
            for (std::size_t k = 0; k < node.n; ++k)
                if (node.label(f)[k] == kNoLabel) lane.step[k % rows_ * kLanes + k / rows_] = 0;
    }
    void fill_step_bytes(const Node<W>& node, int f, Lane& lane) {
        const std::size_t size = this->size();
        need(lane.step_bytes, size);
        std::int8_t* step = lane.step_bytes.data();
        if (table_.plain) {
            const std::uint16_t* label = spread_labels(node, f);
            for (std::size_t i = 0; i < size; ++i) step[i] = static_cast<std::int8_t>(2 * label[i] - 1);
            for (std::size_t k = node.n; k < size; ++k) step[k % rows_ * kLanes + k / rows_] = 0;
        } else {
            const Id* order = lane.order.data();
            for (std::size_t i = 0; i < size; ++i) step[i] = static_cast<std::int8_t>(table_.delta[order[i]]);
        }
        if (node.unlabelled_weight > 0)
            for (std::size_t k = 0; k < node.n; ++k)
                if (node.label(f)[k] == kNoLabel) step[k % rows_ * kLanes + k / rows_] = 0;
    }
    /// 255 for rows without a label and for the padding.
    void fill_label_bytes(const Node<W>& node, int f, Lane& lane) {
        const std::size_t size = this->size();
        need(lane.label_bytes, size);
        const std::uint16_t* label = spread_labels(node, f);
        for (std::size_t i = 0; i < size; ++i) lane.label_bytes[i] = static_cast<std::uint8_t>(label[i]);
    }
    const std::uint16_t* spread_labels(const Node<W>& node, int f) {
        if (labels_.size() < size()) labels_.resize(size());
        spread(node.label(f), node.n, rows_, kNoLabel, labels_.data());
        return labels_.data();
    }
    /// -1 for class 0, +1 for class 1, nothing for the padding.
    void step_from_label(const Node<W>& node, int f, Lane& lane) {
        const std::size_t size = this->size();
        const std::uint16_t* label = spread_labels(node, f);
        for (std::size_t i = 0; i < size; ++i) lane.step[i] = static_cast<Sum>(2 * label[i] - 1);
        for (std::size_t k = node.n; k < size; ++k) lane.step[k % rows_ * kLanes + k / rows_] = 0;
    }
    void gather(Lane& lane, int feature) {
        look_up(table_.rank[feature].data(), lane.order.data(), lane.key.data(), size());
    }
    template <class T>
    static void look_up(const T* table, const Id* at, T* out, std::size_t size) {  // size is a multiple of kLanes
#if defined(__GNUC__)
#pragma GCC unroll 16
#endif
        for (std::size_t i = 0; i < size; ++i) out[i] = table[at[i]];
    }
};

}  // namespace treeform::contree
