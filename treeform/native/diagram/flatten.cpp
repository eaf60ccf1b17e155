#include "flatten.hpp"

namespace treeform::diagram {
namespace {

/// An arc that waits for its head: side 0 or 1 of a node.
struct Arc {
    int node, side;
};

void point(FlatDiagram& out, Arc arc, int head) { (arc.side ? out.right : out.left)[arc.node] = head; }

}  // namespace

FlatDiagram flatten(const Instance& in, const Plan* plan, Cost& cost) {
    FlatDiagram out;
    cost = 0;
    std::vector<Set> parts{in.all};
    std::vector<std::vector<Arc>> arcs(1);
    const auto terminal = [&](const Set& set, const std::vector<Arc>& into) {
        Cost value = 0;
        const int label = in.label(set.data(), value);
        cost += value;
        for (const Arc arc : into) point(out, arc, ~label);
        return label;
    };
    if (!plan || plan->split[0] < 0) {
        out.constant = terminal(parts[0], {});
        return out;
    }
    for (; plan; plan = plan->next.get()) {
        const std::size_t below = plan->next ? plan->next->split.size() : 0;
        std::vector<Set> next(below, Set(in.words()));
        std::vector<std::vector<Arc>> next_arcs(below);
        for (std::size_t j = 0; j < plan->split.size(); ++j) {
            const int s = plan->split[j];
            if (s < 0) continue;    // its flows have ended above
            const int node = int(out.feature.size());
            for (const Arc arc : arcs[j]) point(out, arc, node);
            out.feature.push_back(in.cuts[s].feature), out.low.push_back(in.cuts[s].low), out.high.push_back(in.cuts[s].high);
            out.left.push_back(~0), out.right.push_back(~0);
            for (int side = 0; side < 2; ++side) {
                Set flow(in.words());
                if (side == 0) both(parts[j].data(), in.split(s), flow.data(), in.words());
                else without(parts[j].data(), in.split(s), flow.data(), in.words());
                const int head = plan->target[2 * j + side];
                if (head < 0 || plan->next->split[head] < 0) {
                    terminal(flow, {{node, side}});
                    continue;
                }
                for (int w = 0; w < in.words(); ++w) next[head][w] |= flow[w];
                next_arcs[head].push_back({node, side});
            }
        }
        parts = std::move(next), arcs = std::move(next_arcs);
    }
    return out;
}

}  // namespace treeform::diagram
