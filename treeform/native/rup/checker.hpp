#pragma once
// Refutations in the DRUP format, checked backwards; see checker.cpp for how and why.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace treeform::rup {

/// Clauses as flat arrays: clause i is literals[starts[i]] .. literals[starts[i + 1] - 1], signed, variables from 1.
struct Formula {
    const std::int64_t* starts;
    std::size_t clauses;
    const std::int32_t* literals;
    std::int32_t variables;
};

struct Settings {
    bool binary = false;          ///< The proof is in the binary format ('a', 'd', 7-bit groups), else in text.
    std::size_t memory = 0;       ///< Bytes that may be used; 0 is no limit.
};

enum class Verdict { verified, no_refutation, not_implied, malformed, stopped, memory };

struct Outcome {
    Verdict verdict = Verdict::no_refutation;
    std::string detail;           ///< What is wrong, where.
    std::uint64_t steps = 0;      ///< Steps read, additions and deletions.
    std::uint64_t lemmas = 0;     ///< Lemmas read.
    std::uint64_t core_lemmas = 0, core_clauses = 0;  ///< Those that the refutation needs, and clauses of the formula.
    std::uint64_t ignored = 0;  ///< Deletions of clauses that are not there or that hold a unit in place.
    std::uint64_t propagations = 0;
    std::size_t bytes = 0;  ///< Peak of memory, about.
};

/// The next piece of the proof into the buffer given; its length, 0 at the end.
using Read = std::function<std::size_t(std::string& buffer)>;
/// Takes a piece of the trimmed proof.
using Write = std::function<void(const std::string& piece)>;
/// Asked now and then; true stops.
using Poll = std::function<bool()>;

/// Whether the proof refutes the formula. When it does and `write` is given, the part that is needed goes there as
/// text.
Outcome check(const Formula& formula, const Settings& settings, const Read& read, const Write& write, const Poll& poll);

}  // namespace treeform::rup
