// A refutation by reverse unit propagation (RUP; Goldberg and Novikov, DATE 2003) is a list of lemmas that ends in a
// contradiction. A lemma follows when assuming its negation leads to a conflict by unit propagation alone, over the
// formula and the lemmas before it; so every step may be checked by itself, and the formula is unsatisfiable.
//
// Two passes (the scheme of DRAT-trim: Wetzler, Heule and Hunt, SAT 2014):
//
//   forward    Lemmas are added and deleted as the proof states, nothing is checked, and the units that follow without
//   assumptions
//              are kept on a trail, each with the clause that forced it. It ends with a clause that is false under the
//              trail: the contradiction. The rest of the proof is not needed.
//   backward   The clauses that took part in the contradiction are core. From the last lemma to the first: undo the
//              step; a lemma that is core is now checked, and the clauses of its conflict become core too. A lemma
//              that is not core is never checked, mostly more than half of them. Propagation prefers core
//              clauses, which keeps the core small.
//
// Invariant of the trail: after each step of the forward pass it is closed under unit propagation over the clauses that
// are there. Going backwards the same trails come by as prefixes: removing a lemma that is the reason of a unit cuts
// the trail just before that unit, since all that came after it came later in time. A clause watches two of its
// literals that are not false, or a true one and the false one that came last, so that a cut leaves it well watched.
//
// Only RUP is accepted. Then deletions are a matter of speed and never of soundness: every lemma is a consequence of
// the formula, so that more clauses can do no harm. Deletions of clauses that force a unit are ignored on these
// grounds. RAT steps, which need not be consequences, are refused like any other lemma that does not follow.
#include "checker.hpp"

#include <chrono>

#include "parser.hpp"
#include "store.hpp"

namespace treeform::rup {
namespace {

struct Stopped {};
struct OutOfMemory {};

constexpr std::uint32_t kDeletion = 0x80000000u;
constexpr std::uint64_t kPropagationsPerLook = 1 << 16;

struct Watch {
    Id clause;
    Lit blocker;  // some other literal; nothing is to do while it is true
};

class Checker {
    using Watches = std::vector<Watch>;
    /// Bytes for a variable: watches of both literals in both kinds of clauses, values, reason, place, mark, its entry
    /// on the trail.
    static constexpr std::size_t kPerVariable
        = 4 * sizeof(Watches) + 2 + sizeof(Id) + sizeof(std::size_t) + 1 + sizeof(Lit) + Store::kPerVariable;

public:
    Checker(const Formula& formula, const Settings& settings, const Poll& poll, Outcome& out)
        : variables_(static_cast<std::size_t>(formula.variables)), settings_(settings), poll_(poll), out_(out) {
        remember_memory();  // before it is taken
        store_ = Store(variables_);
        value_.assign(2 * variables_, 0), reason_.assign(variables_, kNone), place_.assign(variables_, 0);
        seen_.assign(variables_, 0);
        watches_[0].resize(2 * variables_), watches_[1].resize(2 * variables_);
    }

