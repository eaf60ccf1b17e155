#include "start_plan.hpp"

#include <algorithm>

namespace treeform::diagram {
namespace {

/// The split of a node, or Plan::kNoTest where there is none.
int split_of(const Instance& in, const FlatDiagram& start, int node) {
    if (start.feature[node] == FlatDiagram::kNoFeature) return Plan::kPass;
    const double threshold = start.low[node];
    const auto is_it = [&](const Cut& cut) {
        return cut.feature == start.feature[node] && cut.low <= threshold && threshold < cut.high;
    };
    const auto at = std::find_if(in.cuts.begin(), in.cuts.end(), is_it);
    return at == in.cuts.end() ? Plan::kNoTest : int(at - in.cuts.begin());
}

}  // namespace

PlanPtr plan_of(const Instance& in, const FlatDiagram& start, const std::vector<int>& widths) {
    if (start.feature.empty()) return nullptr;
    std::vector<std::shared_ptr<Plan>> plans;
    std::vector<int> here{0}, below;  // nodes by place
    std::size_t seen = 0;
    for (; !here.empty(); std::swap(here, below)) {
        if (plans.size() == widths.size() || here.size() > std::size_t(widths[plans.size()])) return nullptr;
        Plan& plan = *plans.emplace_back(std::make_shared<Plan>());
        below.clear();
        for (const int node : here) {
            plan.split.push_back(split_of(in, start, node));
            if (plan.split.back() == Plan::kNoTest) return nullptr;
            for (const int head : {start.left[node], start.right[node]}) {
                const auto at = std::find(below.begin(), below.end(), head);
                plan.target.push_back(head < 0 ? Plan::kTerminal : int(at - below.begin()));
                if (head >= 0 && at == below.end()) below.push_back(head);
            }
        }
        seen += here.size();
    }
    if (seen != start.feature.size()) return nullptr;  // a node in two layers, or in none
    for (std::size_t l = plans.size() - 1; l-- > 0;) plans[l]->next = plans[l + 1];
    return plans[0];
}

}  // namespace treeform::diagram
