#pragma once
// All trees worth considering below a guessed cost, on ConTree's interval search.
//
// Guess that some tree that satisfies the rows costs less than U. Its price is at most a limit (prices.hpp). The
// interval search with that limit as a fixed upper bound comes upon every split whose two sides, at their least prices,
// stay within it: such a split is "alive". Only there are trees listed: those of the left side within the limit less
// the least price of the right side, and the other way round, again by the same search. What another solution makes
// needless, because it costs no more and is no higher on any active row, is dropped. If no pair at the root is found,
// no tree costs less than U, whatever the multipliers are; if one is, the limit falls. So one pass is bound, proof and
// closing of the gap at once.
//
// With a minimum support the least prices are those of trees that keep it, and ConTree's rules for a support apply.
// A least weight of the rows at a test takes effect where trees are listed only; the bounds that prune stay true.
#include <functional>
#include <memory>
#include <stdexcept>

#include "../common/cold.hpp"
#include "../contree/width.hpp"
#include "root_pass.hpp"
#include "tree.hpp"

namespace treeform::continuous_totals {

class AnyFronts {
public:
    virtual ~AnyFronts() = default;
    /// Whether some tree of that depth that satisfies the active rows costs less than `upper`; the cheapest is kept.
    /// `progress` receives lower bounds of the price of trees not yet seen.
    virtual bool below(int depth, Amount upper, Test hint, const std::function<void(Amount)>& progress) = 0;
    /// The same for trees with that root test.
    virtual bool below_at(int depth, Amount upper, Test root) = 0;
    virtual Amount cost() const = 0;
    virtual Tree tree() = 0;
};

template <class W, int K>
class Fronts final : public AnyFronts {
public:
    using Cost = typename W::Cost;
    using Node = contree::Node<W>;
    using Sums = typename Listing<W, K>::Sums;
    using Alive = typename Listing<W, K>::Alive;
    using Frame = typename Listing<W, K>::Frame;

    /// One worker for each shop.
    TREEFORM_COLD Fronts(const std::vector<Workshop<W>>& shops, const std::vector<Active>& active)
        : all_(workers_.emplace_back(shops[0], active)) {
        for (std::size_t w = 1; w < shops.size(); ++w) workers_.emplace_back(shops[w], active);
    }

    TREEFORM_COLD bool below(int depth, Amount upper, Test hint, const std::function<void(Amount)>& progress) override {
        begin(depth, upper);
        const Node& root = all_.shop.data.root;
        Sums& sums = all_.frame(0).sums;
        all_.weigh(root, sums);
        const typename Stumps<W, K>::Visit consider = [&](const Solution<K>& s, const Stump&) { best_.offer(all_, s); };
        all_.stumps.leaves(sums, best_.limit, consider);
        if (depth == 1)
            for (int g = 0; g < all_.shop.data.table.features; ++g)
                all_.stumps.tests(root, {}, sums, g, best_.limit, consider);
        if (depth >= 2) RootPass<W, K>(workers_, best_, depth, hint, progress).run();
        return best_.found;
    }

    TREEFORM_COLD bool below_at(int depth, Amount upper, Test root) override {
        begin(depth, upper);
        Sums whole;
        all_.weigh(all_.shop.data.root, whole);
        Node left, right;
        divide(root, left, right);
        if (whole.total < all_.shop.settings.min_flow || left.n == 0 || right.n == 0) return false;
        const Cost least_left = least(left, depth - 1), least_right = least(right, depth - 1),
                   room = best_.limit - all_.penalty;
        if (least_left + least_right > room) return false;
        Frame& here = all_.frame(0);
        all_.list(1, left, depth - 1, room - least_right, nullptr, {}, here.a);
        all_.list(1, right, depth - 1, room - least_left, nullptr, {}, here.b);
        best_.query(all_, {root, nullptr, nullptr, room - least_right, room - least_left}, here.a.list, here.b.list);
        return best_.found;
    }

    Amount cost() const override { return best_.best.cost; }

    /// The tree found. The fronts that led to it are listed once more.
    TREEFORM_COLD Tree tree() override {
        Tree out;
        if (best_.root.feature < 0) {
            trace(0, all_.shop.data.root, std::min(depth_, 1), best_.best_limit, best_.best, out);
            return out;
        }
        Node left, right;
        divide(best_.root, left, right);
        const int here = out.add();
        out.feature[here] = best_.root.feature, out.key[here] = best_.root.key;
        const int l = trace(1, left, depth_ - 1, best_.limit_left, best_.left, out);
        const int r = trace(1, right, depth_ - 1, best_.limit_right, best_.right, out);
        out.left[here] = l, out.right[here] = r;
        return out;
    }

private:
    std::deque<Listing<W, K>> workers_;
    Listing<W, K>& all_;  // the first of them
    int depth_ = 0;
    Finding<W, K> best_;

