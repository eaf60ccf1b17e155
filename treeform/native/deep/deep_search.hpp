#pragma once
// The search for a better tree than the one in hand, where a proof is out of reach. Its stages, each from the best tree of
// those before:
//
//   first      of many rows trees of a sample, of depth two and the lookahead tree; CART's tree, and of absolute errors one
//              by these before it, which no sample precedes; the lookahead tree, its lowest two levels exact; CART's tests
//              with such levels, before it where there are many columns
//   pilot      see builder.hpp; with two tests a node
//   cycles     again and again: sweeps over the inner nodes with other tests, then, from the third cycle on, exact subtrees
//              of height three; see annealing.hpp
//   less depth beside all others: the same search for trees of one level less, as it would run alone; see below
//   depth 3    in the fifth cycle, or where cycles find nothing else to try: the best tree of depth three, if it is cheaper
//   restarts   once a cycle has brought little, one round after each cycle: trees with other tests at the root; see
//              restarts.hpp
//
// The search for less depth has at least a 64th of the work whenever the pace is called, a sixteenth where tests have a
// price or leaves a minimum support; a ninth while its best tree is close to the best one and cycles bring little, and a
// third while it has the best tree. It takes nothing from the search that it is part of: so a search with a limit on work
// finds no worse a tree than the search for one level less with the same seed and that part of its work, which holds in
// turn for the level below.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "builder.hpp"
#include "course.hpp"
#include "few_columns.hpp"

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
          build_(space, kMostKept, seed, [this] { pace(); }), far_(space.has_rules() ? kFarUnderRules : kFar) {
        resume();
    }

    /// Trees that take about as long as CART's.
    void first() {
        const auto lookahead = [&] { offer(build_.lookahead(root_, depth_, Space::infinite(), false)); };
        offer(space_.leaf(root_));
        if (depth_ <= 1 || (depth_ <= 3 && !is_dear(space_.depth_two_work(root_)))) return lookahead();
        const bool sampled = build_.is_large(root_) && !build_.kSquaresDiffer;
        if (sampled) offer(build_.exact(root_, 2, Space::infinite()));  // long before CART's
        if (sampled) offer(build_.lookahead_of_sample(root_, depth_));
        Ptr greedy = build_.greedy(root_, depth_);
        offer(greedy);
        if (build_.kSquaresDiffer) {
            const Ptr other = build_.greedy(root_, depth_, true);
            offer(other);
            if (Space::better(other->cost, greedy->cost)) greedy = other;
        }
        if (depth_ <= 2) return;  // what follows is the proof
        const bool many = static_cast<int>(space_.features()) > kManyFeatures;  // it takes their square
        if (!many) lookahead();
        offer(build_.refit(greedy, root_, depth_, 2, Space::infinite()));
        if (many) lookahead();
    }
    /// The tests of a tree from elsewhere: with the best leaves, and with exact trees of height two below.
    void begin_with(const Ptr& tree) {
        offer(build_.refit(tree, root_, depth_, 0, Space::infinite()));
        if (depth_ > 2) offer(build_.refit(tree, root_, depth_, 2, Space::infinite()));
    }

    /// A tree of a search at other prices, in place of the first stages.
    void go_on_from(const Ptr& tree) {
        begin_with(tree);
        if (depth_ > 3) open_course();
    }

    /// All other stages; returns when there is nothing left to try.
    void run() {
        while (step()) {}
    }
    /// The next stage; whether one is left.
    bool step() {
        if (first_ == 0) first_ = work();
        if (depth_ <= 3) return solve_whole();
        if (!course_) {
            begin();
        } else if (is_best()) {
            return false;
        } else if (course_->exhausted()) {
            return end();
        } else if (course_->is_round_due()) {  // a step of its own: less depth is to take no more than its share
            course_->round();
        } else {
            take_from_outside();
            take_from_less_depth();
            course_->take(current_);
            course_->cycle();
            if (course_->sweeps() > kCompared) compare_with_depth_three();
        }
        return true;
    }

    /// Between two stages: gives the rows that are held for the next one back.
    void give_back() { build_.give_back(); }

    const Ptr& tree() const { return current_; }
    /// The stages that ran to their ends.
    const std::vector<std::string>& done() const { return done_; }
    std::uint64_t moves() const { return (course_ ? course_->moves() : 0) + (less_ ? less_->moves() : 0); }
    std::uint64_t solved() const { return build_.solved; }

