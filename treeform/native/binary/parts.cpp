#include "parts.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace treeform::binary {
namespace {

/// Tests up to which bounds of pairs travel: four numbers of 32 bits for each test, below ten thousand bytes.
constexpr std::size_t kMostPaired = 600;
constexpr Cost kMostOfPair = std::numeric_limits<std::int32_t>::max();

}  // namespace

PartSearch::PartSearch(const Points& points, const Settings& settings, Control& control)
    : settings_(settings), control_(control) {
    settings_.threads = 1;
    auto row_sets = make_row_sets(points, settings_);
    row_sets->limits = &control_;
    shared_ = std::make_unique<SharedIncumbent>(*row_sets, settings_, control_);
    search_ = std::make_unique<Search>(std::move(row_sets), settings_, *shared_, control_, settings_.memory);
}

Message PartSearch::evaluate(const Message& question) {
    return answered(question, search_->counters, [&](const Question& asked, auto& reply) {
        const std::size_t features = search_->row_sets().literal.size();
        Numbers::require(asked.about.size() == 1 && asked.about[0] >= 0 && std::size_t(asked.about[0]) < features
                         && (asked.hints.empty() || asked.hints.size() == 4 * features));
        RootTest part{int(asked.about[0]), asked.upper, {0, 0}, kNever, nullptr, asked.hints};
        try {
            solve(part);
        } catch (const Stopped&) {  // what it has proved by then is valid
            if (control_.out_of_memory()) throw;
        }
        control_.take();
        reply.settled = part.bound(settings_.node_penalty);
        if (part.plan && part.cost <= reply.settled && part.cost < part.upper)
            reply.cost = part.cost, reply.tree = search_->write(part.plan);
        reply.more = {part.lower[0], part.lower[1]};
        for (const Cost low : part.pairs) reply.pairs.push_back(std::min(low, kMostOfPair));
    });
}

/// Of tests that part the points in the same way, such as one and its opposite, the first stands for all: two workers
/// would search the same.
std::vector<RootTest> Search::root_tests() {
    if (frames_[0].order.empty()) open(root_, 0, settings_.depth, most_tests());
    std::set<std::vector<std::uint64_t>> known;
    std::vector<RootTest> all;
    for (const int column : frames_[0].order) {
        std::vector<std::uint64_t> ones = row_sets_.literal[std::size_t(root_.feature[column])];
        if (ones[0] & 1)
            for (std::size_t w = 0; w < ones.size(); ++w) ones[w] ^= root_.cover[w];
        if (known.insert(std::move(ones)).second) all.push_back({int(root_.feature[column])});
    }
    return all;
}

void prove_in_parts(const Away& away, const Points& points, const Settings& settings, Control& control, Search& search,
                    SharedIncumbent& shared) {
    std::vector<RootTest> parts = search.root_tests();
    const Cost penalty = settings.node_penalty;
    const auto look = [&](RootTest& part) {  // its bounds without a search
        const Counters kept = search.counters;
        part.upper = 0;
        search.solve_root_test(part);
        search.counters = kept;
    };
    PairBounds pairs;
    pairs.begin(search.row_sets().literal.size(), kMostPaired, 0);
    LeastCost least{shared.limit()};
    const auto question = [&](std::size_t i) -> std::optional<Question> {
        look(parts[i]);
        parts[i].upper = least.upper({i, 0});
        if (parts[i].bound(penalty) >= parts[i].upper) return {};
        return Question{parts[i].upper, pairs.of(std::size_t(parts[i].feature)), {parts[i].feature}};
    };
    const auto lower = [&] {
        Cost all = least.cost;
        for (const RootTest& one : parts) all = std::min(all, one.bound(penalty));
        return all;
    };
    ask_all(away, control, search.counters, parts.size(), question, [&](std::size_t i, const auto& reply) {
        Numbers::require(reply.more.size() == 2);
        for (int s = 0; s < 2; ++s) parts[i].lower[s] = std::max(parts[i].lower[s], reply.more[s]);
        look(parts[i]);
        pairs.note(std::size_t(parts[i].feature), reply.pairs);
        Numbers::require(reply.cost >= kNever || reply.tree.fits(points.features, points.labels));
        if (least.take(reply.cost, {i, 0})) search.follow(reply.tree);
        shared.prove(lower());
    });
    shared.prove(least.cost = lower());  // tests that were left out are settled, too
    if (!least.tied || !shared.settled()) return;
    Settings below = settings;
    below.upper = shared.upper() + search.row_sets().offset;  // only cheaper trees are wanted
    search.release();
    RootTest first{parts[std::size_t(least.key.first)].feature, shared.upper() + 1};
    PartSearch(points, below, control).solve(first);
    if (first.cost != shared.upper()) throw std::logic_error("a tree differs from its part");
    shared.replace(first.plan);
}

}  // namespace treeform::binary
