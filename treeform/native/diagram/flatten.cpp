#include "flatten.hpp"

namespace treeform::diagram {
namespace {

/// An arc that waits for its head: side 0 or 1 of a node.
struct Arc {
    int node, side;
};

class Flattener {
public:
    Flattener(const Instance& in, FlatDiagram& out, Cost& cost)
        : in_(in), out_(out), cost_(cost), parts_{in.all}, arcs_(1) {}

    /// A terminal of the class that is cheapest for the points.
    int terminal(const Set& points, const std::vector<Arc>& into) {
        Cost value = 0;
        const int label = in_.label(points.data(), value);
        cost_ += value;
        for (const Arc arc : into) lead(arc, ~label);
        return label;
    }

    void layer(const Plan& plan) {
        const std::size_t below = plan.next ? plan.next->split.size() : 0;
        next_.assign(below, Set(in_.words())), next_arcs_.assign(below, {});
        for (std::size_t j = 0; j < plan.split.size(); ++j)
            if (plan.split[j] >= 0) node(plan, j);  // the flows into others have ended above
        std::swap(parts_, next_), std::swap(arcs_, next_arcs_);
    }

private:
    const Instance& in_;
    FlatDiagram& out_;
    Cost& cost_;
    std::vector<Set> parts_, next_;  // the points of the nodes of this layer and of the next
    std::vector<std::vector<Arc>> arcs_, next_arcs_;

    void lead(Arc arc, int head) { (arc.side ? out_.right : out_.left)[arc.node] = head; }

    void node(const Plan& plan, std::size_t j) {
        const int s = plan.split[j], node = int(out_.feature.size()), words = in_.words();
        for (const Arc arc : arcs_[j]) lead(arc, node);
        const Cut& cut = in_.cuts[s];
        out_.feature.push_back(cut.feature), out_.low.push_back(cut.low), out_.high.push_back(cut.high);
        out_.left.push_back(~0), out_.right.push_back(~0);
        Set flow(words);
        for (int side = 0; side < 2; ++side) {
            (side == 0 ? both : without)(parts_[j].data(), in_.split(s), flow.data(), words);
            const int head = plan.target[2 * j + side];
            if (head < 0 || plan.next->split[head] < 0) {
                terminal(flow, {{node, side}});
                continue;
            }
            for (int w = 0; w < words; ++w) next_[head][w] |= flow[w];
            next_arcs_[head].push_back({node, side});
        }
    }
};

}  // namespace

FlatDiagram flatten(const Instance& in, const Plan* plan, Cost& cost) {
    FlatDiagram out;
    cost = 0;
    Flattener work(in, out, cost);
    if (!plan || plan->split[0] < 0) {
        out.constant = work.terminal(in.all, {});
        return out;
    }
    for (; plan; plan = plan->next.get()) work.layer(*plan);
    return out;
}

}  // namespace treeform::diagram
