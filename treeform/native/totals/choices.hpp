#pragma once
// Tests of a subproblem by what they lose at least against its best tree. No list of solutions here, so that it is
// compiled once.
#include <utility>
#include <vector>

#include "minima.hpp"

namespace treeform::totals {

class Choices {
public:
    Choices(Rows& rows, Minima& minima) : rows_(rows), minima_(minima) {}

    /// The least loss of a tree that begins with the test, where it is within the slack; else kNone.
    Amount loss(const Subset& node, int depth, Amount minimum, Amount slack, int column);
    /// Tests by their least loss, up to the slack.
    std::vector<std::pair<Amount, int>> of(Subset& node, int depth, Amount minimum, Amount slack);

private:
    Rows& rows_;
    Minima& minima_;
};

}  // namespace treeform::totals
