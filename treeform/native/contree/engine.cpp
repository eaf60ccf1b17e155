// Choosing the widths of the numbers in a run, and putting the answer together.
#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "../deep/improver.hpp"
#include "../deep/few_columns.hpp"
#include "../deep/interleave.hpp"
#include "../deep/share.hpp"
#include "hard_bound.hpp"
#include "ranks.hpp"
#include "rebuild.hpp"
#include "root.hpp"
#include "width.hpp"

namespace treeform::contree {

// The widest of them serves the search for totals, too.
template class DepthTwo<Huge>;
template class Search<Huge>;
template class Rebuild<Huge>;
template void load<Huge>(const Rows&, const Losses&, RankedTable&, Table<Huge>&, Node<Huge>&, Control&);

/// A search, whatever the width of its numbers.
class WidthSearch {
public:
    virtual ~WidthSearch() = default;
    virtual void search() = 0;
    virtual Message evaluate(const Message& question) = 0;
    virtual FlatTree tree(const PlanPtr& plan) const = 0;
    /// Gives the scratch of the search back, when it has ended.
    virtual void release() = 0;
    virtual void conclude(Outcome& out) = 0;
};

namespace {

template <class W>
class SearchAs final : public WidthSearch {
public:
    TREEFORM_COLD SearchAs(const Rows& rows, const Settings& settings, const Losses& losses,
                           RankedTable& ranked, Control& control, const Away& away, const char* width)
        : settings_(settings), control_(control), width_(width),
          scans_(choose_scans<typename W::Key, typename W::Sum>(settings.simd.c_str())) {
        load_orders(rows, losses, ranked, table_, node_, control);
        in_reach_ = is_in_reach();
        if (has_lists(rows.n, rows.features)) give_freed_memory_back();  // of sorting; what searches take follows
        root_ = std::make_unique<Root<W>>(table_, node_, settings_, control_, scans_, away);
        if (settings.improve && !away && is_worth_improving(rows))
            improver_ = deep::improver_of<W>(table_, node_, settings_, control_, scans_);
        if (!improver_ || !deep::reads_orders_alone(rows.n, rows.features)) add_keys(table_, node_, control_);
    }

    TREEFORM_COLD void search() override {
        if (improver_ && !begins_late()) improver_->first();
        if (!settings_.prove) {
            if (improver_) improve();
        } else if (!improver_ || settings_.depth < 4) {
            prove();
        } else if (settings_.threads > 1) {
            add_keys(table_, node_, control_);
            control_.expect_others();
            deep::side_by_side(control_, *improver_, settings_.work_limit, [this] { prove(); });
        } else {
            deep::in_turns(control_, *improver_, [this, first = improver_->work()] { return allowed(first); },
                           [this] { prove(); }, [this] { root_->release_lanes(); });
        }
    }

    Message evaluate(const Message& question) override {
        add_keys(table_, node_, control_);
        return root_->evaluate(question);
    }

    FlatTree tree(const PlanPtr& plan) const override { return Rebuild<W>(table_, settings_).tree(node_, plan); }

    void release() override { root_->release(); }

    TREEFORM_COLD void conclude(Outcome& out) override {
        out.complete = complete_;
        out.lower = (complete_ ? answer_.proven : root_->lower()) + table_.losses.offset;
        out.counters = root_->counters();
        if (raised_) {
            out.counters.raised = static_cast<std::uint64_t>(raised_->lower());
            out.lower = std::max(out.lower, raised_->lower() + table_.losses.offset);
        }
        out.simd = scans_.name, out.width = width_;
        if (improver_) out.work = improver_->work(), out.moves = improver_->moves(), out.stages = improver_->done();
    }

private:
    const Settings& settings_;
    Control& control_;
    const char* width_;
    ScanTable<typename W::Key, typename W::Sum> scans_;
    Table<W> table_;
    Node<W> node_;
    std::unique_ptr<Root<W>> root_;
    std::unique_ptr<deep::Improver> improver_;  // may be null
    std::unique_ptr<HardBound<W>> raised_;  // may be null
    Answer<typename W::Cost> answer_;
    bool complete_ = false;
    bool raises_ = false;
    deep::Share share_;
    bool in_reach_ = false;  // a proof from depth five on takes seconds, as on some thousand rows of five columns