    /// Load the formula; true when unit propagation refutes it at once.
    bool load(const Formula& formula) {
        std::vector<std::int32_t> given;
        for (std::size_t i = 0; i < formula.clauses && conflict_ == kNone; ++i) {
            given.assign(formula.literals + formula.starts[i], formula.literals + formula.starts[i + 1]);
            add(given);
            originals_ = store_.size();
        }
        return conflict_ != kNone;
    }
    /// The forward pass; true when a contradiction is reached.
    bool forward(Parser& parser) {
        std::vector<std::int32_t> given;
        bool deletion = false;
        while (parser.next(given, deletion)) {
            for (const auto literal : given)
                if (static_cast<std::size_t>(literal < 0 ? -static_cast<std::int64_t>(literal) : literal) > variables_)
                    throw Malformed("the variable of " + std::to_string(literal) + ", which the formula does not have,"
                                    " is named in step " + std::to_string(parser.steps()));
            if (deletion) {
                remove(given);
            } else {
                ++out_.lemmas;
                const Id id = add(given);
                if (id != kNone) steps_.push_back(id), origin_.push_back(parser.steps());
            }
            if (conflict_ != kNone) return true;
            poll(1);
        }
        return false;
    }
    /// The backward pass; false when a lemma that is needed does not follow.
    bool backward() {
        now_ = steps_.size();
        explain(conflict_);
        while (now_-- > 0) {
            const std::uint32_t step = steps_[now_];
            if (step & kDeletion) {
                revive(step & ~kDeletion);
                continue;
            }
            withdraw(step);
            if (store_[step].core && !follows(step)) {
                out_.detail = "step " + std::to_string(origin_[now_]) + ", the lemma " + text(step)
                              + "0, does not follow by unit propagation";
                return false;
            }
            poll(1);
        }
        return true;
    }
    void trimmed(const Write& write) {
        std::string piece;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const std::uint32_t step = steps_[i];
            if (step & kDeletion || !store_[step].core) continue;
            say(piece, "", step);
            for (; !last_use_.empty() && last_use_.back().first <= i; last_use_.pop_back())
                say(piece, "d ", last_use_.back().second);
            if (piece.size() > (1 << 20)) write(piece), piece.clear();
        }
        piece += "0\n";
        write(piece);
    }
    void count() {
        for (Id id = 0; id < store_.size(); ++id)
            (id < originals_ ? out_.core_clauses : out_.core_lemmas) += store_[id].core;
    }

private:
    // -- steps ----------------------------------------------------------------------------------

    Id add(const std::vector<std::int32_t>& given) {
        if (!store_.normalise(given, lits_)) return kNone;  // always true: of no use to anybody
        const Id id = store_.add(lits_);
        watch_bytes_ += 2 * sizeof(Watch);
        attach(id);
        remember_memory();
        return id;
    }
    /// Watch the two best literals, and draw the conclusion when all others are false.
    void attach(Id id) {
        Clause& clause = store_[id];
        clause.active = true;
        Lit* lits = store_.lits(id);
        for (std::uint32_t w = 0; w < 2 && w < clause.size; ++w)
            for (std::uint32_t i = w + 1; i < clause.size; ++i)
                if (worth(lits[i]) > worth(lits[w])) std::swap(lits[i], lits[w]);
        if (clause.size > 1) {
            watches_[clause.core][lits[0]].push_back({id, lits[1]});
            watches_[clause.core][lits[1]].push_back({id, lits[0]});
        }
        if (clause.size == 0 || value_[lits[0]] < 0) {
            conflict_ = id;
        } else if (value_[lits[0]] == 0 && (clause.size == 1 || value_[lits[1]] < 0)) {
            assign(lits[0], id);
            conflict_ = propagate();
        }
    }
    std::uint64_t worth(Lit lit) const {
        if (value_[lit] > 0) return ~0ull;
        return value_[lit] == 0 ? ~0ull - 1 : place_[lit >> 1];
    }
    void remove(const std::vector<std::int32_t>& given) {
        if (!store_.normalise(given, lits_)) return;
        const Id id = store_.take(lits_);
        if (id == kNone || forces(id)) {
            ++out_.ignored;
            if (id != kNone) store_.chain(id);
            return;
        }
        detach(id);
        steps_.push_back(id | kDeletion), origin_.push_back(0);
        remember_memory();
    }
    bool forces(Id id) {
        const Lit* lits = store_.lits(id);
        for (std::uint32_t i = 0; i < 2 && i < store_[id].size; ++i)
            if (value_[lits[i]] > 0 && reason_[lits[i] >> 1] == id) return true;
        return false;
    }
    void detach(Id id) {
        Clause& clause = store_[id];
        clause.active = false;
        const Lit* lits = store_.lits(id);
        for (std::uint32_t i = 0; i < 2 && clause.size > 1; ++i)
            if (!drop(watches_[1][lits[i]], id)) drop(watches_[0][lits[i]], id);
    }
    static bool drop(std::vector<Watch>& list, Id id) {
        for (auto& watch : list)
            if (watch.clause == id) {
                watch = list.back();
                list.pop_back();
                return true;
            }
        return false;
    }
    /// The trail was closed under unit propagation when the clause was deleted, and is the same again: nothing follows.
    void revive(Id id) {
        attach(id);
        conflict_ = kNone;
    }
    /// Take back a lemma, and the units that rest on it.
    void withdraw(Id id) {
        const Lit* lits = store_.lits(id);
        for (std::uint32_t i = 0; i < 2 && i < store_[id].size; ++i)
            if (value_[lits[i]] > 0 && reason_[lits[i] >> 1] == id) cut(place_[lits[i] >> 1]);
        detach(id);
    }

