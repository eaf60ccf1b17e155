"""Verification of a certificate from scratch, by code that shares nothing with solvers or engines.

Samples are routed one by one through the model's JSON in plain Python, errors are counted in integers,
every requirement is evaluated again, and bounds that a native engine proved are proved again. Bounds of
other solvers are reported as what they are: somebody's word, until the solver is run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.data import Dataset
from treeform.errors import CertificateError, TreeformError
from treeform.graph import DecisionGraph
from treeform.objective import Objective
from treeform.ports import Requirement
from treeform.shape import shape_from_json
from treeform.solve.certificate import validate
from treeform.solve.question import Question
from treeform.solve.recheck import prove_again
from treeform.solve.trivial import ceiling, floor_bound
from treeform.solve.verify import misfit, verify


@dataclass(frozen=True)
class CheckRow:
    """One thing that was checked: ``ok`` is None where it cannot be re-checked here."""

    what: str
    ok: bool | None
    detail: str


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
        Seconds for proving each native bound again.

    Returns
    -------
    CheckReport
        ``report.ok`` and one row for each thing checked.

    Raises
    ------
    CertificateError
        If the file is damaged, edited, or belongs to other data.
    """
    body = validate(certificate)
    data = Dataset.from_user(X, y, sample_weight, exclude=tuple(body["data"]["exclude"]))
    _same_data(body, data)
    rows = [CheckRow("data", True, f"{data.n_samples} samples, digest {data.digest[:16]}…")]
    question = question_of(body, data)
    graph = None
    if body["model"] is not None:
        graph = DecisionGraph.from_json(body["model"])
        rows += _check_model(body, question, graph)
    rows += [_check_claim(claim, question, graph, time_limit) for claim in body["claims"]]
    rows.append(_check_status(body))
    return CheckReport(tuple(rows))


def _same_data(body: dict[str, Any], data: Dataset) -> None:
    if body["data"]["digest"] == data.digest:
        return
    told = body["data"]
    differences = []
    if told["n_samples"] != data.n_samples:
        differences.append(f"{told['n_samples']} samples there, {data.n_samples} here")
    if told["features"] != [column.name for column in data.columns]:
        differences.append("other features")
    raise CertificateError(
        "the certificate is for other data",
        cause="; ".join(differences) or "same sizes and names, but values, labels or weights differ",
        fix="give the very table (and weights) that the model was fitted on",
    )


def question_of(body: dict[str, Any], data: Dataset) -> Question:
    """The problem that a validated certificate answers, on its data."""
    problem = body["problem"]
    requirements = tuple(Requirement.from_json(item).bind(data) for item in problem["requirements"])
    objective = Objective.parse(problem["objective"])
    return Question(data, shape_from_json(problem["shape"]), objective, requirements)


def _check_model(body: dict[str, Any], question: Question, graph: DecisionGraph) -> list[CheckRow]:
    data, answer = question.data, body["answer"]
    walked = [walk(graph, row) for row in data.X.tolist()]
    told = answer["leaf_of_sample"]
    moved = sum(a != b for a, b in zip(walked, told, strict=False)) + abs(len(walked) - len(told))
    wrong = sum(int(graph.label[leaf]) != int(label) for leaf, label in zip(walked, data.y, strict=True))
    rows = [
        CheckRow(
            "paths", moved == 0, f"{len(walked) - moved} of {len(walked)} samples reach the leaf stated"
        ),
        CheckRow("errors", wrong == answer["errors"], f"{wrong} counted, {answer['errors']} stated"),
    ]
    unfit = misfit(graph, question.shape)
    rows.append(CheckRow("shape", unfit is None, unfit or f"fits {question.shape}"))
    judged = verify(question, graph)
    value = question.to_units(judged.value)
    stated = Fraction(answer["objective"])
    rows.append(CheckRow("objective", value == stated, f"{value} evaluated, {stated} stated"))
    for label, violation in judged.violations.items():
        rows.append(
            CheckRow(label, violation == 0, "satisfied" if violation == 0 else f"violated by {violation}")
        )
    return rows


def walk(graph: DecisionGraph, row: list[float]) -> int:
    """The leaf that one encoded sample reaches, step by step."""
    node = 0
    while graph.feature[node] >= 0:
        goes_left = row[int(graph.feature[node])] <= float(graph.threshold[node])
        node = int(graph.left[node] if goes_left else graph.right[node])
    return node


def _check_claim(
    claim: dict[str, Any], question: Question, graph: DecisionGraph | None, time_limit: float | None
) -> CheckRow:
    value = None if claim["value"] is None else Fraction(claim["value"])
    what = f"{claim['kind']} claim" + ("" if value is None else f" {value}") + f" by {claim['by']}"
    if claim["kind"] == "upper":
        best = None if graph is None else question.to_units(verify(question, graph).value)
        ok = best is not None and value is not None and best <= value
        return CheckRow(what, ok, f"the model is worth {best}")
    floor = question.to_units(floor_bound(question))
    if claim["kind"] == "lower" and value is not None and value <= floor:
        return CheckRow(what, True, f"rows that agree on every feature cost at least {floor}")
    if claim["kind"] == "infeasible" and claim["recheck"] is not None:
        value = question.to_units(ceiling(question)) + Fraction(1, question.scale)
    if claim["recheck"] is None or value is None:
        return CheckRow(what, None, "not re-checked: run the solver again to prove it again")
    return _prove_again(what, value, claim, question, time_limit)


def _prove_again(
    what: str, value: Fraction, claim: dict[str, Any], question: Question, time_limit: float | None
) -> CheckRow:
    try:
        proved, finished = prove_again(claim["recheck"], question, time_limit)
    except (TreeformError, KeyError, TypeError, ValueError) as error:
        return CheckRow(what, False, f"cannot be proved again: {error}")
    if proved >= value:
        return CheckRow(what, True, f"proved again: at least {proved}")
    if not finished:
        return CheckRow(what, None, f"not finished within {time_limit} s: at least {proved} so far")
    return CheckRow(what, False, f"only {proved} is proved")


def _check_status(body: dict[str, Any]) -> CheckRow:
    answer = body["answer"]
    status = answer["status"]
    lowers = [Fraction(c["value"]) for c in body["claims"] if c["kind"] == "lower"]
    bound = max(lowers, default=None)
    if status == "optimal":
        ok = bound is not None and answer["objective"] is not None and bound >= Fraction(answer["objective"])
        return CheckRow(
            "status", ok, "optimal: the claims' bound meets the objective" if ok else "bound does not meet it"
        )
    if status == "infeasible":
        ok = any(c["kind"] == "infeasible" for c in body["claims"])
        return CheckRow("status", ok, "infeasible: by the claim above" if ok else "no claim of infeasibility")
    return CheckRow("status", True, f"{status}: optimality is not claimed")
