// T {tot_discr}, R {max_discr}. update: tot_discr += i. prune: tot_discr >= max_discr. relax: max_discr += step.
#include "../rules.hpp"

namespace treeform::binary {
namespace {

class Discrepancy final : public Rule {
public:
    Discrepancy(Relaxation r) : Rule(r) { threshold_ = 1; }
    State update(const State& s, const Context& c) const override { return {s.value + c.rank}; }
    double slack(const State& s) const override { return threshold_ - s.value; }
    double needed(const State& s, int) const override { return s.value + 1; }

protected:
    bool within(const State& s, int) const override { return s.value < threshold_; }
};

const NamedRule discrepancy("discrepancy", 1, [](Relaxation r) { return std::make_unique<Discrepancy>(r); });

}  // namespace
}  // namespace treeform::binary
