#pragma once
// The AND/OR graph of the dynamic program for trees, less what no cheap tree uses: see graph.cpp.
#include <cstdint>
#include <memory>
#include <vector>

#include "../totals/control.hpp"
#include "../totals/problem.hpp"
#include "path_states.hpp"

namespace treeform::and_or {

using totals::Amount;

/// Flat arrays. Nodes are numbered from the root, 0; children come after their parents. The alternatives of node i are
/// those from begin[i] to begin[i + 1]: a leaf's label (test -1), or a test with the nodes of its two sides (label -1).
struct Alternatives {
    std::vector<std::int32_t> depth;      // per node: tests that a path may still have
    std::vector<std::uint64_t> cover;     // [node][word]: its points
    std::vector<std::int64_t> begin;      // nodes + 1
    std::vector<std::int32_t> test, label, left, right;
    std::vector<Amount> sums;             // [alternative][1 + rows]: what it adds by itself to the cost and to each row
    std::vector<Amount> least;            // no tree through the alternative costs less, if it satisfies the rows
    std::size_t words = 0;
    bool complete = false;                // else it was stopped, or would not fit
};

struct Relaxed {
    std::vector<Amount> multipliers;      // per row, in 1 / unit of a unit of cost
    Amount unit = 1;
    Amount lower = 0;                     // no tree that satisfies the rows costs less
    bool infeasible = false;              // no tree of the shape at all, or none that satisfies a row
    bool complete = true;                 // else it was stopped, and the bound is what was shown until then
};

class Graph {
public:
    /// `group`: per column of the table. At a node, tests of one group that part its rows alike are one.
    Graph(const totals::Table&, const totals::Settings&, totals::Control&, const std::vector<std::int32_t>& group);
    ~Graph();
    /// Rules on the paths of all trees from here on; tests of one group have the same states below them.
    void keep_to(PathStates states);
    /// Searches for multipliers, as the search for totals does. `upper`: no bound beyond it is wanted.
    Relaxed relax(Amount upper);
    /// The bound at given multipliers, which are used from here on.
    Relaxed price(const std::vector<Amount>& multipliers, Amount unit);
    /// All alternatives of trees that may cost at most `cost` and satisfy the rows; not complete beyond `most` of them.
    /// `short_by`: by how much the limit on prices, in 1 / unit, stays below that: less than a unit of cost leaves out
    /// some trees of that cost, and no cheaper one. `undominated`: omit a test over two leaves if another one adds the
    /// same to all rows at no more cost; under rules on paths none is omitted.
    Alternatives up_to(Amount cost, Amount short_by, std::size_t most, bool undominated);

private:
    class Search;
    std::unique_ptr<Search> search_;
};

}  // namespace treeform::and_or
