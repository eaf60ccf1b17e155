#pragma once
// Trees with other tests at the root. A search by single tests seldom leaves the root test that it began with, and where few
// tests lie above the exact subtrees the root decides most of the cost.
//
// The roots are the best tests of some features, by the trees of depth two that begin with them, and those of exact trees of
// depth three of samples of the rows. Each has lookahead trees on its sides, and is improved by so many sweeps; the better
// half goes on with twice as many, and so on (successive halving: Jamieson and Talwalkar, AISTATS 2016). The next round
// begins with the trees that all have reached, and with new samples.
#include <algorithm>
#include <vector>

#include "annealing.hpp"
#include "builder.hpp"

namespace treeform::deep {

template <class Space>
class Restarts {
public:
    using Rows = typename Space::Rows;
    using Ptr = typename Space::Ptr;

    Restarts(Space& space, Builder<Space>& build, Annealing<Space>& annealing, const Rows& root, int depth)
        : space_(space), build_(build), annealing_(annealing), root_(root), depth_(depth) {}

    /// One round; it begins with so many sweeps for each tree, and leaves the best tree in the annealing.
    void round(int sweeps) {
        add_roots();
        annealing_.renew();
        sort(arms_.size());
        for (std::size_t left = std::min(arms_.size(), kTrees); left > 0; sweeps *= 2) {
            for (std::size_t k = 0; k < left; ++k) arms_[k] = annealing_.improved(arms_[k], sweeps, kHeat);
            sort(left);
            forget_the_worst();  // some have become the same
            left = std::min(left / 2, arms_.size());
        }
    }

private:
    static constexpr double kHeat = 0.05;  // see annealing.hpp
    static constexpr std::size_t kFeatures = 12, kSamples = 3, kTrees = 16;
    static constexpr std::size_t kRows = 1'000, kFewRows = 200;  // of a sample
    static constexpr std::size_t kCost = 256'000;  // rows of a sample times the square of the features

    Space& space_;
    Builder<Space>& build_;
    Annealing<Space>& annealing_;
    const Rows& root_;
    int depth_;
    std::vector<Ptr> arms_;  // the best ones of the last round first
    std::vector<Test> begun_;

    void add_roots() {
        if (begun_.empty()) {
            const auto& all = build_.tests(root_);
            std::vector<Test> first;
            for (std::size_t k = 0; k < std::min(all.size(), kFeatures); ++k) first.push_back(all[k].test);
            for (const Test& test : first) add(test);
        }
        const auto features = static_cast<std::size_t>(space_.features());
        const std::size_t rows = std::min(kRows, kCost / (features * features));
        for (std::size_t k = 0; k < kSamples && rows >= kFewRows; ++k)
            add(build_.of_sample(root_, std::min(3, depth_), rows)->test);
    }
    void add(Test test) {
        const auto same = [&](const Test& other) { return other.feature == test.feature && other.key == test.key; };
        if (test.feature < 0 || std::any_of(begun_.begin(), begun_.end(), same)) return;
        begun_.push_back(test);
        if (const Ptr tree = build_.from_root(test, root_, depth_)) arms_.push_back(tree);
    }
    /// The best ones of the first so many first.
    void sort(std::size_t count) {
        std::stable_sort(arms_.begin(), arms_.begin() + static_cast<std::ptrdiff_t>(count),
                         [](const Ptr& a, const Ptr& b) { return Space::better(a->cost, b->cost); });
    }
    /// Of trees with the same root and cost one is kept.
    void forget_the_worst() {
        std::vector<Ptr> kept;
        for (const Ptr& tree : arms_) {
            const auto same = [&](const Ptr& other) {
                const Test &a = tree->test, &b = other->test;
                return a.feature == b.feature && a.key == b.key && tree->cost == other->cost;
            };
            if (kept.size() < kTrees && std::none_of(kept.begin(), kept.end(), same)) kept.push_back(tree);
        }
        arms_ = std::move(kept);
    }
};

}  // namespace treeform::deep
