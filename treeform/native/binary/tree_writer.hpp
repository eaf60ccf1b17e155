#pragma once
// From a plan to the tree that is returned: subtrees of depth at most two are solved again for their rows.
#include "depth_three.hpp"

namespace treeform::binary {

/// Writes plans out as trees.
class TreeWriter {
public:
    TreeWriter(RowSets& row_sets, const Settings& settings) : row_sets_(row_sets), settings_(settings) {}
    /// The tree of a plan, its leaves labelled as well as possible; the cost is counted anew.
    FlatTree write(const PlanPtr& plan);

private:
    Cost write_part(const PlanPtr& plan, const std::vector<std::uint64_t>& cover, FlatTree& tree, int at);
    Cost write_leaf(Node& node, FlatTree& tree, int at);
    Cost write_test(int feature, const PlanPtr& zero, const PlanPtr& one, const std::vector<std::uint64_t>& cover,
                    FlatTree& tree, int at);
    static int add(FlatTree& tree);

    RowSets& row_sets_;
    const Settings& settings_;
};

}  // namespace treeform::binary