    // -- propagation ----------------------------------------------------------------------------

    void assign(Lit lit, Id reason) {
        value_[lit] = 1, value_[lit ^ 1] = -1;
        reason_[lit >> 1] = reason, place_[lit >> 1] = trail_.size();
        trail_.push_back(lit);
    }
    void cut(std::size_t length) {
        while (trail_.size() > length) {
            const Lit lit = trail_.back();
            trail_.pop_back();
            value_[lit] = value_[lit ^ 1] = 0, reason_[lit >> 1] = kNone;
        }
        heads_[0] = std::min(heads_[0], length), heads_[1] = std::min(heads_[1], length);
    }
    /// Core clauses as long as there is anything to conclude from them, the others one literal at a time.
    Id propagate() {
        for (;;) {
            const int core = heads_[1] < trail_.size();
            if (!core && heads_[0] == trail_.size()) return kNone;
            poll(1);
            const Id found = visit(core, trail_[heads_[core]++] ^ 1);
            if (found != kNone) return found;
        }
    }
    /// The clauses that watch a literal which has become false.
    Id visit(int core, Lit falsified) {
        auto& list = watches_[core][falsified];
        std::size_t kept = 0, i = 0;
        Id found = kNone;
        for (; i < list.size() && found == kNone; ++i) {
            const Watch watch = list[i];
            if (value_[watch.blocker] > 0) {
                list[kept++] = watch;
                continue;
            }
            const Clause& clause = store_[watch.clause];
            Lit* lits = store_.lits(watch.clause);
            if (lits[0] == falsified) std::swap(lits[0], lits[1]);
            const Watch renewed{watch.clause, lits[0]};
            if (value_[lits[0]] <= 0 && replace(clause, lits, renewed)) continue;
            // Clauses that have become core move to the other list as they come by.
            if (clause.core && !core) {
                watches_[1][falsified].push_back(renewed);
            } else {
                list[kept++] = renewed;
            }
            if (value_[lits[0]] < 0) {
                found = watch.clause;
            } else if (value_[lits[0]] == 0) {
                assign(lits[0], watch.clause);
            }
        }
        for (; i < list.size(); ++i) list[kept++] = list[i];
        list.resize(kept);
        return found;
    }
    bool replace(const Clause& clause, Lit* lits, const Watch& watch) {
        for (std::uint32_t k = 2; k < clause.size; ++k)
            if (value_[lits[k]] >= 0) {
                std::swap(lits[1], lits[k]);
                watches_[clause.core][lits[1]].push_back(watch);
                return true;
            }
        return false;
    }

    // -- the backward pass ------------------------------------------------------------------------

    /// Reverse unit propagation of a lemma under the trail of its time.
    bool follows(Id id) {
        const std::size_t top = trail_.size();
        const std::uint32_t size = store_[id].size;
        for (std::uint32_t i = 0; i < size; ++i) {
            const Lit lit = store_.lits(id)[i];
            if (value_[lit] > 0) {  // true already: by what forced it
                explain(reason_[lit >> 1]);
                cut(top);
                return true;
            }
            if (value_[lit] == 0) assign(lit ^ 1, kNone);
        }
        const Id found = propagate();
        if (found != kNone) explain(found);
        cut(top);
        return found != kNone;
    }
    /// Make a clause core, and all that forced the literals in it.
    void explain(Id id) {
        mark(id);
        for (std::size_t i = trail_.size(); i-- > 0;) {
            const Lit lit = trail_[i];
            if (!seen_[lit >> 1]) continue;
            seen_[lit >> 1] = 0;
            if (reason_[lit >> 1] != kNone) mark(reason_[lit >> 1]);
            seen_[lit >> 1] = 0;
        }
    }
    void mark(Id id) {
        Clause& clause = store_[id];
        if (!clause.core) {
            clause.core = true;
            if (id >= originals_ && now_ < steps_.size()) last_use_.emplace_back(now_, id);
        }
        const Lit* lits = store_.lits(id);
        for (std::uint32_t i = 0; i < clause.size; ++i) seen_[lits[i] >> 1] = 1;
    }

