#pragma once
// Sweeps over the inner nodes of a tree whose subtrees of height two are exact, with another test tried at each of them:
//
//   route      the test that sends each row to that of the two present subtrees which predicts it right, with a little
//              noise at times (alternating optimisation: Carreira-Perpinan and Tavallali, NeurIPS 2018)
//   feature    one of the best tests of each feature, by the trees of depth two that begin with it
//   shift      the same feature, and a threshold nearby
//   chance     any test
//
// Both sides keep the tests that they have, or take those of a lookahead tree, and their exact subtrees are solved again.
// That costs a hundredth of exact subtrees of height three, so that thousands of tests are tried in the time of one of
// these; those are solved for the tree at the end of a cycle only, within a share of the work.
//
// Trees of equal cost are accepted, and those that cost little more: the amount is drawn between zero and a limit that
// falls to zero within a cycle (threshold accepting: Dueck and Scheuer, J. Comput. Phys. 90, 1990). It is fixed before a
// test is tried, so that the exact searches have a cutoff. Cycles that begin warm and hot take turns.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "builder.hpp"

namespace treeform::deep {

template <class Space>
class Annealing {
public:
    using Cost = typename Space::Cost;
    using Rows = typename Space::Rows;
    using Ptr = typename Space::Ptr;
    using Tests = std::vector<Candidate<Cost>>;

    /// `offer` is called with each tree that is accepted, `pace` as by the builder.
    Annealing(Space& space, Builder<Space>& build, const Rows& root, int depth, std::uint64_t seed,
              std::function<void(const Ptr&)> offer, std::function<void()> pace)
        : space_(space), build_(build), root_(root), depth_(depth), random_(seed), offer_(std::move(offer)),
          pace_(std::move(pace)), tried_(kMostTried), routed_(kMostRouted) {}

    /// So many sweeps, from `tree` on.
    void cycle(const Ptr& tree, int sweeps) { improved(tree, sweeps, ++cycles_ % 2 ? kWarm : kHot); }
    /// The best tree of so many sweeps; `heat` is that of the first one, in parts of the mean cost of a subtree of height
    /// two.
    const Ptr& improved(const Ptr& tree, int sweeps, double heat) {
        tree_ = best_ = tree;
        const double subtrees = std::exp2(std::max(0, depth_ - 2));
        const double most = heat * static_cast<double>(tree->cost) / subtrees;
        for (int done = 1; done <= sweeps && !is_free(tree_) && !exhausted(); ++done) {
            heat_ = most * (sweeps - done) / sweeps;
            path_.clear();
            sweep(root_, depth_);
        }
        return best_;
    }
    /// Exact subtrees of height three in the tree at the end of a cycle, the dearest ones first.
    void polish() {
        struct Spot {
            std::vector<int> path;
            Cost cost;
        };
        std::vector<Spot> all;
        path_.clear();
        low_nodes(tree_, depth_, [&] { all.push_back({path_, node()->cost}); });
        std::stable_sort(all.begin(), all.end(),
                         [](const Spot& a, const Spot& b) { return Space::better(b.cost, a.cost); });
        for (const Spot& spot : all) {
            if (static_cast<double>(polished_) > kPolish * static_cast<double>(space_.work())) break;
            const std::uint64_t before = space_.work();
            path_ = spot.path;
            const Rows* rows = rows_here();
            const Ptr better = rows ? build_.exact(*rows, 3, spot.cost, node()->test) : nullptr;
            if (better) accept(better, spot.cost);
            polished_ += space_.work() - before;
        }
    }

    const Ptr& tree() const { return tree_; }
    std::uint64_t moves() const { return moves_; }
    /// Nothing but tests that were tried before has come up for long.
    bool exhausted() const { return repeated_ >= kGiveUp; }
    /// Before trees that are far from those of before.
    void renew() { repeated_ = 0; }

private:
    static constexpr double kWarm = 0.03, kHot = 0.2;  // of what an exact subtree of height two costs in the mean
    static constexpr double kPolish = 0.1;  // of all work
    static constexpr int kAtNode = 2;  // tests that are tried at a node in a sweep
    static constexpr std::size_t kMostTried = 1'000'000, kMostRouted = 2'000;
    static constexpr std::ptrdiff_t kMostRead = 64;  // tests: further ones have no chance
    static constexpr int kNoise = 33;  // one row in so many
    static constexpr std::uint64_t kGiveUp = 2'000;

    Space& space_;
    Builder<Space>& build_;
    const Rows& root_;
    int depth_;
    Random random_;
    std::function<void(const Ptr&)> offer_;
    std::function<void()> pace_;
    struct Routed {  // the tests for two subtrees
        Ptr left, right;
        Tests tests;
    };
    Kept<char> tried_;
    Kept<Routed> routed_;
    Tests noisy_;
    Ptr tree_, best_;
    std::vector<int> path_;  // of the node in work
    double heat_ = 0;
    std::uint64_t cycles_ = 0, moves_ = 0, repeated_ = 0, polished_ = 0;

