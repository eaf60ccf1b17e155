#include "parts.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace treeform::binary {
namespace {

/// Tests up to which bounds of pairs travel: four numbers of 32 bits for each test, below ten thousand bytes.
constexpr std::size_t kMostPaired = 600;
constexpr Cost kMostOfPair = std::numeric_limits<std::int32_t>::max();

constexpr std::uint64_t Counters::* kCounted[] = {
    &Counters::nodes,      &Counters::depth_two,         &Counters::depth_three,  &Counters::rows,
    &Counters::cache_hits, &Counters::pruned_similarity, &Counters::pruned_bound, &Counters::work};

/// A question: the upper bound, and the bounds of pairs that are known, as in `RootTest`, for the value 0 of the test
/// and then for 1; none where they do not travel.
template <class IO>
void exchange_question(IO& io, RootTest& part, std::vector<Cost>& pairs, std::size_t features) {
    io.all(part.upper);
    io.count(pairs, 4 * features), io.each(pairs);
    io.all(part.feature);
    io.require((pairs.empty() || pairs.size() == 4 * features) && part.feature >= 0
               && std::size_t(part.feature) < features);
}

/// Its reply: the least cost, or a bound; bounds of both sides, and of the pairs if some were given.
struct Reply {
    Cost settled = 0, cost = kNever, lower[2] = {0, 0};
    Counters counters;
    std::vector<Cost> pairs;
    FlatTree tree;

    template <class IO>
    void exchange(IO& io, std::size_t features, int labels) {
        io.all(settled, cost, lower[0], lower[1]);
        for (const auto member : kCounted) io.all(counters.*member);
        io.count(pairs, 4 * features), io.each(pairs);
        io.require(pairs.empty() || pairs.size() == 4 * features);
        if (cost < kNever) io.tree(tree, features, labels);
    }
};

}  // namespace

// -- where parts are answered --------------------------------------------------------------------------------

PartSearch::PartSearch(const Points& points, const Settings& settings, Control& control)
    : labels_(points.labels), settings_(settings), control_(control) {
    settings_.threads = 1;
    auto row_sets = make_row_sets(points, settings_);
    row_sets->limits = &control_;
    shared_ = std::make_unique<SharedIncumbent>(*row_sets, settings_, control_);
    search_ = std::make_unique<Search>(std::move(row_sets), settings_, *shared_, control_, settings_.memory);
}

Message PartSearch::evaluate(const Message& question) {
    const std::size_t features = search_->row_sets().literal.size();
    RootTest part;
    std::vector<Cost> pairs;
    read_all(question, [&](auto& io) { exchange_question(io, part, pairs, features); });
    const auto middle = pairs.begin() + std::ptrdiff_t(pairs.size() / 2);
    part.pairs[0].assign(pairs.begin(), middle), part.pairs[1].assign(middle, pairs.end());
    const Counters before = search_->counters;
    try {
        solve(part);
    } catch (const Stopped&) {  // what it has proved by then is true
        if (control_.out_of_memory()) throw;
    }
    control_.take();
    Reply reply;
    std::copy(part.lower, part.lower + 2, reply.lower);
    reply.settled = plus(plus(part.lower[0], part.lower[1]), settings_.node_penalty);
    const bool found = part.plan && part.cost <= reply.settled && part.cost < part.upper;
    if (found) reply.cost = part.cost, reply.tree = search_->write(part.plan);
    for (const auto member : kCounted) reply.counters.*member = search_->counters.*member - before.*member;
    for (const auto& some : part.pairs)
        for (const Cost low : some) reply.pairs.push_back(std::min<Cost>(low, kMostOfPair));
    return written([&](auto& io) { reply.exchange(io, features, labels_); });
}

// -- where they are asked for --------------------------------------------------------------------------------

std::vector<int> Search::root_tests() {
    if (frames_[0].order.empty()) open(root_, 0, settings_.depth, most_tests());
    std::vector<int> features;
    for (const int column : frames_[0].order) features.push_back(int(root_.feature[column]));
    return features;
}

