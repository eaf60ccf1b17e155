#include "engine.hpp"

#include "blossom.hpp"
#include "restarts.hpp"

namespace treeform::binary {

Outcome solve(const Points& points, const Settings& settings, Control& control, const Away& away) {
    Outcome out;
    if (settings.strategy == "blossom")
        run_blossom(points, settings, control, out);
    else
        Restarts(points, settings, control, away).run(out);
    out.seconds = control.seconds();
    return out;
}

PartSearch part_search(const Points& points, const Settings& settings, Control& control) {
    const auto search = std::make_shared<Restarts>(points, settings, control, Away{});
    return [search](const Message& question) { return search->evaluate(question); };
}

}  // namespace treeform::binary
