#include "parts.hpp"

#include <algorithm>
#include <stdexcept>

namespace treeform::diagram {

constexpr int kRanges = 64;  // of tests, about; more of them serve more workers

Answer solve_in_parts(const Away& away, const Instance& in, const Control& control, Search& search, Counters& counters,
                      int tests, Cost need) {
    std::vector<std::pair<int, int>> ranges;  // each of one feature; a pass-through is a range of its own
    const int most = (in.view.splits + kRanges - 1) / kRanges;
    for (int f = 0; f < in.view.features; ++f)
        for (int begin = in.view.first[f]; begin < in.view.first[f + 1]; begin += most)
            ranges.emplace_back(begin, std::min(begin + most, in.view.first[f + 1]));
    if (search.root_may_pass(tests)) ranges.emplace_back(Plan::kPass, Plan::kPass + 1);
    LeastCost best{need};
    Cost least = kNever;
    const auto question = [&](std::size_t i) {
        return std::optional(Question{best.upper(i), {}, {tests, ranges[i].first, ranges[i].second}});
    };
    ask_all(away, control, counters, ranges.size(), question, [&](std::size_t i, const auto& reply) {
        least = std::min(least, reply.settled);
        best.take(reply.cost, i);
    });
    if (best.key < 0) return {std::min(need, least), nullptr};
    const auto& [begin, end] = ranges[std::size_t(best.key)];
    Answer answer = search.solve_range(tests, begin, end, best.cost + 1);
    if (!answer.plan || answer.value != best.cost) throw std::logic_error("a diagram differs from its part");
    return answer;
}

PartSearch part_search(const Points& points, const Settings& settings, const Control& control) {
    struct Here {
        Instance in;
        Counters counters;
        std::unique_ptr<Search> search;
    };
    const auto here = std::make_shared<Here>();
    here->in.build(points, settings.min_support, settings.memory, settings.simd, control);
    here->search = std::make_unique<Search>(here->in, settings, control, here->counters);
    return [here, &settings](const Message& question) {
        return answered(question, here->counters, [&](const Question& asked, auto& reply) {
            int tests = 0, begin = 0, end = 0;
            Numbers::read(asked.about, [&](Numbers& io) { io.all(tests, begin, end); });
            Numbers::require(asked.hints.empty() && tests >= 1 && tests <= settings.max_nodes && begin >= Plan::kPass
                             && begin < end && end <= here->in.view.splits);
            const Answer answer = here->search->solve_range(tests, begin, end, asked.upper);
            reply.settled = answer.value;
            if (answer.plan) reply.cost = answer.value;
        });
    };
}

}  // namespace treeform::diagram
