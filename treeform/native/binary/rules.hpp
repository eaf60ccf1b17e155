#pragma once
// CA-DL8.5 (Kiossou, Nijssen, Schaus, "A generic complete anytime beam search for optimal decision trees", Table 1):
// a rule defines which part of the search is left for a later restart.
//
//   initial(c)      -> state            the state of the root
//   update(s, c)    -> state            the state of a child, from its parent's and its context
//   prune(s)        -> bool             do not expand this node now
//   relax()                             weaken the rule before the next restart
//   terminal(s)     -> state            fully explored: never pruned again
//
// One thing is added: slack(s), how far the state s is from the threshold; the larger, the more is explored below.
// A cached result is used again if it was found with at least the slack of now.
//
// The rules are classes in rule_table.cpp, with a table of their names at its end; CADL85(rule="name") looks them up.
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "problem.hpp"

namespace treeform::binary {

constexpr int kMaxRules = 4;
constexpr double kFree = std::numeric_limits<double>::infinity();
using Slack = std::array<float, kMaxRules>;

/// What a rule may use: the test that made the child, and the rows in it.
struct Context {
    int rank = 0;         // position of the test among its parent's candidates, best first
    int level = 0;        // tests above the child
    double gap = 0;       // information gain of the parent's best candidate minus this test's, in bits
    double error = 0;     // cost of the child as a leaf
    double size = 0;      // weight of the child
};

struct State {
    double value = 0;
    bool done = false;
};

/// How the thresholds move between restarts: by a fixed step, by doubling, or by steps along the Luby sequence.
class Relaxation {
public:
    Relaxation(const std::string& name, double step);
    double next(double threshold);

private:
    enum { monotonic, exponential, luby } kind_;
    double step_;
    unsigned turn_ = 0;
};

class Rule {
public:
    explicit Rule(Relaxation relaxation) : relaxation_(relaxation) {}
    virtual ~Rule() = default;
    virtual State initial(const Context&) const { return {}; }
    virtual State update(const State& s, const Context& c) const = 0;
    virtual State terminal(State s) const { return s.done = true, s; }
    /// Whether pruned at the present threshold. `level` as in Context.
    bool prune(const State& s, int level) const { return !s.done && !within(s, level); }
    virtual double slack(const State& s) const = 0;
    /// The smallest threshold that would let this state through; bounds the work of relax().
    virtual double needed(const State& s, int level) const = 0;
    /// Weaken until something that was pruned is let through.
    void relax(double needed) {
        do threshold_ = relaxation_.next(threshold_);
        while (threshold_ < needed);
    }
    /// Whether pruning is about the test (skip it) rather than about the rows of one child (keep that child shallow).
    virtual bool about_test() const { return true; }

protected:
    virtual bool within(const State& s, int level) const = 0;
    double threshold_ = 0;

private:
    Relaxation relaxation_;
};

/// Made with the rule's usual step when `step` is 0.
std::unique_ptr<Rule> make_rule(const std::string& name, const std::string& relaxation, double step);
std::vector<std::string> rule_names();

/// Several rules at once: a node is expanded when all let it through. Their thresholds stand still during a pass, so
/// that several threads may search under them; each notes in its own `Needs` what it had to leave out.
class Rules {
public:
    using States = std::array<State, kMaxRules>;
    using Needs = std::array<double, kMaxRules>;  // the nearest threshold that lets more through
    Rules() = default;
    /// Sets of rules that take turns on one cache need slots of their own, from `slot` on.
    Rules(const std::vector<std::string>& names, const std::string& relaxation, double step, int slot = 0);

    States initial(const Context& c) const;
    States update(const States& s, const Context& c) const;
    States terminal(const States& s) const;
    enum Verdict { open, shallow, skip };
    Verdict prune(const States& s, int level, Needs& needs) const;
    Slack slack(const States& s) const;
    static bool covers(const Slack& known, const Slack& wanted);
    bool relax(const Needs& needs);  // false: nothing was pruned
    bool any() const { return !rules_.empty(); }
    static Needs nothing();

private:
    std::vector<std::unique_ptr<Rule>> rules_;
    int slot_ = 0;
};

}  // namespace treeform::binary
