#pragma once
// From a plan to the tree that is returned. The lowest tests are found again by plain scans, every leaf is labelled
// by its own rows, and the cost is summed from the leaves: the answer does not depend on the fast scans.
// Thresholds are given as the two neighbouring values that occur in the node.
#include "../common/cold.hpp"
#include "stump.hpp"

namespace treeform::contree {

template <class W>
class Rebuild {
public:
    using Cost = typename W::Cost;

    Rebuild(const Table<W>& table, const Settings& rules)
        : table_(table), penalty_(static_cast<Cost>(rules.node_penalty)),
          support_(static_cast<Cost>(rules.min_support)), stump_(table) {}

    TREEFORM_COLD FlatTree tree(const Node<W>& root, const PlanPtr& plan) {
        out_ = {};
        grow(root, plan);
        out_.cost += table_.losses.offset;
        return std::move(out_);
    }

private:
    const Table<W>& table_;
    Cost penalty_, support_;
    StumpScan<W> stump_;
    Outer<W> outer_;
    FlatTree out_;

    TREEFORM_COLD int grow(const Node<W>& node, const PlanPtr& plan) {
        const int here = out_.add();
        int label = 0;
        const Cost leaf = stump_.leaf(node.weight, &label);
        out_.label[here] = label;
        out_.low.push_back(0), out_.high.push_back(0);
        PlanPtr left = Plan::of(Plan::leaf), right = left;
        Test test;
        if (plan->kind == Plan::split) {
            test = plan->test, left = plan->left, right = plan->right;
        } else if (plan->kind == Plan::best_stump) {
            Stump<Cost> best;
            for (int f = 0; f < table_.features; ++f) stump_.improve(node, f, {}, true, node.weight, support_, best);
            if (best.test.feature >= 0 && penalty_ + best.cost < leaf) test = best.test;
        }
        if (test.feature < 0) {
            out_.cost += leaf;
            return here;
        }
        split(node, test, here, left, right);
        return here;
    }

    TREEFORM_COLD void split(const Node<W>& node, Test test, int here, const PlanPtr& left, const PlanPtr& right) {
        Node<W> below, above;
        outer_.forget();
        partition(table_, node, test, outer_, choose_divider("plain"), below, above);
        const auto& values = table_.values[test.feature];
        out_.cost += penalty_;
        out_.label[here] = -1;
        out_.feature[here] = test.feature;
        out_.low[here] = values[below.key(test.feature)[below.n - 1]];
        out_.high[here] = values[above.key(test.feature)[0]];
        const int l = grow(below, left);
        below = {};
        const int r = grow(above, right);
        out_.left[here] = l, out_.right[here] = r;
    }
};

}  // namespace treeform::contree
