// Choosing the widths of a run, running the search beside the polling thread, and putting the answer together.
//
// All work, the ranking of the columns included, happens on a worker thread; the calling thread sleeps, polls, and
// is the only one to look at the clock. So the time limit and an interrupt are honoured in every phase.
#include "engine.hpp"

#include <exception>
#include <stdexcept>
#include <thread>

#include "ranks.hpp"
#include "rebuild.hpp"
#include "root.hpp"
#include "width.hpp"

namespace treeform::contree {
namespace {

constexpr double kPollSeconds = 0.05;

/// What the calling thread needs to know of a search, whatever its width.
class Running {
public:
    virtual ~Running() = default;
    virtual void search() = 0;
    virtual FlatTree tree(const PlanPtr& plan) const = 0;
    virtual void conclude(Outcome& out) = 0;
};

template <class W>
class RunningAs final : public Running {
public:
    RunningAs(const Rows& rows, const Settings& settings, const Losses& losses, std::vector<RankedColumn>& columns,
              Control& control, const char* width)
        : settings_(settings), control_(control), width_(width),
          scans_(choose_scans<typename W::Key, typename W::Sum>(settings.simd.c_str())) {
        load(rows, losses, columns, table_, node_, control);
        root_ = std::make_unique<Root<W>>(table_, node_, settings_, control_, scans_);
    }

    void search() override { answer_ = root_->solve(start_bound()), complete_ = true; }

    FlatTree tree(const PlanPtr& plan) const override { return Rebuild<W>(table_, settings_).tree(node_, plan); }

    void conclude(Outcome& out) override {
        out.complete = complete_;
        out.lower = (complete_ ? answer_.proven : root_->lower()) + table_.losses.offset;
        out.counters = root_->counters();
        out.simd = scans_.name, out.width = width_;
    }

private:
    const Settings& settings_;
    Control& control_;
    const char* width_;
    ScanTable<typename W::Key, typename W::Sum> scans_;
    Table<W> table_;
    Node<W> node_;
    std::unique_ptr<Root<W>> root_;
    Answer<typename W::Cost> answer_;
    bool complete_ = false;

    typename W::Cost start_bound() const {
        const std::int64_t most = std::int64_t{node_.total_mass} + 1;
        if (settings_.upper == kNone) return static_cast<typename W::Cost>(most);
        return static_cast<typename W::Cost>(std::clamp<std::int64_t>(settings_.upper - table_.losses.offset, 0, most));
    }
};

std::unique_ptr<Running> prepare(const Rows& rows, const Settings& settings, const Losses& losses, Control& control) {
    std::vector<RankedColumn> columns(rows.features);
    std::size_t values = 0;
    RankSorter sorter;
    for (std::size_t f = 0; f < rows.features; ++f) {
        control.check();
        sorter.rank(rows.x + f, rows.n, rows.features, columns[f]);
        values = std::max(values, columns[f].values.size());
    }
    const auto lane = static_cast<std::int64_t>((rows.n + kLanes - 1) / kLanes);
    const bool small_sums = values < 65535 && losses.max_step < 32000 && lane * losses.max_step < 32000;
    const bool small_costs = std::max(losses.total_mass, losses.total_weight) < (std::int64_t{1} << 28);
    const auto as = [&]<class W>(const char* width) -> std::unique_ptr<Running> {
        return std::make_unique<RunningAs<W>>(rows, settings, losses, columns, control, width);
    };
    if (small_sums && small_costs && rows.n < 65535) return as.template operator()<Narrow>("narrow");
    if (small_sums && small_costs) return as.template operator()<Medium>("medium");
    if (small_costs) return as.template operator()<Wide>("wide");
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

bool report(Control& control, const Running* running, const Poll& poll) {
    PlanPtr plan;
    const auto news = control.take(plan);
    if (!poll) return false;
    if (news.empty() || !running) return poll(news, nullptr, control);
    const FlatTree tree = running->tree(plan);
    return poll(news, &tree, control);
}

/// Sleep and poll until the worker is done.
void watch(Control& control, const std::unique_ptr<Running>& running, double time_limit, const Poll& poll) {
    std::exception_ptr failure;
    for (;;) {
        const double left = time_limit - control.seconds();
        if (left <= 0) control.stop();
        if (control.wait(std::clamp(left, 0.001, kPollSeconds))) break;
        try {
            if (!failure && report(control, control.ready() ? running.get() : nullptr, poll)) control.stop();
        } catch (...) {
            failure = std::current_exception();
            control.stop();
        }
    }
    if (failure) std::rethrow_exception(failure);
    report(control, running.get(), poll);
}

void conclude(const Rows& rows, const Settings& settings, const Losses& losses, const Control& control,
              Running* running, Outcome& out) {
    std::int64_t cost = 0;
    const PlanPtr plan = control.best(cost);
    out.lower = losses.offset;
    if (running) running->conclude(out);
    if (running && plan) {
        out.found = true;
        out.tree = running->tree(plan);
        if (out.tree.cost != cost)
            throw std::logic_error("the tree costs " + std::to_string(out.tree.cost) + ", the search said "
                                   + std::to_string(cost));
    } else if (!out.complete) {
        out.tree = best_leaf(rows, losses);
        out.found = out.tree.cost < settings.upper;
    }
    out.stopped_by_memory = control.out_of_memory();
}

}  // namespace

Outcome run(const Rows& rows, const Settings& asked, double time_limit, const Poll& poll) {
    Settings settings = asked;
    Control control(settings.upper, settings.memory_limit);
    const Losses losses = Losses::of(rows);
    settings.node_penalty = std::min(settings.node_penalty, losses.total_mass + 1);  // dearer tests are never used
    settings.gap = std::min(settings.gap, losses.total_mass + 1);
    Outcome out;
    if (losses.total_weight < settings.min_support) {   // not even a single leaf
        out.complete = true, out.lower = kNone;
        return out;
    }
    std::unique_ptr<Running> running;
    std::exception_ptr failure;
    std::jthread worker([&] {
        try {
            running = prepare(rows, settings, losses, control);
            control.set_ready();
            running->search();
        } catch (const Stopped&) {
        } catch (const std::bad_alloc&) {
            control.stop_for_memory();
        } catch (...) {
            failure = std::current_exception();
        }
        control.finish();
    });
    watch(control, running, time_limit, poll);
    worker.join();
    if (failure) std::rethrow_exception(failure);
    conclude(rows, settings, losses, control, running.get(), out);
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::contree
