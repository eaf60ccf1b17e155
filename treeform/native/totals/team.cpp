#include "team.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace treeform::totals {

/// Whether columns that part the rows alike are as good as one.
static bool uniform_tests(const Table& t) {
    for (std::size_t f = 1; f < t.columns; ++f) {
        if (t.test_cost[f] != t.test_cost[0]) return false;
        for (int r = 0; r < t.rows; ++r)
            if (t.test_row[f * t.rows + r] != t.test_row[r]) return false;
    }
    return true;
}

Team::Team(const Table& table, const Settings& settings, const Control& control, Store<Known>& known) {
    const bool merge = settings.max_features == 0 && !table.clash_begin && uniform_tests(table);
    for (int w = 0; w < std::max(1, settings.threads); ++w)
        workers.push_back(std::make_unique<Worker>(table, settings, control, merge, known));
}

void Team::add_counters(Counters& sum) const {
    for (const auto& worker : workers) {
        const Counters& c = worker->counters;
        sum.depth_two += c.depth_two, sum.subproblems += c.subproblems, sum.cache_hits += c.cache_hits;
        sum.pruned_bound += c.pruned_bound, sum.pruned_similarity += c.pruned_similarity;
        sum.fronts += c.fronts, sum.kept += c.kept, sum.largest = std::max(sum.largest, c.largest);
        sum.pairs += c.pairs;
    }
}

void Team::each(std::size_t count, const std::function<void(int, std::size_t)>& work) const {
    if (size() == 1 || count < 2) {
        for (std::size_t i = 0; i < count; ++i) work(0, i);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> failures(workers.size());
    const auto run = [&](int worker) {
        try {
            for (std::size_t i; (i = next++) < count;) work(worker, i);
        } catch (...) {
            failures[worker] = std::current_exception();
            next = count;
        }
    };
    std::vector<std::thread> threads;
    for (int w = 1; w < size(); ++w) threads.emplace_back(run, w);
    run(0);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

Amount minimum_of_root(const Team& team, Subset& root, int depth) {
    Minima& first = team.first().minima;
    if (team.size() == 1 || depth < 4 || first.known(root)) return first.minimum(root, depth, kNone);
    Amount from = kNone;
    const std::vector<int> order = first.order_of_root(root, from);
    std::atomic<Amount> best{from};
    for (const auto& worker : team.workers) worker->minima.forget_settled(depth);
    team.each(order.size(), [&](int w, std::size_t i) {
        const Amount value = team.workers[w]->minima.with_test(root, depth, order[i], best.load() - 1);
        for (Amount now = best.load(); value < now && !best.compare_exchange_weak(now, value);) {}
    });
    first.keep_root(root, best);
    return best;
}

}  // namespace treeform::totals
