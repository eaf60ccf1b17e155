#include "parts.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace treeform::totals {
namespace {

/// Beyond that many tests messages would be longer than ten thousand bytes.
constexpr std::size_t kMostColumns = 250;
constexpr Amount kUnknown = -2 * kNone;

constexpr std::uint64_t Counters::* kCounted[] = {
    &Counters::depth_two,         &Counters::subproblems, &Counters::cache_hits, &Counters::pruned_bound,
    &Counters::pruned_similarity, &Counters::fronts,      &Counters::kept,       &Counters::pairs};

/// A loss that is not known yet counts as the least that is possible.
Amount least_loss(Amount price, Amount minimum) { return price >= kNone ? kNone : price - minimum; }

}  // namespace

template <class IO>
void Part::exchange(IO& io, const Table& table, int columns) {
    io.all(upper);
    io.count(hints, 4 * std::size_t(columns)), io.each(hints);
    io.all(kind, column, depth, unit);
    io.require((kind == price || kind == front) && column >= 0 && column < columns && depth >= 4 && depth < 10);
    multiplier.resize(std::size_t(table.rows)), io.each(multiplier);
    if (kind == price) return;
    io.all(root_minimum, main);
    io.count(active, kMostActive);
    io.require(main >= -1 && main < int(active.size()));
    for (Active& a : active) {
        io.all(a.row, a.sign, a.both);
        io.require(a.row >= 0 && a.row < table.rows && (a.sign == -1 || a.sign == 1));
    }
}

template <class IO>
void Reply::exchange(IO& io, const Table& table, int columns) {
    io.all(settled, cost, loss);
    for (const auto member : kCounted) io.all(counters.*member);
    io.count(pairs, 4 * std::size_t(columns)), io.each(pairs);
    if (cost < kNone) io.tree(tree, table.columns, table.labels);
}

/// Steps of the counts of pairs below all paths of one test at the root, at most; the bounds leave a small part of
/// them.
bool Parts::travel(int depth) const {
    const Rows& rows = team_.first().rows;
    const double columns = rows.columns;
    return away_ && depth >= 4 && std::pow(columns, depth - 1) * rows.words * table_.kinds >= settings_.least_steps;
}

/// About the prices of the team, with the bounds that are known.
Message Parts::question(Part part) const {
    const Prices& prices = team_.first().minima.prices();
    part.unit = prices.unit, part.multiplier = prices.multiplier;
    part.hints = hints(part.column);
    return written([&](auto& io) { part.exchange(io, table_, team_.first().rows.columns); });
}

Reply Parts::reply(const Message& in) {
    Reply reply;
    read_all(in, [&](auto& io) { reply.exchange(io, table_, team_.first().rows.columns); });
    counters.add(reply.counters);
    return reply;
}

Amount Parts::minimum(int depth) {
    Minima& minima = team_.first().minima;
    Amount best = kNone;
    const std::vector<int> order = minima.order_of_root(root_, best);
    const std::size_t columns = std::size_t(team_.first().rows.columns);
    price_.assign(columns, -kNone);
    pairs_.assign(columns <= kMostColumns ? columns * columns * 4 : 0, kUnknown);
    tree_ = {};
    // Of several tests that attain the minimum the first counts, as where a tree is built from minima.
    LeastCost least{best, best < kNone, {team_.first().rows.columns, 0}};
    const auto own = [&](std::size_t i) { return LeastCost::Key(minima.only.empty() ? order[i] : int(i), 0); };
    const auto ask = [&](std::size_t i) {
        Part part;
        part.column = order[i], part.depth = depth, part.upper = least.upper(own(i));
        return question(part);
    };
    ask_all(away_, control_, order.size(), ask, [&](std::size_t i, const Message& in) {
        const Reply found = reply(in);
        price_[order[i]] = found.settled;
        note(order[i], found.pairs);
        if (least.take(found.cost, own(i))) tree_ = found.tree;
    });
    best = least.cost;
    int label = 0;
    if (minima.leaf(root_.total, root_.weight, &label) <= best) tree_ = constant_tree(label);
    minima.keep_root(root_, best);
    return best;
}