    static bool is_free(const Ptr& tree) { return !Space::better(Cost{0}, tree->cost); }
    const Ptr& node() const {
        const Ptr* at = &tree_;
        for (const int side : path_) at = side ? &(*at)->right : &(*at)->left;
        return *at;
    }
    /// The part in place of the node in work, unless the whole costs `limit` or more: labels above may clash with it.
    void accept(const Ptr& part, Cost limit) {
        const Ptr whole = replaced(space_, tree_, path_, part);
        if (space_.may_clash() && !Space::better(whole->cost - tree_->cost, limit - node()->cost)) return;
        tree_ = whole;
        if (Space::better(tree_->cost, best_->cost)) best_ = tree_;
        offer_(tree_);
    }
    template <class Visit>
    void low_nodes(const Ptr& tree, int height, const Visit& visit) {
        if (is_free(tree) || height < 3) return;
        if (height == 3) return visit();
        if (tree->is_leaf()) return;
        path_.push_back(0), low_nodes(tree->left, height - 1, visit), path_.pop_back();
        path_.push_back(1), low_nodes(tree->right, height - 1, visit), path_.pop_back();
    }
    /// The rows of the node in work; they stay until the next split at that height.
    const Rows* rows_here() {
        const Rows* rows = &root_;
        const Tree<Cost>* at = tree_.get();
        int height = depth_;
        for (const int side : path_) {
            auto* sides = build_.split(*rows, at->test, height--);
            if (!sides) return nullptr;
            rows = side ? &sides->right : &sides->left;
            at = (side ? at->right : at->left).get();
        }
        return rows;
    }

    void sweep(const Rows& rows, int height) {
        height = build_.useful(rows, height);
        if (height < 3 || (!path_.empty() && build_.is_low(*node(), height, 2))) return;  // it is exact
        const std::uint64_t hash = space_.hash(rows);
        for (int i = 0; i < kAtNode && !is_free(node()); ++i) pace_(), try_another(rows, hash, height);
        const Ptr here = node();
        if (height < 4 || here->is_leaf()) return;
        const auto* sides = build_.split(rows, here->test, height);
        if (!sides) return;
        const int first = static_cast<int>(random_.below(2));
        for (const int side : {first, 1 - first}) {
            const Rows& part = side ? sides->right : sides->left;
            path_.push_back(side);
            const bool leaf_needed = space_.may_clash() && space_.needs_leaf(*here, side);
            if (!is_free(node()) && space_.size(part) > 1 && !leaf_needed) sweep(part, height - 1);
            path_.pop_back();
        }
    }

    void try_another(const Rows& rows, std::uint64_t hash, int height) {
        const Ptr now = node();
        const Test test = choose(rows, hash, *now);
        if (test.feature < 0) return;
        const std::uint64_t what = (static_cast<std::uint64_t>(test.feature) << 40) + (std::uint64_t{test.key} << 6)
                                   + static_cast<std::uint64_t>(height);
        const auto cost = static_cast<std::uint64_t>(static_cast<double>(now->cost));
        char& times = tried_.at({hash ^ scrambled(cost), what});  // costs differ where the subtrees do
        if (times >= 2) return void(++repeated_);
        ++times, ++moves_, repeated_ = 0;
        const auto* sides = build_.split(rows, test, height);
        if (!sides) return;
        const auto more = static_cast<Cost>(heat_ * random_.unit());
        const Cost limit = Space::above(now->cost, 0) + more;
        const Ptr left = side_of(sides->left, now->is_leaf() ? now : now->left, height - 1, limit);
        if (!left) return;
        const Ptr right = side_of(sides->right, now->is_leaf() ? now : now->right, height - 1, limit - left->cost);
        if (!right) return;
        const Ptr tree = space_.join(test, left, right);
        if (Space::better(tree->cost, limit)) accept(tree, limit);
    }
    Test choose(const Rows& rows, std::uint64_t hash, const Tree<Cost>& now) {
        const std::uint64_t kind = random_.below(10);
        Test test;
        if (kind == 9) {
            test = space_.random_test(rows, random_);
        } else if (kind >= 6 || now.is_leaf()) {
            test = one_of_first(build_.tests(rows));
        } else if (kind >= 2) {
            test = one_of_first(routing_tests(rows, hash, now));
        } else {
            test = space_.near_test(rows, now.test, random_);
        }
        const bool same = test.feature == now.test.feature && test.key == now.test.key;
        return same ? Test{} : test;
    }
    /// The best one first, with noise at times; those without it are kept while the node has the same subtrees.
    const Tests& routing_tests(const Rows& rows, std::uint64_t hash, const Tree<Cost>& now) {
        if (random_.below(3) == 0) return noisy_ = sorted_routing_tests(rows, now, kNoise);
        Routed& kept = routed_.at({hash, 0});
        if (kept.left != now.left || kept.right != now.right)
            kept = {now.left, now.right, sorted_routing_tests(rows, now, 0)};
        if (std::ssize(kept.tests) > kMostRead) kept.tests = Tests(kept.tests.begin(), kept.tests.begin() + kMostRead);
        return kept.tests;
    }
    Tests sorted_routing_tests(const Rows& rows, const Tree<Cost>& now, int noise) {
        Tests all = space_.routing_tests(rows, *now.left, *now.right, random_, noise);
        std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
        return all;
    }
    /// The first one as often as all others.
    Test one_of_first(const Tests& all) {
        if (all.empty()) return {};
        std::size_t pick = 0;
        while (pick + 1 < all.size() && random_.below(2)) ++pick;
        return all[pick].test;
    }
    /// A side with two exact levels: the tests that it has now, and half the time a lookahead tree if that is better.
    Ptr side_of(const Rows& rows, const Ptr& now, int height, Cost limit) {
        const Ptr same = build_.refit(now, rows, height, 2, limit);
        if (height < 3 || random_.below(2)) return same;
        const Ptr other = build_.lookahead(rows, height, same ? same->cost : limit);
        return other ? other : same;
    }
};

}  // namespace treeform::deep
