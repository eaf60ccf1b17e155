#include "parts.hpp"

#include <limits>
#include <stdexcept>

namespace treeform::binary {
namespace {

/// Also the order of treeform/engines/binary/distributed.py.
constexpr std::uint64_t Counters::* kCounted[] = {
    &Counters::nodes,      &Counters::depth_two,         &Counters::depth_three,  &Counters::rows,
    &Counters::cache_hits, &Counters::pruned_similarity, &Counters::pruned_bound, &Counters::work};

/// Bounds of pairs travel in 32 bits.
constexpr Cost kMostOfPair = std::numeric_limits<std::int32_t>::max();

/// The number of nodes, and a column for each property.
void append_columns(Message& out, const FlatTree& tree) {
    out.push_back(std::int64_t(tree.feature.size()));
    for (const auto* column : {&tree.feature, &tree.left, &tree.right, &tree.label})
        out.insert(out.end(), column->begin(), column->end());
}

}  // namespace

PartSearch::PartSearch(const Points& points, const Settings& settings, Control& control)
    : settings_(settings), control_(control) {
    auto row_sets = make_row_sets(points, settings_);
    row_sets->limits = &control_;
    if (row_sets->offset != 0) throw std::invalid_argument("costs of parts leave out what no tree avoids");
    shared_ = std::make_unique<SharedIncumbent>(*row_sets, settings_, control_);
    search_ = std::make_unique<Search>(std::move(row_sets), settings_, *shared_, control_, settings_.memory);
}

Message PartSearch::evaluate(const Message& question) {
    MessageReader reader(question);
    RootTest part;
    part.upper = reader.take(-kNever, kNever + 1);
    const std::size_t features = search_->row_sets().literal.size();
    const bool paired = reader.take(0, std::int64_t(4 * features) + 1) > 0;
    if (paired)
        for (auto& pairs : part.pairs) pairs = reader.take_all(2 * features);
    part.feature = int(reader.take(0, std::int64_t(features)));
    reader.finish();
    const Counters before = search_->counters;
    try {
        search_->solve_root_test(part);
    } catch (const Stopped&) {  // what it has proved by then is true
        if (control_.out_of_memory()) throw;
    }
    control_.take();
    const Cost settled = plus(plus(part.lower[0], part.lower[1]), settings_.node_penalty);
    const bool found = part.plan && part.cost <= settled && part.cost < part.upper;
    Message out{settled, found ? part.cost : kNever, part.lower[0], part.lower[1]};
    for (const auto member : kCounted) out.push_back(std::int64_t(search_->counters.*member - before.*member));
    for (const auto& pairs : part.pairs)
        for (const Cost low : pairs) out.push_back(std::min<Cost>(low, kMostOfPair));
    if (found) append_columns(out, search_->write(part.plan));
    return out;
}

}  // namespace treeform::binary
