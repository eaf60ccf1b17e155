#pragma once
// Trees built from exact shallow ones. A `Space` answers questions about a set of rows:
//
//   solve(rows, depth, cutoff)   the best tree of a small depth, if it costs less than the cutoff
//   tests(rows)                  the best test of each feature, by the trees of depth two that begin with it
//   split(rows, test, ...)       the two sides of a test
//
// and so on; ClassSpace is one, for classes. What is built from the answers:
//
//   lookahead       at every node the root test of the exact tree of depth two of its rows; the lowest two levels are
//                   exact trees
//   pilot           at every node that of the best tests of each feature whose sides have the cheapest lookahead trees
//                   (the pilot method: Duin and Voss, Networks 34, 1999; for trees Babbar, McTavish, Rudin and Seltzer,
//                   arXiv 2502.15988)
//   refit           the tests of a given tree above, exact trees below
//
// Of very many rows a sample is solved: its tests with leaves for all rows stand for the exact tree.
//
// Exact trees and lists of tests are kept by the set of their rows.
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "../contree/listed_rows.hpp"
#include "kept.hpp"
#include "random.hpp"
#include "sides.hpp"
#include "tree.hpp"

namespace treeform::deep {

template <class Space>
class Builder {
public:
    using Cost = typename Space::Cost;
    using Rows = typename Space::Rows;
    using Ptr = typename Space::Ptr;
    using Candidates = std::vector<Candidate<Cost>>;
    using Sides = typename SidesByHeight<Space>::Sides;

    /// `pace` is called between questions; it may wait, or end the search by an exception.
    Builder(Space& space, std::size_t most_kept, std::uint64_t seed, std::function<void()> pace)
        : space_(space), pace_(std::move(pace)), exact_(most_kept), known_(most_kept), tests_(most_kept / 4 + 1),
          first_(most_kept), random_(seed, ~std::uint64_t{0}) {}

    /// See SidesByHeight.
    Sides* split(const Rows& rows, Test test, int height) {
        pace_();
        return sides_.split(space_, rows, test, height);
    }

    /// Gives the rows that are held between two questions back.
    void give_back() { sides_.clear(), sample_ = {}; }

    /// The height that a tree of these rows can make use of.
    int useful(const Rows& rows, int height) const { return std::min(height, space_.most_tests(rows)); }

    /// The best tree of that height if it costs less than `cutoff`; else null. `hint` is a root test to try first.
    Ptr exact(const Rows& rows, int height, Cost cutoff, Test hint = {}) {
        height = useful(rows, height);
        const Ptr leaf = space_.leaf(rows);
        if (height <= 0 || !worth_tests(rows, leaf)) return below(leaf, cutoff);
        Kept_& kept = exact_.at({space_.hash(rows), static_cast<std::uint64_t>(height)});
        if (kept.tree) return below(kept.tree, cutoff);
        if (kept.none_below >= cutoff) return nullptr;
        pace_();
        ++solved;
        if (is_large(rows)) return below(of_large(rows, height), cutoff);
        Ptr found = space_.solve(rows, height, cutoff, hint);
        if (found)
            kept.tree = found;
        else
            kept.none_below = cutoff;
        return found;
    }

    /// The best test of each feature, the best one first.
    const Candidates& tests(const Rows& rows) {
        Candidates& kept = tests_.at({space_.hash(rows), 0});
        if (!kept.empty()) return kept;
        pace_();
        kept = of_some(rows, [&](const Rows& some) { return space_.tests(some); });
        std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
        return kept;
    }

    /// See above; the cheapest tree that is known of these rows, if it is no worse. Null if it does not cost less than
    /// `cutoff`.
    Ptr lookahead(const Rows& rows, int height, Cost cutoff, bool quick = true) {
        height = useful(rows, height);
        const Ptr leaf = space_.leaf(rows);
        if (!worth_tests(rows, leaf)) return below(leaf, cutoff);
        if (height <= kExact) return exact(rows, height, cutoff);
        Ptr best;
        const auto take = [&](const Ptr& tree) {
            if (tree && Space::better(tree->cost, cutoff)) best = tree, cutoff = tree->cost;
        };
        take(known(rows, height)), take(leaf);
        const Test test = first_test(rows, quick);
        Sides* sides = test.feature < 0 ? nullptr : split(rows, test, height);
        if (!sides) return best;
        const bool left_first = space_.size(sides->left) >= space_.size(sides->right);
        Rows& one = left_first ? sides->left : sides->right;
        Rows& other = left_first ? sides->right : sides->left;
        const Ptr first = lookahead(one, height - 1, cutoff, quick);
        space_.give_back(one);
        if (!first) return best;
        const Ptr second = lookahead(other, height - 1, cutoff - first->cost, quick);
        space_.give_back(other);
        if (second) take(left_first ? space_.join(test, first, second) : space_.join(test, second, first));
        return best ? learn(rows, height, best) : best;
    }

