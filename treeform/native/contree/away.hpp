#pragma once
// Splits of the root that are evaluated elsewhere: in another process, or on another machine.
//
// The sequence of the root (root.hpp) stays here. Its tasks, single thresholds, are independent of each other once they
// are chosen: what goes out is what `Search::evaluate` is given, what comes back is what it fills in, both as whole
// numbers. All sides hold the same table, so that a threshold is named by its rank.
#include <initializer_list>
#include <stdexcept>

#include "../common/cold.hpp"
#include "search.hpp"

namespace treeform::contree {

/// Numbers one after the other, for writing.
class Writer {
public:
    explicit Writer(Message& out) : out_(out) {}
    template <class... Numbers>
    void add(Numbers... numbers) {
        append({static_cast<std::int64_t>(numbers)...});
    }
    void add_test(Test test) { add(test.feature, test.key); }
    template <class Cost>
    void add_all(const std::vector<Cost>& numbers) {
        for (const Cost number : numbers) add(number);
    }
    /// A plan, the root first; what is below a split follows it.
    TREEFORM_COLD void add_plan(const PlanPtr& plan) {
        add(plan->kind);
        if (plan->kind != Plan::split) return;
        add_test(plan->test);
        add_plan(plan->left), add_plan(plan->right);
    }

private:
    Message& out_;

    TREEFORM_COLD void append(std::initializer_list<std::int64_t> numbers) { out_.insert(out_.end(), numbers); }
};

/// And for reading. What does not fit together throws: a message comes from another process, or from a file.
class Reader {
public:
    explicit Reader(const Message& in) : in_(in) {}
    template <class... Numbers>
    void take(Numbers&... numbers) {
        (take_one(numbers), ...);
    }
    void take_test(Test& test, int features) {
        take(test.feature, test.key);
        if (test.feature < -1 || test.feature >= features) refuse();
    }
    template <class Cost>
    void take_all(std::vector<Cost>& numbers) {
        for (Cost& number : numbers) take(number);
    }
    TREEFORM_COLD PlanPtr take_plan(int features, int depth) {
        int kind = 0;
        take(kind);
        if (kind < Plan::leaf || kind > Plan::split || depth < 0) refuse();
        if (kind != Plan::split) return Plan::of(static_cast<Plan::Kind>(kind));
        Test test;
        take_test(test, features);
        if (test.feature < 0) refuse();
        const PlanPtr left = take_plan(features, depth - 1), right = take_plan(features, depth - 1);
        return std::make_shared<const Plan>(Plan{Plan::split, test, left, right});
    }
    void finish() const {
        if (at_ != in_.size()) refuse();
    }
    [[noreturn]] static void refuse() { throw std::invalid_argument("a message of a split does not fit the problem"); }

private:
    const Message& in_;
    std::size_t at_ = 0;

    template <class Number>
    TREEFORM_COLD void take_one(Number& number) {
        if (at_ >= in_.size() || !std::in_range<Number>(in_[at_])) refuse();
        number = static_cast<Number>(in_[at_++]);
    }
};

/// What a question begins with.
enum Kind : std::int64_t { kSplit = 0, kGroup = 1 };

/// A split to be evaluated, and how far the tree may reach below it.
template <class W>
struct Question {
    using Cost = typename W::Cost;
    int depth = 0;
    std::int64_t budget = 0;
    Cost upper = 0, room = 0, cutoff = 0;
    Test test;

    TREEFORM_COLD Message write(const SplitWork<W>& work) const {
        Message out;
        Writer writer(out);
        writer.add(kSplit, depth, budget, upper, room, cutoff);
        writer.add_test(test);
        const auto& pick = work.pick;
        writer.add(pick.reach, pick.left, pick.right, pick.supported_left, pick.supported_right, pick.first, pick.last,
                   pick.common_left, pick.common_right, pick.support_cost_left, pick.support_cost_right);
        writer.add_test(pick.hint_left), writer.add_test(pick.hint_right);
        writer.add_all(work.left.by), writer.add_all(work.right.by);
        return out;
    }
    TREEFORM_COLD void read(const Message& in, int features, SplitWork<W>& work) {
        Reader reader(in);
        std::int64_t kind = 0;
        reader.take(kind, depth, budget, upper, room, cutoff);
        reader.take_test(test, features);
        auto& pick = work.pick;
        reader.take(pick.reach, pick.left, pick.right, pick.supported_left, pick.supported_right, pick.first, pick.last,
                    pick.common_left, pick.common_right, pick.support_cost_left, pick.support_cost_right);
        reader.take_test(pick.hint_left, features), reader.take_test(pick.hint_right, features);
        reader.take_all(work.left.by), reader.take_all(work.right.by);
        reader.finish();
        if (kind != kSplit || depth < 3 || test.feature < 0) Reader::refuse();
    }
};

TREEFORM_COLD inline void write_counters(Writer& writer, const Counters& counters) {
    writer.add(counters.nodes, counters.splits, counters.scans, counters.gathers, counters.bounded,
               counters.pruned_neighbourhood, counters.pruned_shrinking, counters.pruned_subinterval,
               counters.pruned_features);
}
TREEFORM_COLD inline void read_counters(Reader& reader, Counters& counters) {
    Counters more;
    reader.take(more.nodes, more.splits, more.scans, more.gathers, more.bounded, more.pruned_neighbourhood,
                more.pruned_shrinking, more.pruned_subinterval, more.pruned_features);
    counters.add(more);
}

template <class W>
TREEFORM_COLD Message write_reply(const SplitWork<W>& work, const Counters& counters) {
    Message out;
    Writer writer(out);
    for (const auto* part : {&work.left, &work.right}) {
        writer.add(part->lower, part->supported);
        writer.add_test(part->hint);
        writer.add_all(part->by);
    }
    writer.add(work.total, work.proven, work.dropped, work.found, work.value);
    if (work.found) writer.add_plan(work.plan);
    write_counters(writer, counters);
    return out;
}

template <class W>
TREEFORM_COLD void read_reply(const Message& in, int features, int depth, SplitWork<W>& work, Counters& counters) {
    Reader reader(in);
    for (auto* part : {&work.left, &work.right}) {
        reader.take(part->lower, part->supported);
        reader.take_test(part->hint, features);
        reader.take_all(part->by);
    }
    int dropped = 0, found = 0;
    reader.take(work.total, work.proven, dropped, found, work.value);
    work.dropped = dropped != 0, work.found = found != 0;
    work.plan = work.found ? reader.take_plan(features, depth) : nullptr;
    read_counters(reader, counters);
    reader.finish();
}

}  // namespace treeform::contree
