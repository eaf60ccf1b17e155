#pragma once
// One run of ConTree: plain data in, an Outcome out. See search.hpp for the method.
#include <memory>
#include <vector>

#include "control.hpp"
#include "problem.hpp"
#include "table.hpp"

namespace treeform::contree {

class WidthSearch;

class Engine {
public:
    /// `away` may be empty; see away.hpp.
    Engine(const Rows& rows, const Settings& settings, Control& control, Away away = {});
    ~Engine();

    /// Ranks the columns and searches, until the end or until the control stops it.
    void solve();
    /// The improvements since the last call; the last one has the best tree. May be called while `solve` runs.
    std::vector<Improvement> improvements() const;
    /// The answer, once `solve` has returned.
    Outcome outcome() const;
    /// In place of `solve`: the reply to what another engine on the same rows asked.
    Message evaluate(const Message& question);

private:
    const Rows& rows_;
    Settings settings_;
    Control& control_;
    Away away_;
    Losses losses_;
    std::unique_ptr<WidthSearch> search_;  // may be read from another thread once the control is ready
    bool too_few_rows_ = false;
    // What was written last: on a million rows that takes a second, and the answer is mostly what was reported last.
    mutable PlanPtr last_plan_;
    mutable FlatTree last_tree_;

    const FlatTree& written(const PlanPtr& plan) const;
};

}  // namespace treeform::contree
