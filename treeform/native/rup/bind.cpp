// The binding of the proof checker: flat arrays, and two callables that read and write pieces of proofs.
#include "../common/binding.hpp"
#include "checker.hpp"

namespace treeform::rup {
namespace {

using Starts = Array<std::int64_t, 1>;
using Literals = Array<std::int32_t, 1>;

Formula formula_of(const Starts& starts, const Literals& literals, std::int32_t variables) {
    require_aligned(starts, literals);
    require(variables >= 0, "there cannot be fewer than 0 variables");
    require(starts.shape(0) > 0 && starts(0) == 0
                && starts(starts.shape(0) - 1) == static_cast<std::int64_t>(literals.shape(0)),
            "the starts of clauses do not fit the literals");
    for (std::size_t i = 1; i < starts.shape(0); ++i)
        require(starts(i) >= starts(i - 1), "the starts of clauses have to ascend");
    for (std::size_t i = 0; i < literals.shape(0); ++i) {
        const std::int64_t literal = literals(i);
        require(literal != 0 && literal <= variables && -literal <= variables, "a literal is of no variable");
    }
    return {starts.data(), starts.shape(0) - 1, literals.data(), variables};
}

const char* name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::verified:
            return "verified";
        case Verdict::no_refutation:
            return "no refutation";
        case Verdict::not_implied:
            return "not implied";
        case Verdict::malformed:
            return "malformed";
        case Verdict::stopped:
            return "stopped";
        case Verdict::memory:
            return "memory";
    }
    return "";
}

nb::dict rup_check(const Starts& starts, const Literals& literals, const nb::kwargs& given) {
    Keywords keywords(given);
    const Formula formula = formula_of(starts, literals, keywords.integer_as<std::int32_t>("variables"));
    const Settings settings{keywords.flag("binary"), keywords.integer_as<std::size_t>("memory")};
    const nb::object read = keywords.object("read"), write = keywords.object("write"), poll = keywords.object("poll");
    keywords.finish();
    const Read native_read = [&read](std::string& buffer) {
        const nb::gil_scoped_acquire gil;
        const auto piece = nb::cast<nb::bytes>(read());
        buffer.assign(piece.c_str(), piece.size());
        return buffer.size();
    };
    Write native_write;
    if (!write.is_none())
        native_write = [&write](const std::string& piece) {
            const nb::gil_scoped_acquire gil;
            write(nb::bytes(piece.data(), piece.size()));
        };
    Poll native_poll;
    if (!poll.is_none())
        native_poll = [&poll] {
            const nb::gil_scoped_acquire gil;
            return nb::cast<bool>(poll());
        };
    Outcome out;
    {
        const nb::gil_scoped_release release;
        out = check(formula, settings, native_read, native_write, native_poll);
    }
    nb::dict result;
    result["verdict"] = name_of(out.verdict), result["detail"] = out.detail.c_str();
    result["steps"] = out.steps, result["lemmas"] = out.lemmas, result["core_lemmas"] = out.core_lemmas;
    result["core_clauses"] = out.core_clauses, result["ignored"] = out.ignored;
    result["propagations"] = out.propagations, result["bytes"] = out.bytes;
    return result;
}

}  // namespace

void bind(nb::module_& m) {
    m.def(
        "rup_check", &rup_check, nb::arg("starts"), nb::arg("literals"), nb::arg("keywords"),
        "Whether a proof refutes clauses by unit propagation; see treeform.certify.proofs. Keywords: variables, read, "
        "write, binary, memory, poll.");
}

}  // namespace treeform::rup