    /// Lookahead trees on the sides of a test; null where it does not divide the rows.
    Ptr from_root(Test test, const Rows& rows, int height) {
        height = useful(rows, height);
        Sides* sides = split(rows, test, height);
        if (!sides) return nullptr;
        const Ptr left = lookahead(sides->left, height - 1, Space::infinite());
        space_.give_back(sides->left);
        const Ptr right = lookahead(sides->right, height - 1, Space::infinite());
        space_.give_back(sides->right);
        return learn(rows, height, space_.join(test, left, right));
    }

    /// See above; of each node the `width` best tests at most. Begins with the known bounds of the rows.
    Ptr pilot(const Rows& rows, int height, int width) {
        height = useful(rows, height);
        const Ptr leaf = space_.leaf(rows);
        if (!worth_tests(rows, leaf)) return leaf;
        if (height <= kExact) return exact(rows, height, Space::infinite());
        const Candidates all = tests(rows);
        Ptr best = known(rows, height);
        if (!best) best = leaf;
        for (int rank = 0; rank < static_cast<int>(all.size()) && rank < width; ++rank) {
            const Test test = all[static_cast<std::size_t>(rank)].test;
            Sides* sides = split(rows, test, height);
            if (!sides) continue;
            const Ptr left = lookahead(sides->left, height - 1, best->cost);
            if (!left) continue;
            const Ptr right = lookahead(sides->right, height - 1, best->cost - left->cost);
            if (!right) continue;
            const Ptr tree = space_.join(test, left, right);
            if (Space::better(tree->cost, best->cost)) best = tree;
        }
        Sides* sides = best->is_leaf() ? nullptr : split(rows, best->test, height);
        if (!sides) return best;
        const Ptr left = pilot(sides->left, height - 1, width);
        const Ptr right = pilot(sides->right, height - 1, width);
        const Ptr tree = space_.join(best->test, left, right);
        return learn(rows, height, best_of(tree, best));
    }

    /// The tests of the exact tree of a sample, with leaves for all rows.
    Ptr of_large(const Rows& rows, int height) {
        const Ptr near = of_sample(rows, height, height > 2 ? kSample : kLargeSample);
        return refit(near, rows, height, 0, Space::infinite());
    }
    /// The lookahead tree of a sample, with leaves for all rows: long before a tree that reads them all.
    Ptr lookahead_of_sample(const Rows& rows, int height) {
        Rows few;
        const Ptr tree = ask(rows, kLargeSample, few, [&] { return lookahead(few, height, Space::infinite()); });
        return space_.relabelled(rows, tree);
    }
    /// The exact tree of a sample.
    Ptr of_sample(const Rows& rows, int height, std::size_t size) {
        if (space_.size(rows) <= size * 5 / 4) return exact(rows, height, Space::infinite());
        return ask(rows, size, sample_,
                   [&] { return space_.solve(sample_, height, Space::infinite(), {}); });
    }

    /// A tree from the top by the least impurity, as CART grows it; for losses that differ, with `by_squares` by squares.
    Ptr greedy(const Rows& rows, int height, bool by_squares = false) {
        height = useful(rows, height);
        const Ptr leaf = space_.leaf(rows);
        if (height == 0 || !worth_tests(rows, leaf)) return leaf;
        Test test;
        if constexpr (kSquaresDiffer)
            test = by_squares ? space_.squared_test(rows) : space_.greedy_test(rows);
        else
            test = space_.greedy_test(rows);
        Sides* sides = test.feature < 0 ? nullptr : split(rows, test, height);
        if (!sides) return leaf;
        const Ptr left = greedy(sides->left, height - 1, by_squares);
        space_.give_back(sides->left);
        const Ptr right = greedy(sides->right, height - 1, by_squares);
        space_.give_back(sides->right);
        return best_of(space_.join(test, left, right), leaf);
    }

