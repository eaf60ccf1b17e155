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

Part Part::read(const Message& in, const Instance& instance, int most) {
    MessageReader reader(in);
    Part part;
    part.upper = reader.take(), reader.take(0, 1);
    part.tests = int(reader.take(1, most + 1));
    part.begin = int(reader.take(Plan::kPass, instance.view.splits));
    part.end = int(reader.take(part.begin + 1, instance.view.splits + 1));
    reader.finish();
    return part;
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
    Cost best = need, least = kNever;
    std::size_t place = parts.size();
    std::mutex mutex;
    share_out(away_.callers, parts.size(), [&](int, std::size_t i) {
        Part part = parts[i];
        {
            const std::lock_guard lock(mutex);
            control_.check();
            // Of several ranges that attain the least cost the first counts.
            part.upper = best + (place < parts.size() && i < place);
        }
        const Message reply = away_.ask(part.write());
        if (reply.empty()) throw Stopped{};
        MessageReader reader(reply);
        const std::lock_guard lock(mutex);
        const Cost settled = reader.take(), cost = reader.take();
        for (const auto member : kCounted) counters_.*member += std::uint64_t(reader.take());
        reader.finish();
        least = std::min(least, settled);
        if (cost >= kNoBound) return;
        if (cost < best || (cost == best && i < place && place < parts.size())) best = cost, place = i;
    });
    if (place == parts.size()) return {std::min(need, least), nullptr};
    const Part& first = parts[place];
    Answer answer = search_.solve_range(tests, first.begin, first.end, best + 1);
    if (!answer.plan || answer.value != best) throw std::logic_error("a diagram differs from its part");
    return answer;
}

PartSearch::PartSearch(const Points& points, const Settings& settings, Control& control) : settings_(settings) {
    in_.build(points, settings.min_support, settings.memory, settings.simd, control);
    search_ = std::make_unique<Search>(in_, settings_, control, counters_);
}

Message PartSearch::evaluate(const Message& question) {
    const Part part = Part::read(question, in_, settings_.max_nodes);
    const Counters before = counters_;
    try {
        const Answer answer = search_->solve_range(part.tests, part.begin, part.end, part.upper);
        Message out{answer.value, answer.plan ? answer.value : kNoBound};
        for (const auto member : kCounted) out.push_back(std::int64_t(counters_.*member - before.*member));
        return out;
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {}
    return {};
}

}  // namespace treeform::diagram
