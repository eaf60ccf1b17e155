#pragma once
// Blossom: depth-first over whole trees instead of over subproblems; no cache. See blossom.cpp.
#include <deque>

#include "team.hpp"

namespace treeform::binary {

/// The whole run, with as many workers as the settings say.
void bloom(const Points& points, const Settings& settings, Control& control, Outcome& out);

/// One worker.
class Blossom {
public:
    Blossom(Substrate& substrate, const Settings& settings, Team& team, const Control& control);
    /// Search the trees whose root tests the team has left; returns when there are none.
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
        bool closed = false;             // nothing better will be looked for under the present tests above
    };

    int sprout(int parent, int feature, int value);
    void rank(Branch& branch);
    void expand(int at);
    bool worth_trying(int at) const;
    void raise(int at);
    void release(int at);
    const Node& rows_of(Branch& branch, Node& spare);
    std::size_t bytes_of(const Node& node) const;

    Substrate& substrate_;
    const Settings& settings_;
    Team& team_;
    const Control& control_;
    Scribe scribe_;
    std::deque<Branch> branches_;
    std::vector<int> free_, sequence_;
    std::deque<int> buds_;
    Node spare_;
    std::size_t stored_ = 0, store_limit_ = 0;
};

}  // namespace treeform::binary
