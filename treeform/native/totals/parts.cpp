#include "parts.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>

namespace treeform::totals {
namespace {

/// Of a message of less than ten thousand bytes.
constexpr int kMostHints = 1000;
/// Beyond that many tests replies would be longer.
constexpr std::size_t kMostColumns = 250;
constexpr Amount kUnknown = -2 * kNone;

constexpr std::uint64_t Counters::* kCounted[] = {
    &Counters::depth_two,         &Counters::subproblems, &Counters::cache_hits, &Counters::pruned_bound,
    &Counters::pruned_similarity, &Counters::fronts,      &Counters::kept,       &Counters::pairs};

/// A loss that is not known yet counts as the least that is possible.
Amount least_loss(Amount price, Amount minimum) { return price >= kNone ? kNone : price - minimum; }

}  // namespace

Message Part::write() const {
    Message out{upper, Amount(hints.size())};
    out.insert(out.end(), hints.begin(), hints.end());
    out.insert(out.end(), {kind, column, depth, unit});
    out.insert(out.end(), multiplier.begin(), multiplier.end());
    if (kind == price) return out;
    out.insert(out.end(), {root_minimum, main, Amount(active.size())});
    for (const Active& a : active) out.insert(out.end(), {a.row, a.sign, a.both});
    return out;
}

Part Part::read(const Message& in, const Table& table, int columns) {
    MessageReader reader(in);
    Part part;
    part.upper = reader.take();
    part.hints = reader.take_all(std::size_t(reader.take(0, kMostHints + 1)));
    part.kind = int(reader.take(price, front + 1)), part.column = int(reader.take(0, columns));
    part.depth = int(reader.take(4, 10)), part.unit = reader.take();
    part.multiplier = reader.take_all(std::size_t(table.rows));
    if (part.kind == front) {
        part.root_minimum = reader.take();
        part.main = int(reader.take(-1, kMostActive));
        const std::int64_t active = reader.take(part.main + 1, kMostActive + 1);
        for (std::int64_t a = 0; a < active; ++a) {
            const int row = int(reader.take(0, table.rows)), sign = int(reader.take(-1, 2));
            if (sign == 0) MessageReader::refuse();
            part.active.push_back({row, sign, reader.take(0, 2) != 0});
        }
    }
    reader.finish();
    return part;
}

Message Reply::write() const {
    Message out{settled, cost, loss};
    for (const auto member : kCounted) out.push_back(std::int64_t(counters.*member));
    out.push_back(Amount(pairs.size()));
    out.insert(out.end(), pairs.begin(), pairs.end());
    if (cost < kNone) append_tree(out, tree);
    return out;
}

Reply Reply::read(const Message& in, const Table& table, int columns) {
    MessageReader reader(in);
    Reply reply;
    reply.settled = reader.take(), reply.cost = reader.take(), reply.loss = reader.take();
    for (const auto member : kCounted) reply.counters.*member = std::uint64_t(reader.take());
    reply.pairs = reader.take_all(std::size_t(reader.take(0, 4 * columns + 1)));
    if (reply.cost < kNone) reply.tree = reader.take_tree(table.columns, table.labels);
    reader.finish();
    return reply;
}

/// Steps of the counts of pairs below all paths of one test at the root, at most; the bounds leave a small part of
/// them.
bool Parts::travel(int depth) const {
    const Rows& rows = team_.first().rows;
    const double columns = rows.columns;
    return away_ && depth >= 4 && std::pow(columns, depth - 1) * rows.words * table_.kinds >= settings_.least_steps;
}

Part Parts::part(Part::Kind kind, int depth) const {
    const Prices& prices = team_.first().minima.prices();
    Part part;
    part.kind = kind, part.depth = depth;
    part.unit = prices.unit, part.multiplier = prices.multiplier;
    return part;
}

Reply Parts::ask(const Part& part) {
    const Message reply = away_.ask(part.write());
    if (reply.empty()) throw Stopped{};
    return Reply::read(reply, table_, team_.first().rows.columns);
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
    int place = team_.first().rows.columns;
    std::mutex mutex;
    share_out(away_.callers, order.size(), [&](int, std::size_t i) {
        const int own = minima.only.empty() ? order[i] : int(i);
        Part part = this->part(Part::price, depth);
        part.column = order[i];
        {
            const std::lock_guard lock(mutex);
            control_.check();
            part.upper = best + (own < place);
            part.hints = hints(part.column);
        }
        const Reply reply = ask(part);
        const std::lock_guard lock(mutex);
        counters.add(reply.counters);
        price_[order[i]] = reply.settled;
        note(order[i], reply.pairs);
        if (reply.cost < best || (reply.cost == best && own < place && best < kNone))
            best = reply.cost, place = own, tree_ = reply.tree;
    });
    int label = 0;
    if (minima.leaf(root_.total, root_.weight, &label) <= best) tree_ = constant_tree(label);
    minima.keep_root(root_, best);
    return best;
}

/// Known bounds of the pairs of a test with others: the number of the other one, and four bounds.
std::vector<Amount> Parts::hints(int column) const {
    std::vector<Amount> out;
    const std::size_t columns = price_.size();
    for (std::size_t j = 0; j < columns && !pairs_.empty() && out.size() + 5 <= std::size_t(kMostHints); ++j) {
        const Amount* known = &pairs_[(std::size_t(column) * columns + j) * 4];
        if (std::all_of(known, known + 4, [](Amount a) { return a == kUnknown; })) continue;
        out.push_back(Amount(j));
        out.insert(out.end(), known, known + 4);
    }
    return out;
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
        std::pair<Amount, int> place{-1, -1};  // loss and test of the best tree; of equal costs the least counts
        bool tied = false;  // whether a tree as cheap as the best one may be taken for it
        std::mutex mutex;
        share_out(parts_.away_.callers, order.size(), [&](int, std::size_t i) {
            const int column = order[i].second;
            Part part = parts_.part(Part::front, input_.depth);
            part.column = column;
            part.root_minimum = input_.root_minimum, part.main = input_.main, part.active = active_;
            {
                const std::lock_guard lock(mutex);
                parts_.control_.check();
                part.upper = best + (tied && std::pair(loss_[column], column) < place);
                part.hints = parts_.hints(column);
            }
            if (loss_[column] > slack(part.upper)) return;
            const Reply reply = parts_.ask(part);
            const std::lock_guard lock(mutex);
            parts_.counters.add(reply.counters);
            if (reply.loss < kNone)
                loss_[column] = reply.loss;
            else
                loss_[column] = std::max(loss_[column], slack(reply.settled) + 1);
            const std::pair own(reply.loss, column);
            if (reply.cost < best || (tied && reply.cost == best && own < place))
                best = reply.cost, place = own, tree_ = reply.tree, tied = true;
        });
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
    const Part part = Part::read(question, table_, team_.first().rows.columns);
    try {
        const Counters before = counted();
        take_up(part);
        take_hints(part);
        Reply reply = part.kind == Part::price ? find_price(part) : find_front(part);
        reply.counters = counted();
        for (const auto member : kCounted) reply.counters.*member -= before.*member;
        return reply.write();
    } catch (const Stopped&) {
    } catch (const OutOfMemory&) {
    } catch (const std::bad_alloc&) {}
    return {};
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
    if (part.hints.size() % 5 != 0) MessageReader::refuse();
    const int columns = team_.first().rows.columns;
    for (auto one = part.hints.begin(); one != part.hints.end(); one += 5) {
        if (one[0] < 0 || one[0] >= columns) MessageReader::refuse();
        for (int s = 0; s < 4; ++s)
            if (one[1 + s] != kUnknown)
                team_.first().minima.learn(Key().with(part.column, s / 2).with(int(one[0]), s % 2),
                                           {one[1 + s] >> 1, (one[1 + s] & 1) != 0});
    }
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
    if (!fronts_) throw OutOfMemory{};
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
