// T {feat_idx}, R {k}. update: feat_idx = i. prune: feat_idx >= k. relax: k += step.
// Top-k*: k is halved at each level, down to 1.
#include "../rules.hpp"

#include <algorithm>
#include <cmath>

namespace treeform::binary {
namespace {

class TopK final : public Rule {
public:
    TopK(Relaxation r, bool halved) : Rule(r), halved_(halved) { threshold_ = 1; }
    State update(const State&, const Context& c) const override { return {double(c.rank)}; }
    double slack(const State&) const override { return threshold_; }
    double needed(const State& s, int level) const override {
        return (s.value + 1) * (halved_ ? std::ldexp(1.0, std::max(0, level - 1)) : 1.0);
    }

protected:
    bool within(const State& s, int level) const override {
        const double k =
            halved_ ? std::max(1.0, std::floor(threshold_ / std::ldexp(1.0, std::max(0, level - 1)))) : threshold_;
        return s.value < k;
    }

private:
    bool halved_;
};

const NamedRule top_k("top-k", 1, [](Relaxation r) { return std::make_unique<TopK>(r, false); });
const NamedRule top_k_star("top-k*", 1, [](Relaxation r) { return std::make_unique<TopK>(r, true); });

}  // namespace
}  // namespace treeform::binary
