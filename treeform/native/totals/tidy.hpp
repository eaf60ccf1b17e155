#pragma once
// Which solutions of a list another one makes needless, from what is compared: compiled once for all sizes.
#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace treeform::totals {

/// What makes solution a needless next to b: b costs no more, is no higher on one-sided rows, equal on two-sided
/// ones, and tests no other features.
struct Dominance {
    std::vector<int> equal, upper;  // positions of active rows
    bool features = false;  // sets of features are compared, too: there are many of them
};

/// What is compared of a list of solutions, in one array: of each its rows (those of `equal`, then of `upper`), its
/// cost, its excess, and the words that it carries.
class Compared {
public:
    /// The one of the calling thread: lists are short and many, and its memory is used again.
    static Compared& of_this_thread();
    void begin(std::size_t size, int words, const Dominance& order);
    Amount* values(std::size_t i) { return values_.data() + i * width_; }
    /// The places of the solutions to keep, by excess, and then as they are compared: whatever else is in the list.
    const std::vector<std::uint32_t>& kept();

private:
    struct Place {  // with the first value to compare by
        Amount first;
        std::uint32_t at;
    };
    struct Cheapest;
    const Dominance* order_ = nullptr;
    std::size_t size_ = 0, width_ = 0;
    int words_ = 0, equal_ = 0, rows_ = 0;  // rows that are compared, those of two sides first
    std::vector<Amount> values_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> kept_;

    const Amount* of(std::uint32_t i) const { return values_.data() + i * width_; }
    Amount cost(std::uint32_t i) const { return of(i)[rows_]; }
    Amount excess(std::uint32_t i) const { return of(i)[rows_ + 1]; }
    const Amount* carried(std::uint32_t i) const { return of(i) + rows_ + 2; }
    void sort_by_rows();
    void keep_few();
    void keep_last();
    bool in_group(std::uint32_t a, std::uint32_t b) const;
    bool dominates(std::uint32_t b, std::uint32_t a) const;
};

}  // namespace treeform::totals
