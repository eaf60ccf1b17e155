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
// best. What is proved of a box of rows is kept (boxes.hpp), and cuts that many nodes have in common come first. Minimum
// support and limits on tests are not considered: they can only make the best tree cost more.
#include <algorithm>
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

    /// From here on the rows of this node are searched, which stays as long. The targets depend on `most`, the cost of a
    /// known tree, and on the bound so far.
    TREEFORM_COLD void begin(const Node<W>& node, int depth, Cost most) {
        node_ = &node, depth_ = depth, beyond_ = most;
        target_ = std::min(most, std::max<Cost>(lower_ + 1, most / 32));
        cuts_.take(node, table_.features), boxes_.clear();
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
                target_ = found < target_ ? lower_ + (target_ - lower_) / 2 : target_ + std::max<Cost>(1, target_ / 2);
                target_ = std::min(target_, beyond_);
            }
        } catch (const Enough&) {
            return false;
        }
        return true;
    }

private:
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

    static Settings without_support(Settings rules) {
        rules.min_support = 0;
        return rules;
    }
    Frame& frame(int depth) {
        while (frames_.size() <= static_cast<std::size_t>(depth))
            frames_.push_back(std::make_unique<Frame>(table_.features));
        return *frames_[depth];
    }

    /// A lower bound for trees of a depth on these rows: `target`, if that can be shown.
    Cost bound(const Node<W>& node, int depth, Cost target) {
        if (work() > limit_) throw Enough{};
        target = std::min(target, stump_.leaf(node.weight));
        if (target <= 0) return 0;
        const Cost few = few_classes_.bound(node.weight, depth, full_tree(depth));
        if (few >= target || target <= penalty_) return target;  // a leaf costs as much, and so does a test alone
        if (depth <= 2) {
            const auto reply = two_.solve({node, depth, full_tree(depth), target}, 0, unused_.data());
            return std::max(few, std::min(reply.proven, target));
        }
        Frame& here = frame(depth);
        Cost room = target - penalty_;
        for (auto f = here.turn.begin(); f != here.turn.end() && room > few - penalty_; ++f) {
            const Cost now = of_feature(node, here, depth, *f, room);
            if (now < room) std::rotate(here.turn.begin(), f, f + 1);  // the next node begins with this feature
            room = now;
        }
        return std::max(few, room + penalty_);
    }

    /// A lower bound, at most `room`, for the sum of both sides of each test of a feature.
    Cost of_feature(const Node<W>& node, Frame& here, int depth, int f, Cost room) {
        here.outer.forget();
        here.open.assign(1, {0, node.n, 0, 0});
        while (!here.open.empty() && room > 0) {
            const Interval now = here.open.back();
            here.open.pop_back();
            if (now.left + now.right >= room) continue;
            const Test test = middle(node, f, now.from, now.to);
            if (test.feature < 0) continue;
            bool divided = false;
            const auto side = [&](bool is_left, Cost known, Cost wanted) {
                const typename Boxes<Cost>::Side box(boxes_, test, is_left);
                Cost least = std::max(known, boxes_.lower(depth - 1));
                if (least < wanted) {
                    if (!std::exchange(divided, true)) divide(node, here, test);
                    least = std::max(least, bound(is_left ? here.left : here.right, depth - 1, wanted));
                    boxes_.lower(depth - 1) = least;
                }
                return least;
            };
            const Cost left = side(true, now.left, room - now.right);
            const Cost right = side(false, now.right, room - now.left);
            if (left + right < room) room = (left + right) / 2;
            const auto* keys = node.key(f);
            const auto cut = static_cast<std::size_t>(std::lower_bound(keys, keys + node.n, test.key) - keys);
            here.open.push_back({now.from, cut, now.left, right});
            here.open.push_back({cut, now.to, left, now.right});
        }
        return std::max(room, Cost{0});
    }

    void divide(const Node<W>& node, Frame& here, Test test) {
        work_ += 2 * node.n * static_cast<std::size_t>(table_.features);
        partition(table_, node, test, here.outer, divider_, here.left, here.right, &control_);
    }

    /// A test between two cuts of a feature, near the middle; without a feature if there is none.
    Test middle(const Node<W>& node, int f, std::size_t from, std::size_t to) const {
        const auto* key = node.key(f);
        const std::size_t half = from + (to - from) / 2, quarter = (to - from) / 4;
        if (half == from) return {};
        if (const auto common = cuts_.between(f, key[from + quarter], key[to - 1 - quarter])) return {f, common};
        const auto same = std::equal_range(key + from, key + to, key[half]);
        if (same.first > key + from) return {f, *same.first};
        return same.second < key + to ? Test{f, *same.second} : Test{};
    }
};

}  // namespace treeform::contree
