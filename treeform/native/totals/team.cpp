#include "team.hpp"

#include <algorithm>
#include <atomic>

#include "../common/workers.hpp"

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
    for (const auto& worker : workers) sum.add(worker->counters);
}

void Team::each(std::size_t count, const std::function<void(int, std::size_t)>& work) const {
    share_out(size(), count, work);
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
