#pragma once
// The bound with which a proof of deep trees begins: of the rows that are hard for a known tree (hard_rows.hpp), and of
// all rows when these give no more. It goes on from where a limit on work has ended it.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "hard_rows.hpp"
#include "raised_bound.hpp"

namespace treeform::contree {

template <class W>
class HardBound {
public:
    using Cost = typename W::Cost;

    /// `first` is the known tree. All but that stays as long as the bound does.
    TREEFORM_COLD HardBound(const Table<W>& table, const Node<W>& root, const Settings& rules, Control& control,
                            const ScanTable<typename W::Key, typename W::Sum>& scans, const FlatTree& first)
        : table_(table), root_(root), rules_(rules), control_(control),
          most_(static_cast<Cost>(first.cost - table.losses.offset)), bound_(table, rules, control, scans) {
        auto wrong = wrong_rows(table, first);
        all_ = are_all_hard(table, rules.depth, wrong.size());
        if (!all_) hard_ = hard_rows(table, root, wrong, control);
        bound_.cut_between(std::move(wrong));
        bound_.begin(all_ ? root : hard_, rules.depth, most_);
    }

    Cost lower() const { return bound_.lower(); }
    std::uint64_t work() const { return bound_.work(); }
    bool ended() const { return ended_; }

    /// Works on until the bound is `enough`, at most so much. The rows and targets are the same whatever is enough: a check,
    /// which wants no trees but those below a claim, proves it by the same steps.
    TREEFORM_COLD void raise(Cost enough, std::uint64_t more) {
        const std::uint64_t most_work = work() + more;
        const Cost before = lower();
        while (!ended_ && bound_.raise(enough, most_work) && lower() < enough) {
            ended_ = std::exchange(all_, true) || !are_all_in_reach(table_, rules_.depth);
            if (!ended_) bound_.begin(root_, rules_.depth, most_);
        }
        if (lower() > before) control_.publish_bound(lower() + table_.losses.offset);
    }

private:
    const Table<W>& table_;
    const Node<W>& root_;
    const Settings& rules_;
    Control& control_;
    const Cost most_;
    Node<W> hard_;
    RaisedBound<W> bound_;
    bool all_ = false, ended_ = false;  // all rows are searched, and to the end
};

}  // namespace treeform::contree
