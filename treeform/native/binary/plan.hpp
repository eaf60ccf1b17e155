#pragma once
// A tree as the search stores it: only the tests above the subtrees that are solved directly. Those are solved again
// when the tree is written.
#include <algorithm>
#include <atomic>
#include <memory>

#include "problem.hpp"

namespace treeform::binary {

struct Plan;
using PlanPtr = std::shared_ptr<const Plan>;

struct Plan {
    enum Kind : std::uint8_t { leaf, solved, split } kind = leaf;
    std::uint8_t depth = 0;            // solved: depth 1 or 2, with at most `tests` tests
    std::int32_t tests = 0;
    std::int32_t feature = -1;         // split
    PlanPtr child[2];                  // split: where the feature is 0, where it is 1

    static inline std::atomic<std::int64_t> live{0};       // how many there are, for the memory limit
    static constexpr std::int64_t kBytes = 96;             // with what the allocator and the counts of owners add
    Plan() { live.fetch_add(1, std::memory_order_relaxed); }
    Plan(Plan&& o) noexcept : kind(o.kind), depth(o.depth), tests(o.tests), feature(o.feature) {
        live.fetch_add(1, std::memory_order_relaxed);
        child[0] = std::move(o.child[0]), child[1] = std::move(o.child[1]);
    }
    ~Plan() { live.fetch_sub(1, std::memory_order_relaxed); }

    static PlanPtr a_leaf() {
        static const PlanPtr one = std::make_shared<const Plan>();
        return one;
    }
    static PlanPtr solve_directly(int depth, int tests) {
        if (tests == 0 || depth == 0) return a_leaf();
        static const PlanPtr common[] = {make(1, 1), make(2, 1), make(2, 2), make(2, 3)};
        return depth == 1 ? common[0] : common[std::min(tests, 3)];
    }
    static PlanPtr test(int feature, PlanPtr zero, PlanPtr one) {
        Plan p;
        p.kind = split, p.feature = feature;
        p.child[0] = std::move(zero), p.child[1] = std::move(one);
        return std::make_shared<const Plan>(std::move(p));
    }

private:
    static PlanPtr make(int depth, int tests) {
        Plan p;
        p.kind = solved, p.depth = std::uint8_t(depth), p.tests = tests;
        return std::make_shared<const Plan>(std::move(p));
    }
};

}  // namespace treeform::binary
