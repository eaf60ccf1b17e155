#include "rules.hpp"

#include <algorithm>
#include <stdexcept>

namespace treeform::binary {

Relaxation::Relaxation(const std::string& name, double step) : step_(step) {
    if (name == "monotonic")
        kind_ = monotonic;
    else if (name == "exponential")
        kind_ = exponential;
    else if (name == "luby")
        kind_ = luby;
    else
        throw std::invalid_argument("unknown relaxation " + name);
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

Rules::Rules(const std::vector<std::string>& names, const std::string& relaxation, double step, int slot)
    : slot_(slot) {
    if (names.size() + slot > kMaxRules) throw std::invalid_argument("at most four rules at once");
    for (const auto& name : names) rules_.push_back(make_rule(name, relaxation, step));
}

Rules::Needs Rules::nothing() {
    Needs needs;
    needs.fill(kFree);
    return needs;
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

Rules::States Rules::terminal(const States& s) const {
    States t = s;
    for (std::size_t i = 0; i < rules_.size(); ++i) t[i] = rules_[i]->terminal(s[i]);
    return t;
}

Rules::Verdict Rules::prune(const States& s, int level, Needs& needs) const {
    Verdict verdict = open;
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (rules_[i]->prune(s[i], level)) {
            verdict = std::max(verdict, rules_[i]->about_test() ? skip : shallow);
            needs[i] = std::min(needs[i], rules_[i]->needed(s[i], level));
        }
    return verdict;
}

/// Slots without a rule have an infinite slack: nothing is pruned.
Slack Rules::slack(const States& s) const {
    Slack slack;
    slack.fill(float(kFree));
    for (std::size_t i = 0; i < rules_.size(); ++i) slack[slot_ + i] = float(rules_[i]->slack(s[i]));
    return slack;
}

bool Rules::covers(const Slack& known, const Slack& wanted) {
    for (int i = 0; i < kMaxRules; ++i)
        if (known[i] < wanted[i]) return false;
    return true;
}

bool Rules::relax(const Needs& needs) {
    bool any = false;
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (needs[i] < kFree) rules_[i]->relax(needs[i]), any = true;
    return any;
}

}  // namespace treeform::binary
