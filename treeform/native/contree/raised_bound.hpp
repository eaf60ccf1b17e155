#pragma once
// A lower bound on the cost of deep trees, by rising targets: if no tree costs less than a target, the target is
// raised.
//
// A test of a feature between two cuts a < b sends at least the rows below a to the left, and at least those from b on
// to the right. So its trees cost at least the sum of lower bounds for these two parts, at one level less. If the sum
// reaches the target, no test of the interval is better; otherwise a cut in its middle divides the interval. A target
// far below the optimum therefore takes few cuts of each feature, often one. Subtrees of depth two are exact.
//
// If the sum at a cut stays below the target, the target is lowered to half of that sum: most bounds are needed only
// for a larger sum, and the last units of each take the most time. So the answer is a valid bound, but not always the
// best. What is proved of a box of rows is kept (boxes.hpp), and cuts that many nodes have in common come first: for small
// targets, even far from the middle. A box of depth two is asked for more than the target needs, which takes little
// longer; what the answers add up to is the bound, and later targets find it. Minimum support and limits on tests are
// not considered: they can only make the best tree cost more.
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "boxes.hpp"
#include "depth_two.hpp"
#include "few_classes.hpp"
#include "stump.hpp"

namespace treeform::contree {

template <class W>
class RaisedBound {
public:
    using Cost = typename W::Cost;

    TREEFORM_COLD RaisedBound(const Table<W>& table, const Settings& rules, Control& control,
                              const ScanTable<typename W::Key, typename W::Sum>& scans)
        : table_(table), control_(control), rules_(without_support(rules)),
          penalty_(static_cast<Cost>(rules.node_penalty)), two_(table, rules_, control, counters_, scans),
          unused_(table.features), stump_(table), few_classes_(table, penalty_),
          divider_(choose_divider(rules.simd.c_str())) {}
    TREEFORM_COLD ~RaisedBound() = default;

    /// No tree costs less on any of the nodes that were given, even if a work limit ended the last run.
    Cost lower() const { return lower_; }
    /// See DepthTwo::work.
    std::uint64_t work() const { return two_.work() + work_; }

    /// Cuts between as many of these rows as can be come first: both sides of such a test have errors.
    TREEFORM_COLD void cut_between(std::vector<typename W::Id> rows) {
        cuts_.take(table_, std::move(rows), control_);
    }
    /// From here on the rows of this node are searched, which stays as long. The targets depend on `most`, the cost of a
    /// known tree, and on the bound so far. From depth six on the first ones are small: others take minutes.
    TREEFORM_COLD void begin(const Node<W>& node, int depth, Cost most) {
        node_ = &node, depth_ = depth, beyond_ = most;
        large_ = most / 32;
        target_ = std::min(most, std::max<Cost>(lower_ + 1, depth < kDeep ? large_ : 0));
        boxes_.clear();
    }
    /// Raises the bound until it is `enough`, or until the work so far is `most_work`: then it returns false, and the next
    /// call goes on. True: this node gives no more.
    TREEFORM_COLD bool raise(Cost enough, std::uint64_t most_work) {
        limit_ = most_work;
        try {
            while (lower_ < std::min(beyond_, enough)) {
                const Cost found = bound(*node_, depth_, target_);
                lower_ = std::max(lower_, found);
                if (found < target_) beyond_ = target_ - 1;
                target_ = found < target_ ? lower_ + std::max<Cost>(1, (target_ - lower_) / 2) : next_target();
                target_ = std::min(target_, beyond_);
            }
        } catch (const Enough&) {
            return false;
        }
        return true;
    }

private:
    static constexpr int kDeep = 6;
    struct Enough {};
    struct Interval {
        std::size_t from, to;  // cuts: every test in between sends rows before `from` left, those from `to` on right
        Cost left, right;      // bounds of these rows
    };
    struct Frame {  // of one depth
        Node<W> left, right;
        Outer<W> outer;
        std::vector<Interval> open;
        std::vector<int> turn;

        explicit Frame(int features) : turn(features) { std::iota(turn.begin(), turn.end(), 0); }
    };

    const Table<W>& table_;
    Control& control_;
    const Settings rules_;
    const Cost penalty_;
    Counters counters_;
    DepthTwo<W> two_;
    std::vector<Cost> unused_;
    StumpScan<W> stump_;
    FewClasses<W> few_classes_;
    const Divider divider_;
    std::vector<std::unique_ptr<Frame>> frames_;
    Boxes<Cost> boxes_;
    CommonCuts<W> cuts_;
    std::uint64_t work_ = 0, limit_ = 0;
    const Node<W>* node_ = nullptr;
    int depth_ = 0;
    Cost lower_ = 0, target_ = 0, beyond_ = 0;  // of trees on the rows; sought; more has failed
    Cost large_ = 0;  // targets below are small

