// T {cum_gap}, R {max_gap}. update: cum_gap += best_gain - gain. prune: cum_gap > max_gap. relax: max_gap += step.
#include "../rules.hpp"

namespace treeform::binary {
namespace {

class Gain final : public Rule {
public:
    using Rule::Rule;
    State update(const State& s, const Context& c) const override { return {s.value + c.gap}; }
    double slack(const State& s) const override { return threshold_ - s.value; }
    double needed(const State& s, int) const override { return s.value; }

protected:
    bool within(const State& s, int) const override { return s.value <= threshold_; }
};

const NamedRule gain("gain", 0.01, [](Relaxation r) { return std::make_unique<Gain>(r); });

}  // namespace
}  // namespace treeform::binary
