// The Python face of the proof checker: flat arrays and two callables that read and write pieces of proofs.
#include "bind.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

#include "checker.hpp"

namespace nb = nanobind;

namespace treeform::rup {
namespace {

using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Literals = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Formula formula_of(const Starts& starts, const Literals& literals, std::int32_t variables) {
    if (variables < 0) throw std::invalid_argument("there cannot be fewer than 0 variables");
    if (starts.shape(0) == 0 || starts(0) != 0
        || starts(starts.shape(0) - 1) != static_cast<std::int64_t>(literals.shape(0)))
        throw std::invalid_argument("the starts of clauses do not fit the literals");
    for (std::size_t i = 1; i < starts.shape(0); ++i)
        if (starts(i) < starts(i - 1)) throw std::invalid_argument("the starts of clauses have to ascend");
    for (std::size_t i = 0; i < literals.shape(0); ++i) {
        const std::int64_t literal = literals(i);
        if (literal == 0 || literal > variables || -literal > variables)
            throw std::invalid_argument("a literal is of no variable");
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

nb::dict rup_check(const Starts& starts, const Literals& literals, std::int32_t variables, const nb::callable& read,
                   const nb::object& write, bool binary, std::int64_t memory, const nb::object& poll) {
    const Formula formula = formula_of(starts, literals, variables);
    const Settings settings{binary, static_cast<std::size_t>(memory < 0 ? 0 : memory)};
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
    result["verdict"] = name_of(out.verdict), result["detail"] = out.detail;
    result["steps"] = out.steps, result["lemmas"] = out.lemmas, result["core_lemmas"] = out.core_lemmas;
    result["core_clauses"] = out.core_clauses, result["ignored"] = out.ignored;
    result["propagations"] = out.propagations, result["bytes"] = out.bytes;
    return result;
}

}  // namespace

void bind(nb::module_& m) {
    m.def("rup_check", &rup_check, nb::arg("starts"), nb::arg("literals"), nb::arg("variables"), nb::arg("read"),
          nb::arg("write").none(), nb::arg("binary"), nb::arg("memory"), nb::arg("poll").none(),
          "Whether a proof refutes clauses by unit propagation; see treeform.certify.proofs.");
}

}  // namespace treeform::rup
