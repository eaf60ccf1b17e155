#pragma once
// Sets of rows for all search strategies: packed bits, restriction to one side of a test, and the two solvers that need
// no search (depth two from a pair table, depth three from triples). Strategies use costs and columns only.
#include <atomic>
#include <memory>

#include "../common/stoppable.hpp"
#include "node.hpp"

namespace treeform::binary {

class RowSets {
public:
    virtual ~RowSets() = default;
    virtual void root(Node& out) = 0;
    /// The rows of `parent` on one side of a column. `reduced`: drop columns that no longer separate rows, turn
    /// each so that it is true for the smaller part, and sort by the size of that part.
    virtual void child(const Node& parent, int column, int side, Node& out, bool reduced) = 0;
    /// Any set of points, from the root's columns.
    virtual void restrict_to(const std::vector<std::uint64_t>& cover, Node& out, bool reduced) = 0;
    /// The pair table, and with it side_one.
    virtual void pairs(Node& node) = 0;
    /// side_two and side_three of all columns; needs a reduced node and pairs(). Returns early, with unfinished sums,
    /// when `stopping` is set.
    virtual void triples(Node& node, const std::atomic<bool>& stopping) = 0;
    /// The mass of the rows where columns i and j both hold, after prepare_distances.
    virtual void prepare_distances(Node& node) = 0;
    virtual Cost shared_mass(const Node& node, int i, int j) const = 0;
    virtual int label(const Node& node) const = 0;
    /// Rows on which a column is true, per label (for Gini and gain): weight[k], and of the whole node.
    virtual void class_weights(const Node& node, int column, double* with, double* all) const = 0;
    virtual int labels() const = 0;

    Cost offset = 0;  // cost that no tree avoids: rows equal in all features but not in class
    int points = 0, words = 0, planes = 0, lane_bits = 0;
    std::string simd;
    std::vector<std::vector<std::uint64_t>> literal;  // feature -> points where it is 1
    Counters* counters = nullptr;
    const Stoppable* limits = nullptr;  // of memory, for tables of pairs

    static std::uint64_t hash(const std::vector<std::uint64_t>& cover);
    /// The cover that a path of literals stands for equals `cover`.
    bool leads_to(const std::uint32_t* path, int length, const std::vector<std::uint64_t>& cover) const;
};

std::unique_ptr<RowSets> make_row_sets(const Points&, const Settings&);

}  // namespace treeform::binary
