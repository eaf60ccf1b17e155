// The pairs at the root, without their product. The solutions of one side that carry the same marks are sorted by the
// main row, with a table of range minima of the cost: for a solution of the other side, the partners that keep the main
// row within its sides are a window, and its cheapest is looked up. Where another row rejects it, the window falls
// apart. Of several pairs of the least cost the first counts, in the order of the lists: so a needless solution, which
// comes after what makes it needless, changes no answer.
#include <algorithm>
#include <utility>

#include "pieces.inl"
#include "range_minimum.hpp"

namespace treeform::totals {

/// The solutions of a list by the marks that they carry; those of equal marks by excess.
template <int K, int Words>
std::vector<std::vector<const Solution<K, Words>*>> grouped(const Front<K, Words>& list) {
    using One = Solution<K, Words>;
    std::vector<const One*> order;
    for (const One& one : list) order.push_back(&one);
    if constexpr (Words > 0)
        std::stable_sort(order.begin(), order.end(), [](const One* a, const One* b) {
            const std::uint64_t x = a->carried.marks(), y = b->carried.marks();
            return x != y ? x < y : a->excess < b->excess;
        });
    std::vector<std::vector<const One*>> groups;
    for (const One* one : order) {
        if (groups.empty() || groups.back().back()->carried.marks() != one->carried.marks()) groups.emplace_back();
        groups.back().push_back(one);
    }
    return groups;
}

template <int K, int Words>
class Window {
    using One = Solution<K, Words>;

public:
    /// A window over solutions of equal marks, for the higher side of the test on `column`.
    Window(const Pieces<K, Words>& pieces, std::vector<const One*> group, int main, int column)
        : pieces_(pieces), main_(main), column_(column), list_(in_order(std::move(group), main)), cheapest_(costs()) {}
    std::uint64_t marks() const { return list_[0]->carried.marks(); }

    /// The partner with which `u` satisfies all active rows at the least cost below `upper`, which is lowered; or null.
    const One* partner(const One& u, Amount& upper, std::uint64_t& pairs) {
        int l = 0, r = int(list_.size());
        if (main_ >= 0) {
            const Amount own = u.row[main_] + pieces_.test_row(column_, main_);
            const auto below = [&](const One* v, Amount value) { return v->row[main_] < value; };
            const auto at = [&](Amount value) {
                return int(std::lower_bound(list_.begin(), list_.end(), value, below) - list_.begin());
            };
            if (pieces_.low(main_) > -kNone) l = at(pieces_.low(main_) - own);
            r = at(pieces_.high(main_) - own + 1);
        }
        const One* found = nullptr;
        One one;
        open_.assign(1, {l, r});
        while (!open_.empty()) {
            const auto [from, to] = open_.back();
            open_.pop_back();
            if (from >= to) continue;
            const int i = cheapest_.least(from, to);
            ++pairs;
            pieces_.join(one, u, *list_[i], column_, 0);
            if (one.cost >= upper) continue;
            if (pieces_.few_features(one) && pieces_.satisfies(one)) {
                upper = one.cost, found = list_[i];
            } else {
                open_.push_back({i + 1, to});
                open_.push_back({from, i});
            }
        }
        return found;
    }

private:
    static std::vector<const One*> in_order(std::vector<const One*> list, int main) {
        if (main >= 0)
            std::stable_sort(list.begin(), list.end(),
                      [&](const One* u, const One* v) { return u->row[main] < v->row[main]; });
        return list;
    }
    std::vector<Amount> costs() const {
        std::vector<Amount> out;
        for (const One* one : list_) out.push_back(one->cost);
        return out;
    }
    const Pieces<K, Words>& pieces_;
    int main_, column_;
    std::vector<const One*> list_;
    RangeMinimum cheapest_;
    std::vector<std::pair<int, int>> open_;
};

}  // namespace treeform::totals
