#include <set>
#include <stdexcept>

#include "fronts.inl"

namespace treeform::totals {

/// Few sizes are compiled, for each takes two seconds: solutions with room for more rows than are active are a little
/// slower only, and those with marks are large anyway.
template <int Words>
static std::unique_ptr<Fronts> of(const FrontInput& in, const std::vector<Active>& active) {
    const std::size_t n = active.size();
    if constexpr (Words == 0)
        if (n <= 1) return std::make_unique<FrontsOf<1, Words>>(in, active);
    if (n <= 2) return std::make_unique<FrontsOf<2, Words>>(in, active);
    if constexpr (Words == 0)
        if (n <= 8) return std::make_unique<FrontsOf<8, Words>>(in, active);
    return std::make_unique<FrontsOf<kFewActive, Words>>(in, active);
}

/// Many active rows: solutions are large, whatever they carry.
static std::unique_ptr<Fronts> of_many(const FrontInput& in, const std::vector<Active>& active) {
    if (active.size() > kMostActive) return nullptr;
    return std::make_unique<FrontsOf<kMostActive, 1 + kMostFeatures / 64>>(in, active);
}

std::unique_ptr<Fronts> make_fronts(const FrontInput& in, const std::vector<Active>& active) {
    std::set<int> features;
    for (const int f : in.team.first().rows.original) features.insert(in.table.source[f]);
    if (in.settings.max_features > 0 && features.size() > kMostFeatures)
        throw std::invalid_argument("too many features for a budget");
    if (active.size() > kFewActive) return of_many(in, active);
    if (in.settings.max_features == 0) return in.table.clash_begin ? of<1>(in, active) : of<0>(in, active);
    return features.size() <= 64 ? of<2>(in, active) : of<1 + kMostFeatures / 64>(in, active);
}

}  // namespace treeform::totals
