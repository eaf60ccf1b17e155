#include "away.hpp"

#include <stdexcept>

namespace treeform {

void Numbers::require(bool holds) {
    if (!holds) throw std::invalid_argument("a message of a part does not fit the problem");
}

Message PairBounds::of(std::size_t test) const {
    const auto begin = known_.begin() + std::ptrdiff_t(4 * tests_ * test);
    return {begin, begin + std::ptrdiff_t(4 * tests_)};
}

void PairBounds::note(std::size_t test, const Message& found) {
    Numbers::require(found.size() == 4 * tests_);
    for (std::size_t k = 0; k < found.size(); ++k) {
        const std::size_t value = k / (2 * tests_), other = k / 2 % tests_;
        std::int64_t &mine = known_[4 * tests_ * test + k],
                     &theirs = known_[4 * tests_ * other + 2 * (k % 2 * tests_ + test) + value];
        mine = theirs = std::max({mine, theirs, found[k]});
    }
}

}  // namespace treeform
