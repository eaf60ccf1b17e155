#pragma once
// The arrays of a table as Python gives them, checked; for bindings only.
#include "../common/binding.hpp"
#include "problem.hpp"

namespace treeform::totals {

template <int Dimensions>
using Amounts = Array<Amount, Dimensions>;
using Column = Array<std::int32_t, 1>;

inline Table table_of(const Array<std::uint8_t, 2>& x, const Amounts<2>& count, const Amounts<1>& unit, const Amounts<2>& cost,
               const Amounts<3>& row, const Amounts<1>& test_cost, const Amounts<2>& test_row, const Amounts<2>& leaf_row,
               const Amounts<1>& lo, const Amounts<1>& hi, const Column& source) {
    require_aligned(count, unit, cost, row, test_cost, test_row, leaf_row, lo, hi, source);
    Table t;
    t.x = x.data(), t.points = x.shape(0), t.columns = x.shape(1);
    t.count = count.data(), t.unit = unit.data(), t.kinds = int(count.shape(1)), t.labels = int(cost.shape(1)),
    t.rows = int(row.shape(2));
    t.cost = cost.data(), t.row = row.data(), t.test_cost = test_cost.data(), t.test_row = test_row.data();
    t.lo = lo.data(), t.hi = hi.data(), t.source = source.data();
    const std::size_t rows = std::size_t(t.rows), kinds = std::size_t(t.kinds), labels = std::size_t(t.labels);
    require(t.points > 0 && kinds > 0 && labels > 0, "an array is empty");
    require(count.shape(0) == t.points && unit.shape(0) == kinds && cost.shape(0) == kinds,
            "points or kinds differ in number");
    require(row.shape(0) == kinds && row.shape(1) == labels, "the rows' array has another shape than the costs");
    require(test_cost.shape(0) == t.columns && test_row.shape(0) == t.columns && test_row.shape(1) == rows,
            "tests differ in number");
    require(leaf_row.shape(0) == labels && leaf_row.shape(1) == rows, "labels or rows of leaves differ in number");
    require(source.shape(0) == t.columns && lo.shape(0) == rows && hi.shape(0) == rows,
            "rows or columns differ in number");
    require(t.columns < 32767 && labels <= kMostLabels, "the columns or the labels are too many");
    require(t.points < std::size_t(1) << 31 && kinds < std::size_t(1) << 31, "the points or the kinds are too many");
    require_sum(t.count, t.points, kinds, 0, kLargestSum, "the counts");
    require_all_between(t.unit, kinds, 1, kLargestSum, "a unit");
    require_all_between(t.cost, kinds * labels, 0, kAnyAmount, "a cost");
    require_all_between(t.test_cost, t.columns, 0, kAnyAmount, "a test's cost");
    require_all_between(t.row, row.size(), -kLargestAmount, kLargestAmount, "an amount");
    require_all_between(t.test_row, test_row.size(), -kLargestAmount, kLargestAmount, "a test's amount");
    require_all_between(leaf_row.data(), leaf_row.size(), -kLargestAmount, kLargestAmount, "a leaf's amount");
    const auto adds = [](Amount amount) { return amount != 0; };
    if (std::any_of(leaf_row.data(), leaf_row.data() + leaf_row.size(), adds)) t.leaf_row = leaf_row.data();
    require_all_between(t.lo, rows, -kLargestAmount, kLargestAmount, "a bound");
    require_all_between(t.hi, rows, -kLargestAmount, kLargestAmount, "a bound");
    return t;
}

inline void set_marks(Table& t, const Amounts<2>& mark, const Column& clash_begin, const Amounts<1>& clash_low,
               const Amounts<1>& clash_high) {
    require_aligned(mark, clash_begin, clash_low, clash_high);
    require(mark.shape(0) == std::size_t(t.kinds) && mark.shape(1) == std::size_t(t.labels), "marks differ in number");
    require(clash_begin.shape(0) == t.columns + 1 && clash_low.shape(0) == clash_high.shape(0),
            "clashes differ in number");
    const std::int32_t* begin = clash_begin.data();
    for (std::size_t f = 0; f <= t.columns; ++f)
        require(begin[f] >= (f ? begin[f - 1] : 0), "the clashes are out of order");
    require(std::size_t(begin[t.columns]) == clash_low.shape(0), "clashes differ in number");
    if (clash_low.shape(0) == 0) return;
    t.mark = reinterpret_cast<const std::uint64_t*>(mark.data()), t.clash_begin = begin;
    t.clash_low = reinterpret_cast<const std::uint64_t*>(clash_low.data());
    t.clash_high = reinterpret_cast<const std::uint64_t*>(clash_high.data());
}

/// The arrays of a table, which it points into.
struct Arrays {
    Array<std::uint8_t, 2> x;
    Amounts<2> count;
    Amounts<1> unit;
    Amounts<2> cost;
    Amounts<3> row;
    Amounts<1> test_cost;
    Amounts<2> test_row, leaf_row;
    Amounts<1> lo, hi;
    Column source;
    Amounts<2> mark;
    Column clash_begin;
    Amounts<1> clash_low, clash_high;

    explicit Arrays(const nb::tuple& given) {
        require(given.size() == 15, "the table has 15 arrays");
        std::size_t at = 0;
        const auto take = [&](auto&... arrays) {
            ((arrays = nb::cast<std::remove_reference_t<decltype(arrays)>>(given[at++])), ...);
        };
        take(x, count, unit, cost, row, test_cost, test_row, leaf_row, lo, hi, source, mark, clash_begin, clash_low,
             clash_high);
    }
    Table table() const {
        Table table = table_of(x, count, unit, cost, row, test_cost, test_row, leaf_row, lo, hi, source);
        set_marks(table, mark, clash_begin, clash_low, clash_high);
        return table;
    }
};

}  // namespace treeform::totals
