// Maximising the relaxation over the multipliers, one row after the other.
//
// Along one row the relaxation is concave and piecewise linear, and a cheapest tree gives a line above it whose slope
// is the row's excess over its side. Two lines of opposite slope bracket the maximum; the next multiplier is where they
// meet, and the search ends when the relaxation attains the meeting point: after about six minima. With several rows
// the passes over them end when none gains a quarter of a unit of cost.
#include "multipliers.hpp"

#include <algorithm>

namespace treeform::totals {

using Wide = __int128;
constexpr int kPasses = 3, kSteps = 16;

Multipliers::Multipliers(const Table& table, const Pricing& pricing, Evaluate evaluate)
    : table_(table), pricing_(pricing), evaluate_(std::move(evaluate)) {}

Point Multipliers::climb(std::vector<Amount> start, const Enough& enough) {
    Point at;
    if (!evaluate_(start, at)) {
        std::fill(start.begin(), start.end(), 0);
        evaluate_(start, at);
    }
    for (int pass = 0; pass < kPasses; ++pass) {
        const Wide before = at.value;
        std::vector<std::pair<double, int>> order;
        for (int r = 0; r < table_.rows; ++r) {
            const Amount over = at.row[r] > table_.hi[r] ? at.row[r] - table_.hi[r] : table_.lo[r] - at.row[r];
            if (over > 0 || at.multiplier[r] != 0) order.push_back({-double(over) / double(pricing_.scale(r)), r});
        }
        std::sort(order.begin(), order.end());
        int moved = 0;
        for (const auto& [_, r] : order) {
            if (enough(at.value)) return at;
            // A row that another one's multiplier has satisfied meanwhile needs none.
            if (at.multiplier[r] == 0 && at.row[r] <= table_.hi[r] && at.row[r] >= table_.lo[r]) continue;
            moved += raise(at, r, enough);
        }
        if (moved == 0 || at.value - before < pricing_.largest_unit() / 4) break;
        if (order.size() == 1
            && std::count_if(at.multiplier.begin(), at.multiplier.end(), [](Amount m) { return m != 0; }) == 1) {
            bool others = false;
            for (int r = 0; r < table_.rows; ++r)
                others |= at.multiplier[r] == 0 && (at.row[r] > table_.hi[r] || at.row[r] < table_.lo[r]);
            if (!others) break;  // one row only: its maximum is found
        }
    }
    return at;
}

/// Maximises along one row; true when the value rose.
bool Multipliers::raise(Point& at, int row, const Enough& enough) {
    const int sign = at.multiplier[row] > 0 ? 1 : at.multiplier[row] < 0 ? -1 : at.row[row] > table_.hi[row] ? 1 : -1;
    const auto size = [&](const Point& p) { return sign > 0 ? p.multiplier[row] : -p.multiplier[row]; };
    const auto probe = [&](Amount multiplier, Point& out) {
        std::vector<Amount> vector = at.multiplier;
        vector[row] = sign > 0 ? multiplier : -multiplier;
        return evaluate_(vector, out);
    };
    const Wide before = at.value, fine = pricing_.largest_unit() / 64;
    Point low = at, high = at;
    bool has_low = slope(at, row, sign) > 0, has_high = !has_low;
    Point best = at;
    Amount step = std::max<Amount>(1, pricing_.largest_unit() / 8 / pricing_.scale(row));
    for (int i = 0; i < kSteps; ++i) {
        Amount next;
        Wide expected = 0;
        if (!has_high) {
            next = size(low) + step;
            step *= 4;
        } else if (!has_low) {
            // The line of `high` is above all smaller multipliers.
            if (high.value - Wide(slope(high, row, sign)) * size(high) - best.value <= fine) break;
            next = size(high) / 4;
        } else {
            const Wide rise = slope(low, row, sign), fall = slope(high, row, sign);  // rise > 0 >= fall
            const Wide meet = (high.value - low.value + rise * size(low) - fall * size(high)) / (rise - fall);
            if (meet <= size(low) || meet >= size(high)) break;
            next = Amount(meet);
            expected = low.value + rise * (meet - size(low));
        }
        Point p;
        if (!probe(next, p)) {
            out_of_range = true;
            break;
        }
        if (p.value > best.value) best = p;
        if (enough(p.value)) break;
        const bool attained = has_low && has_high && expected - p.value <= fine;
        if (slope(p, row, sign) > 0)
            low = p, has_low = true;
        else
            high = p, has_high = true;
        if (attained) break;
    }
    at = best;
    return at.value > before;
}

}  // namespace treeform::totals