    void prove() {
        // Hard rows are parts of nodes with keys.
        if (settings_.depth >= 5 && are_all_in_reach(table_, settings_.depth)) add_keys(table_, node_, control_);
        if (improver_ && improver_->first_tree && settings_.depth >= 5) bound_hard_rows();
        try {
            if (raised_) throw_if_raised();
            std::optional<Aside> aside;
            if (raised_ && settings_.threads <= 1) aside.emplace(*this);
            answer_ = root_->solve(start_bound());
        } catch (const Raised&) {
            answer_ = {}, answer_.proven = raised_->lower();
        }
        complete_ = true;
    }
    /// The proof at this depth gives no bound before its end on more than some hundred rows.
    TREEFORM_COLD void bound_hard_rows() {
        raised_ = std::make_unique<HardBound<W>>(table_, node_, settings_, control_, scans_, tree(improver_->first_tree));
        raised_->raise(wanted(), work_before_proof());
    }
    /// Whether all else waits for the proof: where it is in reach, unless it is known by now to take long.
    bool proof_comes_first() const {
        const deep::ProofWork proof = proof_work();
        return in_reach_ && (!proof.is_known() || proof.ends_soon());
    }
    /// At depth four, on a table whose proof is far: the search takes long to divide the tests well.
    bool has_few_tests() const { return settings_.max_nodes < full_tree(4) && !in_reach_; }
    bool is_small() const {
        constexpr std::size_t kCells = 20'000;
        return table_.n * static_cast<std::size_t>(table_.features) < kCells;
    }
    /// The part of the bound that does not wait for the proof: small on small tables, too.
    std::uint64_t work_before_proof() const {
        return (proof_comes_first() || is_small() ? 5 : 400) * improver_->first_work;
    }
    struct Raised {};  // thrown inside the proof: no tree that is wanted is left
    void throw_if_raised() const {
        if (raised_->lower() >= wanted()) throw Raised{};
    }
    /// While it lives, the bound goes on in the proof's thread, half as much as the proof, and little where that one is in
    /// reach or ends soon; in one thread only: the bound of a run depends on no clock, and the search for better
    /// trees, which reads what is called, waits meanwhile.
    class Aside {
    public:
        explicit Aside(SearchAs& search) : control_(search.control_), before_(control_.at_group) {
            control_.at_group = [this, &search, me = std::this_thread::get_id()] {
                if (before_) before_();
                if (std::this_thread::get_id() == me) search.raise_beside();
            };
        }
        Aside(const Aside&) = delete;
        ~Aside() { control_.at_group = std::move(before_); }

