"""Verification of a certificate from scratch, by code that shares nothing with solvers or engines.

Samples are routed one by one through the model's JSON in plain Python, errors are counted in integers,
every requirement is evaluated again, and bounds that a native engine proved are proved again. Bounds of
other solvers are reported as what they are: somebody's word, until the solver is run again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from treeform.catalogue.requirements import from_json
from treeform.certify.certificate import validate
from treeform.certify.proofs import verify_proof
from treeform.certify.recheck import prove_again
from treeform.certify.statements import CheckRow, statements, status_row
from treeform.data import Dataset
from treeform.errors import CertificateError, SolverNotAvailable, TreeformError
from treeform.graph import DecisionGraph
from treeform.language.objective import Depth, Objective
from treeform.language.question import Question
from treeform.shape import shape_from_json
from treeform.solve.simple_bounds import PROVER, PROVER_OF_CLASSES, ceiling, classes_bound, floor_bound
from treeform.solve.verification import verify

#: What a file that is signed but not well-formed makes its reader raise.
DAMAGE = (KeyError, IndexError, TypeError, AttributeError, ArithmeticError, ValueError)


@dataclass(frozen=True)
class Again:
    """How claims are proved again: seconds for each, the folder of proofs, and by whom proofs are verified."""

    time_limit: float | None
    proofs: Path | None
    drat_trim: bool


@dataclass(frozen=True)
class CheckReport:
    """The outcome of `treeform.check`."""

    rows: tuple[CheckRow, ...]

    @property
    def ok(self) -> bool:
        """Whether every claim that can be re-checked holds."""
        return all(row.ok is not False for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        marks = {True: "ok  ", False: "FAIL", None: "-   "}
        return "\n".join(f"{marks[row.ok]} {row.what}: {row.detail}" for row in self.rows)


def check(
    certificate: dict[str, Any],
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    time_limit: float | None = 60.0,
    proofs: str | os.PathLike[str] | None = None,
    drat_trim: bool = False,
) -> CheckReport:
    """Re-verify a certificate against data.

    Parameters
    ----------
    certificate : dict
        From `Result.certificate`, or the JSON file written by ``treeform fit --certificate``.
    X, y, sample_weight
        The training data, as they were given to the problem. Columns that were excluded from the features
        have to be there too.
    time_limit : float or None
        Seconds for proving each native bound again, and for each proof.
    proofs : path, optional
        The folder that ``solve(..., proofs=folder)`` wrote to. The clauses that a proof refutes are derived from
        the data, and each step is verified; without the folder such claims are not re-checked.
    drat_trim : bool
        Whether drat-trim from the PATH verifies the proofs, instead of treeform's own checker.

    Returns
    -------
    CheckReport
        ``report.ok`` and one row for each thing checked.

    Raises
    ------
    CertificateError
        If the file is damaged, edited, or belongs to other data.
    SolverNotAvailable
        If drat-trim is asked for and not installed.
    """
    body = validate(certificate)
    try:
        exclude = tuple(map(str, body["data"]["exclude"]))
        digest, n_claims = str(body["data"]["digest"]), len(body["claims"])
    except DAMAGE as error:
        raise _damaged(error) from None
    data = Dataset.from_user(X, y, sample_weight, exclude=exclude)
    try:
        if digest != data.digest:
            raise _other_data(body, data)
        rows = [CheckRow("data", True, f"{data.n_samples} samples, digest {data.digest[:16]}…")]
        question = question_of(body, data)
        graph = None if body["model"] is None else DecisionGraph.from_json(body["model"])
        rows += statements(body, question, graph)
        again = Again(time_limit, None if proofs is None else Path(proofs), drat_trim)
        claims = [_check_claim(body["claims"][i], question, graph, again) for i in range(n_claims)]
        rows += [*claims, status_row(body, [row.ok for row in claims])]
    except TreeformError:
        raise
    except DAMAGE as error:
        raise _damaged(error) from None
    return CheckReport(tuple(rows))


def _damaged(error: Exception) -> CertificateError:
    return CertificateError(
        "the certificate is damaged",
        cause=f"{type(error).__name__} while it was read: {error}",
        fix="write it again with result.certificate()",
    )


def _other_data(body: dict[str, Any], data: Dataset) -> CertificateError:
    told = body["data"]
    differences = []
    if told["n_samples"] != data.n_samples:
        differences.append(f"{told['n_samples']} samples there, {data.n_samples} here")
    if told["features"] != [column.name for column in data.columns]:
        differences.append("other features")
    return CertificateError(
        "the certificate is for other data",
        cause="; ".join(differences) or "same sizes and names, but values, labels or weights differ",
        fix="give the very table (and weights) that the model was fitted on",
    )


def question_of(body: dict[str, Any], data: Dataset) -> Question:
    """The problem that a validated certificate answers, on its data."""
    problem = body["problem"]
    requirements = tuple(from_json(item).bind(data) for item in problem["requirements"])
    objective, shape = Objective.parse(problem["objective"]), shape_from_json(problem["shape"])
    objective.check(data, shape)
    return Question(data, shape, objective, requirements)


def _check_claim(
    claim: dict[str, Any], question: Question, graph: DecisionGraph | None, again: Again
) -> CheckRow:
    kind, value = claim["kind"], None if claim["value"] is None else Fraction(claim["value"])
    what = f"{kind} claim" + ("" if value is None else f" {value}") + f" by {claim['by']}"
    judged = None if graph is None else verify(question, graph)
    worth = None if judged is None or not judged.ok else question.to_units(judged.value)
    if kind not in ("upper", "lower", "infeasible") or (value is None) != (kind == "infeasible"):
        return CheckRow(what, False, "there is no such claim")
    if kind == "upper":
        ok = worth is not None and value is not None and worth <= value
        return CheckRow(what, ok, "no admissible model" if worth is None else f"the model is worth {worth}")
    if worth is not None and (value is None or value > worth):
        return CheckRow(what, False, f"refuted by the model, which is worth {worth}")
    floor, most = question.to_units(floor_bound(question)), question.to_units(ceiling(question))
    if value is None:  # infeasible: a bound beyond what any admissible model costs
        value = most + Fraction(1, question.scale)
    if value <= floor:
        return CheckRow(what, True, f"rows that agree on every feature cost at least {floor}")
    if claim["by"] == PROVER:
        return CheckRow(what, False, f"rows that agree on every feature cost only {floor}")
    by_classes = question.to_units(classes_bound(question))
    if value <= by_classes:
        return CheckRow(what, True, f"classes without a terminal, and tests, cost at least {by_classes}")
    if claim["by"] == PROVER_OF_CLASSES:
        return CheckRow(what, False, f"classes without a terminal, and tests, cost only {by_classes}")
    if value <= _one_level(question):
        return CheckRow(what, True, "no constant model is admissible")
    if claim["recheck"] is None:
        return CheckRow(what, None, "not re-checked: run the solver again to prove it again")
    if "proof" in claim["recheck"]:
        return _follow_proof(what, value, claim["recheck"], question, again)
    return _prove_again(what, value, claim, question, again.time_limit)


def _one_level(question: Question) -> Fraction:
    """What depth 1 costs where the depth is minimised and no model without a test is admissible; else 0."""
    terms = question.objective.terms
    if len(terms) != 1 or not isinstance(terms[0][1], Depth):
        return Fraction(0)
    leaves = (DecisionGraph.leaf(label, question.data) for label in range(question.data.n_classes))
    return Fraction(0) if any(verify(question, leaf).ok for leaf in leaves) else Fraction(terms[0][0])


def _prove_again(
    what: str, value: Fraction, claim: dict[str, Any], question: Question, time_limit: float | None
) -> CheckRow:
    try:
        proved, finished = prove_again(claim["recheck"], claim["relaxation"], question, time_limit)
    except (TreeformError, *DAMAGE) as error:
        return CheckRow(what, False, f"cannot be proved again: {error}")
    if proved >= value:
        return CheckRow(what, True, f"proved again: at least {proved}")
    if not finished:
        return CheckRow(what, None, f"not finished within {time_limit} s: at least {proved} so far")
    return CheckRow(what, False, f"only {proved} is proved")


def _follow_proof(
    what: str, value: Fraction, recheck: dict[str, Any], question: Question, again: Again
) -> CheckRow:
    if again.proofs is None:
        return CheckRow(
            what, None, f"a proof is in {recheck['proof']}: name its folder (proofs=, --proof) to verify it"
        )
    try:
        bound, found, cnf = verify_proof(recheck, question, again.proofs, again.time_limit, again.drat_trim)
    except SolverNotAvailable:
        raise
    except (TreeformError, *DAMAGE) as error:
        return CheckRow(what, False, f"its proof cannot be verified: {error}")
    if found.verdict in ("stopped", "memory"):
        return CheckRow(what, None, f"its proof was not verified to the end: {found.detail}")
    if not found.ok:
        return CheckRow(what, False, f"its proof proves nothing: {found.detail}")
    if bound is not None and bound < value:
        return CheckRow(what, False, f"its proof shows only that nothing is below {bound}")
    steps = f"{found.counters['core_lemmas']:,} lemmas" if found.counters else found.detail
    return CheckRow(
        what, True, f"proof verified ({steps}) against {cnf.n_clauses:,} clauses derived from the data"
    )
