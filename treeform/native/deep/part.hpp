#pragma once
// Sets of rows in the deep search. The sides of a test are divided when they are first read: of many no more is asked than
// the exact tree, which is found by a hash of the set where it is kept.
#include <cstdint>

#include "../contree/divide.hpp"
#include "../contree/table.hpp"
#include "random.hpp"

namespace treeform::deep {

/// Rows that live elsewhere, or one side of a test.
template <class W>
struct Part {
    using Node = contree::Node<W>;

    mutable Node own;  // while there is an `undivided` its number of rows and its weights alone
    const Node* elsewhere = nullptr;
    std::uint64_t hash = 0;  // the sum of a number for each row
    mutable const Part* undivided = nullptr;  // the rows of both sides of the test; they stay until these are divided
    const Part *left = nullptr, *right = nullptr;
    contree::Test test;

    Part() = default;
    explicit Part(const Node& node) : elsewhere(&node), hash(hash_of(node.order(0), node.n)) {}

    /// The rows; while they are not divided yet their number and weights.
    const Node& node() const { return elsewhere ? *elsewhere : own; }

    static std::uint64_t hash_of(const typename W::Id* rows, std::size_t n) {
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += scrambled(rows[k]);
        return sum;
    }
};

/// Divides rows by tests.
template <class W>
class Division {
public:
    using Node = contree::Node<W>;

    Division(const contree::Table<W>& table, const contree::Control& control)
        : table_(table), control_(control), divider_(contree::choose_divider("auto")) {}

    /// The orders, keys and labels of all features.
    const Node& read(const Part<W>& part) {
        if (part.undivided) {
            now(part.undivided->node(), part.test, part.left->own, part.right->own);
            part.left->undivided = part.right->undivided = nullptr;
        }
        return part.node();
    }
    /// Sides whose numbers and weights are known, of rows that were read.
    void later(const Part<W>& part, contree::Test test, Part<W>& left, Part<W>& right) const {
        for (Part<W>* side : {&left, &right})
            side->undivided = &part, side->left = &left, side->right = &right, side->test = test;
    }
    void now(const Node& rows, contree::Test test, Node& left, Node& right) {
        divide_(table_, rows, test, divider_, left, right, &control_);
    }

private:
    const contree::Table<W>& table_;
    const contree::Control& control_;
    contree::Divider divider_;
    contree::DivideOnce<W> divide_;
};

/// The hashes of the sides, by the rows of the smaller one. Not divided yet, they follow each other in the feature order.
template <class W>
void hash_sides(const Part<W>& part, int feature, bool divided, Part<W>& left, Part<W>& right) {
    const bool by_left = left.own.n <= right.own.n;
    Part<W>&side = by_left ? left : right, &other = by_left ? right : left;
    const auto* rows = divided ? side.own.order(0) : part.node().order(feature) + (by_left ? 0 : left.own.n);
    side.hash = Part<W>::hash_of(rows, side.own.n), other.hash = part.hash - side.hash;
}

}  // namespace treeform::deep
