#include "rules.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace treeform::binary {

Relaxation::Relaxation(const std::string& name, double step) : step_(step) {
    if (name == "monotonic") kind_ = monotonic;
    else if (name == "exponential") kind_ = exponential;
    else if (name == "luby") kind_ = luby;
    else throw std::invalid_argument("unknown relaxation " + name);
}

/// 1 1 2 1 1 2 4 1 1 2 ...
static unsigned luby_term(unsigned i) {
    for (unsigned size = 1;; size = 2 * size + 1) {
        if (i == size) return (size + 1) / 2;
        if (i < size) return luby_term(i - size / 2);
    }
}

double Relaxation::next(double threshold) {
    ++turn_;
    if (kind_ == monotonic) return threshold + step_;
    if (kind_ == exponential) return std::max(2 * threshold, threshold + step_);
    return threshold + step_ * luby_term(turn_);
}

namespace {

/// T {purity}, R {min_purity}. update: purity = 1 - e / |S|. prune: purity >= min_purity. relax: min_purity += step.
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

/// T {cum_gap}, R {max_gap}. update: cum_gap += best_gain - gain. prune: cum_gap > max_gap. relax: max_gap += step.
class Gain final : public Rule {
public:
    using Rule::Rule;
    State update(const State& s, const Context& c) const override { return {s.value + c.gap}; }
    double slack(const State& s) const override { return threshold_ - s.value; }
    double needed(const State& s, int) const override { return s.value; }

protected:
    bool within(const State& s, int) const override { return s.value <= threshold_; }
};

/// T {tot_discr}, R {max_discr}. update: tot_discr += i. prune: tot_discr >= max_discr. relax: max_discr += step.
class Discrepancy final : public Rule {
public:
    Discrepancy(Relaxation r) : Rule(r) { threshold_ = 1; }
    State update(const State& s, const Context& c) const override { return {s.value + c.rank}; }
    double slack(const State& s) const override { return threshold_ - s.value; }
    double needed(const State& s, int) const override { return s.value + 1; }

protected:
    bool within(const State& s, int) const override { return s.value < threshold_; }
};

/// T {feat_idx}, R {k}. update: feat_idx = i. prune: feat_idx >= k. relax: k += step.
/// Top-k*: k is halved at each level, down to 1.
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
        const double k = halved_ ? std::max(1.0, std::floor(threshold_ / std::ldexp(1.0, std::max(0, level - 1)))) : threshold_;
        return s.value < k;
    }

private:
    bool halved_;
};

}  // namespace

std::unique_ptr<Rule> make_rule(const std::string& name, const std::string& relaxation, double step) {
    const auto with = [&](double usual) { return Relaxation(relaxation, step > 0 ? step : usual); };
    if (name == "purity") return std::make_unique<Purity>(with(0.02));
    if (name == "gain") return std::make_unique<Gain>(with(0.01));
    if (name == "discrepancy") return std::make_unique<Discrepancy>(with(1));
    if (name == "top-k") return std::make_unique<TopK>(with(1), false);
    if (name == "top-k*") return std::make_unique<TopK>(with(1), true);
    throw std::invalid_argument("unknown rule " + name);
}

Rules::Rules(const std::vector<std::string>& names, const std::string& relaxation, double step) {
    if (names.size() > kMaxRules) throw std::invalid_argument("at most four rules at once");
    for (const auto& name : names) rules_.push_back(make_rule(name, relaxation, step));
    needed_.fill(kFree);
}

Rules::States Rules::initial(const Context& c) const {
    States s{};
    for (std::size_t i = 0; i < rules_.size(); ++i) s[i] = rules_[i]->initial(c);
    return s;
}

Rules::States Rules::update(const States& s, const Context& c) const {
    States t{};
    for (std::size_t i = 0; i < rules_.size(); ++i) t[i] = rules_[i]->update(s[i], c);
    return t;
}

Rules::Verdict Rules::prune(const States& s, int level) {
    Verdict verdict = open;
    if (lifted_) return verdict;
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (rules_[i]->prune(s[i], level)) {
            verdict = std::max(verdict, rules_[i]->about_test() ? skip : shallow);
            needed_[i] = std::min(needed_[i], rules_[i]->needed(s[i], level));
        }
    return verdict;
}

Slack Rules::slack(const States& s) const {
    Slack slack{};
    for (std::size_t i = 0; i < rules_.size(); ++i) slack[i] = float(lifted_ ? kFree : rules_[i]->slack(s[i]));
    return slack;
}

bool Rules::covers(const Slack& known, const Slack& wanted) {
    for (int i = 0; i < kMaxRules; ++i)
        if (known[i] < wanted[i]) return false;
    return true;
}

bool Rules::relax() {
    bool any = false;
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (needed_[i] < kFree) rules_[i]->relax(needed_[i]), any = true;
    needed_.fill(kFree);
    return any;
}

}  // namespace treeform::binary
