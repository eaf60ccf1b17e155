#include "chains.hpp"

#include <algorithm>
#include <bit>

#include "answer.hpp"

namespace treeform::regression {
namespace {

using Words = std::vector<std::uint64_t>;

/// The rows in which a column of two values has the upper one, or the lower one.
struct RowSet {
    Words words;
    std::size_t size = 0;
    ColumnTest test;  // true for the rows of the set
};

bool is_within(const RowSet& inner, const RowSet& outer) {
    for (std::size_t k = 0; k < inner.words.size(); ++k)
        if (inner.words[k] & ~outer.words[k]) return false;
    return true;
}

RowSet rows_with(const Table& table, std::size_t column, bool upper) {
    RowSet out;
    out.words.assign((table.n + 63) / 64, 0);
    for (std::size_t i = 0; i < table.n; ++i)
        if ((table.rank[column][i] == 1) == upper) out.words[i / 64] |= std::uint64_t{1} << (i % 64), ++out.size;
    out.test = {static_cast<int>(column), 1, upper};
    return out;
}

/// Sets that lie one in the other, the smallest first.
using Chain = std::vector<RowSet>;

/// Puts a set into the chain if it fits there; a set that is there already counts as put.
bool insert(Chain& chain, const RowSet& set) {
    const auto at = std::lower_bound(chain.begin(), chain.end(), set.size,
                                     [](const RowSet& a, std::size_t size) { return a.size < size; });
    if (at != chain.begin() && !is_within(*(at - 1), set)) return false;
    if (at != chain.end() && !is_within(set, *at)) return false;
    if (at == chain.end() || at->size != set.size) chain.insert(at, set);
    return true;
}

void insert(std::vector<Chain>& chains, const Table& table, std::size_t column) {
    const RowSet sets[2] = {rows_with(table, column, true), rows_with(table, column, false)};
    for (Chain& chain : chains)
        if (insert(chain, sets[0]) || insert(chain, sets[1])) return;
    chains.push_back({sets[0]});
}

/// Turns the order of a feature round if its last value has more rows than the first: rows with the first value of a
/// feature cost nothing when pairs are counted.
void turn(std::vector<std::uint32_t>& rank, std::vector<ColumnTest>& tests) {
    const auto values = static_cast<std::uint32_t>(tests.size());
    if (std::count(rank.begin(), rank.end(), 0) >= std::count(rank.begin(), rank.end(), values - 1)) return;
    for (auto& r : rank) r = values - 1 - r;
    std::reverse(tests.begin() + 1, tests.end());
    for (std::size_t key = 1; key < tests.size(); ++key) tests[key].opposite = !tests[key].opposite;
}

void add(Chains& chains, std::vector<std::uint32_t>&& rank, std::vector<ColumnTest>&& tests) {
    turn(rank, tests);
    chains.table.rank.push_back(std::move(rank));
    chains.table.distinct.push_back(tests.size());
    chains.tests.push_back(std::move(tests));
}

void add_chain(Chains& chains, const Chain& chain, std::size_t n) {
    // rank < key exactly in the rows of set number `key`, the smallest being 1.
    std::vector<std::uint32_t> rank(n, 0);
    std::vector<ColumnTest> tests(1);
    for (const RowSet& set : chain) {
        for (std::size_t i = 0; i < n; ++i) rank[i] += !(set.words[i / 64] >> (i % 64) & 1);
        tests.push_back(set.test);
    }
    add(chains, std::move(rank), std::move(tests));
}

void add_column(Chains& chains, const Table& table, std::size_t column) {
    std::vector<ColumnTest> tests(1);
    for (std::uint32_t key = 1; key < table.distinct[column]; ++key)
        tests.push_back({static_cast<int>(column), key, false});
    add(chains, std::vector<std::uint32_t>(table.rank[column]), std::move(tests));
}

std::size_t thresholds_of(const Table& table) {
    std::size_t count = 0;
    for (const auto values : table.distinct) count += values - 1;
    return count;
}

}  // namespace

PlanPtr Chains::over_columns(const PlanPtr& plan) const {
    if (!plan || plan->feature < 0) return plan;
    const ColumnTest& test = tests[static_cast<std::size_t>(plan->feature)][plan->key];
    PlanPtr left = over_columns(plan->left), right = over_columns(plan->right);
    if (test.opposite) std::swap(left, right);
    return test_plan(static_cast<std::size_t>(test.column), test.key, left, right);
}

std::size_t Chains::count() const { return thresholds_of(table); }

std::optional<Chains> chains_of(const Table& table, std::size_t most) {
    const std::size_t count = thresholds_of(table);
    if (count == 0 || count > most) return {};
    Chains out;
    std::vector<Chain> chains;
    for (std::size_t f = 0; f < table.features; ++f) {
        if (table.distinct[f] == 2) insert(chains, table, f);
        if (table.distinct[f] > 2) add_column(out, table, f);
    }
    for (const Chain& chain : chains) add_chain(out, chain, table.n);
    Table& made = out.table;
    made.n = table.n, made.features = made.rank.size(), made.target = table.target, made.weight = table.weight;
    made.weighted = table.weighted, made.loss = table.loss, made.ordered = false;
    return out;
}

}  // namespace treeform::regression
