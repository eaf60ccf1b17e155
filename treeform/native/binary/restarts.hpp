#pragma once
// The passes of DL8.5 and CA-DL8.5, and the workers that make them. See restarts.cpp.
#include "../common/away.hpp"
#include "search.hpp"

namespace treeform::binary {

class Restarts {
public:
    Restarts(const Points& points, const Settings& settings, Control& control, Away away);
    /// Runs to the end of the proof, or until the control says stop.
    void run(Outcome& out);
    /// In place of `run`: the reply to what another run on the same points asked; see parts.cpp.
    Message evaluate(const Message& question);

private:
    static constexpr std::uint64_t kAll = ~std::uint64_t(0);
    struct Guide {
        Rules rules;
        std::uint64_t spent;
    };
    void beam();
    bool local_search(std::uint64_t most);
    bool turn(Guide& guide, std::uint64_t most);
    void guided();
    /// The proof, from the replies of callers.
    void prove_in_parts();
    /// The tree of a root test's least cost, found without what other searches left.
    FlatTree found_again(const RootTest& known);
    bool pass(const Rules* rules, std::uint64_t most);
    void work(std::size_t worker, const Rules* rules, std::uint64_t most);
    void collect();
    Rules::Needs take_needs();
    std::uint64_t spent() const;

    const Points& points_;
    const Settings& settings_;
    Control& control_;
    const Away away_;  // may be empty
    std::vector<std::unique_ptr<Search>> workers_;
    std::unique_ptr<SharedIncumbent> shared_;
    std::vector<Cost> root_lower_;   // per root test, over all passes and workers
    PlanPtr centre_;                   // the tree whose neighbourhood is searched, and how far
    int levels_ = 0;
    std::uint64_t local_search_work_ = 0;
    std::uint64_t last_pass_ = 0;
    std::uint64_t restarts_ = 0;
    FlatTree unshown_;  // of a proof in parts that was stopped; may be empty
};

}  // namespace treeform::binary