private:
    static constexpr std::size_t kMostKept = 40'000;
    static constexpr int kCompared = 64;  // sweeps of the cycle after which trees of depth three are searched
    static constexpr int kLeastDepth = 4;  // of a search for less depth: trees of depth three are solved
    // The work of this search in parts of that for less depth, by how good the tree of that one is.
    static constexpr std::uint64_t kAhead = 2, kNear = 8, kFar = 63, kFarUnderRules = 15;
    static constexpr int kManyFeatures = 32;  // beyond, the lookahead tree is the last one of the first trees
    static constexpr int kClose = 3;  // hundredths above the best tree

    Space& space_;
    const Rows& root_;
    int depth_;
    Surroundings<Ptr> around_;
    std::uint64_t seed_;
    Builder<Space> build_;
    std::uint64_t far_;
    std::unique_ptr<Course<Space>> course_;
    std::unique_ptr<DeepSearch> less_;  // the search for one level less, once it has begun
    bool less_ended_ = false;
    std::uint64_t first_ = 0;               // work of the first trees
    std::uint64_t work_ = 0, since_ = 0;    // work before this search was resumed, and that of the space at that time
    bool at_work_ = false;
    Ptr current_, taken_;  // the best tree, and that of less depth when it was taken over
    Cost reported_ = Space::infinite();
    std::vector<std::string> done_;
    bool compared_ = false;

    bool solve_whole() {
        offer(build_.exact(root_, depth_, current_->cost));
        if (depth_ == 3) done_.push_back("exact subtrees of depth three");
        return false;
    }
    void open_course() {
        course_ = std::make_unique<Course<Space>>(
            space_, build_, root_, depth_, seed_, [this](const Ptr& tree) { offer(tree); }, [this] { pace(); });
        course_->take(current_);
    }
    void begin() {
        open_course();
        course_->pilot();
        done_.push_back("the best two tests of each node");
    }
    /// Nothing is left to try at this depth.
    bool end() {
        compare_with_depth_three();
        while (depth_ > kLeastDepth && !less_ended_) step_of_less_depth();
        done_.push_back("another test at a node");
        return false;
    }
    /// A deeper tree is no worse than the best one of depth three; the present one as cutoff makes that a short search.
    void compare_with_depth_three() {
        if (build_.is_large(root_) || compared_) return;
        offer(build_.exact(root_, 3, current_->cost));
        done_.push_back("all trees of depth three");
        compared_ = true;
    }

    /// Elements that were read for it, and for the searches that are part of it.
    std::uint64_t work() const { return work_ + (at_work_ ? space_.work() - since_ : 0); }
    void resume() { since_ = space_.work(), at_work_ = true; }
    void rest() { work_ = work(), at_work_ = false, give_back(); }

    void pace() {
        while (is_less_depth_due()) step_of_less_depth();
        around_.pace();
    }
    bool is_less_depth_due() const {
        if (!course_ || depth_ <= kLeastDepth || less_ended_ || is_best()) return false;
        return less_ ? is_less_depth_behind(share()) : work() >= far_ / 2 * first_;
    }
    bool is_less_depth_behind(std::uint64_t times) const { return less_->work() * times < work() - less_->work(); }
    std::uint64_t share() const {
        if (!Space::better(current_->cost, less_->tree()->cost)) return kAhead;
        const bool close = Space::better(less_->tree()->cost, Space::above(current_->cost, kClose));
        return close && course_->is_settled() ? kNear : far_;
    }
    void step_of_less_depth() {
        if (!less_) {
            // No limit on work ends it before it has its part of it.
            const auto pace = [this] { is_less_depth_behind(far_) ? space_.check() : around_.pace(); };
            less_ = std::make_unique<DeepSearch>(
                space_, root_, depth_ - 1, seed_,
                Surroundings<Ptr>{[this](const Ptr& tree) { offer(tree); }, [] { return Ptr{}; }, pace});
            less_->first();
            less_->first_ = less_->work();
        } else {
            less_->resume();
            less_ended_ = !less_->step();
        }
        less_->rest();
    }
    void take_from_less_depth() {
        if (!less_ || less_->tree() == taken_) return;
        taken_ = less_->tree();
        course_->take(build_.refit(taken_, root_, depth_, 2, Space::infinite()));
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
