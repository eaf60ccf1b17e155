#pragma once
// From a plan to the tree that is returned. The lowest tests are found again by plain scans, every leaf is labelled
// by its own rows, and the cost is summed from the leaves: the answer does not depend on the fast scans.
// Thresholds are given as the two neighbouring values that occur in the node. A node is a list of its rows: a tree is
// written while a search waits, and the sorted columns of a node are as many times larger as there are columns.
#include <algorithm>
#include <numeric>

#include "../common/cold.hpp"
#include "stump.hpp"

namespace treeform::contree {

template <class W>
class Rebuild {
public:
    using Cost = typename W::Cost;
    using Id = typename W::Id;

    Rebuild(const Table<W>& table, const Settings& rules)
        : table_(table), penalty_(static_cast<Cost>(rules.node_penalty)),
          support_(static_cast<Cost>(rules.min_support)), stump_(table) {}

    TREEFORM_COLD FlatTree tree(const Node<W>& root, const PlanPtr& plan) {
        out_ = {}, root_ = &root;
        rows_.resize(table_.features > 0 ? root.n : 0);
        std::iota(rows_.begin(), rows_.end(), Id{0});  // in their own order they are read one after the other
        other_.resize(rows_.size());
        grow({0, rows_.size()}, root.weight, plan);
        out_.cost += table_.losses.offset;
        return std::move(out_);
    }

private:
    struct Part {  // of rows_
        std::size_t from, to;
        std::size_t size() const { return to - from; }
    };

    const Table<W>& table_;
    Cost penalty_, support_;
    StumpScan<W> stump_;
    const Node<W>* root_ = nullptr;
    std::vector<Id> rows_, other_, sorted_;
    std::vector<char> here_;  // [row]: whether it is among those of a node
    FlatTree out_;

    TREEFORM_COLD int grow(Part part, const std::vector<Cost>& weight, const PlanPtr& plan) {
        const int here = out_.add();
        int label = 0;
        const std::uint64_t others = plan->label < 0 ? 0 : ~(std::uint64_t{1} << plan->label);
        const Cost leaf = stump_.leaf(weight, &label, others);
        out_.label[here] = label;
        out_.low.push_back(0), out_.high.push_back(0);
        PlanPtr left = Plan::of(Plan::leaf), right = left;
        Test test;
        if (plan->kind == Plan::split) {
            test = plan->test, left = plan->left, right = plan->right;
        } else if (plan->kind == Plan::best_stump) {
            const Stump<Cost> best = best_stump(part, weight);
            if (best.test.feature >= 0 && penalty_ + best.cost < leaf) test = best.test;
        }
        if (test.feature < 0) {
            out_.cost += leaf;
            return here;
        }
        split(part, weight, test, here, left, right);
        return here;
    }

    TREEFORM_COLD void split(Part part, const std::vector<Cost>& weight, Test test, int here, const PlanPtr& left,
                             const PlanPtr& right) {
        const auto* rank = table_.rank[test.feature].data();
        std::vector<Cost> below(weight.size()), above(weight.size());
        Id low{}, high{};  // the rows next to the threshold
        std::size_t end = part.from, beyond = 0;
        for (std::size_t k = part.from; k < part.to; ++k) {
            const Id row = rows_[k];
            if (rank[row] < test.key) {
                if (end == part.from || rank[row] > rank[low]) low = row;
                rows_[end++] = row;
                below[table_.label[row]] += table_.weight_of(row);
            } else {
                if (beyond == 0 || rank[row] < rank[high]) high = row;
                other_[beyond++] = row;
            }
        }
        std::copy_n(other_.data(), beyond, rows_.data() + end);
        for (std::size_t y = 0; y < weight.size(); ++y) above[y] = weight[y] - below[y];
        out_.cost += penalty_;
        out_.label[here] = -1;
        out_.feature[here] = test.feature;
        out_.low[here] = table_.value_of(low, test.feature);
        out_.high[here] = table_.value_of(high, test.feature);
        const int l = grow({part.from, end}, below, left);
        const int r = grow({end, part.to}, above, right);
        out_.left[here] = l, out_.right[here] = r;
    }

    TREEFORM_COLD Stump<Cost> best_stump(Part part, const std::vector<Cost>& weight) {
        here_.assign(table_.n, 0);
        for (std::size_t k = part.from; k < part.to; ++k) here_[rows_[k]] = 1;
        sorted_.resize(part.size());
        Stump<Cost> best;
        for (int f = 0; f < table_.features; ++f) {
            sort_by(f, part);
            stump_.improve(sorted_.data(), sorted_.size(), f, {}, true, weight, support_, best);
        }
        return best;
    }
    /// The rows of a part by a feature: a few are sorted, many are picked out of the order of all.
    TREEFORM_COLD void sort_by(int feature, Part part) {
        if (part.size() < root_->n / 16) {
            const auto* rank = table_.rank[feature].data();
            std::copy_n(rows_.data() + part.from, part.size(), sorted_.data());
            std::sort(sorted_.begin(), sorted_.end(), [rank](Id a, Id b) { return rank[a] < rank[b]; });
            return;
        }
        const Id* order = root_->order(feature);
        std::size_t end = 0;
        for (std::size_t k = 0; k < root_->n; ++k)
            if (here_[order[k]]) sorted_[end++] = order[k];
    }
};

}  // namespace treeform::contree
