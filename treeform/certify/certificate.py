"""Certificates: an answer with everything that is needed to verify it again from the data."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from treeform import __version__, backends
from treeform.certify.groups import ArrayTable, digest_with
from treeform.certify.rows import rows_part
from treeform.certify.schema import FAMILY, FORMAT, CertificatePart, FamilyPart
from treeform.data import Dataset
from treeform.errors import CertificateError, TreeformError
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import confusion, errors, weighted_errors
from treeform.graph.jsonio import digest as model_digest
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.solve.result import Claim, Number, SolveResult
from treeform.utils.files import is_as_written, refuse_deep, write_text


class Certificate(dict[str, Any]):
    """A certificate: a dict of plain JSON values that can write itself."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as JSON, for `treeform.check` and ``treeform check``.

        Raises SpecError if the file cannot be written.
        """
        write_text(Path(path), json.dumps(self, indent=1) + "\n")

    def with_weight(self, column: str | None) -> Certificate:
        """The same with the name of the weight column, so that a check finds it; None: there is none."""
        if column is None:
            return self
        return Certificate(sign({**self, "metadata": {**self["metadata"], "weight": column}}))


def make_certificate(result: SolveResult, **more: Any) -> Certificate:
    """The certificate of ``result``: plain JSON values, numbers exact (rationals as text ``"a/b"``).

    ``more``: further parts of it.

    Raises CertificateError if the result has neither a model nor a proof, so that there is nothing to certify.
    """
    question = result.question
    if question is None or (result.graph is None and not result.claims):
        raise CertificateError(
            "there is nothing to certify",
            cause=f"the solve ended {result.status} without a model and without a claim",
            fix="give it more time, or loosen the requirements",
        )
    run = {
        "solver": result.solver,
        "formulation": result.formulation,
        "seconds": round(result.seconds, 3),
        "limit": None if result.limit is None else str(result.limit),
    }
    return written(FORMAT, question, run, {**answered(result), **more})


def certify_model(
    question: Question, graph: DecisionGraph, objective: Number, violations: Mapping[str, Number]
) -> Certificate:
    """The certificate of a model that was given and judged: its worth and what it violates, without any claim."""
    answer = {"status": "judged", "objective": number_in_file(objective), "bound": None}
    answer |= _figures(question.data, graph, violations)
    run = {"solver": "none", "formulation": None, "seconds": 0, "limit": None}
    return written(FORMAT, question, run, {"answer": answer, "model": graph.to_json(), "claims": []})


def answered(result: SolveResult) -> dict[str, Any]:
    """Status, figures, model and claims of an answer."""
    answer: dict[str, Any] = {
        "status": str(result.status),
        "objective": number_in_file(result.objective),
        "bound": number_in_file(result.bound),
    }
    if result.graph is not None:
        assert result.question is not None
        answer |= _figures(result.question.data, result.graph, result.violations)
    model = None if result.graph is None else result.graph.to_json()
    return {"answer": answer, "model": model, "claims": [_claim(claim) for claim in result.claims]}


def written(
    form: str,
    question: Question,
    run: dict[str, Any],
    content: dict[str, Any],
    moved: Requirement | None = None,
) -> Certificate:
    """A signed certificate: data, problem and run, and its own content; that of a family names what is moved."""
    data = question.data
    problem, arrays = stated_problem(question)
    if moved is not None:
        over = {**content["over"], "requirement": _requirement(str(moved), moved, arrays)}
        content = {**content, "over": over}
    body: dict[str, Any] = {
        "format": form,
        "data": {
            "digest": digest_with(data, arrays.groups),
            "n_samples": data.n_samples,
            "features": [column.name for column in data.columns],
            "classes": [str(label) for label in data.classes],
            "exclude": list(data.exclude),
            "reading": data.options.to_json(),
            "weighted": bool((data.weights != 1).any()),
            "groups": arrays.to_json(),
            **rows_part(data, arrays.groups),
            **weights_part(data),
            **quantity_part(data),
        },
        "problem": problem,
        **content,
        "metadata": {
            "treeform": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **run,
            "target": data.target,
        },
    }
    return Certificate(sign(body))


def _requirement(label: str, requirement: Requirement, arrays: ArrayTable) -> dict[str, Any]:
    return {"label": label, **arrays.taken_out(requirement.to_json())}


def stated_problem(question: Question) -> tuple[dict[str, Any], ArrayTable]:
    """The problem as a certificate states it, and the arrays of groups that it rests on."""
    arrays = ArrayTable()
    requirements = [
        _requirement(label, requirement, arrays)
        for label, requirement in zip(question.labels, question.requirements, strict=True)
    ]
    objective = arrays.in_text(question.objective)
    shape = question.shape.to_json()
    problem = {"shape": shape, "objective": objective, "requirements": requirements}
    narrowed = question.restriction
    if narrowed is not None:
        problem["restriction"] = {
            "components": list(narrowed.components),
            "formulation": narrowed.formulation,
        }
    return problem, arrays


def is_of(certificate: Mapping[str, Any], question: Question, moved: Requirement | None = None) -> bool:
    """Whether a certificate that was read is one of this very question on these very rows."""
    problem, arrays = stated_problem(question)
    if moved is not None:
        stated = json.loads(json.dumps(_requirement(str(moved), moved, arrays)))
        if certificate["over"]["requirement"] != stated:
            return False
    if certificate["data"]["digest"] != digest_with(question.data, arrays.groups):
        return False
    return bool(certificate["problem"] == json.loads(json.dumps(problem)))


def weights_part(data: Dataset) -> dict[str, Any]:
    """What a certificate says of weights that were rounded; nothing where they are exact."""
    if data.rounding is None:
        return {}
    return {"weights": {"unit": number_in_file(data.weight_unit), "rounded": data.rounding.note}}


def quantity_part(data: Dataset) -> dict[str, Any]:
    """What a certificate says of a target that is a quantity; nothing where it is a class."""
    quantity = data.quantity
    if quantity is None:
        return {}
    return {"quantity": {"unit": number_in_file(quantity.unit), "rounded": quantity.note}}


def _figures(data: Dataset, graph: DecisionGraph, violations: Mapping[str, Number]) -> dict[str, Any]:
    """What is counted of a model."""
    matrix = {}
    if not graph.values:
        matrix = {
            "errors": errors(graph, data),
            "weighted_errors": int(weighted_errors(graph, data)),
            "confusion": [[int(v) for v in row] for row in confusion(graph, data)],
        }
    return {
        **matrix,
        "leaf_of_sample": [int(leaf) for leaf in graph.apply(data.X)],
        "violations": {label: number_in_file(value) for label, value in violations.items()},
    }


def _claim(claim: Claim) -> dict[str, Any]:
    route, details = _route(claim.recheck)
    return {
        "kind": claim.kind,
        "value": number_in_file(claim.value),
        "route": route,
        "metadata": {
            "by": with_version(claim.by) if " on " in claim.by else claim.by,  # a formulation on a solver
            "seconds": round(claim.seconds, 3),
            "relaxation": list(claim.relaxation),
            "details": details,
        },
    }


_WITNESS = {
    "engine": (),
    "lagrangian": ("multipliers",),
    "proof": ("file", "sha256", "formulation", "at_most", "rows"),
}


def _route(recheck: dict[str, Any] | None) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The witness from which the claim can be proved again, and what else is known of its proof."""
    if recheck is None:
        return None, {}
    witness = {key: recheck[key] for key in _WITNESS[recheck["kind"]]}
    details = {key: value for key, value in recheck.items() if key != "kind" and key not in witness}
    return {"kind": recheck["kind"], **witness} if witness else None, details


