#pragma once
// Blossom: depth-first over whole trees instead of over subproblems; no cache. See blossom.cpp.
#include <deque>

#include "shared_incumbent.hpp"
#include "tree_writer.hpp"

namespace treeform::binary {

/// The whole run, with as many workers as the settings say.
void run_blossom(const Points& points, const Settings& settings, Control& control, Outcome& out);

/// One worker.
class Blossom {
public:
    Blossom(RowSets& row_sets, const Settings& settings, SharedIncumbent& shared, const Control& control);
    /// Search the trees whose root tests no worker has taken; returns when there are none.
    void run();

    Counters counters;

private:
    /// A branch of the current tree.
    struct Branch {
        Node node;                       // its rows; may be dropped and made again from the path
        bool stored = false;
        std::vector<std::uint32_t> path;
        std::vector<int> candidates;     // features, best first
        std::size_t next = 0;            // the first untried one
        int parent = -1, value = 0, level = 0;
        int feature = -1, child[2] = {-1, -1};  // the present test, and the branches where it is 0 and 1
        Cost best = kNever;              // of the trees seen for this branch
        PlanPtr plan;
        bool closed = false;             // not searched further under the present tests above
    };

    int add_branch(int parent, int feature, int value);
    void rank(Branch& branch);
    void expand(int at);
    bool worth_trying(int at) const;
    void propagate(int at);
    void release(int at);
    const Node& rows_of(Branch& branch, Node& spare);
    std::size_t bytes_of(const Node& node) const;

    RowSets& row_sets_;
    const Settings& settings_;
    SharedIncumbent& shared_;
    const Control& control_;
    TreeWriter writer_;
    std::deque<Branch> branches_;
    std::vector<int> free_, sequence_;
    std::deque<int> open_leaves_;
    Node spare_;
    std::size_t stored_ = 0, store_limit_ = 0;
};

}  // namespace treeform::binary
