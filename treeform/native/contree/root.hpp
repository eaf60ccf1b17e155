#pragma once
// The root of the tree: the recursion of search.hpp once more, with threads, with news for the outside, and with a tree
// that does not depend on timing.
//
// Tasks are root features in a fixed order; a worker that finds no feature left helps with the intervals of one that is
// still in work. Which of several optimal trees comes out must not depend on timing, so the answer is defined as that of
// one worker, and several workers reproduce it:
//
//   * the warm-up goes in rounds, and in a round a feature uses the bound of the rounds before and its own finds only;
//     the order of the features and the best tree after the warm-up are therefore always the same;
//   * in a round of finishing, each feature uses the bound of the rounds before and of the features up to itself in the
//     order, never of later ones. So the cost that each one attains is what it would attain if they ran one after the
//     other, and the first to attain the least is the winner of the round;
//   * if the winner had run by itself until it found its tree, with a bound that had not moved under it, that is the tree.
//     Otherwise it is searched again from its state before the round, with the bound of the features before it, until
//     that cost is met. This is rare: the winner is mostly the first in the order, whose bound is its own, and finds
//     its tree long before the others have time to help.
//
// A round of finishing takes every feature only so far that its lower bound reaches a goal, a growing part of the best
// cost. The splits that a proof needs are the same in any order, but in this one the bound of the whole search rises
// steadily, and a search that is stopped has one to show.
#include <exception>
#include <mutex>
#include <thread>

#include "search.hpp"

namespace treeform::contree {

template <class W>
class Root {
public:
    using Cost = typename W::Cost;
    using Reply = Answer<Cost>;
    using Work = SplitWork<W>;
    static constexpr Cost kInf = IntervalSearch<W>::kInf;
    static constexpr int kWarmUpRounds[] = {1, 1, 2, 4};
    static constexpr int kBoundRounds[] = {2, 4, 6, 8, 10, 12, 13, 14, 15, 16};   // sixteenths of the best cost

    Root(const Table<W>& table, const Node<W>& node, const Settings& rules, Control& control,
         const ScanTable<typename W::Key, typename W::Sum>& scans)
        : table_(table), node_(node), rules_(rules), control_(control), penalty_(static_cast<Cost>(rules.node_penalty)),
          features_(table.features), locks_(table.features), searches_(table.features), turn_(table.features) {
        for (int t = 0; t < std::max(1, rules.threads); ++t) workers_.emplace_back(table, rules, control, scans);
    }

    /// The best tree on all rows that costs less than `upper`. Improvements are published as they come.
    Reply solve(Cost upper) {
        std::vector<Cost> by_feature(features_);
        final_depth_ = static_cast<int>(std::min<std::int64_t>(rules_.depth, rules_.max_nodes));
        return solve(final_depth_, upper, by_feature);
    }

    /// A true lower bound at any time, also after a stop; call with no worker running or from a worker.
    Cost lower() {
        if (!open_) return 0;
        Cost low = best_.value;
        for (int f = 0; f < features_; ++f) {
            const std::lock_guard lock(locks_[f]);
            low = std::min(low, searches_[f].open ? penalty_ + searches_[f].proven() : Cost{0});
        }
        return std::max(low, Cost{0});
    }

    Counters counters() {
        Counters sum;
        for (auto& worker : workers_) sum.add(worker.counters());
        return sum;
    }

private:
    const Table<W>& table_;
    const Node<W>& node_;
    const Settings& rules_;
    Control& control_;
    Cost penalty_;
    int features_, final_depth_ = 0;
    std::deque<Search<W>> workers_;

    // of the depth in work
    bool open_ = false;                 // the final depth: searches_ bound the answer
    int depth_ = 0;
    std::int64_t budget_ = 0;
    Cost gap_ = 0, whole_ = 0;
    std::vector<Cost> whole_by_;
    std::deque<std::mutex> locks_;      // one per feature, for its search
    std::vector<IntervalSearch<W>> searches_;
    std::vector<int> turn_;             // position in the order -> feature
    std::vector<IntervalSearch<W>> saved_;   // the searches before the round, if there are several workers
    struct Finish {                     // what the feature at a position of the order attained in the round
        Reply reply;
        Cost bound = kInf;              // what the rounds before and the features before it attained
        bool steady = true;             // that bound never moved
        const void* worker = nullptr;   // that ran it
        bool alone = true;              // without help
        bool sure = false;              // the reply was found while it was steady and alone
    };
    std::vector<Finish> finish_;
    std::mutex best_lock_;
    Reply best_;                        // overall
    Cost base_value_ = 0;               // best before the round
    Cost goal_ = kInf;                  // the bound that the round aims at
    std::atomic<int> next_{0};

