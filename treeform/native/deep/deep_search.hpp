#pragma once
// The search for a better tree than the one in hand, where a proof is out of reach. Its stages, each from the best tree of
// those before:
//
//   first      CART's tree; the lookahead tree, its lowest two levels exact; CART's tests with such levels
//   pilot      see builder.hpp; with two tests a node
//   cycles     again and again: sweeps over the inner nodes with other tests, then, from the third cycle on, exact subtrees
//              of height three; see annealing.hpp
//   depth 3    in the fifth cycle, or where cycles find nothing else to try: the best tree of depth three, if it is cheaper
//   restarts   once a cycle has brought little, one round after each cycle: trees with other tests at the root; see
//              restarts.hpp
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "annealing.hpp"
#include "builder.hpp"
#include "restarts.hpp"

namespace treeform::deep {

/// What the search asks of its surroundings.
template <class Ptr>
struct Surroundings {
    std::function<void(const Ptr&)> report;  // a better tree
    std::function<Ptr()> outside;  // a tree from elsewhere that costs less than that of the last report, or null
    std::function<void()> pace;  // called often; may wait, or throw
};

template <class Space>
class DeepSearch {
public:
    using Cost = typename Space::Cost;
    using Rows = typename Space::Rows;
    using Ptr = typename Space::Ptr;

    DeepSearch(Space& space, const Rows& root, int depth, std::uint64_t seed, Surroundings<Ptr> around)
        : space_(space), root_(root), depth_(depth), around_(std::move(around)),
          build_(space, kMostKept, seed, [this] { around_.pace(); }),
          annealing_(
              space, build_, root, depth, seed, [this](const Ptr& tree) { offer(tree); }, [this] { around_.pace(); }),
          restarts_(space, build_, annealing_, root, depth) {}

    /// Trees that take about as long as CART's.
    void first() {
        offer(space_.leaf(root_));
        if (depth_ <= 3) return offer(build_.lookahead(root_, depth_, Space::infinite(), false));
        const Ptr greedy = build_.greedy(root_, depth_);
        offer(greedy);
        offer(build_.lookahead(root_, depth_, Space::infinite(), false));
        offer(build_.refit(greedy, root_, depth_, 2, Space::infinite()));
    }
    /// The tests of a tree from elsewhere: with the best leaves, and with exact trees of height two below.
    void begin_with(const Ptr& tree) {
        for (const int exact : {0, std::min(2, depth_)})
            offer(build_.refit(tree, root_, depth_, exact, Space::infinite()));
    }

    /// All other stages; returns when there is nothing left to try.
    void run() {
        if (depth_ < 3) return;
        if (depth_ == 3) {
            offer(build_.exact(root_, 3, current_->cost));
            return done_.push_back("exact subtrees of depth three");
        }
        offer(build_.pilot(root_, depth_, 2));
        done_.push_back("the best two tests of each node");
        bool settled = false;
        int others = kFirstOfOthers;
        for (int sweeps = kFirstSweeps; !is_best(); sweeps = std::min(2 * sweeps, kMostSweeps)) {
            take_from_outside();
            const Cost before = current_->cost;
            annealing_.cycle(current_, sweeps);
            if (sweeps >= kPolished) polish();
            if (sweeps == kCompared || annealing_.exhausted()) compare_with_depth_three();
            if (annealing_.exhausted()) return done_.push_back("another test at a node");
            settled = settled || !Space::better(Space::above(current_->cost, kLittle), before);
            if (!settled) continue;
            restarts_.round(others);
            if (sweeps >= kPolished) polish();
            others = std::min(2 * others, kMostSweeps);
        }
    }

    const Ptr& tree() const { return current_; }
    /// The stages that ran to their ends.
    const std::vector<std::string>& done() const { return done_; }
    std::uint64_t moves() const { return annealing_.moves(); }
    std::uint64_t solved() const { return build_.solved; }

private:
    static constexpr std::size_t kMostKept = 40'000;
    static constexpr int kFirstSweeps = 4, kFirstOfOthers = 2, kMostSweeps = 1 << 20;
    static constexpr int kPolished = 16;  // sweeps of the first cycle with exact subtrees: they are dear for an early tree
    static constexpr int kCompared = 64;  // sweeps of the cycle after which trees of depth three are searched
    static constexpr int kLittle = 1;  // hundredths that a cycle brings, up to which other roots are tried
    static constexpr int kNear = 2;  // hundredths above the best tree, up to which exact subtrees are solved

    Space& space_;
    const Rows& root_;
    int depth_;
    Surroundings<Ptr> around_;
    Builder<Space> build_;
    Annealing<Space> annealing_;
    Restarts<Space> restarts_;
    Ptr current_;
    Cost reported_ = Space::infinite();
    std::vector<std::string> done_;
    bool compared_ = false;

    void polish() {
        if (Space::better(annealing_.tree()->cost, Space::above(current_->cost, kNear))) annealing_.polish();
    }
    /// A deeper tree is no worse than the best one of depth three; the present one as cutoff makes that a short search.
    void compare_with_depth_three() {
        if (build_.is_large(root_) || compared_) return;
        offer(build_.exact(root_, 3, current_->cost));
        done_.push_back("all trees of depth three");
        compared_ = true;
    }
    bool is_best() const { return !Space::better(Cost{0}, current_->cost); }
    void offer(const Ptr& tree) {
        if (!tree) return;
        if (!current_ || Space::better(tree->cost, current_->cost)) current_ = tree;
        if (!Space::better(current_->cost, reported_)) return;
        reported_ = current_->cost;
        around_.report(current_);
    }
    void take_from_outside() {
        const Ptr other = around_.outside();
        if (!other || !Space::better(other->cost, current_->cost)) return;
        current_ = other, reported_ = other->cost;
    }
};

}  // namespace treeform::deep
