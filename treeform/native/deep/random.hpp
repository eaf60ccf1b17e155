#pragma once
// Numbers by chance that are the same on every machine (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace treeform::deep {

constexpr std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

class Random {
public:
    /// The numbers of a seed from one on. Seeds are far apart: the numbers of one are not soon those of the next.
    constexpr explicit Random(std::uint64_t seed, std::uint64_t from = 0) : state_(seed * 0x9E3779B97F4A7C15ull + from) {}
    constexpr std::uint64_t next() { return scrambled(state_++); }
    /// From zero up to one.
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    std::uint64_t below(std::uint64_t limit) { return limit <= 1 ? 0 : next() % limit; }
    /// Another one of `n` places, nearer ones more often; `n` where it would lie outside.
    std::size_t near(std::size_t place, std::size_t n) {
        std::uint64_t reach = 1;
        while (reach < n / 2 && below(4) > 0) reach *= 2;
        const std::uint64_t step = 1 + below(reach);
        if (below(2) == 0) return step < n - std::min(place, n) ? place + step : n;
        return step <= place ? place - step : n;
    }

private:
    std::uint64_t state_;
};

/// Whether the first number of a seed is among the first of another.
constexpr bool is_shifted(std::uint64_t seed, std::uint64_t other) {
    const std::uint64_t first = Random(seed).next();
    Random random(other);
    for (int k = 0; k < 1000; ++k)
        if (random.next() == first) return true;
    return false;
}
static_assert(is_shifted(1, 1) && !is_shifted(1, 2) && !is_shifted(2, 1) && !is_shifted(0, 1) && !is_shifted(1, 0));

}  // namespace treeform::deep
