#pragma once
// The search for a better tree than the one in hand, where a proof is out of reach. Its stages, each from the best tree of
// those before:
//
//   first        CART's tree; the lookahead tree, its lowest two levels exact; CART's tests with such levels
//   pilot        see builder.hpp; with two tests a node, with four, and with those of all features
//   exact trees  every subtree of height three solved again on the rows that reach it
//   rolling      at every node the root test of the exact tree of depth three of a sample of its rows
//   moves        again and again: another test at a node of height four or more, and both of its sides solved again
//
// A move takes the test that sends each row to that of the two present subtrees which predicts it right (alternating
// optimisation: Carreira-Perpinan and Tavallali, NeurIPS 2018), one of the best tests of each feature, the root of an
// exact tree of depth three of a sample, or one by chance. It is tried first with two exact levels, against the present subtree with as many, and with three where that is within
// a hundredth. Trees of equal cost are accepted, so that plateaus are crossed. No move is made more than twice.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "builder.hpp"
#include "random.hpp"

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
        : space_(space), root_(root), depth_(depth), random_(seed), around_(std::move(around)),
          build_(space, kMostKept, seed, [this] { around_.pace(); }), tried_(kMostTried), rough_(kMostKept) {}

    /// Trees that take about as long as CART's.
    void first() {
        offer(space_.leaf(root_));
        if (depth_ <= 3) return offer(build_.lookahead(root_, depth_, 2, std::min(2, depth_)));
        const Ptr greedy = build_.greedy(root_, depth_);
        offer(greedy);
        offer(build_.lookahead(root_, depth_, 2, 2));
        begin_with(greedy);
    }
    /// A tree of the same rows from elsewhere: its tests with exact trees of height two below.
    void begin_with(const Ptr& tree) { offer(build_.refit(tree, root_, depth_, std::min(2, depth_), Space::infinite())); }

    /// All other stages; returns when there is nothing left to try.
    void run() {
        if (depth_ < 3) return;
        if (depth_ > 3) pilot(2), pilot(4);
        exact_trees();
        if (depth_ < 4) return;
        if (depth_ > 4) rolling();
        pilot(kAll);
        exact_trees();
        done_.push_back("the best test of each feature");
        for (std::uint64_t failed = 0; failed < kGiveUp && !is_best(); failed = move() ? 0 : failed + 1) {}
        done_.push_back("another test at a node");
    }

    const Ptr& tree() const { return current_; }
    /// The stages that ran to their ends.
    const std::vector<std::string>& done() const { return done_; }
    std::uint64_t moves() const { return moves_; }
    std::uint64_t solved() const { return build_.solved; }