    TREEFORM_COLD void begin(int depth, Amount upper) {
        depth_ = depth;
        best_.begin(all_, upper);
        all_.shop.search.turn_to_another(0);
    }

    TREEFORM_COLD void divide(Test test, Node& left, Node& right) {
        contree::Outer<W> outer;
        contree::partition(all_.shop.data.table, all_.shop.data.root, test, outer,
                           contree::choose_divider(all_.shop.rules.simd.c_str()), left, right, &all_.shop.control);
    }

    TREEFORM_COLD Cost least(const Node& node, int depth) {
        Sums sums;
        all_.weigh(node, sums);
        std::vector<Cost> by(all_.shop.data.table.features);
        return all_.shop.search
            .solve(1,
                   {node,
                    depth,
                    contree::full_tree(depth),
                    all_.leaf(sums) + 1,
                    all_.shop.data.support,
                    0,
                    0,
                    nullptr,
                    {}},
                   by.data())
            .value;
    }

    /// Find a tree on the node that is as good as `target`, and append it; returns its place.
    TREEFORM_COLD int trace(int level, const Node& node, int depth, Cost limit, const Solution<K>& target, Tree& out) {
        Sums& sums = all_.frame(level).sums;
        all_.weigh(node, sums);
        int place = leaf_or_stump(node, {}, sums, depth >= 1, limit, target, out);
        if (place >= 0) return place;
        all_.splits(level, node, depth, limit, nullptr, {}, [&](const Alive& at, Front<K>& a, Front<K>& b) -> Cost {
            Solution<K> u, v;
            if (!pair(at.test.feature, a, b, target, u, v)) return limit;
            place = out.add();
            out.feature[place] = at.test.feature, out.key[place] = at.test.key;
            const int l = at.left ? trace(level + 1, *at.left, depth - 1, at.limit_left, u, out)
                                  : on_side(level, node, {at.test, true}, at.limit_left, u, out);
            const int r = at.right ? trace(level + 1, *at.right, depth - 1, at.limit_right, v, out)
                                   : on_side(level, node, {at.test, false}, at.limit_right, v, out);
            out.left[place] = l, out.right[place] = r;
            return Listing<W, K>::kStop;
        });
        if (place < 0) throw std::logic_error("a solution cannot be found again");
        return place;
    }
    bool pair(int feature, const Front<K>& a, const Front<K>& b, const Solution<K>& target, Solution<K>& u,
              Solution<K>& v) const {
        for (const auto& one : a)
            for (const auto& other : b)
                if (all_.amounts.may_meet(feature, one, other)
                    && good_as(plus(plus(one, other), all_.amounts.test), target)) {
                    u = one, v = other;
                    return true;
                }
        return false;
    }
    bool good_as(const Solution<K>& s, const Solution<K>& target) const {
        return totals::dominates(s, target, all_.amounts.order);
    }
    TREEFORM_COLD int on_side(int level, const Node& node, const Part& part, Cost limit, const Solution<K>& target,
                              Tree& out) {
        Frame& here = all_.frame(level);
        const int place = leaf_or_stump(node, part, part.left ? here.left : here.right, true, limit, target, out);
        if (place < 0) throw std::logic_error("a solution of one test cannot be found again");
        return place;
    }
    TREEFORM_COLD int leaf_or_stump(const Node& node, const Part& part, const Sums& sums, bool tests, Cost limit,
                                    const Solution<K>& target, Tree& out) {
        bool any = false;
        Stump found;
        const typename Stumps<W, K>::Visit look = [&](const Solution<K>& s, const Stump& stump) {
            if (!any && good_as(s, target)) any = true, found = stump;
        };
        all_.stumps.leaves(sums, limit, look);
        for (int g = 0; tests && !any && g < all_.shop.data.table.features; ++g)
            all_.stumps.tests(node, part, sums, g, limit, look);
        if (!any) return -1;
        const int here = out.add();
        if (found.test.feature < 0) {
            out.label[here] = found.labels[0];
            return here;
        }
        out.feature[here] = found.test.feature, out.key[here] = found.test.key;
        const int l = out.add(), r = out.add();
        out.left[here] = l, out.right[here] = r;
        out.label[l] = found.labels[0], out.label[r] = found.labels[1];
        return here;
    }
};

/// Null when more rows are active than solutions can carry. Each size takes a second to compile, and solutions with
/// room for more rows are a little slower only; where costs are large, so are the numbers anyway.
template <class W>
std::unique_ptr<AnyFronts> make_fronts(const std::vector<Workshop<W>>& shops, const std::vector<Active>& active) {
    if constexpr (!std::is_same_v<W, contree::Huge>)
        if (active.size() <= 2 && !shops[0].data.samples.has_clashes())
            return std::make_unique<Fronts<W, 2>>(shops, active);
    if (active.size() <= kMostActive) return std::make_unique<Fronts<W, kMostActive>>(shops, active);
    return nullptr;
}

}  // namespace treeform::continuous_totals
