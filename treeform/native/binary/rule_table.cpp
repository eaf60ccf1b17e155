// The rules of CA-DL8.5 and their table. To add a rule, write a class here and enter it in the table at the end.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "rules.hpp"

namespace treeform::binary {
namespace {

// T {tot_discr}, R {max_discr}. update: tot_discr += i. prune: tot_discr >= max_discr. relax: max_discr += step.
class Discrepancy final : public Rule {
public:
    explicit Discrepancy(Relaxation r) : Rule(r) { threshold_ = 1; }
    State update(const State& s, const Context& c) const override { return {s.value + c.rank}; }
    double slack(const State& s) const override { return threshold_ - s.value; }
    double needed(const State& s, int) const override { return s.value + 1; }

protected:
    bool within(const State& s, int) const override { return s.value < threshold_; }
};

// T {cum_gap}, R {max_gap}. update: cum_gap += best_gain - gain. prune: cum_gap > max_gap. relax: max_gap += step.
class Gain final : public Rule {
public:
    using Rule::Rule;
    State update(const State& s, const Context& c) const override { return {s.value + c.gap}; }
    double slack(const State& s) const override { return threshold_ - s.value; }
    double needed(const State& s, int) const override { return s.value; }

protected:
    bool within(const State& s, int) const override { return s.value <= threshold_; }
};

// T {purity}, R {min_purity}. update: purity = 1 - e / |S|. prune: purity >= min_purity. relax: min_purity += step.
class Purity final : public Rule {
public:
    explicit Purity(Relaxation r) : Rule(r) { threshold_ = 0.5; }
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

// T {feat_idx}, R {k}. update: feat_idx = i. prune: feat_idx >= k. relax: k += step.
// Top-k*: k is halved at each level, down to 1.
class TopK final : public Rule {
public:
    TopK(Relaxation r, bool halved) : Rule(r), halved_(halved) { threshold_ = 1; }
    State update(const State&, const Context& c) const override { return {double(c.rank)}; }
    double slack(const State&) const override { return threshold_; }
    double needed(const State& s, int level) const override { return (s.value + 1) * (halved_ ? divisor(level) : 1.0); }

protected:
    bool within(const State& s, int level) const override {
        return s.value < (halved_ ? std::max(1.0, std::floor(threshold_ / divisor(level))) : threshold_);
    }

private:
    bool halved_;
    static double divisor(int level) { return std::ldexp(1.0, std::max(0, level - 1)); }
};

using MakeRule = std::unique_ptr<Rule> (*)(Relaxation);

struct NamedRule {
    const char* name;
    double step;  // the usual step of its relaxation
    MakeRule make;
};

const NamedRule kRules[] = {
    {"discrepancy", 1, [](Relaxation r) -> std::unique_ptr<Rule> { return std::make_unique<Discrepancy>(r); }},
    {"gain", 0.01, [](Relaxation r) -> std::unique_ptr<Rule> { return std::make_unique<Gain>(r); }},
    {"purity", 0.02, [](Relaxation r) -> std::unique_ptr<Rule> { return std::make_unique<Purity>(r); }},
    {"top-k", 1, [](Relaxation r) -> std::unique_ptr<Rule> { return std::make_unique<TopK>(r, false); }},
    {"top-k*", 1, [](Relaxation r) -> std::unique_ptr<Rule> { return std::make_unique<TopK>(r, true); }},
};

}  // namespace

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const NamedRule& rule : kRules) names.emplace_back(rule.name);
    return names;
}

std::unique_ptr<Rule> make_rule(const std::string& name, const std::string& relaxation, double step) {
    for (const NamedRule& rule : kRules)
        if (name == rule.name) return rule.make(Relaxation(relaxation, step > 0 ? step : rule.step));
    throw std::invalid_argument("unknown rule " + name);
}

}  // namespace treeform::binary
