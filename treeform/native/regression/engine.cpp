#include "engine.hpp"

#include <new>

#include "absolute.hpp"
#include "root.hpp"
#include "squared.hpp"

namespace treeform::regression {
namespace {

template <class LossOf>
void search(const Table& table, const Settings& settings, Control& control, Incumbent& incumbent, Outcome& out) {
    Root<LossOf> root(table, settings, control, incumbent);
    try {
        root.run();
        out.complete = true;
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        control.stop_for_memory();
    }
    out.counters = root.counters();
}

}  // namespace

Outcome solve(const Rows& rows, const Settings& settings, Control& control) {
    const Table table = table_of(rows, settings.loss);
    Incumbent incumbent(table, settings, control);
    Outcome out;
    if (settings.loss == Loss::squared)
        search<Squared>(table, settings, control, incumbent, out);
    else
        search<Absolute>(table, settings, control, incumbent, out);
    if (const PlanPtr plan = incumbent.plan()) out.tree = write_tree(table, *plan);
    out.lower = incumbent.lower();
    out.stopped_by_memory = control.out_of_memory();
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::regression
