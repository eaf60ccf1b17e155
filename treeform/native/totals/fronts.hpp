#pragma once
// All trees worth considering below a guessed cost: see fronts.cpp.
#include <memory>
#include <vector>

#include "active.hpp"
#include "control.hpp"
#include "team.hpp"

namespace treeform::totals {

class Fronts {
public:
    virtual ~Fronts() = default;
    /// Whether some tree that satisfies the active rows costs less than `upper`; the cheapest is kept.
    virtual bool below(Amount upper) = 0;
    virtual Amount cost() const = 0;
    /// The tree found, or one as cheap that satisfies the active rows as well. Tests are columns of the table.
    virtual FlatTree tree() = 0;
};

struct FrontInput {
    const Table& table;
    const Settings& settings;
    const Team& team;
    const Control& control;
    Subset& root;
    int depth;
    Amount root_minimum;
    int main;  // position of the active row by which the root's pairs are sorted; -1: none is active
    std::vector<Amount> price{};  // as in `Parts`
};

constexpr int kFewActive = 16, kMostActive = 256;
/// Null when more rows are active than solutions can carry.
std::unique_ptr<Fronts> make_fronts(const FrontInput&, const std::vector<Active>& active);

}  // namespace treeform::totals
