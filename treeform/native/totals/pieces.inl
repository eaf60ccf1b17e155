// What solutions are made of: leaves, tests over two sides, and the smallest trees from counts alone.
#include <utility>

#include "fronts.hpp"
#include "solution.hpp"

namespace treeform::totals {

/// What does not depend on the size of solutions, compiled once.
class PieceTable {
public:
    Amount low(int a) const { return low_[a]; }
    Amount high(int a) const { return high_[a]; }
    Amount test_row(int column, int a) const { return test_row_[std::size_t(column) * active_ + a]; }

protected:
    PieceTable(const FrontInput& in, Worker& worker, const std::vector<Active>& active);

    const FrontInput& in_;
    const Rows& rows_;
    Minima& minima_;
    const int active_;
    std::vector<Amount> leaf_row_, label_row_, test_row_, test_cost_, high_, low_;
    std::vector<int> source_;  // per column: its feature, numbered
};

template <int K, int Words>
class Pieces : public PieceTable {
public:
    using One = Solution<K, Words>;
    using List = Front<K, Words>;

    Pieces(const FrontInput& in, Worker& worker, const std::vector<Active>& active) : PieceTable(in, worker, active) {}
    int n() const { return active_; }

    bool satisfies(const One& one) const {
        for (int a = 0; a < n(); ++a)
            if (one.row[a] > high_[a] || one.row[a] < low_[a]) return false;
        return true;
    }
    /// Whether a test on the column may have sides that carry these marks.
    bool meets(std::uint64_t low, std::uint64_t high, int column) const {
        return Words == 0 || meet(in_.table, rows_.original[column], low, high);
    }
    bool few_features(const One& one) const {
        return Words < 2 || in_.settings.max_features == 0 || one.carried.features() <= in_.settings.max_features;
    }

    Amount leaf_price(const std::vector<Amount>& total, int label) const {
        Amount sum = minima_.prices().label[label];
        for (int k = 0; k < in_.table.kinds; ++k) sum += total[k] * minima_.prices().leaf[k * in_.table.labels + label];
        return sum;
    }
    void leaf(One& one, const std::vector<Amount>& total, int label, Amount base) const {
        const Table& t = in_.table;
        one.carried.clear();
        one.excess = minima_.prices().label[label] - base, one.cost = 0;
        for (int a = 0; a < n(); ++a) one.row[a] = label_row_[std::size_t(label) * n() + a];
        std::uint64_t marks = 0;
        for (int k = 0; k < t.kinds; ++k) {
            const int i = k * t.labels + label;
            one.excess += total[k] * minima_.prices().leaf[i];
            one.cost += total[k] * t.cost[i];
            for (int a = 0; a < n(); ++a) one.row[a] += total[k] * leaf_row_[std::size_t(i) * n() + a];
            if (Words > 0 && t.mark && total[k] > 0) marks |= t.mark[i];
        }
        one.carried.set_marks(marks);
    }
    /// Joins a solution per side and the test above them.
    void join(One& out, const One& low, const One& high, int column, Amount loss) const {
        out.carried.join(low.carried, high.carried);
        if (in_.settings.max_features > 0) out.carried.test(source_[column]);
        out.excess = low.excess + high.excess + loss;
        out.cost = low.cost + high.cost + test_cost_[column];
        for (int a = 0; a < n(); ++a) out.row[a] = low.row[a] + high.row[a] + test_row_[std::size_t(column) * n() + a];
    }

    /// The leaves of a set of rows within the room above `base`.
    void leaves(const std::vector<Amount>& total, Amount weight, Amount base, Amount room, List& out) const {
        if (weight < in_.settings.min_support) return;
        One one;
        for (int c = 0; c < in_.table.labels; ++c) {
            leaf(one, total, c, base);
            if (one.excess <= room) out.push_back(one);
        }
    }
    /// The trees of one test on two cells within the room above `base`.
    void stump(const std::vector<Amount>* cell, const Amount* weight, int column, Amount base, Amount room,
               List& out) const {
        if (!minima_.parts(weight[0], weight[1]) || !minima_.splits(weight[0] + weight[1])) return;
        const int labels = in_.table.labels;
        const Amount most = room + base - minima_.test(column);  // that both leaves may cost
        Amount price[2][kMostLabels], least[2] = {kNone, kNone};
        for (int s = 0; s < 2; ++s)
            for (int c = 0; c < labels; ++c) least[s] = std::min(least[s], price[s][c] = leaf_price(cell[s], c));
        if (least[0] + least[1] > most) return;
        One low, high, one;
        for (int c = 0; c < labels; ++c) {
            if (price[0][c] + least[1] > most) continue;
            leaf(low, cell[0], c, 0);
            for (int d = 0; d < labels; ++d) {
                if (price[0][c] + price[1][d] > most) continue;
                leaf(high, cell[1], d, 0);
                if (!meets(low.carried.marks(), high.carried.marks(), column)) continue;
                join(one, low, high, column, minima_.test(column) - base);
                if (few_features(one)) out.push_back(one);
            }
        }
    }
    /// What each side of a test on a column has of each kind.
    void cells(const Subset& node, int column, std::vector<Amount>* cell) const {
        for (int k = 0; k < in_.table.kinds; ++k) {
            cell[1][k] = node.with[std::size_t(k) * rows_.pad + column];
            cell[0][k] = node.total[k] - cell[1][k];
        }
    }
    /// The trees of depth one of a node, from the counts of its columns.
    void one_test(const Subset& node, Amount base, Amount room, List& out) const {
        std::vector<Amount> cell[2] = {node.total, node.total};
        const std::vector<Amount>& price = minima_.prices_of_tests(node);
        for (int j = 0; j < rows_.columns; ++j) {
            if (price[j] >= kNone || price[j] - base > room) continue;
            cells(node, j, cell);
            const Amount held = node.with_weight(j, rows_.pad);
            const Amount weight[2] = {node.weight - held, held};
            stump(cell, weight, j, base, room, out);
        }
    }
};

}  // namespace treeform::totals
