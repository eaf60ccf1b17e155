"""Certificates: an answer with everything that is needed to verify it again from the data."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from treeform import __version__
from treeform.errors import CertificateError
from treeform.graph.evaluate import confusion, weighted_errors
from treeform.solve.result import Claim, Number, Result

FORMAT = "treeform.certificate/1"


def make_certificate(result: Result) -> dict[str, Any]:
    """The certificate of ``result``: plain JSON values, numbers exact (rationals as text ``"a/b"``).

    Raises
    ------
    CertificateError
        If the result has neither a model nor a proof, so that there is nothing to certify.
    """
    question = result.question
    if question is None or (result.graph is None and not result.claims):
        raise CertificateError(
            "there is nothing to certify",
            cause=f"the solve ended {result.status} without a model and without a claim",
            fix="give it more time, or loosen the requirements",
        )
    data = question.data
    body: dict[str, Any] = {
        "format": FORMAT,
        "treeform": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {
            "digest": data.digest,
            "n_samples": data.n_samples,
            "features": [column.name for column in data.columns],
            "classes": [str(label) for label in data.classes],
            "target": data.target,
            "exclude": list(data.exclude),
            "weighted": bool((data.weights != 1).any()),
        },
        "problem": {
            "shape": question.shape.to_json(),
            "objective": str(question.objective),
            "requirements": [
                {"label": label, **requirement.to_json()}
                for label, requirement in zip(question.labels, question.requirements, strict=True)
            ],
        },
        "answer": _answer(result),
        "model": None if result.graph is None else result.graph.to_json(),
        "claims": [_claim(claim) for claim in result.claims],
        "solver": result.solver,
        "formulation": result.formulation,
        "seconds": round(result.seconds, 3),
    }
    body["digest"] = digest_of(body)
    return body


def _answer(result: Result) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "status": str(result.status),
        "limit": None if result.limit is None else str(result.limit),
        "objective": exact_text(result.objective),
        "bound": exact_text(result.bound),
    }
    if result.graph is not None and result.question is not None:
        data = result.question.data
        answer |= {
            "errors": result.errors,
            "weighted_errors": int(weighted_errors(result.graph, data)),
            "confusion": [[int(v) for v in row] for row in confusion(result.graph, data)],
            "leaf_of_sample": [int(leaf) for leaf in result.graph.apply(data.X)],
            "violations": {label: exact_text(value) for label, value in result.violations.items()},
        }
    return answer


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "kind": claim.kind,
        "value": exact_text(claim.value),
        "by": claim.by,
        "seconds": round(claim.seconds, 3),
        "relaxation": list(claim.relaxation),
        "recheck": claim.recheck,
    }


def exact_text(value: Number | None) -> str | None:
    """An exact number as text: ``"12"`` or ``"25/2"``."""
    return None if value is None else str(Fraction(value))


def digest_of(body: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of all but the digest itself."""
    rest = {key: value for key, value in body.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def validate(certificate: Any) -> dict[str, Any]:
    """A certificate of a form that can be checked, unchanged since it was written.

    Raises
    ------
    CertificateError
        If it is no certificate, of another version, or its digest does not match.
    """
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        found = certificate.get("format") if isinstance(certificate, dict) else type(certificate).__name__
        raise CertificateError(
            "this is not a certificate that this version reads",
            cause=f"its format is {found!r}, expected {FORMAT!r}",
            fix="use the file that result.certificate() or 'treeform fit --certificate' wrote",
        )
    missing = {"data", "problem", "answer", "claims", "digest"} - set(certificate)
    if missing:
        raise CertificateError(
            "the certificate is incomplete",
            cause=f"missing: {', '.join(sorted(missing))}",
            fix="write it again with result.certificate()",
        )
    if certificate["digest"] != digest_of(certificate):
        raise CertificateError(
            "the certificate was changed after it was written",
            cause="its digest does not match its content",
            fix="use the original file; what an edited certificate says cannot be trusted",
        )
    return certificate