    Reply solve(int depth, Cost upper, std::vector<Cost>& by_feature) {
        const std::int64_t budget = std::min(rules_.max_nodes, full_tree(depth));
        const Cost gap = depth == final_depth_ ? static_cast<Cost>(rules_.gap) : Cost{0};
        if (depth <= 2) {
            Reply reply = workers_[0].solve(0, {node_, depth, budget, upper, 0, nullptr, {}}, by_feature.data(), gap);
            publish(reply);
            return reply;
        }
        std::vector<Cost> whole_by(features_);
        const Reply seed = solve(depth - 1, upper, whole_by);
        depth_ = depth, budget_ = budget, gap_ = gap, whole_ = seed.lower, whole_by_ = std::move(whole_by);
        best_ = seed;
        if (seed.value > 0) search(seed.found ? seed.as_test() : Test{});
        return conclude(by_feature);
    }

    void search(Test hint) {
        order_features<Cost>(turn_, nullptr, whole_by_, hint);
        for (int f = 0; f < features_; ++f) begin(f);
        open_ = depth_ == final_depth_;
        goal_ = kInf;
        const std::vector<Reply> warm = warm_up(hint);
        std::vector<int> order(features_);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return warm[a].lower < warm[b].lower; });
        std::vector<int> turn;
        for (const int position : order) turn.push_back(turn_[position]);
        turn_ = std::move(turn);
        for (const int part : kBoundRounds) {
            finish_round(part < 16 ? best_.value / 16 * part : kInf);
            if (open_) control_.publish_bound(std::min(lower(), best_.value) + table_.losses.offset);
        }
    }

    /// Raise the bound of every feature to `goal`.
    void finish_round(Cost goal) {
        goal_ = goal;
        base_value_ = best_.value;
        saved_.clear();
        if (workers_.size() > 1)
            for (const auto& one : searches_) saved_.push_back(one.without_cuts());
        finish_.assign(features_, {});
        for (auto& one : finish_) one.reply.value = kInf;
        next_ = 0;
        in_parallel([this](Search<W>& worker) { finish(worker); });
        choose_winner();
    }

    void begin(int f) {
        const std::lock_guard lock(locks_[f]);
        searches_[f].cuts.take(table_, node_, f);
        searches_[f].begin(rules_, features_, node_.total_mass, whole_, whole_by_.data());
    }

    /// A few steps on every feature, in rounds; a round starts from the best of the rounds before. Per position in the
    /// order: the best tree, and in `lower` the least bound met.
    std::vector<Reply> warm_up(Test hint) {
        std::vector<Reply> warm(features_);
        for (auto& mine : warm) mine.lower = kInf;
        for (const int steps : kWarmUpRounds) {
            for (auto& mine : warm) mine.value = best_.value;
            next_ = 0;
            in_parallel([&](Search<W>& worker) {
                Work work(features_);
                for (int position; (position = next_++) < features_;)
                    warm_up(worker, turn_[position], steps, hint, warm[position], work);
            });
            for (const auto& mine : warm) improve(mine);
            hint = {};
        }
        return warm;
    }
    void warm_up(Search<W>& worker, int f, int steps, Test hint, Reply& mine, Work& work) {
        std::uint32_t wish = hint.feature == f ? hint.key : 0;
        for (int k = 0; k < steps && step(worker, f, mine.value, work, wish); ++k, wish = 0) {
            mine.lower = std::min(mine.lower, work.total);
            if (work.found) mine.found = true, mine.value = penalty_ + work.value, mine.plan = work.plan;
        }
    }

    /// Finish the features in their order; then help with those that are not finished yet.
    void finish(Search<W>& worker) {
        Work work(features_);
        for (int position; (position = next_++) < features_;) finish_feature(worker, position, work);
        if (workers_.size() == 1) return;
        for (int position = 0; position < features_; ++position) finish_feature(worker, position, work);
    }
    void finish_feature(Search<W>& worker, int position, Work& work) {
        while (step(worker, turn_[position], bound_at(position, &worker), work, 0)) {
            if (!work.found) continue;
            Reply reply;
            reply.found = true, reply.value = penalty_ + work.value, reply.plan = work.plan;
            {
                const std::lock_guard lock(best_lock_);
                auto& mine = finish_[position];
                if (reply.value < mine.reply.value) mine.reply = reply, mine.sure = mine.alone && mine.steady;
            }
            improve(reply);
        }
    }
    /// What a tree of the feature at this position has to beat.
    Cost bound_at(int position, const void* worker) {
        const std::lock_guard lock(best_lock_);
        auto& mine = finish_[position];
        Cost others = base_value_;
        for (int before = 0; before < position; ++before) others = std::min(others, finish_[before].reply.value);
        if (!mine.worker) mine.worker = worker, mine.bound = others;
        mine.steady &= mine.bound == others;
        mine.alone &= mine.worker == worker;
        const std::int64_t outside = control_.external_upper() == kNone ? kInf : control_.external_upper() - table_.losses.offset;
        const Cost bound = std::min(others, mine.reply.value);
        return static_cast<Cost>(std::max<std::int64_t>(0, std::min<std::int64_t>(bound, outside)));
    }

    /// One threshold of feature f: pick, evaluate, settle. False when none is left that may cost less than `upper`.
    bool step(Search<W>& worker, int f, Cost upper, Work& work, std::uint32_t wish) {
        auto& one = searches_[f];
        const Cost room = upper - penalty_, cutoff = room - gap_;
        {
            const std::lock_guard lock(locks_[f]);
            if (one.front() >= goal_ && one.front() < cutoff) return false;   // enough for this round
            if (!one.next(cutoff, work.pick, work.left.by.data(), work.right.by.data(), worker.counters(), wish)) return false;
        }
        control_.check();
        control_.check_memory(bytes(worker));
        const Test test{f, one.cuts.key(work.pick.cut)};
        worker.evaluate(0, {node_, depth_, budget_, upper, 0, nullptr, {}}, test, room, cutoff, work);
        const Cost after = work.found ? work.value - gap_ : cutoff;
        const std::lock_guard lock(locks_[f]);
        one.settle(work.pick, after, work.left.lower, work.right.lower, work.total, work.proven, work.left.by.data(),
                   work.right.by.data(), work.left.hint, work.right.hint, worker.counters());
        return true;
    }

    /// About what the run holds, seen from one worker; the searches of other features count by their cuts alone.
    std::size_t bytes(const Search<W>& worker) const {
        if (rules_.memory_limit == 0) return 0;
        std::size_t sum = table_.bytes() + node_.bytes() + worker.bytes() * workers_.size();
        for (const auto& one : searches_) sum += one.cuts.bytes();
        return sum;
    }

    void improve(const Reply& reply) {
        {
            const std::lock_guard lock(best_lock_);
            if (!reply.found || reply.value >= best_.value) return;
            best_ = reply;
        }
        publish(reply);
    }

    /// See the top.
    void choose_winner() {
        int winner = -1;
        Cost least = base_value_, before = base_value_;
        for (int position = 0; position < features_; ++position) {
            if (finish_[position].reply.value >= least) continue;
            before = least, least = finish_[position].reply.value;
            winner = position;
        }
        if (winner < 0) return;
        const auto& won = finish_[winner];
        best_ = won.reply;
        if (!won.sure) repeat(turn_[winner], before);
        control_.replace(best_.value + table_.losses.offset, best_.as_plan());
    }
    void repeat(int f, Cost upper) {
        const bool was_open = std::exchange(open_, false);   // the proof is done, and keeps its state
        IntervalSearch<W> proof = std::move(searches_[f]);
        searches_[f] = std::move(saved_[f]);
        searches_[f].cuts = proof.cuts;
        Work work(features_);
        while (upper > best_.value && step(workers_[0], f, upper, work, 0)) {
            if (!work.found) continue;
            upper = penalty_ + work.value;
            if (upper == best_.value) best_.plan = work.plan;
        }
        searches_[f] = std::move(proof);
        open_ = was_open;
    }

    Reply conclude(std::vector<Cost>& by_feature) {
        Cost low = whole_, proven = kInf;
        for (int f = 0; f < features_; ++f) {
            by_feature[f] = 0;
            if (best_.value > 0) {
                by_feature[f] = std::min<Cost>(whole_, penalty_ + searches_[f].lower());
                proven = std::min(proven, penalty_ + searches_[f].proven());
            }
            low = std::min(low, by_feature[f]);
        }
        best_.lower = rules_.min_support == 0 && best_.found ? std::min(low, best_.value) : low;
        best_.proven = std::min(best_.value, proven);
        return best_;
    }

    /// Run on all workers; the first failure stops the others and is thrown here.
    template <class Part>
    void in_parallel(const Part& part) {
        if (workers_.size() == 1) return part(workers_[0]);
        std::mutex lock;
        std::exception_ptr failure;
        std::vector<std::thread> threads;
        for (auto& worker : workers_)
            threads.emplace_back([&] {
                try {
                    part(worker);
                } catch (...) {
                    const std::lock_guard guard(lock);
                    if (!failure) failure = std::current_exception();
                    control_.stop();
                }
            });
        for (auto& thread : threads) thread.join();
        if (failure) std::rethrow_exception(failure);
    }

    void publish(const Reply& best) {
        if (!best.found) return;
        const auto offset = table_.losses.offset;
        control_.publish(best.value + offset, std::min(lower(), best.value) + offset, best.as_plan());
    }
};

}  // namespace treeform::contree
