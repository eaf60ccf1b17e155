#include <set>
#include <stdexcept>
#include <unordered_map>

#include "fronts.inl"

namespace treeform::totals {

PieceTable::PieceTable(const FrontInput& in, Worker& worker, const std::vector<Active>& active)
    : in_(in), rows_(worker.rows), minima_(worker.minima), active_(int(active.size())) {
    const Table& t = in.table;
    const int n = active_;
    leaf_row_.assign(std::size_t(t.kinds) * t.labels * std::max(1, n), 0);
    for (int i = 0; i < t.kinds * t.labels; ++i)
        for (int a = 0; a < n; ++a)
            leaf_row_[i * n + a] = active[a].sign * t.row[std::size_t(i) * t.rows + active[a].row];
    label_row_.assign(std::size_t(t.labels) * std::max(1, n), 0);
    for (int c = 0; t.leaf_row && c < t.labels; ++c)
        for (int a = 0; a < n; ++a)
            label_row_[std::size_t(c) * n + a] = active[a].sign * t.leaf_row[c * t.rows + active[a].row];
    test_row_.assign(std::size_t(rows_.columns) * std::max(1, n), 0);
    test_cost_.resize(rows_.columns);
    source_.assign(rows_.columns, 0);
    std::unordered_map<int, int> number;
    for (int j = 0; j < rows_.columns; ++j) {
        const int f = rows_.original[j];
        test_cost_[j] = t.test_cost[f];
        for (int a = 0; a < n; ++a)
            test_row_[j * n + a] = active[a].sign * t.test_row[std::size_t(f) * t.rows + active[a].row];
        source_[j] = number.emplace(t.source[f], int(number.size())).first->second;
    }
    for (int a = 0; a < n; ++a) {
        const Amount lo = t.lo[active[a].row], hi = t.hi[active[a].row];
        high_.push_back(active[a].sign > 0 ? hi : -lo);
        low_.push_back(active[a].both ? (active[a].sign > 0 ? lo : -hi) : -kNone);
    }
}

/// Few sizes are compiled, for each takes more than a second: solutions with room for more than they carry are a little
/// slower only.
template <int... K>
struct Sizes {};
template <int Words, int First, int... Others>
static std::unique_ptr<Fronts> of(const FrontInput& in, const std::vector<Active>& active, Sizes<First, Others...>) {
    if (active.size() <= First) return std::make_unique<FrontsOf<First, Words>>(in, active);
    if constexpr (sizeof...(Others) > 0)
        return of<Words>(in, active, Sizes<Others...>());
    else
        return nullptr;
}

std::unique_ptr<Fronts> make_fronts(const FrontInput& in, const std::vector<Active>& active) {
    std::set<int> features;
    for (const int f : in.team.first().rows.original) features.insert(in.table.source[f]);
    const std::size_t features_counted = in.settings.max_features > 0 ? features.size() : 0;
    if (features_counted > kMostFeatures) throw std::invalid_argument("too many features for a budget");
    constexpr int kAllWords = 1 + kMostFeatures / 64;
    if (active.size() > kFewActive || features_counted > 64)
        return of<kAllWords>(in, active, Sizes<kFewActive, kMostActive>());
    if (in.settings.max_features > 0 || in.table.clash_begin) return of<2>(in, active, Sizes<4, kFewActive>());
    return of<0>(in, active, Sizes<1, 4, kFewActive>());
}

}  // namespace treeform::totals
