#include "rules.hpp"

#include <algorithm>
#include <map>
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

/// Filled before main() by the static objects of the rules' files.
static std::map<std::string, std::pair<double, MakeRule>>& known_rules() {
    static std::map<std::string, std::pair<double, MakeRule>> all;
    return all;
}

NamedRule::NamedRule(const char* name, double step, MakeRule make) { known_rules()[name] = {step, std::move(make)}; }

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const auto& [name, made] : known_rules()) names.push_back(name);
    return names;
}

std::unique_ptr<Rule> make_rule(const std::string& name, const std::string& relaxation, double step) {
    const auto found = known_rules().find(name);
    if (found == known_rules().end()) throw std::invalid_argument("unknown rule " + name);
    return found->second.second(Relaxation(relaxation, step > 0 ? step : found->second.first));
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

/// Rules that are not there leave all freedom.
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
