#include "parts.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace treeform::totals {
namespace {

/// Beyond that many tests messages would be longer than ten thousand bytes.
constexpr std::size_t kMostColumns = 250;
constexpr Amount kUnknown = -2 * kNone;

/// The subproblem whose bound stands at that place in the bounds of pairs of a test.
Key key_of(int column, std::size_t place, std::size_t columns) {
    return Key().with(column, int(place / (2 * columns))).with(int(place / 2 % columns), int(place % 2));
}

}  // namespace

/// Steps of the counts of pairs below all paths of one test at the root, at most; the bounds leave a small part of
/// them.
bool Parts::travel(int depth) const {
    const Rows& rows = team_.first().rows;
    const double columns = rows.columns;
    return away_ && depth >= 4 && std::pow(columns, depth - 1) * rows.words * table_.kinds >= settings_.least_steps;
}

/// About the prices of the team, with the bounds that are known.
Question Parts::question(Amount upper, int column, int depth, const Message& fronts) const {
    const Prices& prices = team_.first().minima.prices();
    Question asked{upper, pairs_.of(std::size_t(column)), {column, depth, prices.unit}};
    asked.about.insert(asked.about.end(), prices.multiplier.begin(), prices.multiplier.end());
    asked.about.insert(asked.about.end(), fronts.begin(), fronts.end());
    return asked;
}

bool Parts::take(const Reply<Counters>& reply, LeastCost& least, LeastCost::Key key, FlatTree& tree) const {
    if (!least.take(reply.cost, key)) return false;
    Numbers::require(reply.tree.fits(table_.columns, table_.labels));
    tree = reply.tree;
    return true;
}

Amount Parts::minimum(int depth) {
    Minima& minima = team_.first().minima;
    Amount best = kNone;
    const std::vector<int> order = minima.order_of_root(root_, best);
    const int columns = team_.first().rows.columns;
    price_.assign(std::size_t(columns), -kNone);
    pairs_.begin(std::size_t(columns), kMostColumns, kUnknown);
    tree_ = {};
    // Of several tests that attain the minimum the first counts, as where a tree is built from minima.
    LeastCost least{best, best < kNone, {columns, 0}};
    const auto own = [&](std::size_t i) { return LeastCost::Key(minima.only.empty() ? order[i] : int(i), 0); };
    const auto ask = [&](std::size_t i) { return std::optional(question(least.upper(own(i)), order[i], depth, {})); };
    ask_all(away_, control_, counters, order.size(), ask, [&](std::size_t i, const auto& reply) {
        price_[std::size_t(order[i])] = reply.settled;
        pairs_.note(std::size_t(order[i]), reply.pairs);
        take(reply, least, own(i), tree_);
    });
    best = least.cost;
    int label = 0;
    if (minima.leaf(root_.total, root_.weight, &label) <= best) tree_ = constant_tree(label);
    minima.keep_root(root_, best);
    return best;
}

/// `Fronts`, each test of the root asked of others.
class FrontsInParts final : public Fronts {
public:
    FrontsInParts(Parts& parts, const FrontInput& input, const std::vector<Active>& active,
                  std::unique_ptr<Fronts> constants)
        : parts_(parts), input_(input), constants_(std::move(constants)), about_{input.root_minimum, input.main} {
        for (const Active& a : active) about_.insert(about_.end(), {a.row, a.sign, a.both});
        // A loss that is not known yet counts as the least that is possible.
        for (const Amount price : parts.price_) loss_.push_back(price >= kNone ? kNone : price - input.root_minimum);
    }

    bool below(Amount upper) override {
        LeastCost least{upper};
        if (constants_->constant_below(upper)) least.cost = constants_->cost(), tree_ = constants_->tree();
        std::vector<std::pair<Amount, int>> order;
        for (int j = 0; j < int(loss_.size()); ++j)
            if (loss_[std::size_t(j)] <= slack(upper)) order.emplace_back(loss_[std::size_t(j)], j);
        std::sort(order.begin(), order.end());
        // Of equal costs the test with the least loss counts.
        const auto ask = [&](std::size_t i) -> std::optional<Question> {
            const Amount loss = loss_[std::size_t(order[i].second)], own = least.upper({loss, order[i].second});
            if (loss > slack(own)) return {};
            return parts_.question(own, order[i].second, input_.depth, about_);
        };
        ask_all(parts_.away_, parts_.control_, parts_.counters, order.size(), ask, [&](std::size_t i, const auto& reply) {
            Numbers::require(reply.more.size() == 1);
            Amount& loss = loss_[std::size_t(order[i].second)];
            loss = reply.more[0] < kNone ? reply.more[0] : std::max(loss, slack(reply.settled) + 1);
            parts_.take(reply, least, {loss, order[i].second}, tree_);
        });
        if (least.cost < upper) cost_ = least.cost;
        return least.cost < upper;
    }
    bool constant_below(Amount upper) override { return constants_->constant_below(upper); }
    bool below_with(int, Amount, Amount&) override { throw std::logic_error("parts are not divided again"); }
    Amount cost() const override { return cost_; }
    FlatTree tree() override { return tree_; }

private:
    Amount slack(Amount upper) const {
        return input_.team.first().minima.prices().limit(upper - 1) - input_.root_minimum;
    }

