#pragma once
// The proof in parts, one for each test at the root, that are answered in another process (common/away.hpp). A reply
// states the least cost of a tree that begins with the test. Of several tests that attain the least cost the first one
// of the order counts; its tree is found again at last, below exactly that cost and without what was found before, so
// that it does not depend on who answered.
#include "../common/away.hpp"
#include "search.hpp"

namespace treeform::binary {

/// Answers parts of one table; not for two threads at a time. The cache and the bounds of the root tests stay from one
/// part to the next: what they state holds whatever the upper bound was.
class PartSearch {
public:
    PartSearch(const Points& points, const Settings& settings, Control& control);
    /// The reply; a stop, and memory that runs out, are exceptions.
    Message evaluate(const Message& question);
    void solve(RootTest& part) { search_->solve_root_test(part); }

private:
    Settings settings_;
    Control& control_;
    std::unique_ptr<SharedIncumbent> shared_;
    std::unique_ptr<Search> search_;
};

/// Lets callers answer the tests at the root; `search` keeps their replies.
void prove_in_parts(const Away& away, const Points& points, const Settings& settings, Control& control, Search& search,
                    SharedIncumbent& shared);

}  // namespace treeform::binary