Cost Search::root_bound(int feature) {
    Frame& frame = frames_[0];
    const int column = column_of(root_, feature);
    if (similarity_) similarity(root_, frame, column);
    return plus(plus(frame.side_lower[0][column], frame.side_lower[1][column]), settings_.node_penalty);
}

void Search::settle_root(int feature, const Cost* lower) {
    Frame& frame = frames_[0];
    const int column = column_of(root_, feature), one = root_.flip[column] ? 1 : 0;
    for (int s = 0; s < 2; ++s)
        frame.side_lower[s][column] = std::max(frame.side_lower[s][column], lower[s == one]);
    frame.settled.push_back(column);
}

void Parts::prove() {
    const std::vector<int> tests = this->tests();
    const std::size_t features = search_.row_sets().literal.size();
    if (features <= kMostPaired) pairs_.assign(features, std::vector<Cost>(4 * features));
    std::vector<Cost> lower(tests.size(), settings_.node_penalty);
    LeastCost least{shared_.limit()};
    const auto question = [&](std::size_t i) {
        lower[i] = std::max(lower[i], search_.root_bound(tests[i]));
        RootTest part;
        part.feature = tests[i], part.upper = least.upper({i, 0});
        if (lower[i] >= part.upper) return Message{};
        std::vector<Cost> known = pairs_.empty() ? std::vector<Cost>{} : pairs_[std::size_t(part.feature)];
        return written([&](auto& io) { exchange_question(io, part, known, features); });
    };
    ask_all(away_, control_, tests.size(), question, [&](std::size_t i, const Message& in) {
        Reply reply;
        read_all(in, [&](auto& io) { reply.exchange(io, features, points_.labels); });
        search_.counters += reply.counters;
        search_.settle_root(tests[i], reply.lower);
        note(tests[i], reply.pairs);
        lower[i] = std::max(lower[i], reply.settled);
        if (least.take(reply.cost, {i, 0})) search_.follow(reply.tree);
        shared_.prove(std::min(least.cost, *std::min_element(lower.begin(), lower.end())));
    });
    // Tests that were left out are settled, too.
    for (const Cost low : lower) least.cost = std::min(least.cost, low);
    shared_.prove(least.cost);
    if (least.tied && shared_.settled())
        shared_.replace(tree(tests[std::size_t(least.key.first)], shared_.upper()));
}

/// In the order of the search. Of tests that part the points in the same way, such as one and its opposite, the first
/// stands for all: two workers would search the same.
std::vector<int> Parts::tests() const {
    std::set<std::vector<std::uint64_t>> known;
    std::vector<int> all;
    for (const int test : search_.root_tests()) {
        std::vector<std::uint64_t> ones = search_.row_sets().literal[std::size_t(test)];
        if (ones[0] & 1)
            for (std::size_t w = 0; w < ones.size(); ++w) ones[w] ^= search_.root_cover()[w];
        if (known.insert(std::move(ones)).second) all.push_back(test);
    }
    return all;
}

/// The same rows are met from both tests of a pair.
void Parts::note(int test, const std::vector<Cost>& pairs) {
    if (pairs_.empty()) return;
    const std::size_t features = pairs_.size(), t = std::size_t(test);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const std::size_t value = k / (2 * features), other = k / 2 % features;
        Cost &mine = pairs_[t][k], &theirs = pairs_[other][(k % 2) * 2 * features + 2 * t + value];
        mine = theirs = std::max({mine, theirs, pairs[k]});
    }
}

PlanPtr Parts::tree(int test, Cost cost) const {
    Settings below = settings_;
    below.upper = cost + search_.row_sets().offset;  // nothing of that cost is news
    search_.release();
    RootTest part;
    part.feature = test, part.upper = cost + 1;
    PartSearch(points_, below, control_).solve(part);
    if (part.cost != cost) throw std::logic_error("a tree differs from its part");
    return part.plan;
}

}  // namespace treeform::binary