    // -- house-keeping ----------------------------------------------------------------------------

    void poll(std::uint64_t work) {
        out_.propagations += work;
        if (out_.propagations < next_look_) return;
        next_look_ = out_.propagations + kPropagationsPerLook;
        const auto time = std::chrono::steady_clock::now();
        if (poll_ && time - last_poll_ > std::chrono::milliseconds(100)) {
            last_poll_ = time;
            if (poll_()) throw Stopped{};
        }
    }
    void remember_memory() {
        const std::size_t bytes = store_.bytes() + 2 * watch_bytes_ + kPerVariable * variables_
                                  + steps_.capacity() * sizeof(steps_[0]) + origin_.capacity() * sizeof(origin_[0]);
        out_.bytes = std::max(out_.bytes, bytes);
        if (settings_.memory && bytes > settings_.memory) throw OutOfMemory{};
    }
    std::string text(Id id) {
        std::string out;
        for (std::uint32_t i = 0; i < store_[id].size; ++i) {
            out += std::to_string(to_signed(store_.lits(id)[i]));
            out += ' ';
        }
        return out;
    }
    void say(std::string& piece, const char* before, Id id) {
        piece += before;
        piece += text(id);
        piece += "0\n";
    }

    std::size_t variables_;
    const Settings& settings_;
    const Poll& poll_;
    Outcome& out_;
    Store store_;
    std::size_t originals_ = 0;
    std::vector<Watches> watches_[2];  // of clauses that are not known to be core, and of core clauses
    std::vector<std::int8_t> value_;
    std::vector<Id> reason_;
    std::vector<std::size_t> place_;
    std::vector<char> seen_;
    std::vector<Lit> trail_, lits_;
    std::size_t heads_[2] = {0, 0};
    Id conflict_ = kNone;
    std::vector<std::uint32_t> steps_;
    std::vector<std::uint64_t> origin_;  // numbers of the steps in the proof
    std::vector<std::pair<std::size_t, Id>> last_use_;  // core lemmas by the step that needs them last, descending
    std::size_t now_ = 0, watch_bytes_ = 0;
    std::uint64_t next_look_ = kPropagationsPerLook;
    std::chrono::steady_clock::time_point last_poll_ = std::chrono::steady_clock::now();
};

}  // namespace

Outcome check(const Formula& formula, const Settings& settings, const Read& read, const Write& write,
              const Poll& poll) {
    Outcome out;
    Parser parser(read, settings.binary, 64 + 4 * static_cast<std::size_t>(formula.variables));
    try {
        Checker checker(formula, settings, poll, out);
        if (!checker.load(formula) && !checker.forward(parser)) {
            out.verdict = Verdict::no_refutation;
            out.detail = "the proof ends without a contradiction";
        } else if (!checker.backward()) {
            out.verdict = Verdict::not_implied;
        } else {
            out.verdict = Verdict::verified;
            checker.count();
            if (write) checker.trimmed(write);
        }
    } catch (const Malformed& error) {
        out.verdict = Verdict::malformed, out.detail = error.what();
    } catch (const Stopped&) {
        out.verdict = Verdict::stopped, out.detail = "stopped";
    } catch (const OutOfMemory&) {
        out.verdict = Verdict::memory, out.detail = "the memory allowed does not suffice";
    } catch (const std::bad_alloc&) {
        out.verdict = Verdict::memory, out.detail = "out of memory";
    }
    out.steps = parser.steps();
    return out;
}

}  // namespace treeform::rup
