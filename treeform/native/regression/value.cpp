#include "value.hpp"

#include <algorithm>
#include <tuple>

namespace treeform::regression {
namespace {

/// A natural number of any length; the least significant digit comes first.
class Natural {
public:
    explicit Natural(std::uint64_t value) {
        for (; value; value >>= 32) digits_.push_back(static_cast<std::uint32_t>(value));
    }
    void multiply(std::uint64_t factor) {
        const std::uint64_t low = factor & 0xFFFFFFFFu, high = factor >> 32;
        std::vector<std::uint32_t> upper;
        if (high) {
            upper = digits_;
            times(upper, high);
            upper.insert(upper.begin(), 0);
        }
        times(digits_, low);
        add(upper);
        while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
    }
    void add(const Natural& other) { add(other.digits_); }
    int compare(const Natural& other) const {
        if (digits_.size() != other.digits_.size()) return digits_.size() < other.digits_.size() ? -1 : 1;
        for (std::size_t i = digits_.size(); i-- > 0;)
            if (digits_[i] != other.digits_[i]) return digits_[i] < other.digits_[i] ? -1 : 1;
        return 0;
    }

private:
    std::vector<std::uint32_t> digits_;

    static void times(std::vector<std::uint32_t>& digits, std::uint64_t factor) {
        std::uint64_t carry = 0;
        for (auto& digit : digits) {
            carry += digit * factor;
            digit = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry) digits.push_back(static_cast<std::uint32_t>(carry));
    }
    void add(const std::vector<std::uint32_t>& other) {
        if (digits_.size() < other.size()) digits_.resize(other.size(), 0);
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < digits_.size(); ++i) {
            carry += digits_[i];
            if (i < other.size()) carry += other[i];
            digits_[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry) digits_.push_back(static_cast<std::uint32_t>(carry));
    }
};

std::uint64_t magnitude(std::int64_t value) {
    return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

bool before(const LeafSum& a, const LeafSum& b) { return std::tie(a.sum, a.weight) < std::tie(b.sum, b.weight); }

/// The leaves of one tree that the other one does not have. Both lists are sorted.
std::vector<LeafSum> without(const std::vector<LeafSum>& some, const std::vector<LeafSum>& others) {
    std::vector<LeafSum> rest;
    std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(rest), before);
    return rest;
}

/// sum over `leaves` of sum^2 * denominator * (the weights of all other leaves of both lists).
Natural over_common_denominator(const std::vector<LeafSum>& leaves, const std::vector<LeafSum>& others,
                                std::int64_t denominator) {
    Natural total(0);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        Natural term(magnitude(leaves[i].sum));
        term.multiply(magnitude(leaves[i].sum));
        term.multiply(magnitude(denominator));
        for (std::size_t j = 0; j < leaves.size(); ++j)
            if (j != i) term.multiply(magnitude(leaves[j].weight));
        for (const LeafSum& other : others) term.multiply(magnitude(other.weight));
        total.add(term);
    }
    return total;
}

}  // namespace

int compare_exactly(const Value& a, const Value& b, const Price& price) {
    auto sorted = [](std::vector<LeafSum> leaves) {
        std::sort(leaves.begin(), leaves.end(), before);
        return leaves;
    };
    const auto all_a = sorted(a.leaves), all_b = sorted(b.leaves);
    const auto own_a = without(all_a, all_b), own_b = without(all_b, all_a);
    // cost(a) - cost(b) = sum_b sum^2 / weight - sum_a sum^2 / weight + price (tests_a - tests_b)
    Natural plus = over_common_denominator(own_b, own_a, price.denominator);
    Natural minus = over_common_denominator(own_a, own_b, price.denominator);
    const int more = a.tests - b.tests;
    if (more != 0 && price.numerator != 0) {
        Natural tests(magnitude(more));
        tests.multiply(magnitude(price.numerator));
        for (const auto* leaves : {&own_a, &own_b})
            for (const LeafSum& leaf : *leaves) tests.multiply(magnitude(leaf.weight));
        (more > 0 ? plus : minus).add(tests);
    }
    return plus.compare(minus);
}

}  // namespace treeform::regression
