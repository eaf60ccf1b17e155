#include "fronts.inl"

namespace treeform::totals {

template <bool Masked>
static std::unique_ptr<Fronts> of(const FrontInput& in, const std::vector<Active>& active) {
    switch (active.size()) {
        case 0:
            return std::make_unique<FrontsOf<0, Masked>>(in, active);
        case 1:
            return std::make_unique<FrontsOf<1, Masked>>(in, active);
        case 2:
            return std::make_unique<FrontsOf<2, Masked>>(in, active);
        case 3:
            return std::make_unique<FrontsOf<3, Masked>>(in, active);
        case 4:
            return std::make_unique<FrontsOf<4, Masked>>(in, active);
        default:
            break;
    }
    if (active.size() <= 8) return std::make_unique<FrontsOf<8, Masked>>(in, active);
    if (active.size() <= kMostActive) return std::make_unique<FrontsOf<kMostActive, Masked>>(in, active);
    return nullptr;
}

std::unique_ptr<Fronts> make_fronts(const FrontInput& in, const std::vector<Active>& active) {
    return in.settings.max_features > 0 ? of<true>(in, active) : of<false>(in, active);
}

}  // namespace treeform::totals