    private:
        Control& control_;
        std::function<void()> before_;
    };
    void raise_beside() {
        // Each call begins with the boxes it has, which it may have to divide again on the way to the next one.
        constexpr std::uint64_t kLeast = 1'000'000, kPart = 8;
        if (raises_) return;  // its own nodes are counted, too
        if (raised_->ended()) return throw_if_raised();
        const std::uint64_t parts = proof_work().ends_soon() ? 32 : in_reach_ ? 16 : 2;
        const std::uint64_t may = work_before_proof() + root_->work() / parts, done = raised_->work();
        if (may < done + std::max(kLeast, done / kPart)) return;
        raises_ = true;
        raised_->raise(wanted(), may - done);
        raises_ = false;
        throw_if_raised();
    }
    TREEFORM_COLD void improve() {
        if (settings_.work_limit > 0)
            improver_->pace = [this] {
                if (improver_->work() >= settings_.work_limit) throw Stopped{};
            };
        improver_->run();
    }
    /// How much work the improvement search may have done by now, with that of the first trees; where it begins late, all
    /// that these take once the proof has done some. A proof at depth four takes ten to two hundred times the work of trees
    /// of depth three on the same rows: a part of that is little beside it, and enough for the trees that are found soon; the
    /// late ones are there by then. A unit of the search takes about twice the time of one of the proof.
    double allowed(std::uint64_t first) {
        constexpr std::uint64_t kAlone = 1'500'000'000;  // a tenth of a second
        if (settings_.work_limit > 0) return static_cast<double>(settings_.work_limit);
        if (first == 0) first = improver_->first_work;
        if (first == 0) return root_->work() < kAlone ? 0 : std::numeric_limits<double>::infinity();
        constexpr double kEarly = 0.25, kMostEarly = 4, kPart = 0.01, kDeepAhead = 20;
        const auto of_first = static_cast<double>(first);
        if (settings_.depth > 4 || has_few_tests()) {
            const double ahead = of_first * (is_small() && proof_comes_first() ? 1 : 1 + kDeepAhead);
            if (settings_.depth == 4) return ahead;
            return ahead + share_.of(proof_work(), static_cast<double>(improver_->work()), ahead, control_.external_upper());
        }
        const auto less_depth = static_cast<double>(begins_late() ? 0 : root_->work_of_less_depth());
        return of_first + std::min(kEarly * less_depth, kMostEarly * of_first)
               + kPart * static_cast<double>(root_->work());
    }
    /// Rows, times columns for each level above trees of depth two; those of few thresholds count in part.
    TREEFORM_COLD bool is_in_reach() const {
        constexpr double kMost = 2e6, kMany = 8;
        double columns = 0;
        for (const auto values : table_.distinct) columns += std::min(1.0, static_cast<double>(values - 1) / kMany);
        return static_cast<double>(node_.n) * std::pow(columns, settings_.depth - 2) <= kMost;
    }
    deep::ProofWork proof_work() const {
        const std::uint64_t raised = raised_ ? raised_->work() : 0;
        return {static_cast<double>(root_->work() + raised), root_->expected_work(), in_reach_};
    }
    /// Whether the proof works alone for a while: on small tables at depth four, where it has trees within milliseconds and
    /// often ends in little more time than the first trees take.
    bool begins_late() const {
        constexpr std::size_t kSmall = 50'000;
        return settings_.prove && settings_.depth == 4 && settings_.threads <= 1 && settings_.start.empty()
               && table_.n * static_cast<std::size_t>(table_.features) <= kSmall;
    }
    /// Trees of depth three on small tables are proved within some hundredths of a second, and of depth two on all but
    /// those of many columns, rows or classes: there a greedy tree stands long before the first test of the proof.
    /// Limited memory belongs to the proof.
    bool is_worth_improving(const Rows& rows) const {
        constexpr std::size_t kSmall = 100'000;
        if (rows.features == 0 || (settings_.prove && settings_.memory_limit > 0)) return false;
        const bool dear = deep::is_dear(deep::depth_two_work(rows.n, rows.features, rows.classes));
        if (dear && (settings_.depth == 2 || settings_.depth == 3)) return true;
        return settings_.depth > 3 || (settings_.depth == 3 && rows.n * rows.features > kSmall) || !settings_.prove;
    }