private:
    static constexpr std::size_t kMostKept = 40'000, kMostTried = 1'000'000;
    static constexpr int kAll = 1'000;
    static constexpr std::size_t kSample = 2'000;  // rows of which trees of depth three are solved
    static constexpr std::uint64_t kGiveUp = 2'000;  // choices of a move in a row that were made before
    struct Spot {
        std::vector<int> path;
        Ptr tree;
        int height;
    };
    struct Rough {  // with two exact levels
        Ptr of;  // so that no other tree takes its place in memory
        Cost cost{};
    };

    Space& space_;
    const Rows& root_;
    int depth_;
    Random random_;
    Surroundings<Ptr> around_;
    Builder<Space> build_;
    Ptr current_;
    Cost reported_ = Space::infinite();
    Kept<int> tried_;
    Kept<Rough> rough_;
    std::uint64_t moves_ = 0;
    std::vector<std::string> done_;

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

    /// The rows at the end of a path from the root; they stay until the next split at that height.
    const Rows* rows_at(const std::vector<int>& path) {
        const Rows* rows = &root_;
        const Tree<Cost>* node = current_.get();
        int height = depth_;
        for (const int side : path) {
            auto* sides = build_.split(*rows, node->test, height--);
            if (!sides) return nullptr;
            rows = side ? &sides->right : &sides->left;
            node = (side ? node->right : node->left).get();
        }
        return rows;
    }
    void spots_of(const Ptr& tree, int height, int least, int most, std::vector<int>& path,
                  std::vector<Spot>& out) const {
        if (height < least || !Space::better(Cost{0}, tree->cost)) return;
        if (height <= most) out.push_back({path, tree, height});
        if (tree->is_leaf()) return;
        path.push_back(0), spots_of(tree->left, height - 1, least, most, path, out), path.pop_back();
        path.push_back(1), spots_of(tree->right, height - 1, least, most, path, out), path.pop_back();
    }
    /// Nodes that cost something, of these heights.
    std::vector<Spot> spots(int least, int most) const {
        std::vector<Spot> out;
        std::vector<int> path;
        spots_of(current_, depth_, least, most, path, out);
        return out;
    }

    void pilot(int width) { offer(build_.pilot(root_, depth_, width, 2)); }
    /// Root tests of exact trees of depth three of samples, with exact trees below where that may be better.
    void rolling() {
        const Ptr tree = build_.lookahead(root_, depth_, 3, 2);
        const Ptr now = build_.refit(current_, root_, depth_, 2, Space::infinite());
        if (!Space::better(tree->cost, Space::above(now->cost, 2))) return;
        offer(build_.refit(tree, root_, depth_, 3, Space::infinite()));
    }
    /// Every subtree of height three solved again, the dearest ones first.
    void exact_trees() {
        std::vector<Spot> all = spots(3, 3);
        std::stable_sort(all.begin(), all.end(),
                         [](const Spot& a, const Spot& b) { return Space::better(b.tree->cost, a.tree->cost); });
        for (const Spot& spot : all) {
            const Rows* rows = rows_at(spot.path);
            const Ptr better = rows ? build_.exact(*rows, 3, spot.tree->cost) : nullptr;
            if (better) offer(replaced<Cost>(current_, spot.path, better));
        }
        if (done_.empty()) done_.push_back("exact subtrees of depth three");
    }

    /// One more move; false when the one that was chosen had been made before.
    bool move() {
        around_.pace();
        take_from_outside();
        const std::vector<Spot> all = spots(4, depth_);
        if (all.empty()) return false;
        const Spot& spot = all[random_.below(all.size())];
        const Rows* rows = rows_at(spot.path);
        if (!rows) return false;
        bool fresh = false;
        for (int i = 0; i < 3; ++i) {
            bool changed = false;
            fresh |= move_at(spot, *rows, changed);
            if (changed) break;
        }
        return fresh;
    }

    bool move_at(const Spot& spot, const Rows& rows, bool& changed) {
        const Test test = choose(spot, rows);
        if (test.feature < 0) return false;
        const std::uint64_t hash = space_.hash(rows);
        const std::uint64_t what = (static_cast<std::uint64_t>(test.feature) << 40) + (std::uint64_t{test.key} << 6)
                                   + static_cast<std::uint64_t>(spot.height);
        int& times = tried_.at({hash, what});
        if (times >= 2) return false;
        ++times, ++moves_;
        const Ptr better = solved_again(spot, rows, test, times > 1 ? 1 : 0);
        if (!better || Space::better(spot.tree->cost, better->cost)) return true;
        changed = true;
        const Ptr whole = replaced<Cost>(current_, spot.path, better);
        if (Space::better(better->cost, spot.tree->cost))
            offer(whole);
        else
            current_ = whole;
        return true;
    }

    Test choose(const Spot& spot, const Rows& rows) {
        const std::uint64_t kind = random_.below(10);
        if (kind == 9) return space_.random_test(rows, random_);
        if (kind == 8) return build_.of_sample(rows, 3, kSample)->test;
        std::vector<Candidate<Cost>> all;
        if (kind < 6 && !spot.tree->is_leaf()) {
            const int noise = random_.below(3) == 0 ? 33 : 0;
            all = space_.routing_tests(rows, *spot.tree->left, *spot.tree->right, random_, noise);
            std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
        } else {
            all = build_.tests(rows);
        }
        if (all.empty()) return {};
        std::size_t pick = 0;
        while (pick + 1 < all.size() && random_.below(2)) ++pick;
        const Test now = spot.tree->test;
        if (all[pick].test.feature == now.feature && all[pick].test.key == now.key) pick = (pick + 1) % all.size();
        return all[pick].test;
    }

    /// The best tree that is found with that test, if it may be as good as the present one.
    Ptr solved_again(const Spot& spot, const Rows& rows, Test test, int most) {
        const Cost rough = rough_cost(spot, rows);
        auto* sides = build_.split(rows, test, spot.height);
        if (!sides) return nullptr;
        const Cost limit = Space::above(std::max(rough, spot.tree->cost), 1);
        const int below = spot.height - 1;
        Ptr left = side(sides->left, spot.tree->left, below, most, limit);
        if (!left) return nullptr;
        Ptr right = side(sides->right, spot.tree->right, below, most, limit - left->cost);
        if (!right) return nullptr;
        refine(sides->left, below, left), refine(sides->right, below, right);
        return space_.join(test, left, right);
    }
    void refine(const Rows& rows, int height, Ptr& tree) {
        const Ptr other = height > 3 ? build_.pilot(rows, height, 2, 2) : tree;
        if (Space::better(other->cost, tree->cost)) tree = other;
        if (const Ptr better = build_.refit(tree, rows, height, 3, tree->cost)) tree = better;
    }
    /// A side with two exact levels: the tests that it has now, or the best ones.
    Ptr side(const Rows& rows, const Ptr& now, int height, int most, Cost limit) {
        const Ptr same = now ? build_.refit(now, rows, height, 2, limit) : nullptr;
        const Cost cutoff = same ? same->cost : limit;
        if (most > 0) {
            const Ptr other = build_.discrepancies(rows, height, 2, most, 3, cutoff);
            return other ? other : same;
        }
        const Ptr other = build_.lookahead(rows, height, 2, 2);
        return Space::better(other->cost, cutoff) ? other : same;
    }
    Cost rough_cost(const Spot& spot, const Rows& rows) {
        const Key key{reinterpret_cast<std::uintptr_t>(spot.tree.get()), 0};
        if (const Rough* kept = rough_.find(key); kept && kept->of == spot.tree) return kept->cost;
        const Ptr tree = build_.refit(spot.tree, rows, spot.height, 2, Space::infinite());
        rough_.at(key) = {spot.tree, tree->cost};
        return tree->cost;
    }
};

}  // namespace treeform::deep
