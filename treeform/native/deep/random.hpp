#pragma once
// Numbers by chance that are the same on every machine (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace treeform::deep {

inline std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() { return scrambled(state_++); }
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

}  // namespace treeform::deep
