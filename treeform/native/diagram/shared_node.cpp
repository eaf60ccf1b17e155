#include "shared_node.hpp"

#include <algorithm>
#include <limits>

namespace treeform::diagram {
namespace {

/// Most numbers that are kept of a part.
constexpr std::size_t kMostCosts = 4096;

}  // namespace

SharedNode::SharedNode(const Instance& in, bool used, std::size_t memory)
    : in_(in), pairs_(in, used), most_bytes_(memory) {
    const View& v = in.view;
    const std::size_t nodes = std::size_t(v.classes) * (v.classes - 1) * v.splits;
    const bool fits = in.total < std::numeric_limits<std::int32_t>::max();
    suits_ = used && v.classes <= kMostShared && nodes <= kMostCosts && fits;
    nodes_ = suits_ ? int(nodes) : 0;
    if (suits_) least_.resize(std::size_t(v.classes) * v.classes * ((v.splits + 7) / 8 * 8));
}

bool SharedNode::add(const Word* x) {
    work_ = 0;
    if (!suits_) return false;
    Set key(x, x + in_.words());
    auto one = known_.find(key);
    if (one == known_.end()) {
        Costs costs = count(x);
        const std::size_t bytes = costs.size() * sizeof(std::int32_t) + key.size() * sizeof(Word) + 96;
        if (bytes_ + bytes > most_bytes_ && parts_.empty()) known_.clear(), bytes_ = 0;
        bytes_ += bytes;
        one = known_.emplace(std::move(key), std::move(costs)).first;
    }
    if (one->second.empty()) return false;
    parts_.push_back(x), costs_of_.push_back(&one->second);
    return true;
}

/// f(x, h) for every node h; nothing if that takes too long.
SharedNode::Costs SharedNode::count(const Word* x) {
    if (!pairs_.pack(x)) return {};
    const Packed& at = pairs_.packed();
    Cost alone = in_.leaf(x);
    for (int s = 0; s < at.splits; ++s) alone = std::min(alone, pairs_.left_leaf(s) + pairs_.right_leaf(s));
    work_ = 1 + 2 * pairs_.work();
    in_.kernels->shared(in_.view, at, pairs_.left_leaves(), pairs_.right_leaves(), alone, least_.data());
    Costs out(nodes_ + 1, std::int32_t(alone));
    spread(x, out);
    return out;
}

/// From the splits of the packed set to all splits: those in between part it as the one before them. A node that leaves
/// the set on one side gains no more than a leaf.
void SharedNode::spread(const Word* x, Costs& out) const {
    const View& v = in_.view;
    const Packed& at = pairs_.packed();
    const Cost points = in_.kernels->count(x, v.words);
    for (int i = 0, f = 0; i < at.splits; ++i) {
        while (at.split[i] >= v.first[f + 1]) ++f;
        const bool is_last = i + 1 == at.splits || at.split[i + 1] >= v.first[f + 1];
        int end = is_last ? v.first[f + 1] : at.split[i + 1];
        while (is_last && in_.kernels->count_both(x, in_.split(end - 1), v.words) == points) --end;
        const auto on_left = [&](int k) { return at.by[std::int64_t(k) * at.stride + i]; };
        for (int a = 0, ab = 0; a < v.classes; ++a)
            for (int b = 0; b < v.classes; ++b) {
                if (a == b) continue;
                const Cost passes = on_left(a) + at.total[b] - on_left(b);
                const Cost sends = least_[std::size_t(a * v.classes + b) * at.stride + i];
                const auto cost = std::int32_t(std::min<Cost>({out.back(), passes, sends}));
                std::fill(out.begin() + std::ptrdiff_t(ab) * v.splits + at.split[i],
                          out.begin() + std::ptrdiff_t(ab) * v.splits + end, cost);
                ++ab;
            }
    }
}

Cost SharedNode::solve() {
    Cost alone = 0;
    sum_.assign(nodes_, 0);
    for (const Costs* one : costs_of_) {
        alone += one->back();
        for (int i = 0; i < nodes_; ++i) sum_[i] += (*one)[i];
    }
    const auto least = std::min_element(sum_.begin(), sum_.end());
    node_ = kNone;
    if (least == sum_.end() || *least >= alone) return alone;
    const int classes = in_.view.classes;
    node_ = int(least - sum_.begin()), split_ = node_ % in_.view.splits;
    const int ab = node_ / in_.view.splits;  // as in `spread`: b goes over the classes but a
    first_ = ab / (classes - 1), second_ = ab % (classes - 1);
    second_ += second_ >= first_;
    return *least;
}

PlanPtr SharedNode::plan() const {
    auto plan = std::make_shared<Plan>();
    for (std::size_t j = 0; j < parts_.size(); ++j) {
        const Way way = way_of(parts_[j], *costs_of_[j]);
        plan->split.push_back(way.split);
        plan->target.push_back(way.sends_left ? 0 : Plan::kTerminal);
        plan->target.push_back(way.sends_right ? 0 : Plan::kTerminal);
    }
    if (node_ != kNone)
        plan->next = std::make_shared<Plan>(Plan{{split_}, {Plan::kTerminal, Plan::kTerminal}, nullptr});
    return plan;
}

/// What the points of a set cost at the node.
Cost SharedNode::at_node(const Word* x) const {
    std::vector<Cost> by(in_.view.classes);
    Set side(in_.words());
    both(x, in_.split(split_), side.data(), in_.words());
    in_.kernels->leaf(in_.view, side.data(), by.data());
    const Cost left = by[first_];
    without(x, in_.split(split_), side.data(), in_.words());
    in_.kernels->leaf(in_.view, side.data(), by.data());
    return left + by[second_];
}

/// How a part attains its cost.
SharedNode::Way SharedNode::way_of(const Word* x, const Costs& costs) const {
    const bool sends = node_ != kNone && costs[node_] < costs.back();
    const Cost cost = sends ? costs[node_] : costs.back();
    if (!sends && in_.leaf(x) == cost) return {};
    if (sends && at_node(x) == cost) return {Plan::kPass, true, false};
    Set left(in_.words()), right(in_.words());
    for (int s = 0; s < in_.view.splits; ++s) {
        both(x, in_.split(s), left.data(), in_.words()), without(x, in_.split(s), right.data(), in_.words());
        const Cost of_left = in_.leaf(left.data()), of_right = in_.leaf(right.data());
        if (!sends) {
            if (of_left + of_right == cost) return {s, false, false};
            continue;
        }
        if (of_right <= cost && at_node(left.data()) + of_right == cost) return {s, true, false};
        if (of_left <= cost && of_left + at_node(right.data()) == cost) return {s, false, true};
    }
    return {};
}

}  // namespace treeform::diagram
