#include "order.hpp"

namespace treeform::diagram {

Order::Order(const Instance& in, const Control& control) {
    const int words = in.words();
    Set seen(words);
    for (int f = 0; f < in.view.features; ++f) {
        control.check();
        Feature& own = of.emplace_back();
        own.points.reserve(in.weight.size());
        std::fill(seen.begin(), seen.end(), Word{0});
        const auto add = [&](const Word* left) {  // the left sides of a feature are nested
            own.first.push_back(std::uint32_t(own.points.size()));
            for (int w = 0; w < words; ++w) {
                for (Word bits = left[w] & ~seen[w]; bits; bits &= bits - 1)
                    own.points.push_back(std::uint32_t(w * 64 + __builtin_ctzll(bits)));
                seen[w] = left[w];
            }
        };
        for (int s = in.view.first[f]; s < in.view.first[f + 1]; ++s) add(in.split(s));
        add(in.all.data());
        own.first.push_back(std::uint32_t(own.points.size()));
    }
}

}  // namespace treeform::diagram
