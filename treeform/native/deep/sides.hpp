#pragma once
// The two sides of tests on the way down a tree: one pair for each height, which holds its memory.
#include <cstddef>
#include <memory>
#include <vector>

#include "tree.hpp"

namespace treeform::deep {

template <class Space>
class SidesByHeight {
public:
    using Rows = typename Space::Rows;
    struct Sides {
        Rows left, right;
    };

    /// The sides of a test at a node of that height; they stay until the next split at that height. Null: it has none.
    Sides* split(Space& space, const Rows& rows, Test test, int height) {
        const auto at = static_cast<std::size_t>(height);
        if (sides_.size() <= at) sides_.resize(at + 1);
        if (!sides_[at]) sides_[at] = std::make_unique<Sides>();
        return space.split(rows, test, sides_[at]->left, sides_[at]->right) ? sides_[at].get() : nullptr;
    }
    void clear() { sides_.clear(); }

private:
    std::vector<std::unique_ptr<Sides>> sides_;
};

}  // namespace treeform::deep