    Parts& parts_;
    FrontInput input_;
    std::unique_ptr<Fronts> constants_;
    Message about_;
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

Message PartSearch::evaluate(const Message& question) {
    team_.first().counters.largest = 0;
    return answered(question, team_.first().counters, [&](const Question& asked, auto& reply) {
        const std::size_t columns = std::size_t(team_.first().rows.columns);
        int column = 0;
        Message prices, fronts;
        Numbers::read(asked.about, [&](Numbers& io) {
            io.all(column), io.rest(prices, 2 + std::size_t(table_.rows)), io.rest(fronts);
        });
        Numbers::require(column >= 0 && std::size_t(column) < columns
                         && (asked.hints.empty() || (asked.hints.size() == 4 * columns && columns <= kMostColumns)));
        if (prices != prices_) take_up(prices);
        for (std::size_t k = 0; k < asked.hints.size(); ++k)
            if (const Amount known = asked.hints[k]; known != kUnknown)
                team_.first().minima.learn(key_of(column, k, columns), {known >> 1, (known & 1) != 0});
        if (fronts.empty()) return find_price(column, asked, reply);
        if (!fronts_ || fronts != asked_fronts_) make(fronts);
        find_front(column, asked, reply);
    });
}

/// Other prices or another depth: nothing that was found counts any more.
void PartSearch::take_up(const Message& prices) {
    Prices made;
    Numbers::require(prices[0] >= 4 && prices[0] < 10 && pricing_.make({prices.begin() + 2, prices.end()}, prices[1], made));
    fronts_.reset();
    known_.clear();
    team_.set(made);
    team_.first().minima.forget_settled(int(prices[0]));
    prices_ = prices;
}

void PartSearch::find_price(int column, const Question& asked, Reply<Counters>& reply) {
    Minima& minima = team_.first().minima;
    const int depth = int(prices_[0]);
    reply.settled = minima.with_test(root_, depth, column, asked.upper - 1);
    const std::size_t columns = std::size_t(team_.first().rows.columns);
    for (std::size_t k = 0; k < asked.hints.size(); ++k) {
        const auto known = known_.find(key_of(column, k, columns));
        const bool is_pair = k / 2 % columns != std::size_t(column);
        reply.pairs.push_back(known && is_pair ? 2 * known->lower + known->exact : kUnknown);
    }
    if (reply.settled >= std::min(asked.upper, kNone)) return;
    reply.cost = reply.settled;
    reply.tree = minima.tree_with_test(root_, depth, column);
}

/// Fronts without anything that was found before.
void PartSearch::make(const Message& fronts) {
    Amount root_minimum = 0;
    int main = -1;
    Message rows;
    Numbers::read(fronts, [&](Numbers& io) { io.all(root_minimum, main), io.rest(rows); });
    std::vector<Active> active;
    for (std::size_t k = 0; k + 3 <= rows.size(); k += 3)
        active.push_back({int(rows[k]), int(rows[k + 1]), rows[k + 2] != 0});
    Numbers::require(rows.size() % 3 == 0 && active.size() <= kMostActive && main >= -1 && main < int(active.size()));
    for (const Active& a : active) Numbers::require(a.row >= 0 && a.row < table_.rows && (a.sign == -1 || a.sign == 1));
    fronts_.reset();
    fronts_ = make_fronts({table_, settings_, team_, control_, root_, int(prices_[0]), root_minimum, main}, active);
    if (!fronts_) throw std::bad_alloc();
    asked_fronts_ = fronts;
}

void PartSearch::find_front(int column, const Question& asked, Reply<Counters>& reply) {
    reply.more = {kNone}, reply.settled = asked.upper;
    if (!fronts_->below_with(column, asked.upper, reply.more[0])) return;
    reply.settled = reply.cost = fronts_->cost();
    make(Message(asked_fronts_));  // so that the tree does not depend on earlier parts
    Amount loss;
    if (!fronts_->below_with(column, reply.cost + 1, loss)) throw std::logic_error("a front was lost");
    reply.tree = fronts_->tree();
}

}  // namespace treeform::totals