/// Known bounds of the pairs of a test with others: four of each, as in a reply.
std::vector<Amount> Parts::hints(int column) const {
    if (pairs_.empty()) return {};
    const auto each = std::ptrdiff_t(4 * price_.size());
    return {pairs_.begin() + column * each, pairs_.begin() + (column + 1) * each};
}

/// Of the test of a reply with all others: hints for these.
void Parts::note(int column, const std::vector<Amount>& pairs) {
    const std::size_t columns = price_.size();
    if (pairs_.empty() || pairs.size() != 4 * columns) return;
    for (std::size_t j = 0; j < columns; ++j)
        for (int s = 0; s < 4; ++s) {
            Amount& known = pairs_[(j * columns + std::size_t(column)) * 4 + std::size_t(s)];
            known = std::max(known, pairs[4 * j + std::size_t(s)]);
        }
}

/// `Fronts`, each test of the root asked of others.
class FrontsInParts final : public Fronts {
public:
    FrontsInParts(Parts& parts, const FrontInput& input, const std::vector<Active>& active,
                  std::unique_ptr<Fronts> constants)
        : parts_(parts), input_(input), active_(active), constants_(std::move(constants)) {
        for (const Amount price : parts.price_) loss_.push_back(least_loss(price, input.root_minimum));
    }

    bool below(Amount upper) override {
        Amount best = upper;
        if (constants_->constant_below(upper)) best = constants_->cost(), tree_ = constants_->tree();
        search(upper, best);
        if (best < upper) cost_ = best;
        return best < upper;
    }
    bool constant_below(Amount upper) override { return constants_->constant_below(upper); }
    bool below_with(int, Amount, Amount&) override { throw std::logic_error("parts are not divided again"); }
    Amount cost() const override { return cost_; }
    FlatTree tree() override { return tree_; }

private:
    Amount slack(Amount upper) const {
        return input_.team.first().minima.prices().limit(upper - 1) - input_.root_minimum;
    }
    void search(Amount upper, Amount& best) {
        std::vector<std::pair<Amount, int>> order;
        for (int j = 0; j < int(loss_.size()); ++j)
            if (loss_[j] <= slack(upper)) order.push_back({loss_[j], j});
        std::sort(order.begin(), order.end());
        LeastCost least{best};  // of equal costs the test with the least loss counts
        const auto ask = [&](std::size_t i) {
            Part part;
            part.kind = Part::front, part.column = order[i].second, part.depth = input_.depth;
            part.root_minimum = input_.root_minimum, part.main = input_.main, part.active = active_;
            part.upper = least.upper({loss_[part.column], part.column});
            return loss_[part.column] > slack(part.upper) ? Message{} : parts_.question(part);
        };
        ask_all(parts_.away_, parts_.control_, order.size(), ask, [&](std::size_t i, const Message& in) {
            const Reply found = parts_.reply(in);
            Amount& loss = loss_[order[i].second];
            loss = found.loss < kNone ? found.loss : std::max(loss, slack(found.settled) + 1);
            if (least.take(found.cost, {found.loss, order[i].second})) tree_ = found.tree;
        });
        best = least.cost;
    }

    Parts& parts_;
    FrontInput input_;
    std::vector<Active> active_;
    std::unique_ptr<Fronts> constants_;
    std::vector<Amount> loss_;  // per test: it loses no less
    FlatTree tree_;
    Amount cost_ = kNone;
};

std::unique_ptr<Fronts> Parts::fronts(const FrontInput& input, const std::vector<Active>& active) {
    std::unique_ptr<Fronts> constants = make_fronts(input, active);
    if (!constants) return nullptr;
    return std::make_unique<FrontsInParts>(*this, input, active, std::move(constants));
}

// -- where parts are answered --------------------------------------------------------------------------------

static Settings on_one_thread(Settings settings) {
    settings.threads = 1;
    return settings;
}

