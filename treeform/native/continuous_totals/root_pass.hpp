#pragma once
// The splits of the root, shared out among workers: each evaluates splits, and lists and joins the trees of their
// sides, with all scratch of its own. What is found does not depend on their number (sequence.hpp).
#include <deque>
#include <functional>

#include "../common/cold.hpp"
#include "finding.hpp"
#include "sequence.hpp"

namespace treeform::continuous_totals {

template <class W, int K>
class RootPass {
public:
    using Cost = typename W::Cost;
    using Node = contree::Node<W>;
    using All = Listing<W, K>;
    using Alive = typename All::Alive;

    TREEFORM_COLD RootPass(std::deque<All>& workers, Finding<W, K>& best, int depth, Test hint,
                           const std::function<void(Amount)>& progress)
        : workers_(workers), best_(best), depth_(depth), hint_(hint), progress_(progress),
          root_(workers[0].shop.data.root), shared_(workers[0].frame(0)) {
        for (All& worker : workers_) {
            worker.weigh(root_, worker.frame(0).sums);
            worker.shop.search.turn_to_another(0);
        }
    }

    TREEFORM_COLD void run() {
        const Amount least = std::max(workers_[0].shop.settings.min_flow, Amount(1));
        if (root_.n <= 1 || best_.limit < 0 || shared_.sums.total < least) return;
        if (depth_ == 2)
            by_feature();
        else
            by_split();
    }

private:
    static constexpr int kRounds = 8;

    std::deque<All>& workers_;
    Finding<W, K>& best_;
    int depth_;
    Test hint_;
    const std::function<void(Amount)>& progress_;
    const Node& root_;
    typename All::Frame& shared_;  // its searches, order and bounds are of all workers
    contree::Counters counters_;

    int size() const { return static_cast<int>(workers_.size()); }
    typename All::Join join_into(All& worker, Finding<W, K>& finding) const {
        return [&](const Alive& at, Front<K>& a, Front<K>& b) { return finding.query(worker, at, a, b); };
    }

    struct Feature : Sequence::Task {  // a root feature of a tree of depth two, with all its splits
        int feature = -1;
        Finding<W, K> finding;
    };
    TREEFORM_COLD void by_feature() {
        const typename All::Task task{
            root_, 2, contree::full_tree(2), best_.limit + 1, workers_[0].shop.data.support, 0, 0, nullptr, hint_};
        // Smaller depths are solved first, under all rows: trees of one test cost as much as the best known one.
        for (All& worker : workers_) worker.shop.two.leave_out_one_test(worker.shop.settings.shallow);
        std::vector<char> ready(workers_.size(), 0);
        workers_[0].shop.two.begin(task), ready[0] = 1;
        const std::vector<int> turn = workers_[0].shop.two.turn();
        std::size_t next = 0;
        Sequence([] { return std::make_unique<Feature>(); },
                 [&](Sequence::Task& given, bool) {
                     auto& one = static_cast<Feature&>(given);
                     if (next == turn.size()) return false;
                     one.feature = turn[next++], one.finding.begin_below(best_);
                     return true;
                 },
                 [&](int w, Sequence::Task& given) {
                     auto& one = static_cast<Feature&>(given);
                     All& worker = workers_[w];
                     if (!ready[w]) worker.shop.two.begin(task), ready[w] = 1;
                     const auto join = join_into(worker, one.finding);
                     Cost upper = one.finding.limit + 1;
                     worker.shop.two.visit_feature(task, one.feature, upper, [&](const typename All::Split& split) {
                         return worker.at_split_of_two(worker.frame(0), root_, split, one.finding.limit, join) + 1;
                     });
                 },
                 [&](Sequence::Task& given) { best_.take_better(static_cast<Feature&>(given).finding); })
            .run(size(), workers_[0].shop.control);
        for (All& worker : workers_) worker.shop.two.leave_out_one_test(false);
    }

    struct Split : Sequence::Task {  // of the root of a deeper tree
        Test test;
        Cost room = 0;
        contree::SplitWork<W> work;
        Finding<W, K> finding;
        explicit Split(int features) : work(features) {}
    };
    /// The features are taken in turn, a growing part of the limit at a time, so that the least bound of what is left
    /// rises.
    TREEFORM_COLD void by_split() {
        All& first = workers_[0];
        const typename All::Whole whole = first.prepare(0, shared_, root_, depth_, nullptr, hint_);
        int round = 1;
        Sequence([&] { return std::make_unique<Split>(first.shop.data.table.features); },
                 [&](Sequence::Task& given, bool idle) {
                     for (; round <= kRounds; ++round) {
                         const Cost goal =
                             round < kRounds ? best_.limit / kRounds * round : contree::IntervalSearch<W>::kInf;
                         for (const int f : shared_.turn)
                             if (pick(static_cast<Split&>(given), f, whole, goal)) return true;
                         if (!idle) return false;
                         report();
                     }
                     return false;
                 },
                 [&](int w, Sequence::Task& given) {
                     auto& split = static_cast<Split&>(given);
                     All& worker = workers_[w];
                     worker.at_split(0, worker.frame(0), root_, depth_, split.test, split.finding.limit, split.work,
                                     join_into(worker, split.finding));
                 },
                 [&](Sequence::Task& given) {
                     auto& split = static_cast<Split&>(given);
                     contree::Search<W>::settle(shared_.searches[split.test.feature], split.room, split.work,
                                                counters_);
                     best_.take_better(split.finding);
                 })
            .run(size(), first.shop.control);
        count_in(first.shop.search.counters(), counters_);
    }
    TREEFORM_COLD bool pick(Split& split, int f, const typename All::Whole& whole, Cost goal) {
        auto& one = shared_.searches[f];
        auto& work = split.work;
        const std::uint32_t wish = workers_[0].open(one, root_, f, whole, shared_.whole_by, hint_);
        if (one.front() >= goal) return false;
        split.room = best_.limit + 1 - workers_[0].penalty;
        if (!one.next(split.room, work.pick, work.left.by.data(), work.right.by.data(), counters_, wish)) return false;
        split.test = {f, one.cuts.key(work.pick.cut)};
        split.finding.begin_below(best_);
        return true;
    }
    TREEFORM_COLD void report() const {
        Cost low = best_.limit + 1;
        for (const auto& one : shared_.searches) low = std::min(low, workers_[0].penalty + one.front());
        progress_(low);
    }
};

}  // namespace treeform::continuous_totals
