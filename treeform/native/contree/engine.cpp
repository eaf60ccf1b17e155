// Choosing the widths of a run, running the search beside the polling thread, and putting the answer together.
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

template <class W>
class Run {
public:
    Run(const Rows& rows, const Settings& settings, const Losses& losses, std::vector<RankedColumn>& columns,
        Control& control)
        : settings_(settings), control_(control),
          scans_(choose_scans<typename W::Key, typename W::Sum>(settings.simd.c_str())) {
        load(rows, losses, columns, table_, root_);
    }

    Outcome go(double time_limit, const Poll& poll) {
        if (root_.total_weight < settings_.min_support) {
            Outcome none;
            none.complete = true, none.lower = kNone;
            return none;
        }
        Root<W> search(table_, root_, settings_, control_, scans_);
        Answer<typename W::Cost> answer;
        std::exception_ptr failure;
        bool complete = false;
        std::thread worker([&] {
            try {
                answer = search.solve(start_bound());
                complete = true;
            } catch (const Stopped&) {
            } catch (...) {
                failure = std::current_exception();
            }
            control_.finish();
        });
        watch(time_limit, poll, worker);
        if (failure) std::rethrow_exception(failure);
        counters_ = search.counters();
        return conclude(answer, complete, search.lower());
    }

private:
    using Cost = typename W::Cost;
    const Settings& settings_;
    Control& control_;
    ScanTable<typename W::Key, typename W::Sum> scans_;
    Table<W> table_;
    Node<W> root_;
    Counters counters_;

    Cost start_bound() const {
        const std::int64_t most = root_.total_mass + Cost{1};
        return static_cast<Cost>(std::clamp<std::int64_t>(settings_.upper == kNone ? most : settings_.upper - table_.losses.offset,
                                                          0, most));
    }

    /// Sleep and poll until the worker is done. Whatever happens, the worker is joined.
    void watch(double time_limit, const Poll& poll, std::thread& worker) {
        std::exception_ptr failure;
        for (;;) {
            const double left = time_limit - control_.seconds();
            if (left <= 0) control_.stop();
            if (control_.wait(std::clamp(left, 0.001, kPollSeconds))) break;
            try {
                if (!failure && report(poll)) control_.stop();
            } catch (...) {
                failure = std::current_exception();
                control_.stop();
            }
        }
        worker.join();
        if (failure) std::rethrow_exception(failure);
        report(poll);
    }
    bool report(const Poll& poll) {
        PlanPtr plan;
        const auto news = control_.take(plan);
        if (!poll) return false;
        if (news.empty()) return poll(news, nullptr, control_);
        const FlatTree tree = Rebuild<W>(table_, settings_).tree(root_, plan);
        return poll(news, &tree, control_);
    }

    Outcome conclude(const Answer<Cost>& answer, bool complete, Cost reached) {
        Outcome out;
        std::int64_t cost = 0;
        const PlanPtr plan = control_.best(cost);
        if (plan) {
            out.found = true;
            out.tree = Rebuild<W>(table_, settings_).tree(root_, plan);
            if (out.tree.cost != cost)
                throw std::logic_error("the tree costs " + std::to_string(out.tree.cost) + ", the search said " + std::to_string(cost));
        }
        out.complete = complete;
        out.lower = (complete ? answer.proven : reached) + table_.losses.offset;
        out.counters = counters_;
        out.simd = scans_.name;
        return out;
    }
};

template <class W>
Outcome run_as(const Rows& rows, const Settings& settings, const Losses& losses, std::vector<RankedColumn>& columns,
               Control& control, double time_limit, const Poll& poll, const char* width) {
    Outcome out = Run<W>(rows, settings, losses, columns, control).go(time_limit, poll);
    out.width = width;
    return out;
}

}  // namespace

Outcome run(const Rows& rows, const Settings& asked, double time_limit, const Poll& poll) {
    Settings settings = asked;
    Control control(settings.upper);
    const Losses losses = Losses::of(rows);
    settings.node_penalty = std::min(settings.node_penalty, losses.total_mass + 1);  // dearer tests are never used
    settings.gap = std::min(settings.gap, losses.total_mass + 1);
    std::vector<RankedColumn> columns(rows.features);
    std::size_t values = 0;
    RankSorter sorter;
    for (std::size_t f = 0; f < rows.features; ++f) {
        sorter.rank(rows.x + f, rows.n, rows.features, columns[f]);
        values = std::max(values, columns[f].values.size());
    }
    const auto lane = static_cast<std::int64_t>((rows.n + kLanes - 1) / kLanes);
    const bool small_sums = values < 65535 && losses.max_step < 32000 && lane * losses.max_step < 32000;
    const bool small_costs = std::max(losses.total_mass, losses.total_weight) < (std::int64_t{1} << 28);
    Outcome out;
    const auto as = [&]<class W>(const char* width) {
        out = run_as<W>(rows, settings, losses, columns, control, time_limit, poll, width);
    };
    if (small_sums && small_costs && rows.n < 65535) as.template operator()<Narrow>("narrow");
    else if (small_sums && small_costs) as.template operator()<Medium>("medium");
    else if (small_costs) as.template operator()<Wide>("wide");
    else as.template operator()<Huge>("huge");
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::contree
