#pragma once
// The tests of a node whose trees cost at most so much, where paths may have two tests or more: see intervals.cpp.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../contree/all_splits.hpp"
#include "../contree/root.hpp"
#include "../contree/search.hpp"

namespace treeform::and_or {

template <class W>
class NodeTests {
public:
    using Cost = typename W::Cost;
    using Subset = contree::Node<W>;
    using Splits = contree::AllSplits<W>;

    NodeTests(const contree::Table<W>& table, contree::Control& control, const std::string& simd, int columns)
        : table_(table), control_(control),
          scans_(contree::choose_scans<typename W::Key, typename W::Sum>(simd.c_str())), searches_(columns),
          whole_by_(columns), turn_(columns), work_(columns) {}

    /// After the prices of the table have changed.
    TREEFORM_COLD void use(const contree::Settings& rules, Cost support) {
        rules_ = rules, support_ = support;
        search_ = std::make_unique<contree::Search<W>>(table_, rules_, control_, scans_);
        two_ = std::make_unique<Splits>(table_, rules_, control_, counters_, scans_);
    }
    /// The cheapest tree on all rows. `show` receives what all trees cost at least, also where it is stopped.
    template <class Show>
    TREEFORM_COLD contree::Answer<Cost> solve(const Subset& all, int depth, const Show& show) {
        if (rules_.steps > 0)  // only a cheap tree
            return search_->solve(0, {all, depth, contree::full_tree(depth), kFar, support_}, whole_by_.data());
        contree::Settings rules = rules_;
        rules.depth = depth;
        const Away nowhere;
        contree::Root<W> root(table_, all, rules, control_, scans_, nowhere);
        try {
            const auto reply = root.solve(kFar);
            show(reply.value);
            return reply;
        } catch (const Stopped&) {
            show(root.lower());
            throw;
        }
    }

    /// `visit`: feature, place in its order, and what the sides cost at least.
    template <class Visit>
    void each(const Subset& subset, int depth, Cost budget, const Visit& visit) {
        if (depth == 2)
            pairs(subset, budget, visit);
        else
            deep(subset, depth, budget, visit);
    }

private:
    static constexpr Cost kFar = std::numeric_limits<Cost>::max() / 8;

    const contree::Table<W>& table_;
    contree::Control& control_;
    contree::ScanTable<typename W::Key, typename W::Sum> scans_;
    contree::Settings rules_;
    contree::Counters counters_;
    Cost support_ = 0;
    std::unique_ptr<contree::Search<W>> search_;
    std::unique_ptr<Splits> two_;
    std::vector<contree::IntervalSearch<W>> searches_;
    std::vector<Cost> whole_by_;
    std::vector<int> turn_;
    contree::SplitWork<W> work_;

    Cost penalty() const { return static_cast<Cost>(rules_.node_penalty); }

    template <class Visit>
    void pairs(const Subset& subset, Cost budget, const Visit& visit) {
        if (budget < penalty()) return;
        two_->for_each({subset, 2, contree::full_tree(2), budget + 1, support_}, budget + 1,
                       [&](const typename Splits::Split& split) {
                           visit(split.test.feature, split.rows, split.left, split.right);
                           return budget + 1;
                       });
    }

    template <class Visit>
    void deep(const Subset& subset, int depth, Cost budget, const Visit& visit) {
        const Cost room = budget + 1 - penalty();
        if (room <= 0) return;
        const auto whole = search_->solve(
            1, {subset, depth - 1, contree::full_tree(depth - 1), kFar, support_}, whole_by_.data());
        contree::order_features(turn_, static_cast<const Cost*>(nullptr), whole_by_, whole.as_test());
        search_->turn_to_another(0);
        for (const int f : turn_) {
            auto& one = searches_[f];
            one.cuts.take(table_, subset, f, support_);
            one.begin(rules_, table_.features, subset.total_mass, whole.lower, whole.proven, whole_by_.data());
            while (one.next(room, work_.pick, work_.left.by.data(), work_.right.by.data(), counters_)) {
                control_.check();
                search_->evaluate(0, {subset, depth, contree::full_tree(depth), budget + 1, support_},
                                  {f, one.cuts.key(work_.pick.cut)}, room, room, work_);
                if (work_.found)
                    visit(f, std::size_t(work_.pick.cut), work_.left.reply.value, work_.right.reply.value);
                contree::Search<W>::settle(one, room, work_, counters_);
            }
        }
    }
};

}  // namespace treeform::and_or
