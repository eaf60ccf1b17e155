#include "flat_diagram.hpp"

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
            if (plan.has_test(j)) node(plan, j);  // the flows into others have ended above
        std::swap(parts_, next_), std::swap(arcs_, next_arcs_);
    }

private:
    const Instance& in_;
    FlatDiagram& out_;
    Cost& cost_;
    std::vector<Set> parts_, next_;  // the points of the nodes of this layer and of the next
    std::vector<std::vector<Arc>> arcs_, next_arcs_;

    bool is_pass(int node) const { return out_.feature[node] == FlatDiagram::kNoFeature; }

    void lead(Arc arc, int head) {
        if (arc.side == 0 || is_pass(arc.node)) out_.left[arc.node] = head;
        if (arc.side == 1 || is_pass(arc.node)) out_.right[arc.node] = head;
    }

    /// A test that leaves a side empty becomes a pass-through. What only its empty side leads to is left out.
    void node(const Plan& plan, std::size_t j) {
        const int s = plan.split[j], node = int(out_.feature.size()), words = in_.words();
        if (empty(parts_[j].data(), words)) return;
        for (const Arc arc : arcs_[j]) lead(arc, node);
        Set flow[2] = {parts_[j], Set(words)};
        if (s != Plan::kPass) {
            both(parts_[j].data(), in_.split(s), flow[0].data(), words);
            without(parts_[j].data(), in_.split(s), flow[1].data(), words);
        }
        const bool has[2] = {!empty(flow[0].data(), words), !empty(flow[1].data(), words)};
        const Cut cut = has[0] && has[1] ? in_.cuts[s] : Cut{FlatDiagram::kNoFeature, 0, 0};
        out_.feature.push_back(cut.feature), out_.low.push_back(cut.low), out_.high.push_back(cut.high);
        out_.left.push_back(~0), out_.right.push_back(~0);
        for (const int side : {0, 1}) {
            if (!has[side]) continue;
            const int head = plan.target[2 * j + side];
            if (head < 0 || !plan.next->has_test(head)) {
                terminal(flow[side], {{node, side}});
                continue;
            }
            for (int w = 0; w < words; ++w) next_[head][w] |= flow[side][w];
            next_arcs_[head].push_back({node, side});
        }
    }
};

}  // namespace

void drop_idle(FlatDiagram& out) {
    const int nodes = int(out.feature.size());
    std::vector<int> end(nodes, 0);  // ~class of a node that is taken out
    int left_over = nodes;
    for (int u = nodes; u-- > 0;) {
        for (int* arc : {&out.left[u], &out.right[u]})
            if (*arc >= 0 && end[*arc] < 0) *arc = end[*arc];
        if (out.left[u] == out.right[u] && out.left[u] < 0) end[u] = out.left[u], --left_over;
    }
    if (left_over == nodes) return;
    if (end[0] < 0) {
        out = FlatDiagram{};
        out.constant = ~end[0];
        return;
    }
    std::vector<int> place(nodes);
    for (int u = 0, to = 0; u < nodes; ++u)
        if (end[u] == 0) place[u] = to++;
    for (int u = 0; u < nodes; ++u) {
        if (end[u] < 0) continue;
        const int to = place[u];
        out.feature[to] = out.feature[u], out.low[to] = out.low[u], out.high[to] = out.high[u];
        out.left[to] = out.left[u] < 0 ? out.left[u] : place[out.left[u]];
        out.right[to] = out.right[u] < 0 ? out.right[u] : place[out.right[u]];
    }
    for (auto* whole : {&out.feature, &out.left, &out.right}) whole->resize(left_over);
    out.low.resize(left_over), out.high.resize(left_over);
}

FlatDiagram flatten(const Instance& in, const Plan* plan, Cost& cost) {
    FlatDiagram out;
    cost = 0;
    Flattener work(in, out, cost);
    if (!plan || !plan->has_test(0)) {
        out.constant = work.terminal(in.all, {});
        return out;
    }
    for (; plan; plan = plan->next.get()) work.layer(*plan);
    drop_idle(out);
    return out;
}

}  // namespace treeform::diagram
