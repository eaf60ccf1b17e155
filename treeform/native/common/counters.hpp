#pragma once
// Counters of a search: structures of 64-bit whole numbers, added and subtracted name by name.
#include <array>
#include <bit>
#include <cstdint>
#include <functional>

namespace treeform {

template <class Counters>
using Counts = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;

template <class Counters, class Operation>
Counters combined(const Counters& a, const Counters& b, Operation operation) {
    auto out = std::bit_cast<Counts<Counters>>(a);
    const auto other = std::bit_cast<Counts<Counters>>(b);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = operation(out[i], other[i]);
    return std::bit_cast<Counters>(out);
}

/// Adds the counters of another search; `add` joins those that are no sums.
template <class Counters>
void count_in(Counters& sum, const Counters& more) {
    if constexpr (requires { sum.add(more); })
        sum.add(more);
    else
        sum = combined(sum, more, std::plus<>());
}
/// The increase from `then` to `now`.
template <class Counters>
Counters since(const Counters& then, const Counters& now) {
    return combined(now, then, std::minus<>());
}

}  // namespace treeform
