#pragma once
// Numbers by chance that are the same on every machine (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
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
    std::uint64_t below(std::uint64_t limit) { return limit <= 1 ? 0 : next() % limit; }

private:
    std::uint64_t state_;
};

}  // namespace treeform::deep
