#pragma once
// The tests of a root with cheap trees of depth two, without trying all of them: see chain.cpp.
#include <cstdint>
#include <vector>

#include "../totals/minima.hpp"

namespace treeform::and_or {

using totals::Amount;

struct Cut {
    int column;
    Amount least[2];  // of both sides, with at most one more test each
};

class Chain {
public:
    Chain(const totals::Table&, const totals::Settings&, const totals::Control&, totals::Rows&, totals::Minima&);
    /// Whether the bound holds, and pays.
    bool applies() const;
    /// Every test whose tree costs at most `limit`, by column.
    std::vector<Cut> within(totals::Subset& root, Amount limit);
    /// A test of least price; false where no test costs at most `limit`.
    bool cheapest(totals::Subset& root, Amount limit, Cut& out);

private:
    template <class Tried>
    void search(totals::Subset& root, Amount& limit, const Tried& tried);
    void place();
    bool sides(totals::Subset& root, int column, Cut& out);

    const totals::Table& table_;
    const totals::Settings& settings_;
    const totals::Control& control_;
    totals::Rows& rows_;
    totals::Minima& minima_;
    totals::Subset child_, other_;
    std::vector<Amount> place_;  // per column: what rows that change sides can lose, up to here
};

}  // namespace treeform::and_or