    /// Four times the bound while that is small, then one and a half times.
    Cost next_target() const { return std::max(lower_ + std::max<Cost>(1, lower_ / 2), std::min(large_, 4 * lower_)); }
    static Settings without_support(Settings rules) {
        rules.min_support = 0;
        return rules;
    }
    Frame& frame(int depth) {
        while (frames_.size() <= static_cast<std::size_t>(depth))
            frames_.push_back(std::make_unique<Frame>(table_.features));
        return *frames_[depth];
    }

    /// A lower bound for trees of a depth on these rows: at least `target`, if that can be shown.
    Cost bound(const Node<W>& node, int depth, Cost target) {
        if (work() > limit_) throw Enough{};
        const Cost leaf = stump_.leaf(node.weight);
        target = std::min(target, leaf);
        if (target <= 0) return 0;
        const Cost few = few_classes_.bound(node.weight, depth, full_tree(depth));
        if (few >= target || target <= penalty_) return std::max(few, target);  // so does a test alone, or a leaf
        if (depth <= 2) {
            constexpr Cost kPart = 8;
            const Cost ask = std::max(target, leaf / kPart);
            const auto reply = two_.solve({node, depth, full_tree(depth), ask}, 0, unused_.data());
            return std::max(few, std::min(reply.proven, ask));
        }
        Frame& here = frame(depth);
        Cost room = target - penalty_, least = leaf - penalty_;
        for (auto f = here.turn.begin(); f != here.turn.end() && room > few - penalty_; ++f) {
            const Cost now = of_feature(node, here, depth, *f, room);
            if (now < room) std::rotate(here.turn.begin(), f, f + 1);  // the next node begins with this feature
            room = std::min(room, now), least = std::min(least, now);
        }
        return std::max(few, least + penalty_);
    }

    /// A lower bound for the sum of both sides of each test of a feature: at least `room`, if that can be shown.
    Cost of_feature(const Node<W>& node, Frame& here, int depth, int f, Cost room) {
        const std::size_t edge = target_ < large_ ? 16 : 4;  // so many of its parts are all rows
        Cost least = std::numeric_limits<Cost>::max();
        here.outer.forget();
        here.open.assign(1, {0, node.n, 0, 0});
        while (!here.open.empty() && room > 0) {
            const Interval now = here.open.back();
            here.open.pop_back();
            if (now.left + now.right >= room) {
                least = std::min(least, now.left + now.right);
                continue;
            }
            const Test test = middle(node, f, now.from, now.to, edge);
            if (test.feature < 0) continue;
            bool divided = false;
            const auto side = [&](bool is_left, Cost known, Cost wanted) {
                const typename Boxes<Cost>::Side box(boxes_, test, is_left);
                Cost lower = std::max(known, boxes_.lower(depth - 1));
                if (lower < wanted) {
                    if (!std::exchange(divided, true)) divide(node, here, test);
                    lower = std::max(lower, bound(is_left ? here.left : here.right, depth - 1, wanted));
                    boxes_.lower(depth - 1) = lower;
                }
                return lower;
            };
            const Cost left = side(true, now.left, room - now.right);
            const Cost right = side(false, now.right, room - now.left);
            least = std::min(least, left + right);
            if (left + right < room) room = (left + right) / 2;
            const auto* keys = node.key(f);
            const auto cut = static_cast<std::size_t>(std::lower_bound(keys, keys + node.n, test.key) - keys);
            here.open.push_back({now.from, cut, now.left, right});
            here.open.push_back({cut, now.to, left, now.right});
        }
        return room > 0 ? least : Cost{0};
    }

    void divide(const Node<W>& node, Frame& here, Test test) {
        work_ += 2 * node.n * static_cast<std::size_t>(table_.features);
        partition(table_, node, test, here.outer, divider_, here.left, here.right, &control_);
    }

    /// A test between two cuts of a feature, near the middle or, if many nodes have it in common, not near an end of them;
    /// without a feature if there is none.
    Test middle(const Node<W>& node, int f, std::size_t from, std::size_t to, std::size_t edge) const {
        const auto* key = node.key(f);
        const std::size_t half = from + (to - from) / 2, off = (to - from) / edge;
        if (half == from) return {};
        if (const auto common = cuts_.between(f, key[from + off], key[to - 1 - off])) return {f, common};
        const auto same = std::equal_range(key + from, key + to, key[half]);
        if (same.first > key + from) return {f, *same.first};
        return same.second < key + to ? Test{f, *same.second} : Test{};
    }
};

}  // namespace treeform::contree
