#pragma once
// First trees: one grown from the top, and the best tree of depth two for each feature at its root, which is
// Search::depth_two_by_scans with an incumbent for each of them.
#include "search.hpp"

namespace treeform::regression {

template <class LossOf>
Answer Search<LossOf>::grown(const Subset& rows, int depth, std::int64_t& budget) {
    if (depth == 0 || budget == 0 || !bears_test(rows.weight) || is_pure(table_, rows)) return leaf(rows);
    Answer out = depth_one(rows);
    if (!out.plan || out.plan->feature < 0) return out;
    --budget;
    const auto feature = static_cast<std::size_t>(out.plan->feature);
    Subset left, right;
    control_.need(rows.bytes());
    part(table_, rows, feature, out.plan->key, left, right, side_of_);
    left.id = ++made_, right.id = ++made_;
    const Answer a = grown(left, depth - 1, budget);
    left = {};  // may be large
    const Answer b = grown(right, depth - 1, budget);
    offer(out, feature, out.plan->key, a.best, a.plan, b.best, b.plan, tolerance(rows));
    return out;
}

template <class LossOf>
std::vector<RootTest> Search<LossOf>::best_of_each(const Subset& rows) {
    const Answer one = depth_one(rows);
    prepare(rows);
    const double alone = loss_.leaf(rows).cost, tolerance = judge_.tolerance(alone, rows.weight);
    Level& own = level(2);
    Job& job = own.parts.job;
    const double slack = 2 * alone / static_cast<double>(rows.n);
    std::vector<RootTest> all;
    for (std::size_t f = 0; f < table_.features; ++f) {
        Answer best = leaf(rows);
        const auto limit = [&] { return Judge::limit(best.best, tolerance); };
        Cuts cuts = own.intervals.take_cuts();
        cuts_of(table_, rows, f, cuts);
        loss_.outer(rows, f);
        own.intervals.begin(std::move(cuts), rows.n, one.by_feature, one.lower, price_, -1);
        while (own.intervals.lower() < limit()) {
            control_.check();
            own.intervals.next(job);
            const Cut cut = own.intervals.cut(job);
            ++counters.splits;
            if (job.bounds.sum() < limit() - price_)
                bound_children(rows, cut, job.bounds, slack * job.reach, limit() - price_);
            if (job.bounds.sum() < limit() - price_) {
                offer_children(rows, cut, f, 3, job.bounds, tolerance, best);
                job.bounds.update();
            }
            own.intervals.done(job, limit());
        }
        if (best.plan && best.plan->feature >= 0) all.push_back({best.plan->feature, best.plan->key, best.best.cost});
    }
    return all;
}

}  // namespace treeform::regression
