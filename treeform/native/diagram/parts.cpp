#include "parts.hpp"

#include <algorithm>
#include <stdexcept>

namespace treeform::diagram {
namespace {

/// Ranges of tests, about; more of them serve more workers.
constexpr int kRanges = 64;

constexpr std::uint64_t Counters::* kCounted[] = {
    &Counters::states,  &Counters::transpositions, &Counters::bounded,  &Counters::candidates, &Counters::intervals,
    &Counters::refuted, &Counters::groupings,      &Counters::trees,    &Counters::tree_hits,  &Counters::stumps,
    &Counters::pairs,   &Counters::given_up,       &Counters::evictions};

}  // namespace

template <class IO>
void Part::exchange(IO& io, const Instance& instance, int most) {
    int hints = 0;
    io.all(upper, hints, tests, begin, end);
    io.require(hints == 0 && tests >= 1 && tests <= most && begin >= Plan::kPass && begin < end
               && end <= instance.view.splits);
}

/// What a range came to: nothing below `settled`, or its least cost.
template <class IO>
void exchange(IO& io, Cost& settled, Cost& cost, Counters& counters) {
    io.all(settled, cost);
    for (const auto member : kCounted) io.all(counters.*member);
}

/// A range is of one feature; a pass-through at the root is a range of its own.
std::vector<Part> Parts::all(int tests) const {
    std::vector<Part> parts;
    const int most = (in_.view.splits + kRanges - 1) / kRanges;
    const auto add = [&](int begin, int end) { parts.push_back({0, tests, begin, end}); };
    for (int f = 0; f < in_.view.features; ++f)
        for (int begin = in_.view.first[f]; begin < in_.view.first[f + 1]; begin += most)
            add(begin, std::min(begin + most, in_.view.first[f + 1]));
    if (search_.root_may_pass(tests)) add(Plan::kPass, Plan::kPass + 1);
    return parts;
}

Answer Parts::solve(int tests, Cost need) {
    const std::vector<Part> parts = all(tests);
    LeastCost best{need};
    Cost least = kNever;
    const auto question = [&](std::size_t i) {
        Part part = parts[i];
        part.upper = best.upper({i, 0});
        return written([&](auto& io) { part.exchange(io, in_, settings_.max_nodes); });
    };
    ask_all(away_, control_, parts.size(), question, [&](std::size_t i, const Message& reply) {
        Cost settled = 0, cost = 0;
        Counters more;
        read_all(reply, [&](auto& io) { exchange(io, settled, cost, more); });
        for (const auto member : kCounted) counters_.*member += more.*member;
        least = std::min(least, settled);
        if (cost < kNoBound) best.take(cost, {i, 0});
    });
    if (!best.tied) return {std::min(need, least), nullptr};
    const Part& first = parts[std::size_t(best.key.first)];
    Answer answer = search_.solve_range(tests, first.begin, first.end, best.cost + 1);
    if (!answer.plan || answer.value != best.cost) throw std::logic_error("a diagram differs from its part");
    return answer;
}

PartSearch::PartSearch(const Points& points, const Settings& settings, Control& control) : settings_(settings) {
    in_.build(points, settings.min_support, settings.memory, settings.simd, control);
    search_ = std::make_unique<Search>(in_, settings_, control, counters_);
}

Message PartSearch::evaluate(const Message& question) {
    Part part;
    read_all(question, [&](auto& io) { part.exchange(io, in_, settings_.max_nodes); });
    const Counters before = counters_;
    const Answer answer = search_->solve_range(part.tests, part.begin, part.end, part.upper);
    Cost settled = answer.value, cost = answer.plan ? answer.value : kNoBound;
    Counters done = counters_;
    for (const auto member : kCounted) done.*member -= before.*member;
    return written([&](auto& io) { exchange(io, settled, cost, done); });
}

}  // namespace treeform::diagram
