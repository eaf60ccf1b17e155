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
    struct Here {
        Settings settings;
        Restarts search;
        Here(const Points& points, const Settings& given, Control& control)
            : settings(given), search(points, settings, control, Away{}) {}
    };
    Settings own = settings;
    own.memory -= own.memory / 4;  // the rest is for trees that are found again
    const auto here = std::make_shared<Here>(points, own, control);
    return [here](const Message& question) { return here->search.evaluate(question); };
}

}  // namespace treeform::binary
