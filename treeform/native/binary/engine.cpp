#include "engine.hpp"

#include "blossom.hpp"
#include "search.hpp"

namespace treeform::binary {

Outcome solve(const Points& points, const Settings& settings, Control& control) {
    Outcome out;
    const auto substrate = make_substrate(points, settings);
    substrate->counters = &out.counters;
    out.simd = substrate->simd;
    out.rows = substrate->points, out.planes = substrate->planes, out.lane_bits = substrate->lane_bits;
    if (settings.strategy == "blossom") {
        Blossom search(*substrate, settings, control, out.counters);
        search.run(out);
    } else {
        Search search(*substrate, settings, control, out.counters);
        search.run(out);
    }
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::binary