    /// The tests of `tree` as far as they divide the rows, exact trees of height `bottom` below; null if it does not cost
    /// less than `cutoff`.
    Ptr refit(const Ptr& tree, const Rows& rows, int height, int bottom, Cost cutoff) {
        height = useful(rows, height);
        const Ptr leaf = space_.leaf(rows);
        if (!worth_tests(rows, leaf)) return below(leaf, cutoff);
        if (is_low(*tree, height, bottom)) return exact(rows, std::min(height, bottom), cutoff, tree->test);
        Sides* sides = tree->is_leaf() ? nullptr : split(rows, tree->test, height);
        if (!sides && bottom == 0) return below(leaf, cutoff);
        if (!sides) return lookahead(rows, height, cutoff);
        const Ptr left = refit(tree->left, sides->left, height - 1, bottom, cutoff);
        space_.give_back(sides->left);
        if (!left) return below(leaf, cutoff);
        const Ptr right = refit(tree->right, sides->right, height - 1, bottom, cutoff - left->cost);
        space_.give_back(sides->right);
        if (!right) return below(leaf, cutoff);
        return below(learn(rows, height, best_of(space_.join(tree->test, left, right), leaf)), cutoff);
    }

    /// Whether a node is one of the lowest levels of a tree. Where few tests are allowed, the lowest ones that have some are
    /// meant.
    bool is_low(const Tree<Cost>& tree, int height, int levels) const {
        return height <= levels || (space_.guesses() && tree.height > 0 && tree.height <= levels);
    }
    /// The cheapest tree that was found for these rows.
    Ptr known(const Rows& rows, int height) {
        Ptr* kept = known_.find({space_.hash(rows), static_cast<std::uint64_t>(height)});
        return kept ? *kept : nullptr;
    }
    const Ptr& learn(const Rows& rows, int height, const Ptr& tree) {
        Ptr& kept = known_.at({space_.hash(rows), static_cast<std::uint64_t>(height)});
        if (!kept || Space::better(tree->cost, kept->cost)) kept = tree;
        return tree;
    }
    /// Whether a sample stands for the rows.
    bool is_large(const Rows& rows) const { return space_.size(rows) > kLarge; }
    bool worth_tests(const Rows& rows, const Ptr& leaf) const {
        return space_.size(rows) > 1 && Space::better(Cost{0}, leaf->cost);
    }

    std::uint64_t solved = 0;  // exact trees
    /// Whether greedy trees by squares are others; then the loss is one whose exact trees take long.
    static constexpr bool kSquaresDiffer = requires(Space& space, const Rows& rows) { space.squared_test(rows); };

private:
    static constexpr int kExact = 2;  // the lowest levels of a lookahead tree
    static constexpr int kSlack = 30;  // a test of a lookahead tree may cost that part of a leaf more than the best one
    static constexpr std::size_t kSample = 2'000;         // rows of which trees of depth three are solved
    static constexpr std::size_t kLarge = 40'000, kLargeSample = 10'000;  // more rows than that are sampled
    static_assert(!contree::has_orders_alone(kLarge), "tables without keys begin with trees of a sample");
    struct Kept_ {
        Ptr tree;
        Cost none_below{};
    };

    Space& space_;
    std::function<void()> pace_;
    Kept<Kept_> exact_;
    Kept<Ptr> known_;
    Kept<Candidates> tests_;
    Kept<Test> first_;
    SidesByHeight<Space> sides_;
    Random random_;
    Rows sample_;

    /// The root test of the best tree of depth two, or with `quick` and of a sample of one that costs little more: its proof
    /// takes most of the time. The best one of any feature where that tree is a leaf.
    Test first_test(const Rows& rows, bool quick) {
        Test& test = first_.at({space_.hash(rows), quick ? 1u : 0u});
        if (test.feature >= 0) return test;
        pace_();
        test = of_some(rows, [&](const Rows& some) {
            return space_.root_test(some, quick || is_large(rows) ? space_.leaf(some)->cost / kSlack : Cost{0});
        });
        if (test.feature >= 0 || space_.guesses()) return test;
        if (const Candidates& all = tests(rows); !all.empty()) test = all.front().test;
        return test;
    }
    /// The answer for the rows, or of very many of them for a sample.
    template <class Question>
    auto of_some(const Rows& rows, const Question& question) {
        if (!is_large(rows)) return question(rows);
        return ask(rows, kLargeSample, sample_, [&] { return question(sample_); });
    }
    /// The answer for a sample, which is drawn into `sample`.
    template <class Question>
    auto ask(const Rows& rows, std::size_t size, Rows& sample, const Question& question) {
        space_.sample(rows, size, random_, sample);
        [[maybe_unused]] const auto of_sample = space_.on_sample(rows, sample);
        auto answer = question();
        space_.give_back(sample);
        return answer;
    }
    static Ptr below(const Ptr& tree, Cost cutoff) { return Space::better(tree->cost, cutoff) ? tree : nullptr; }
    static const Ptr& best_of(const Ptr& a, const Ptr& b) { return Space::better(a->cost, b->cost) ? a : b; }
};

}  // namespace treeform::deep