    typename W::Cost start_bound() const { return below(settings_.upper, 0); }
    /// No tree of that cost or more is wanted any longer, considering the best one in hand.
    typename W::Cost wanted() const { return below(std::min(settings_.upper, control_.external_upper()), settings_.gap); }
    /// What is left of an upper bound; more than any tree costs where there is none.
    typename W::Cost below(std::int64_t upper, std::int64_t gap) const {
        const std::int64_t most = std::int64_t{node_.total_mass} + 1;
        if (upper == kNone) return static_cast<typename W::Cost>(most);
        return static_cast<typename W::Cost>(std::clamp<std::int64_t>(upper - table_.losses.offset - gap, 0, most));
    }
};

std::unique_ptr<WidthSearch> prepare(const Rows& rows, const Settings& settings, const Losses& losses, Control& control,
                                     const Away& away) {
    // A rank and a place in the order of each cell: what sorting leaves, before any search.
    control.check_table(rows.n * rows.features * 2 * sizeof(std::uint32_t));
    RankedTable ranked(rows.x, rows.n, rows.features, kSlack, control);
    const auto lane = static_cast<std::int64_t>((rows.n + kLanes - 1) / kLanes);
    const bool small_sums = ranked.most_values < 65535 && losses.max_step < 32000 && lane * losses.max_step < 32000;
    const bool small_costs = std::max(losses.total_mass, losses.total_weight) < (std::int64_t{1} << 28);
    const auto as = [&]<class W>(const char* width) -> std::unique_ptr<WidthSearch> {
        return std::make_unique<SearchAs<W>>(rows, settings, losses, ranked, control, away, width);
    };
    if (small_sums && small_costs && rows.n < 65535) return as.template operator()<Narrow>("narrow");
    if (small_sums && small_costs) return as.template operator()<Medium>("medium");
    if (small_costs) return as.template operator()<Wide>("wide");
    if (losses.max_step < std::numeric_limits<std::int32_t>::max() / lane)  // their product may be beyond 64 bits
        return as.template operator()<PricedWide>("priced");
    return as.template operator()<Huge>("huge");
}

/// The best single leaf: what there is before anything is sorted.
FlatTree best_leaf(const Rows& rows, const Losses& losses) {
    const int k = rows.classes;
    std::vector<std::int64_t> weight(k);
    for (std::size_t i = 0; i < rows.n; ++i) weight[rows.label[i]] += rows.weight ? rows.weight[i] : 1;
    FlatTree tree{{-1}, {-1}, {-1}, {0}, {0}, {0}, kNone};
    for (int a = 0; a < k; ++a) {
        std::int64_t cost = losses.offset;
        for (int y = 0; y < k; ++y) cost += weight[y] * losses.cost[static_cast<std::size_t>(y) * k + a];
        if (cost < tree.cost) tree.cost = cost, tree.label[0] = a;
    }
    return tree;
}

std::int64_t total_support(const Rows& rows, const Losses& losses) {
    if (!rows.supporting) return losses.total_weight;
    return std::accumulate(rows.supporting, rows.supporting + rows.n, std::int64_t{0});
}

}  // namespace

Engine::Engine(const Rows& rows, const Settings& settings, Control& control, Away away)
    : rows_(rows), settings_(settings), control_(control), away_(std::move(away)), losses_(Losses::of(rows)),
      too_few_rows_(total_support(rows, losses_) < settings.min_support) {
    // A test that costs more than all rows together is never used.
    settings_.node_penalty = std::min(settings_.node_penalty, losses_.total_mass + 1);
    settings_.gap = std::min(settings_.gap, losses_.total_mass + 1);
}

Engine::~Engine() = default;

void Engine::solve() {
    if (too_few_rows_) return;
    try {
        search_ = prepare(rows_, settings_, losses_, control_, away_);
        control_.set_ready();
        search_->search();
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        control_.stop_for_memory();
    }
}

Message Engine::evaluate(const Message& question) {
    if (!search_) search_ = prepare(rows_, settings_, losses_, control_, away_);
    return search_->evaluate(question);
}

std::vector<Improvement> Engine::improvements() const {
    auto news = control_.take();
    std::int64_t cost = 0;
    if (!news.empty() && control_.ready())
        if (const PlanPtr plan = control_.best(cost)) news.back().tree = written(plan);
    return news;
}

const FlatTree& Engine::written(const PlanPtr& plan) const {
    if (plan != last_plan_) {
        last_tree_ = search_->tree(plan);
        last_plan_ = plan;
    }
    return last_tree_;
}

Outcome Engine::outcome() const {
    Outcome out;
    out.seconds = control_.seconds();
    if (too_few_rows_) {  // not even a single leaf is allowed
        out.complete = true, out.lower = kNone;
        return out;
    }
    std::int64_t cost = 0;
    const PlanPtr plan = control_.answer(cost);
    out.lower = losses_.offset;
    if (search_) search_->conclude(out);
    if (control_.out_of_memory() && search_) search_->release();  // for the tree, which copies some rows
    if (search_ && plan) {
        try {
            out.tree = written(plan);
        } catch (const std::bad_alloc&) {
            control_.stop_for_memory();
            out.complete = false;
        }
        if (!out.tree.empty() && out.tree.cost != cost)
            throw std::logic_error("the tree costs " + std::to_string(out.tree.cost) + ", not " + std::to_string(cost));
    }
    if (out.tree.empty() && !out.complete) {
        out.tree = best_leaf(rows_, losses_);
        if (out.tree.cost >= settings_.upper) out.tree = {};
    }
    return out;
}

}  // namespace treeform::contree
