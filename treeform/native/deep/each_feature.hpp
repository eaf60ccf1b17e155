#pragma once
// The best tree of depth two that begins with each feature: depth_two.hpp with an incumbent for every feature in place of
// one for all. Its root keeps the minimum support, the leaves of a side that has room for two need not: the tests are only
// ranked by these trees, and an incumbent for each feature under the whole support takes several times as long.
#include <vector>

#include "../contree/depth_two.hpp"
#include "tree.hpp"

namespace treeform::deep {

template <class W>
class EachFeature : public contree::DepthTwo<W> {
public:
    using Base = contree::DepthTwo<W>;
    using Base::Base;
    using typename Base::Cost;
    using typename Base::Task;

    /// The best test of each feature that has one; a test that saves nothing is among them, as more may be below it.
    /// With `guess` they are good ones where tests have a price, as they are under a support.
    std::vector<Candidate<Cost>> best(const Task& task, bool guess) {
        this->control_.count(this->counters_.nodes);
        this->support_ = 0;
        this->left_.weight = task.node.weight;
        this->left_.prepare(this->table_.losses, this->table_.cost);
        const Cost most = this->left_.leaf + this->penalty_ + 1;
        this->lanes_.lay_out(task.node, this->control_);
        contree::Answer<Cost> ignored;
        ignored.value = Base::kInf;
        const Cost whole = this->whole_node(this->left_.leaf, ignored);
        std::vector<Candidate<Cost>> found;
        for (int f = 0; f < this->table_.features; ++f) {
            contree::Answer<Cost> one;
            one.value = most;
            const bool is_flat = task.support > 0 || (guess && this->penalty_ > 0);
            this->tolerance_.begin(0, is_flat ? most : Cost{0}, this->table_.features, this->counters_.scans);
            this->search_feature(task, f, whole, one);
            if (one.found) found.push_back({one.test, one.value});
        }
        return found;
    }
};

}  // namespace treeform::deep
