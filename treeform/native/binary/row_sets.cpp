#include "row_sets.hpp"

#include <stdexcept>
#include <string_view>

#include "packed_row_sets.hpp"

namespace treeform::binary {

#define TREEFORM_DECLARE(isa)                                                                   \
    namespace isa {                                                                             \
    template <class L, class S>                                                                 \
    const Ops<L, S>& ops();                                                                     \
    extern template const Ops<std::uint16_t, std::int16_t>& ops<std::uint16_t, std::int16_t>(); \
    extern template const Ops<std::uint32_t, std::int32_t>& ops<std::uint32_t, std::int32_t>(); \
    extern template const Ops<std::uint64_t, std::int64_t>& ops<std::uint64_t, std::int64_t>(); \
    }
TREEFORM_DECLARE(plain)
#if defined(__x86_64__)
TREEFORM_DECLARE(avx2)
TREEFORM_DECLARE(avx512)
#endif

template <class L, class S>
const Ops<L, S>& choose_ops(const char* wanted) {
    const std::string_view name = wanted;
    const bool any = name == "auto";
#if defined(__x86_64__)
    const bool has512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
                        && __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq");
    if ((any || name == "avx512") && has512) return avx512::ops<L, S>();
    if ((any || name == "avx2") && __builtin_cpu_supports("avx2")) return avx2::ops<L, S>();
#endif
    if (any || name == "plain") return plain::ops<L, S>();
    throw std::invalid_argument("simd = " + std::string(name) + ": not offered by this processor");
}
template const Ops<std::uint16_t, std::int16_t>& choose_ops(const char*);
template const Ops<std::uint32_t, std::int32_t>& choose_ops(const char*);
template const Ops<std::uint64_t, std::int64_t>& choose_ops(const char*);

std::uint64_t RowSets::hash(const std::vector<std::uint64_t>& cover) {
    std::uint64_t a = 0x243f6a8885a308d3ull, b = 0x13198a2e03707344ull;
    for (std::size_t w = 0; w < cover.size(); ++w) {  // two independent chains: multiplication latency is the cost
        std::uint64_t& h = w & 1 ? a : b;
        h = (h ^ cover[w]) * 0x9fb21c651e98df25ull;
        h ^= h >> 32;
    }
    a ^= (b << 21 | b >> 43) * 0xd6e8feb86659fd93ull;
    return a ^ a >> 31;
}

bool RowSets::leads_to(const std::uint32_t* path, int length, const std::vector<std::uint64_t>& cover) const {
    for (int w = 0; w < words; ++w) {
        std::uint64_t x = w + 1 < words || points % 64 == 0 ? ~std::uint64_t(0) : (std::uint64_t(1) << points % 64) - 1;
        for (int i = 0; i < length; ++i) x &= path[i] & 1 ? literal[path[i] >> 1][w] : ~literal[path[i] >> 1][w];
        if (x != cover[w]) return false;
    }
    return true;
}

std::unique_ptr<RowSets> make_row_sets(const Points& points, const Settings& settings) {
    Layout layout(points, settings);
    switch (layout.lane_bits()) {
        case 16:
            return std::make_unique<PackedRowSets<std::uint16_t, std::int16_t>>(points, settings, std::move(layout));
        case 32:
            return std::make_unique<PackedRowSets<std::uint32_t, std::int32_t>>(points, settings, std::move(layout));
        default:
            return std::make_unique<PackedRowSets<std::uint64_t, std::int64_t>>(points, settings, std::move(layout));
    }
}

}  // namespace treeform::binary
