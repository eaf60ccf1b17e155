#pragma once
// Rules on paths in the AND/OR graph: see path_states.cpp.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../totals/minima.hpp"

namespace treeform::and_or {

using totals::Amount;

constexpr std::int32_t kFree = -1;  // the state in which everything may follow

/// What may be tested, by what was tested above: an automaton over the columns of the table, in state 0 at the root.
/// Without states everything is free.
struct PathStates {
    std::vector<std::uint8_t> allowed;  // [state][column]
    std::vector<std::int32_t> next;     // [state][column][side]: the state below an allowed test, or kFree
    std::vector<std::uint8_t> may_end;  // per state: whether a leaf may stand there
    std::size_t columns = 0;
    std::int32_t start() const { return may_end.empty() ? kFree : 0; }
    bool allows(std::int32_t state, int column) const { return allowed[std::size_t(state) * columns + column]; }
    std::int32_t after(std::int32_t state, int column, int side) const {
        return state == kFree ? kFree : next[(std::size_t(state) * columns + column) * 2 + side];
    }
    bool ends(std::int32_t state) const { return state == kFree || may_end[state]; }
};

struct Cut {
    int column;
    Amount least[2];  // of both sides
};

/// Least prices of trees that keep to the rules, over those of all trees.
class PathMinima {
public:
    PathMinima(const PathStates&, const totals::Control&, totals::Rows&, totals::Minima&);
    /// At other prices nothing is known.
    void forget() { known_.clear(); }
    /// The least price of a tree of at most that depth in a state; exact.
    Amount least(totals::Subset& node, int depth, std::int32_t state);
    /// Every test that is allowed and whose trees cost at most `limit`, by column.
    std::vector<Cut> within(totals::Subset& node, int depth, std::int32_t state, Amount limit);
    /// A tree of the least price.
    FlatTree best_tree(totals::Subset& node, int depth, std::int32_t state);

private:
    struct Place {
        totals::Key key;
        std::int32_t state;
        bool operator==(const Place&) const = default;
    };
    struct PlaceHash {
        std::size_t operator()(const Place& p) const { return totals::KeyHash{}(p.key) * 31 + std::size_t(p.state); }
    };
    Amount one(const totals::Subset& node, std::int32_t state);
    bool sides(totals::Subset& node, int depth, std::int32_t state, int column, Cut& out);
    void build(totals::Subset& node, int depth, std::int32_t state, FlatTree& tree, int at);

    const PathStates& states_;
    const totals::Control& control_;
    totals::Rows& rows_;
    totals::Minima& minima_;
    std::unordered_map<Place, Amount, PlaceHash> known_;
};

}  // namespace treeform::and_or
