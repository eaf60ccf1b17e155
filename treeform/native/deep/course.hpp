#pragma once
// Cycles of sweeps at one depth, with a round of restarts after each one once a cycle brings little. Each cycle has twice
// the sweeps of the one before.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "annealing.hpp"
#include "builder.hpp"
#include "restarts.hpp"

namespace treeform::deep {

template <class Space>
class Course {
public:
    using Rows = typename Space::Rows;
    using Ptr = typename Space::Ptr;

    /// `offer` is called with each tree that is accepted, `pace` as by the builder.
    Course(Space& space, Builder<Space>& build, const Rows& root, int depth, std::uint64_t seed,
           const std::function<void(const Ptr&)>& offer, const std::function<void()>& pace)
        : space_(space), build_(build), root_(root), depth_(depth), offer_(offer),
          annealing_(
              space, build, root, depth, seed, [this](const Ptr& tree) { take(tree); }, pace),
          restarts_(space, build, annealing_, root, depth) {}

    /// A tree to go on from, if it is better.
    void take(const Ptr& tree) {
        if (!tree_ || Space::better(tree->cost, tree_->cost)) tree_ = tree;
        offer_(tree);
    }
    void pilot() {
        take(build_.pilot(root_, depth_, 2));
    }
    /// One cycle, from the best tree of this depth.
    void cycle() {
        const auto before = tree_->cost;
        annealing_.cycle(tree_, sweeps_);
        if (sweeps_ >= kPolished) polish();
        settled_ = settled_ || !Space::better(Space::above(tree_->cost, kLittle), before);
        sweeps_ = std::min(2 * sweeps_, kMostSweeps);
        round_due_ = settled_;
    }
    /// One round of restarts, due after a cycle if cycles bring little.
    void round() {
        round_due_ = false;
        restarts_.round(others_);
        if (sweeps_ > kPolished) polish();
        others_ = std::min(2 * others_, kMostSweeps);
    }

    const Ptr& tree() const { return tree_; }
    /// Of the next cycle.
    int sweeps() const { return sweeps_; }
    bool is_round_due() const { return round_due_; }
    /// Cycles bring little.
    bool is_settled() const { return settled_ || exhausted(); }
    bool exhausted() const { return annealing_.exhausted(); }
    std::uint64_t moves() const { return annealing_.moves(); }

private:
    static constexpr int kFirstSweeps = 4, kFirstOfOthers = 2, kMostSweeps = 1 << 20;
    static constexpr int kPolished = 16;  // sweeps of the first cycle with exact subtrees: they are dear for an early tree
    static constexpr int kLittle = 1;  // hundredths that a cycle brings, up to which other roots are tried
    static constexpr int kNear = 2;  // hundredths above the best tree, up to which exact subtrees are solved

    Space& space_;
    Builder<Space>& build_;
    const Rows& root_;
    int depth_;
    std::function<void(const Ptr&)> offer_;
    Annealing<Space> annealing_;
    Restarts<Space> restarts_;
    Ptr tree_;
    int sweeps_ = kFirstSweeps, others_ = kFirstOfOthers;
    bool settled_ = false, round_due_ = false;

    void polish() {
        if (Space::better(annealing_.tree()->cost, Space::above(tree_->cost, kNear))) annealing_.polish();
    }
};

}  // namespace treeform::deep
