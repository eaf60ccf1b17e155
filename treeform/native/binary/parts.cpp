// The proof in parts, one for each test at the root, that are answered in another process (common/away.hpp). A reply
// states the least cost of a tree that begins with the test, and the tree that a search finds below exactly that cost
// and without what was found before: it does not depend on who answered. Trees are shown in the order of the tests. So
// where a bound that was known ends the search, it ends at the same tree.
#include <algorithm>
#include <limits>
#include <set>

#include "restarts.hpp"

namespace treeform::binary {

/// The most tests for which messages have bounds of pairs: four numbers for each test, below twenty thousand bytes.
constexpr std::size_t kMostPaired = 600;

/// The cache and the bounds of the root tests stay from one part to the next: what they state holds whatever the upper
/// bound was.
Message Restarts::evaluate(const Message& question) {
    Search& search = *workers_[0];
    return answered(question, search.counters, [&](const Question& asked, auto& reply) {
        const std::size_t features = search.row_sets().literal.size();
        Numbers::require(asked.about.size() == 1 && asked.about[0] >= 0 && std::size_t(asked.about[0]) < features
                         && (asked.hints.empty() || asked.hints.size() == 4 * features));
        RootTest part{int(asked.about[0]), asked.upper};
        if (features <= kMostPaired) part.pairs = asked.hints, part.pairs.resize(4 * features);
        search.solve_root_test(part);
        control_.take();
        reply.settled = part.bound(settings_.node_penalty);
        if (part.plan && part.cost <= reply.settled && part.cost < part.upper)
            reply.cost = part.cost, reply.tree = found_again(part);
        reply.more = {part.lower[0], part.lower[1]};
        if (!part.pairs.empty()) reply.pairs = {0};
        reply.pairs.insert(reply.pairs.end(), part.pairs.begin(), part.pairs.end());
    });
}

FlatTree Restarts::found_again(const RootTest& known) {
    Settings alone = settings_;
    alone.upper = known.cost + workers_[0]->row_sets().offset;  // only cheaper trees are published
    alone.memory = settings_.memory / 3;
    RootTest part{known.feature, known.cost + 1};
    Restarts search(points_, alone, control_, {});
    search.workers_[0]->solve_root_test(part);
    if (part.cost != known.cost) throw std::logic_error("a tree differs from its part");
    return search.workers_[0]->write(part.plan);
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

void Restarts::prove_in_parts() {
    Search& search = *workers_[0];
    std::vector<RootTest> parts = search.root_tests();
    const Cost penalty = settings_.node_penalty;
    const auto look = [&](RootTest& part) {  // its bounds without a search
        const Counters kept = search.counters;
        part.upper = 0;
        search.solve_root_test(part);
        search.counters = kept;
    };
    LeastCost least{shared_->limit()};
    std::vector<FlatTree> found(parts.size());
    std::vector<char> settled(parts.size());
    std::size_t shown = 0;
    const auto show = [&](std::size_t i) {
        settled[i] = true;
        for (; shown < parts.size() && settled[shown]; ++shown)
            if (!found[shown].empty()) search.follow(found[shown]);
    };
    const auto question = [&](std::size_t i) -> std::optional<Question> {
        look(parts[i]);
        parts[i].upper = least.upper(i);
        if (parts[i].bound(penalty) >= parts[i].upper) {
            show(i);
            return {};
        }
        return Question{parts[i].upper, {}, {parts[i].feature}};
    };
    const auto lower = [&] {
        Cost all = least.cost;
        for (const RootTest& one : parts) all = std::min(all, one.bound(penalty));
        return all;
    };
    const auto read = [&](std::size_t i, const auto& reply) {
        Numbers::require(reply.more.size() == 2);
        for (int s = 0; s < 2; ++s) parts[i].lower[s] = std::max(parts[i].lower[s], reply.more[s]);
        look(parts[i]);
        Numbers::require(reply.cost >= kNever || reply.tree.fits(points_.features, points_.labels));
        if (least.take(reply.cost, i)) found[i] = reply.tree, found[i].cost = reply.cost + search.row_sets().offset;
        shared_->prove(lower());
        show(i);
    };
    try {
        ask_all(away_, control_, search.counters, parts.size(), question, read);
    } catch (...) {
        if (least.key >= 0) unshown_ = std::move(found[std::size_t(least.key)]);
        throw;
    }
    shared_->prove(least.cost = lower());  // tests that were left out are settled, too
}

}  // namespace treeform::binary