PartSearch::PartSearch(const Table& table, const Settings& settings, Control& control)
    : table_(table), settings_(on_one_thread(settings)), control_(control), pricing_(table, settings_),
      team_(table, settings_, control, known_) {
    team_.first().rows.root(root_);
}

Counters PartSearch::counted() const {
    Counters sum;
    team_.add_counters(sum);
    return sum;
}

Message PartSearch::evaluate(const Message& question) {
    Part part;
    read_all(question, [&](auto& io) { part.exchange(io, table_, team_.first().rows.columns); });
    const Counters before = counted();
    take_up(part);
    take_hints(part);
    Reply reply = part.kind == Part::price ? find_price(part) : find_front(part);
    reply.counters = counted();
    for (const auto member : kCounted) reply.counters.*member -= before.*member;
    return written([&](auto& io) { reply.exchange(io, table_, team_.first().rows.columns); });
}

/// Other prices or another depth: nothing that was found counts any more.
void PartSearch::take_up(const Part& part) {
    if (part.depth == last_.depth && part.unit == last_.unit && part.multiplier == last_.multiplier) return;
    Prices prices;
    if (!pricing_.make(part.multiplier, part.unit, prices)) MessageReader::refuse();
    fronts_.reset();
    known_.clear();
    team_.set(prices);
    team_.first().minima.forget_settled(part.depth);
    last_ = part, last_.active.clear(), last_.kind = Part::price;
}

/// What others found of the pairs of this test.
void PartSearch::take_hints(const Part& part) {
    for (std::size_t k = 0; k < part.hints.size(); ++k)
        if (const Amount known = part.hints[k]; known != kUnknown)
            team_.first().minima.learn(Key().with(part.column, int(k % 4 / 2)).with(int(k / 4), int(k % 2)),
                                       {known >> 1, (known & 1) != 0});
}

/// Known bounds of the pairs of a test with every other.
std::vector<Amount> PartSearch::pairs(int column) const {
    const std::size_t columns = std::size_t(team_.first().rows.columns);
    std::vector<Amount> out;
    if (columns > kMostColumns) return out;
    for (std::size_t j = 0; j < columns; ++j)
        for (int s = 0; s < 4; ++s) {
            const auto known = known_.find(Key().with(column, s % 2).with(int(j), s / 2));
            out.push_back(known && int(j) != column ? 2 * known->lower + known->exact : kUnknown);
        }
    return out;
}

Reply PartSearch::find_price(const Part& part) {
    Minima& minima = team_.first().minima;
    const Amount limit = part.upper - 1;
    Reply reply;
    reply.settled = minima.with_test(root_, part.depth, part.column, limit);
    reply.pairs = pairs(part.column);
    if (reply.settled > limit || reply.settled >= kNone) return reply;
    reply.cost = reply.settled;
    reply.tree = minima.tree_with_test(root_, part.depth, part.column);
    return reply;
}

/// Fronts without anything that was found before.
void PartSearch::make(const Part& part) {
    fronts_.reset();
    fronts_ =
        make_fronts({table_, settings_, team_, control_, root_, part.depth, part.root_minimum, part.main}, part.active);
    if (!fronts_) throw std::bad_alloc();
    last_.kind = Part::front, last_.root_minimum = part.root_minimum, last_.main = part.main;
    last_.active = part.active;
}

Reply PartSearch::find_front(const Part& part) {
    if (!fronts_ || last_.root_minimum != part.root_minimum || last_.main != part.main || last_.active != part.active)
        make(part);
    Reply reply;
    if (!fronts_->below_with(part.column, part.upper, reply.loss)) {
        reply.settled = part.upper;
        return reply;
    }
    reply.settled = reply.cost = fronts_->cost();
    make(part);  // the tree is not to depend on earlier parts
    Amount loss;
    if (!fronts_->below_with(part.column, reply.cost + 1, loss)) throw std::logic_error("a front was lost");
    reply.tree = fronts_->tree();
    return reply;
}

}  // namespace treeform::totals
