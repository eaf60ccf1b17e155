#pragma once
// The rows of one node after the other, along a way to each from the root. What a node shares with the way of the node
// before is not made again: nodes of one depth come in the order of their parents.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "../contree/table.hpp"
#include "levels.hpp"

namespace treeform::and_or {

template <class W>
class Way {
public:
    using Subset = contree::Node<W>;

    Way(const contree::Table<W>& table, const std::string& simd, const contree::Control& control)
        : table_(table), divider_(contree::choose_divider(simd.c_str())), control_(control) {}

    /// Other levels come.
    void begin() {
        path_.clear();
        for (Step& step : steps_) step.parent = step.column = -1;
    }
    /// `test_of`: the test of a column of a node. Good until the next call.
    template <class Testing>
    const Subset& rows_of(const Subset& root, const std::vector<Level>& levels, int depth, std::int32_t index,
                          const Testing& test_of) {
        std::vector<std::pair<int, std::int32_t>> way;  // depth and node, from the node up
        for (int d = depth; d + 1 < int(levels.size()); ++d) {
            way.push_back({d, index});
            index = levels[d].nodes[index].parent;
        }
        while (steps_.size() < way.size()) steps_.emplace_back();
        bool same = true;
        const Subset* at = &root;
        for (std::size_t i = 0; i < way.size(); ++i) {
            const auto& [d, number] = way[way.size() - 1 - i];
            const Node& node = levels[d].nodes[number];
            Step& step = steps_[i];
            if (!same || path_.size() <= i) step.parent = step.column = -1;
            if (step.parent != node.parent || step.column != node.column) {
                if (step.parent != node.parent) step.outer.forget();
                contree::partition(table_, *at, test_of(node.column), step.outer, divider_, step.side[0], step.side[1],
                                   &control_);
                step.parent = node.parent, step.column = node.column;
                same = false;
            }
            same = same && path_.size() > i && path_[i] == way[way.size() - 1 - i];
            at = &step.side[node.side];
        }
        path_.assign(way.rbegin(), way.rend());
        return *at;
    }

private:
    struct Step {  // the sides of one test
        std::int32_t parent = -1, column = -1;
        Subset side[2];
        contree::Outer<W> outer;
    };
    const contree::Table<W>& table_;
    contree::Divider divider_;
    const contree::Control& control_;
    std::vector<std::pair<int, std::int32_t>> path_;
    std::deque<Step> steps_;
};

}  // namespace treeform::and_or
