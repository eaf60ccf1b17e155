#include "choices.hpp"

#include <algorithm>

namespace treeform::totals {

Amount Choices::loss(const Subset& node, int depth, Amount minimum, Amount slack, int column) {
    const Amount held = node.with_weight(column, rows_.pad);
    if (!minima_.parts(held, node.weight - held)) return kNone;
    Subset child[2];
    Amount price[2];
    const Amount room = minimum + slack - minima_.test(column);
    const auto zero = minima_.exact(node.key.with(column, 0)), one = minima_.exact(node.key.with(column, 1));
    if (zero && one) {
        const bool possible = *zero < kNone && *one < kNone && *zero + *one <= room;
        return possible ? *zero + *one + minima_.test(column) - minimum : kNone;
    }
    for (int s = 0; s < 2; ++s) rows_.child(node, column, s, depth - 1, child[s]);
    const int first = 2 * held >= node.weight ? 1 : 0;
    const Amount other = minima_.floor(child[1 - first].cover, depth - 1);
    price[first] = minima_.minimum(child[first], depth - 1, room - other);
    if (price[first] >= kNone || price[first] + other > room) return kNone;
    price[1 - first] = minima_.minimum(child[1 - first], depth - 1, room - price[first]);
    if (price[1 - first] >= kNone || price[0] + price[1] > room) return kNone;
    return price[0] + price[1] + minima_.test(column) - minimum;
}

std::vector<std::pair<Amount, int>> Choices::of(Subset& node, int depth, Amount minimum, Amount slack) {
    std::vector<std::pair<Amount, int>> out;
    Sides two;
    if (depth == 2) minima_.sides(node, two);
    for (int j = 0; j < rows_.columns; ++j) {
        Amount loss;
        if (depth == 2) {
            const Amount a = two.least[0][j], b = two.least[1][j];
            loss = a >= kNone || b >= kNone ? kNone : a + b + minima_.test(j) - minimum;
        } else {
            loss = this->loss(node, depth, minimum, slack, j);
        }
        if (loss <= slack) out.push_back({loss, j});
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace treeform::totals
