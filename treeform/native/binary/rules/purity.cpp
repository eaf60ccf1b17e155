// T {purity}, R {min_purity}. update: purity = 1 - e / |S|. prune: purity >= min_purity. relax: min_purity += step.
#include "../rules.hpp"

#include <cmath>

namespace treeform::binary {
namespace {

class Purity final : public Rule {
public:
    Purity(Relaxation r) : Rule(r) { threshold_ = 0.5; }
    State initial(const Context& c) const override { return {purity(c)}; }
    State update(const State&, const Context& c) const override { return {purity(c)}; }
    double slack(const State&) const override { return threshold_; }
    double needed(const State& s, int) const override { return std::nextafter(s.value, 2.0); }
    bool about_test() const override { return false; }

protected:
    bool within(const State& s, int) const override { return s.value < threshold_; }

private:
    static double purity(const Context& c) { return c.size > 0 ? 1 - c.error / c.size : 1; }
};

const NamedRule purity("purity", 0.02, [](Relaxation r) { return std::make_unique<Purity>(r); });

}  // namespace
}  // namespace treeform::binary
