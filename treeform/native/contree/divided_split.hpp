#pragma once
// A split of the root whose sides are searched by several questions each, one after the other as in
// Search::solve_sides. A question is a group of the features that the tree of the side may begin with; the groups of a
// side are answered at the same time. Each begins with the hinted test of the side, which is seldom far from its best
// tree. So the groups lack little by not knowing of each other.
#include "away.hpp"

namespace treeform::contree {

/// A group of root features of one side of a split; see Search::solve_group.
template <class W>
struct GroupQuestion {
    using Cost = typename W::Cost;
    int depth = 0;  // of the side
    std::int64_t budget = 0;
    Cost cap = 0, lower = 0, supported = 0;
    Test test, hint;  // of the split; a root test of the side to try first
    bool at_left = false;
    int group = 0, groups = 1;
    std::vector<Cost> by;

    explicit GroupQuestion(int features) : by(features) {}
    Subproblem<W> task(const Node<W>& node) const {
        return {node, depth, budget, cap, 0, lower, supported, by.data(), hint};
    }
    TREEFORM_COLD Message write() const {
        Message out;
        Writer writer(out);
        writer.add(kGroup, depth, budget, cap, lower, supported, at_left, group, groups);
        writer.add_test(test), writer.add_test(hint);
        writer.add_all(by);
        return out;
    }
    TREEFORM_COLD void read(const Message& in, int features) {
        Reader reader(in);
        std::int64_t kind = 0;
        int left = 0;
        reader.take(kind, depth, budget, cap, lower, supported, left, group, groups);
        reader.take_test(test, features), reader.take_test(hint, features);
        reader.take_all(by);
        reader.finish();
        at_left = left != 0;
        if (kind != kGroup || depth < 3 || test.feature < 0 || groups < 2 || group < 0 || group >= groups
            || groups > features)
            Reader::refuse();
    }
};

template <class W>
TREEFORM_COLD Message write_group_reply(const Answer<typename W::Cost>& reply, const std::vector<typename W::Cost>& by,
                                        const Counters& counters) {
    Message out;
    Writer writer(out);
    writer.add(reply.found, reply.value, reply.lower, reply.proven);
    writer.add_all(by);
    if (reply.found) writer.add_plan(reply.as_plan());
    write_counters(writer, counters);
    return out;
}

/// The reply to a question about a group.
template <class W>
TREEFORM_COLD Message answer_group(Search<W>& search, const Node<W>& root, int features, const Message& asked) {
    GroupQuestion<W> question(features);
    question.read(asked, features);
    const Counters before = search.counters();
    std::vector<typename W::Cost> by(features);
    const auto reply = search.solve_group(root, question.test, question.at_left, question.task(root), question.group,
                                          question.groups, by.data());
    return write_group_reply<W>(reply, by, search.counters().since(before));
}

/// Into how many questions each side of a split is divided. What it will take is what the last split of that feature
/// took, in scans: one that was settled, so that the number does not depend on who works. 0: none was.
inline int groups_of_side(const Settings& rules, int depth, std::int64_t budget, int features, std::uint64_t scans) {
    constexpr std::uint64_t kGroupScans = 100'000;  // of both sides: some 20 ms for a question
    const std::int64_t side = std::min(full_tree(depth - 1), budget - 1);
    if (rules.side_parts <= 1 || depth < 4 || 2 * side > budget - 1) return 1;
    const int most = std::min(rules.side_parts, features);
    return scans == 0 ? most : static_cast<int>(std::clamp<std::uint64_t>(scans / kGroupScans, 1, most));
}

template <class W>
class DividedSplit {
public:
    using Cost = typename W::Cost;
    using Work = SplitWork<W>;
    static constexpr Cost kInf = IntervalSearch<W>::kInf;

    explicit DividedSplit(int features) : by_(features) {}

    TREEFORM_COLD void begin(const Question<W>& split, bool left_first, int groups, Work& work) {
        split_ = split, left_first_ = left_first, groups_ = groups, sides_ = 0;
        work.open(split.room);
    }

    /// The questions about the next side; none when the split is settled.
    TREEFORM_COLD std::vector<Message> next(Work& work) {
        auto &left = work.left, &right = work.right;
        while (sides_ < 2) {
            const bool at_left = (sides_++ == 0) == left_first_;
            if (sides_ == 2 && left.supported + right.supported - work.pick.reach >= split_.cutoff) break;
            auto& side = at_left ? left : right;
            const Cost cap = split_.cutoff - (at_left ? right : left).supported + work.pick.reach;
            if (cap > side.supported) return questions(side, at_left, cap);
        }
        work.total = left.lower + right.lower, work.proven = left.supported + right.supported;
        if (left.reply.found && right.reply.found) work.take(split_.test, left.reply, right.reply);
        return {};
    }

    /// Take over the reply of a group; true when it was the last one of its side.
    TREEFORM_COLD bool read(const Message& in, int group, Work& work, Counters& counters) {
        Reader reader(in);
        Answer<Cost> reply;
        int found = 0;
        reader.take(found, reply.value, reply.lower, reply.proven);
        std::vector<Cost> by(by_.size());
        reader.take_all(by);
        if (found) reply.plan = reader.take_plan(static_cast<int>(by.size()), split_.depth - 1);
        read_counters(reader, counters);
        reader.finish();
        for (std::size_t f = 0; f < by.size(); ++f) by_[f] = std::max(by_[f], by[f]);
        best_.lower = std::min(best_.lower, reply.lower), best_.proven = std::min(best_.proven, reply.proven);
        // Of groups that found trees of the same cost the first counts, whoever answers first.
        if (found && (!best_.found || reply.value < best_.value || (reply.value == best_.value && group < group_))) {
            best_.found = true, best_.value = reply.value, best_.plan = reply.plan;
            group_ = group;
        }
        if (--waiting_ > 0) return false;
        close(side_left_ ? work.left : work.right);
        return true;
    }

private:
    Question<W> split_;
    bool left_first_ = true, side_left_ = true;
    int groups_ = 1, sides_ = 0, waiting_ = 0, group_ = 0;
    Answer<Cost> best_;  // of the side in work, over its groups
    std::vector<Cost> by_;

    TREEFORM_COLD std::vector<Message> questions(const typename Work::Part& side, bool at_left, Cost cap) {
        side_left_ = at_left, waiting_ = groups_;
        best_ = {}, best_.value = cap, best_.lower = best_.proven = kInf;
        std::fill(by_.begin(), by_.end(), 0);
        GroupQuestion<W> question(static_cast<int>(by_.size()));
        question.depth = split_.depth - 1, question.cap = cap;
        question.budget = std::min(full_tree(split_.depth - 1), split_.budget - 1);
        question.lower = side.lower, question.supported = side.supported;
        question.test = split_.test, question.hint = side.hint, question.at_left = at_left;
        question.groups = groups_, question.by = side.by;
        std::vector<Message> all;
        for (; question.group < groups_; ++question.group) all.push_back(question.write());
        return all;
    }

    /// What the groups state together, as Search::search puts it for all features.
    TREEFORM_COLD void close(typename Work::Part& side) {
        Cost low = best_.lower;
        for (const Cost bound : by_) low = std::min(low, bound);
        best_.lower = best_.found ? std::min(low, best_.value) : low;
        best_.proven = std::min(best_.value, std::max(side.supported, best_.proven));
        side.reply = best_;
        side.improve(by_);
    }
};

}  // namespace treeform::contree