def with_version(by: str) -> str:
    """A prover's name with the version of its solver, where it is one: ``odd on highs 1.13.1``."""
    try:
        version = backends.by_name(by.rpartition(" on ")[2]).availability().version
    except TreeformError:
        return by
    return by if version is None else f"{by} {version}"


def number_in_file(value: Number | None) -> str | None:
    """An exact number as text: ``"12"`` or ``"25/2"``."""
    return None if value is None else str(Fraction(value))


def digest_of(body: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of all but the digest itself."""
    rest = {key: value for key, value in body.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sign(body: dict[str, Any]) -> dict[str, Any]:
    """``body`` with the digests of its models and of all of it. This shows damage, not forgery."""
    body = _with_model(body)
    if isinstance(members := body.get("members"), list):
        body = {**body, "members": [_with_model(one) if isinstance(one, dict) else one for one in members]}
    return {**body, "digest": digest_of(body)}


def _with_model(body: dict[str, Any]) -> dict[str, Any]:
    model = body.get("model")
    if isinstance(model, dict) and "digest" in model:
        body = {**body, "model": {**model, "digest": model_digest(model)}}
    return body


def read(certificate: Any) -> CertificatePart:
    """A certificate of one answer, of a form that can be checked, unchanged since it was written.

    Raises CertificateError if it is no certificate, of another version, has unknown or missing keys, or its digest
    does not match; or if it is that of a family.
    """
    part = read_any(certificate)
    if isinstance(part, CertificatePart):
        return part
    raise CertificateError(
        "this is the certificate of several models",
        cause="it certifies a size table, a Pareto curve or a frontier",
        fix="check it with tf.check or treeform check, or give the certificate of a single answer",
    )


def read_any(certificate: Any) -> CertificatePart | FamilyPart:
    """As `read`, of one answer or of a family."""
    kinds: dict[Any, type[CertificatePart | FamilyPart]] = {FORMAT: CertificatePart, FAMILY: FamilyPart}
    name = certificate.get("format") if isinstance(certificate, dict) else type(certificate).__name__
    if not isinstance(certificate, dict) or not isinstance(name, str) or name not in kinds:
        raise CertificateError(
            "this is not a certificate that this version reads",
            cause=f"its format is {name!r}, expected {FORMAT!r}",
            fix="use the file that result.certificate() or 'treeform fit --certificate' wrote",
        )
    try:
        refuse_deep(certificate)
    except ValueError as error:
        raise CertificateError(
            "the certificate is damaged", cause=str(error), fix="write it again with result.certificate()"
        ) from None
    if not is_as_written(certificate, digest_of):
        raise CertificateError(
            "the certificate was changed after it was written",
            cause="its digest does not match its content",
            fix="use the original file; what an edited certificate says cannot be trusted",
        )
    try:
        return kinds[name].model_validate(certificate)
    except ValidationError as error:
        raise _malformed(error) from None


def _malformed(error: ValidationError) -> CertificateError:
    """The first error of pydantic as a message."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return CertificateError(
            f"the certificate has the unknown key {place}",
            cause="every key is known and checked, or stands under 'metadata'",
            fix="write it again with result.certificate()",
        )
    return CertificateError(
        "the certificate is damaged",
        cause=f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}",
        fix="write it again with result.certificate()",
    )
