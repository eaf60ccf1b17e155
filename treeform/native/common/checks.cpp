#include "checks.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace treeform {

std::int64_t require_between(std::int64_t value, std::int64_t least, std::int64_t most, const char* name) {
    if (value < least || value > most)
        throw std::invalid_argument(std::string(name) + " is not between " + std::to_string(least) + " and "
                                    + std::to_string(most));
    return value;
}

void require_all_between(const std::int64_t* values, std::size_t count, std::int64_t least, std::int64_t most,
                         const char* name) {
    for (std::size_t i = 0; i < count; ++i) require_between(values[i], least, most, name);
}

void require_sum(const std::int64_t* values, std::size_t rows, std::size_t columns, std::int64_t least,
                 std::int64_t most, const char* name) {
    std::int64_t rest = most;
    for (std::size_t i = 0; i < rows; ++i) {
        std::int64_t largest = 0;
        for (std::size_t k = 0; k < columns; ++k) {
            const std::int64_t one = require_between(values[i * columns + k], std::max(least, -most), most, name);
            largest = std::max(largest, one < 0 ? -one : one);
        }
        if (largest > rest) throw std::invalid_argument(std::string(name) + " sum to more than is added exactly");
        rest -= largest;
    }
}

void require_ordered(const double* values, std::size_t count) {
    bool none = true;  // without a branch for each, which takes several times as long
    for (std::size_t i = 0; i < count; ++i) none &= !std::isnan(values[i]);
    require(none, "a value is not a number");
}

}  // namespace treeform
