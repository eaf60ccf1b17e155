"""What a certificate says about its model, evaluated again: every stated figure has to be the counted one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import confusion, weighted_errors
from treeform.language.question import Question
from treeform.solve.verification import verify


@dataclass(frozen=True)
class CheckRow:
    """One thing that was checked: ``ok`` is None where it cannot be re-checked here."""

    what: str
    ok: bool | None
    detail: str


def statements(body: dict[str, Any], question: Question, graph: DecisionGraph | None) -> list[CheckRow]:
    """All statements of a certificate but its claims and its status."""
    rows = _head(body, question)
    if graph is None:
        told = sorted(set(body["answer"]) & {"errors", "weighted_errors", "confusion", "leaf_of_sample"})
        if told or body["answer"]["objective"] is not None:
            rows.append(CheckRow("model", False, "figures are stated and there is no model"))
        return rows
    if not _belongs(graph, question.data):
        reason = "its columns, encoding, classes or counts are not those of the data"
        return [*rows, CheckRow("model", False, reason)]
    return rows + _of_model(body["answer"], question, graph)


def _head(body: dict[str, Any], question: Question) -> list[CheckRow]:
    """The description of data and problem; only what deviates makes a row."""
    data, told = question.data, body["data"]
    same = {
        "number of samples": told["n_samples"] == data.n_samples,
        "features": told["features"] == [column.name for column in data.columns],
        "classes": told["classes"] == [str(label) for label in data.classes],
        "weights": told["weighted"] == bool((data.weights != 1).any()),
        "requirements": [item["label"] for item in body["problem"]["requirements"]] == list(question.labels),
    }
    return [CheckRow(name, False, "not as stated") for name, ok in same.items() if not ok]


def _belongs(graph: DecisionGraph, data: Dataset) -> bool:
    """Whether the model reads the data's own columns, and carries the counts of these data."""
    if graph.columns != data.columns or list(graph.classes) != list(data.classes):
        return False
    if graph.encoder is None or graph.encoder.to_json() != data.encoder.to_json():
        return False
    return bool((graph.counts == graph.with_counts(data).counts).all())


def _of_model(answer: dict[str, Any], question: Question, graph: DecisionGraph) -> list[CheckRow]:
    data, judged = question.data, verify(question, graph)
    walked = [walk(graph, row) for row in data.X.tolist()]
    told = answer["leaf_of_sample"]
    moved = sum(a != b for a, b in zip(walked, told, strict=False)) + abs(len(walked) - len(told))
    reached = f"{len(walked) - moved} of {len(walked)} samples reach the leaf stated"
    wrong = sum(int(graph.label[leaf]) != int(label) for leaf, label in zip(walked, data.y, strict=True))
    rows = [
        CheckRow("paths", moved == 0, reached),
        CheckRow("errors", wrong == answer["errors"], f"{wrong} counted, {answer['errors']} stated"),
    ]
    if answer["weighted_errors"] != int(weighted_errors(graph, data)):
        rows.append(CheckRow("weighted errors", False, f"{weighted_errors(graph, data)} counted"))
    if answer["confusion"] != confusion(graph, data).tolist():
        rows.append(CheckRow("confusion", False, "not the table that is counted"))
    rows.append(CheckRow("shape", judged.misfit is None, judged.misfit or f"fits {question.shape}"))
    value, stated = question.to_units(judged.value), answer["objective"]
    same = stated is not None and value == Fraction(stated)
    rows.append(CheckRow("objective", same, f"{value} evaluated, {stated} stated"))
    for label, violation in judged.violations.items():
        met = "satisfied" if violation == 0 else f"violated by {violation}"
        rows.append(CheckRow(label, violation == 0, met))
    if {name: Fraction(text) for name, text in answer["violations"].items()} != judged.violations:
        rows.append(CheckRow("violations", False, "not those that are evaluated"))
    return rows


def walk(graph: DecisionGraph, row: list[float]) -> int:
    """The leaf that one encoded sample reaches, step by step."""
    node = 0
    while graph.feature[node] >= 0:
        feature = int(graph.feature[node])
        value = row[feature] if feature < len(row) else graph.forms[feature - len(row)].nearest(row)
        goes_left = value <= float(graph.threshold[node])
        node = int(graph.left[node] if goes_left else graph.right[node])
    return node


def status_row(body: dict[str, Any], verdicts: list[bool | None]) -> CheckRow:
    """Whether status and bound follow from the claims, given how each claim fared."""
    answer, claims = body["answer"], list(zip(body["claims"], verdicts, strict=True))
    status, bound = answer["status"], None if answer["bound"] is None else Fraction(answer["bound"])
    lowers = [(Fraction(c["value"]), ok) for c, ok in claims if c["kind"] == "lower"]
    refuted = [(None, ok) for c, ok in claims if c["kind"] == "infeasible"]
    if bound != max((value for value, _ in lowers), default=None):
        return CheckRow("status", False, f"the bound {bound} is not what the claims say")
    objective = None if answer["objective"] is None else Fraction(answer["objective"])
    met = objective is not None and bound is not None and bound >= objective
    follows = {
        "optimal": met and not refuted,
        "feasible": objective is not None and not met and not refuted,
        "infeasible": objective is None and bool(refuted),
        "unknown": objective is None and not refuted,
    }
    if not follows.get(str(status), False):
        return CheckRow("status", False, f"{status}: does not follow from the claims")
    if status in ("feasible", "unknown"):
        return CheckRow("status", True, f"{status}: optimality is not claimed")
    proofs = (
        [ok for value, ok in lowers if value == bound] if status == "optimal" else [ok for _, ok in refuted]
    )
    why = "the claims' bound meets the objective" if status == "optimal" else "by the claim above"
    if any(proofs):
        return CheckRow("status", True, f"{status}: {why}")
    word = "on the word of a solver alone"
    return CheckRow("status", False if False in proofs else None, f"{status}: {why}, {word}")
