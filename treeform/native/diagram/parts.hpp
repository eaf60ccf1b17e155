#pragma once
// The search for at most k tests in parts, each a range of tests at the root, that are answered elsewhere
// (common/away.hpp). A reply states the least cost of a diagram that begins with a test of its range; the diagram
// itself is found again here, below exactly that cost: so it does not depend on who answered, or on what else it was
// asked.
#include "../common/away.hpp"
#include "search.hpp"

namespace treeform::diagram {

struct Part {
    Cost upper = 0;  // only what costs less is wanted
    int tests = 0, begin = 0, end = 0;

    template <class IO>
    void exchange(IO& io, const Instance& instance, int most);
};

class Parts {
public:
    Parts(const Away& away, const Instance& in, const Settings& settings, const Control& control, Search& search,
          Counters& counters)
        : away_(away), in_(in), settings_(settings), control_(control), search_(search), counters_(counters) {}
    /// Whether the search for so many tests pays for its messages.
    bool travel(int tests) const { return away_ && tests >= settings_.least_tests && settings_.widths.size() > 1; }
    /// As `Search::solve`.
    Answer solve(int tests, Cost need);

private:
    std::vector<Part> all(int tests) const;

    const Away& away_;
    const Instance& in_;
    const Settings& settings_;
    const Control& control_;
    Search& search_;
    Counters& counters_;
};

/// Answers parts of one table; not for two threads at a time.
class PartSearch {
public:
    PartSearch(const Points& points, const Settings& settings, Control& control);
    /// The reply; a stop, and memory that runs out, are exceptions.
    Message evaluate(const Message& question);

private:
    Settings settings_;
    Instance in_;
    Counters counters_;
    std::unique_ptr<Search> search_;
};

}  // namespace treeform::diagram
