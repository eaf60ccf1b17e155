#pragma once
// The search for a better tree than the one in hand, where a proof is out of reach. Its stages, each from the best tree of
// those before:
//
//   first      of many rows the tree of depth two of a sample; CART's tree; the lookahead tree, its lowest two levels exact;
//              CART's tests with such levels
//   pilot      see builder.hpp; with two tests a node
//   cycles     again and again: sweeps over the inner nodes with other tests, then, from the third cycle on, exact subtrees
//              of height three; see annealing.hpp
//   less depth from the first restarts on: the same search for trees of one level less, as long as they are about as
//              cheap, with an eighth of the work, or a half while it has the best tree
//   depth 3    in the fifth cycle, or where cycles find nothing else to try: the best tree of depth three, if it is cheaper
//   restarts   once a cycle has brought little, one round after each cycle: trees with other tests at the root; see
//              restarts.hpp
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "builder.hpp"
#include "course.hpp"

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
        : space_(space), root_(root), depth_(std::min(depth, space.most_tests(root))), around_(std::move(around)), seed_(seed),
          build_(space, kMostKept, seed, [this] { around_.pace(); }) {}

    /// Trees that take about as long as CART's.
    void first() {
        offer(space_.leaf(root_));
        if (depth_ <= 3) return offer(build_.lookahead(root_, depth_, Space::infinite(), false));
        if (build_.is_large(root_)) offer(build_.exact(root_, 2, Space::infinite()));  // of a sample, long before CART's
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
        Course<Space>& whole = begin(depth_);
        whole.take(current_);
        whole.pilot();
        done_.push_back("the best two tests of each node");
        while (!is_best() && !whole.exhausted()) {
            take_from_outside();
            whole.take(current_);
            whole.cycle();
            if (whole.sweeps() > kCompared) compare_with_depth_three();
            whole.round();
            compare_with_less_depth();
        }
        if (is_best()) return;
        compare_with_depth_three();
        done_.push_back("another test at a node");
    }

    const Ptr& tree() const { return current_; }
    /// The stages that ran to their ends.
    const std::vector<std::string>& done() const { return done_; }
    std::uint64_t moves() const {
        std::uint64_t sum = 0;
        for (const auto& one : courses_) sum += one->moves();
        return sum;
    }
    std::uint64_t solved() const { return build_.solved; }

private:
    static constexpr std::size_t kMostKept = 40'000;
    static constexpr int kCompared = 64;  // sweeps of the cycle after which trees of depth three are searched
    static constexpr int kLeastDepth = 4;  // of other searches of less depth: trees of depth three are solved
    static constexpr std::uint64_t kAhead = 2, kBehind = 8;  // times their work that of the depth above, by who has the best
    static constexpr int kTrial = 8;  // sweeps of their last cycle before they are compared
    static constexpr int kClose = 3;  // hundredths above the best tree, up to which it goes on

    Space& space_;
    const Rows& root_;
    int depth_;
    Surroundings<Ptr> around_;
    std::uint64_t seed_;
    Builder<Space> build_;
    std::vector<std::unique_ptr<Course<Space>>> courses_;  // by depth, the deepest first
    Ptr current_;
    Cost reported_ = Space::infinite();
    std::vector<std::string> done_;
    bool compared_ = false;

    Course<Space>& begin(int depth) {
        courses_.push_back(std::make_unique<Course<Space>>(
            space_, build_, root_, depth, seed_, [this](const Ptr& tree) { offer(tree); },
            [this] { around_.pace(); }));
        return *courses_.back();
    }
    /// A deeper tree is no worse than the best one of depth three; the present one as cutoff makes that a short search.
    void compare_with_depth_three() {
        if (build_.is_large(root_) || compared_) return;
        offer(build_.exact(root_, 3, current_->cost));
        done_.push_back("all trees of depth three");
        compared_ = true;
    }
    /// Where the depth is seldom of use, by minimum support or prices, a smaller one is searched better in the same time.
    void compare_with_less_depth() {
        for (std::size_t k = 1; k <= courses_.size() && courses_[k - 1]->is_settled(); ++k) {
            const Course<Space>& above = *courses_[k - 1];
            if (above.depth() <= kLeastDepth) return;
            if (k == courses_.size()) {
                const int depth = above.depth() - 1;
                begin(depth).take(build_.refit(current_, root_, depth, 2, Space::infinite()));
            }
            Course<Space>& one = *courses_[k];
            while (!is_best() && !one.exhausted()) {
                const bool behind = Space::better(current_->cost, one.tree()->cost);
                if ((behind ? kBehind : kAhead) * one.work() >= above.work() && !above.exhausted()) break;
                const bool tried = one.sweeps() > kTrial;
                if (tried && !is_close(one.tree())) return;
                one.cycle();
                if (tried) one.round();
            }
        }
    }
    bool is_close(const Ptr& tree) const { return Space::better(tree->cost, Space::above(current_->cost, kClose)); }
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
