// Where the least prices of sides are known as bounds only, alternatives are written out that no cheap tree uses. From
// the leaves up every node gets its least price; from the root down each alternative gets that of the cheapest tree
// through it. Children come after their parents, so that both are one pass over the arrays.
#include "reduced.hpp"

#include <algorithm>

namespace treeform::and_or {

using totals::kNone;

void reduce(Alternatives& graph, const std::vector<Amount>& own, Amount limit) {
    const std::size_t nodes = graph.depth.size(), width = own.empty() ? 0 : graph.sums.size() / own.size();
    std::vector<Amount> least(nodes, kNone), around(nodes, kNone);
    const auto price = [&](std::size_t a) {
        if (graph.test[a] < 0) return own[a];
        const Amount left = least[graph.left[a]], right = least[graph.right[a]];
        return left >= kNone || right >= kNone ? kNone : own[a] + left + right;
    };
    for (std::size_t i = nodes; i-- > 0;)
        for (auto a = graph.begin[i]; a < graph.begin[i + 1]; ++a) least[i] = std::min(least[i], price(a));
    if (nodes > 0) around[0] = 0;
    std::vector<std::int32_t> number(nodes, -1);
    std::size_t kept_nodes = 0, kept = 0;
    std::vector<std::int64_t> begin{0};
    for (std::size_t i = 0; i < nodes; ++i) {
        const std::size_t before = kept;
        for (auto a = graph.begin[i]; a < graph.begin[i + 1] && around[i] < kNone; ++a) {
            const Amount here = price(a);
            if (here >= kNone || around[i] + here > limit) continue;
            const std::int32_t left = graph.left[a], right = graph.right[a];
            if (graph.test[a] >= 0)
                for (const auto side : {left, right})
                    around[side] = std::min(around[side], around[i] + here - least[side]);
            graph.test[kept] = graph.test[a], graph.label[kept] = graph.label[a];
            std::copy_n(graph.sums.begin() + a * width, width, graph.sums.begin() + kept * width);
            graph.left[kept] = left, graph.right[kept] = right, graph.least[kept] = around[i] + here;
            ++kept;
        }
        if (kept == before) continue;
        number[i] = std::int32_t(kept_nodes);
        graph.depth[kept_nodes] = graph.depth[i];
        std::copy_n(graph.cover.begin() + i * graph.words, graph.words,
                    graph.cover.begin() + kept_nodes * graph.words);
        begin.push_back(std::int64_t(kept));
        ++kept_nodes;
    }
    graph.begin = std::move(begin);
    graph.depth.resize(kept_nodes), graph.cover.resize(kept_nodes * graph.words);
    for (auto* list : {&graph.test, &graph.label, &graph.left, &graph.right}) list->resize(kept);
    graph.least.resize(kept), graph.sums.resize(kept * width);
    for (auto* side : {&graph.left, &graph.right})
        for (auto& node : *side) node = node < 0 ? -1 : number[node];
}

}  // namespace treeform::and_or
