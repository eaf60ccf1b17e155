#include <set>
#include <stdexcept>

#include "fronts.inl"

namespace treeform::totals {

template <int Words>
static std::unique_ptr<Fronts> of(const FrontInput& in, const std::vector<Active>& active) {
    const std::size_t n = active.size();
    if constexpr (Words == 0) {  // solutions with marks are large anyway, and each size takes a second to compile
        if (n <= 1) return std::make_unique<FrontsOf<1, Words>>(in, active);
        if (n > 2 && n <= 4) return std::make_unique<FrontsOf<4, Words>>(in, active);
    }
    if (n <= 2) return std::make_unique<FrontsOf<2, Words>>(in, active);
    if (n <= 8) return std::make_unique<FrontsOf<8, Words>>(in, active);
    if (n <= kMostActive) return std::make_unique<FrontsOf<kMostActive, Words>>(in, active);
    return nullptr;
}

std::unique_ptr<Fronts> make_fronts(const FrontInput& in, const std::vector<Active>& active) {
    if (in.settings.max_features == 0) return in.table.clash_begin ? of<1>(in, active) : of<0>(in, active);
    std::set<int> features;
    for (const int f : in.rows.original) features.insert(in.table.source[f]);
    if (features.size() > kMostFeatures) throw std::invalid_argument("too many features for a budget");
    return features.size() <= 64 ? of<2>(in, active) : of<1 + kMostFeatures / 64>(in, active);
}

}  // namespace treeform::totals
