#pragma once
// The rows that take part in a search: the other ones are relaxed until an optimum violates them.
#include <algorithm>
#include <stdexcept>
#include <vector>

namespace treeform::totals {

/// A row that takes part. `sign` turns it so that its active side is the upper one; `both`: the other side counts too.
struct Active {
    int row = 0, sign = 1;
    bool both = false;
    bool operator==(const Active&) const = default;
};

/// The sides that a relaxation's optimum violates become active; how many they are.
template <class Row, class Sides>
int activate(std::vector<Active>& active, const Row& row, int rows, const Sides& lo, const Sides& hi) {
    int more = 0;
    for (int r = 0; r < rows; ++r) {
        const int side = row[r] > hi[r] ? 1 : row[r] < lo[r] ? -1 : 0;
        if (side == 0) continue;
        ++more;
        const auto known = std::find_if(active.begin(), active.end(), [&](const Active& a) { return a.row == r; });
        if (known == active.end())
            active.push_back({r, side, false});
        else if (known->sign != side && !known->both)
            known->both = true;
        else
            throw std::logic_error("an active row was violated");
    }
    return more;
}

}  // namespace treeform::totals
