#pragma once
// Threads: each has a worker of its own, with all scratch; what they learn about subproblems is shared. The tests at
// the root are shared out one by one. Minima are exact whoever finds them, so costs and bounds do not depend on the
// threads.
#include <functional>
#include <memory>
#include <vector>

#include "minima.hpp"

namespace treeform::totals {

struct Worker {
    Counters counters;
    Rows rows;
    Minima minima;
    Worker(const Table& table, const Settings& settings, const Control& control, bool merge_columns,
           Store<Known>& known)
        : rows(table, settings.simd, merge_columns), minima(table, rows, settings, control, counters, known) {}
};

class Team {
public:
    Team(const Table& table, const Settings& settings, const Control& control, Store<Known>& known);
    std::vector<std::unique_ptr<Worker>> workers;

    Worker& first() const { return *workers[0]; }
    int size() const { return int(workers.size()); }
    /// What all of them did.
    void add_counters(Counters& sum) const;
    void set(const Prices& prices) const {
        for (const auto& worker : workers) worker->minima.set(prices);
    }
    /// Calls work(worker, index) for all indices, in order as far as one thread goes. The first exception is thrown
    /// again.
    void each(std::size_t count, const std::function<void(int, std::size_t)>& work) const;
};

/// The least price of a tree for the root, its tests shared out.
Amount minimum_of_root(const Team& team, Subset& root, int depth);

}  // namespace treeform::totals
