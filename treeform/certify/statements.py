"""The statements of a certificate about data, problem and model, evaluated again: each figure is counted anew."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from treeform.certify.certificate import quantity_part, weights_part
from treeform.certify.groups import other_arrays, parameters_of
from treeform.certify.schema import AnswerPart, CertificatePart, DocumentPart, MemberPart, RequirementPart
from treeform.certify.verdicts import CheckRow, Verdict, false, holds, judged, on_trust, violated
from treeform.data import Dataset
from treeform.errors import CertificateError, Infeasible
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import confusion, weighted_errors
from treeform.language.bounded import closed
from treeform.language.findings import finding
from treeform.language.losses import loss_of
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.requirements.groups import Groups
from treeform.shape import shape_from_json
from treeform.solve.verification import verify
from treeform.utils.text import count_of, exact_text

FIGURES = ("errors", "weighted_errors", "confusion", "leaf_of_sample", "violations")
FIGURES_OF_VALUES = ("leaf_of_sample", "violations")


def data_of(body: DocumentPart, X: Any, y: Any, sample_weight: Any = None) -> Dataset:
    """A table as the certificate's problem reads it.

    Raises TreeformError if it cannot be read so, or the objective is none.
    """
    data = Dataset.from_user(
        X,
        y,
        sample_weight,
        exclude=tuple(body.data.exclude),
        options=body.data.reading.options(),
        allow_quantities=True,
    )
    return Objective.parse(body.problem.objective).reading(data)


def question_of(body: DocumentPart, data: Dataset, groups: dict[str, Groups]) -> Question:
    """The problem that a certificate answers, on its data.

    Raises CertificateError if some part of it is not written as treeform writes it, so that it might mean something
    else to its reader; TreeformError if some part of it is not possible.
    """
    problem = body.problem
    shape = shape_from_json(problem.shape.model_dump(exclude_none=True))
    objective = Objective.parse(problem.objective)
    if str(objective) != problem.objective:
        raise _not_as_written("objective", problem.objective, str(objective))
    objective = objective.bind(data, arrays=groups)
    objective.check(data, shape)
    requirements = []
    for part in problem.requirements:
        requirements.append(closed(requirement_of(part, data, groups)))
    return _narrowed(Question(data, shape, objective, tuple(requirements)), body)


def requirement_of(part: RequirementPart, data: Dataset, groups: dict[str, Groups]) -> Requirement:
    """A requirement that a certificate states, bound to its data; errors as `question_of`."""
    named = {"name": part.name, "parameters": parameters_of(part, groups)}
    try:
        requirement = Requirement.from_json(named).bind(data)
    except Infeasible as error:
        raise CertificateError(
            f"the requirement {part.label!r} is impossible on these data", cause=error.cause
        ) from None
    if json.dumps(requirement.to_json(), sort_keys=True) != json.dumps(named, sort_keys=True):  # 1 is not 1.0
        raise _not_as_written("requirement", part.label, str(requirement))
    return requirement


def _narrowed(question: Question, body: DocumentPart) -> Question:
    """The question with the rows beside the requirements that a certificate names."""
    part = body.problem.restriction
    if part is None:
        return question
    if question.objective.is_depth or not part.components:
        raise CertificateError("the certificate names rows of a formulation that narrow nothing")
    return question.narrowed(tuple(part.components), part.formulation)


def _not_as_written(what: str, stated: str, read: str) -> CertificateError:
    return CertificateError(
        f"the {what} {stated!r} is not written as treeform writes it",
        cause=f"it is read as {read!r}",
        fix="write the certificate again with result.certificate()",
    )


def statements(body: CertificatePart, question: Question, graph: DecisionGraph | None) -> list[CheckRow]:
    """All statements of a certificate but its claims and its status."""
    return stated_head(body, question) + model_rows(body, question, graph)


def model_rows(body: MemberPart, question: Question, graph: DecisionGraph | None) -> list[CheckRow]:
    """What is stated of a model."""
    figures = [name for name in FIGURES if getattr(body.answer, name) is not None]
    if graph is None:
        stated = bool(figures) or body.answer.objective is not None
        return [false("model", "figures are stated and there is no model")] if stated else []
    if figures != list(FIGURES_OF_VALUES if graph.values else FIGURES):
        return [false("model", "its figures are not those that are stated of such a model")]
    if not _belongs(graph, question.data):
        return [false("model", "its columns, encoding, classes or counts are not those of the data")]
    return _of_model(body.answer, question, graph)


def _target(part: dict[str, Any]) -> dict[str, Any]:
    """What is stated of a quantity, but for the reason in brackets why it was rounded: here its grid is asked for."""
    note = part.get("rounded")
    return part if note is None else {**part, "rounded": re.sub(r" \([^()]*\)", "", note, count=1)}


def stated_head(body: DocumentPart, question: Question) -> list[CheckRow]:
    """The description of data and problem; only what deviates makes a row."""
    data, stated = question.data, body.data
    same = {
        "number of samples": stated.n_samples == data.n_samples,
        "features": stated.features == [column.name for column in data.columns],
        "classes": stated.classes == [str(label) for label in data.classes],
        "target": _target({} if stated.quantity is None else stated.quantity.model_dump())
        == _target(quantity_part(data).get("quantity", {})),
        "weights": stated.weighted == bool((data.weights != 1).any())
        and (None if stated.weights is None else stated.weights.model_dump())
        == weights_part(data).get("weights"),
        "requirements": [part.label for part in body.problem.requirements] == list(question.labels),
    }
    rows = [false(name, "not as stated") for name, ok in same.items() if not ok]
    lengths = {data.n_samples, data.table.n_rows}
    for part in body.problem.requirements:
        if other_arrays(part.parameters, lengths):
            detail = "it holds a value for each sample, which the digest of the data does not cover"
            rows.append(on_trust(f"array of {part.label}", detail, "the writer of the certificate"))
    if question.restriction is not None:
        detail = (
            f"{question.restriction} narrow the problem; they are code, which a certificate does not hold"
        )
        rows.append(on_trust("restriction", detail, str(question.restriction)))
    return rows


def _belongs(graph: DecisionGraph, data: Dataset) -> bool:
    """Whether the model reads the data's own columns, and carries the counts of these data."""
    if graph.columns != data.columns or list(graph.classes) != list(data.classes):
        return False
    if bool(graph.values) != (data.quantity is not None):
        return False
    if graph.encoder is None or graph.encoder.to_json() != data.encoder.to_json():
        return False
    again = graph.with_counts(data)
    same = np.isclose(graph.moments, again.moments, rtol=1e-9, atol=0.0, equal_nan=True)  # for display only
    return bool((graph.counts == again.counts).all() and same.all())


def _of_model(answer: AnswerPart, question: Question, graph: DecisionGraph) -> list[CheckRow]:
    data, verdict = question.data, verify(question, graph)
    leaves = [walk(graph, row) for row in data.X.tolist()]
    stated = answer.leaf_of_sample or []
    moved = sum(a != b for a, b in zip(leaves, stated, strict=False)) + abs(len(leaves) - len(stated))
    rows = [
        judged(
            "paths",
            moved == 0,
            f"{len(leaves) - moved} of {count_of(len(leaves), 'sample', 'reach')} the leaf stated",
        ),
        *(_of_leaves(leaves, question, graph) if graph.values else _of_classes(answer, leaves, data, graph)),
    ]
    given = answer.status == "judged"  # what was given may violate anything, if it is stated
    fits = verdict.misfit or f"fits {question.shape}"
    rows.append(
        violated("shape", fits) if given and verdict.misfit else judged("shape", verdict.misfit is None, fits)
    )
    value = question.to_units(verdict.value)
    same = answer.objective is not None and value == Fraction(answer.objective)
    stated_value = None if answer.objective is None else exact_text(Fraction(answer.objective))
    rows.append(judged("objective", same, f"{exact_text(value)} evaluated, {stated_value} stated"))
    for requirement, (label, violation) in zip(
        question.requirements, verdict.violations.items(), strict=True
    ):
        if violation == 0:
            rows.append(holds(label, "satisfied"))
        else:
            rows.append((violated if given else false)(label, finding(requirement, graph, data)))
    if {k: Fraction(text) for k, text in (answer.violations or {}).items()} != verdict.violations:
        rows.append(false("violations", "not those that are evaluated"))
    return rows


def _of_classes(answer: AnswerPart, leaves: list[int], data: Dataset, graph: DecisionGraph) -> list[CheckRow]:
    wrong = sum(int(graph.label[leaf]) != int(label) for leaf, label in zip(leaves, data.y, strict=True))
    rows = [judged("errors", wrong == answer.errors, f"{wrong} counted, {answer.errors} stated")]
    if answer.weighted_errors != int(weighted_errors(graph, data)):
        rows.append(false("weighted errors", f"{weighted_errors(graph, data)} counted"))
    if answer.confusion != confusion(graph, data).tolist():
        rows.append(false("confusion", "not the table that is counted"))
    return rows


def _of_leaves(leaves: list[int], question: Question, graph: DecisionGraph) -> list[CheckRow]:
    """The value of each leaf, and the loss of all samples one by one, in fractions and in plain Python."""
    data = question.data
    _, loss = loss_of(question.objective)
    assert data.quantity is not None
    by_leaf: dict[int, list[tuple[int, int]]] = {}
    for leaf, d, w in zip(leaves, data.quantity.deviations.tolist(), data.weights.tolist(), strict=True):
        by_leaf.setdefault(leaf, []).append((d, w))
    total = Fraction(0)
    poor = []
    middle, cost_and_best = MIDDLES[loss.kind]
    for leaf, pairs in by_leaf.items():
        cost, best = cost_and_best(pairs, data.quantity.in_units(graph.values[graph.label[leaf]]))
        total += cost
        poor += [] if best else [leaf]
    stated = loss.evaluate(graph, data)
    counted = total * loss.per_unit(data)
    held = f"{len(by_leaf) - len(poor)} of {count_of(len(by_leaf), 'leaf', 'hold')} the {middle} of their samples"
    return [
        holds("values", held),  # other values are allowed: the loss below counts them
        judged("loss", counted == stated, f"{exact_text(counted)} added sample by sample"),
    ]


def _squares(pairs: list[tuple[int, int]], value: Fraction) -> tuple[Fraction, bool]:
    best = value * sum(w for _, w in pairs) == sum(w * d for d, w in pairs)
    return sum((w * (d - value) ** 2 for d, w in pairs), Fraction(0)), best


def _distances(pairs: list[tuple[int, int]], value: Fraction) -> tuple[Fraction, bool]:
    half = Fraction(sum(w for _, w in pairs), 2)
    below, above = (sum(w for d, w in pairs if (d - value) * sign < 0) for sign in (1, -1))
    return sum((w * abs(d - value) for d, w in pairs), Fraction(0)), max(below, above) <= half


MIDDLES = {"squared": ("mean", _squares), "absolute": ("median", _distances)}
"""What the best value of a leaf is; the loss of samples and weights at a value, and whether that is the best one."""


def walk(graph: DecisionGraph, row: list[float]) -> int:
    """The leaf that one encoded sample reaches, step by step."""
    node = 0
    while graph.feature[node] >= 0:
        feature = int(graph.feature[node])
        value = row[feature] if feature < len(row) else graph.forms[feature - len(row)].nearest(row)
        goes_left = value <= float(graph.threshold[node])
        node = int(graph.left[node] if goes_left else graph.right[node])
    return node


def status_row(body: MemberPart, rows: Sequence[CheckRow], claims: Sequence[CheckRow]) -> CheckRow:
    """Whether status and bound follow from the claims, and what they rest on.

    ``rows`` are those of all statements about data, problem and model; of ``claims``, there is one for each claim.
    """
    answer, pairs = body.answer, list(zip(body.claims, claims, strict=True))
    lowers = [(Fraction(claim.value), row) for claim, row in pairs if claim.kind == "lower" and claim.value]
    refuted = [row for claim, row in pairs if claim.kind == "infeasible"]
    bound = None if answer.bound is None else Fraction(answer.bound)
    if bound != max((value for value, _ in lowers), default=None):
        return false("status", f"the bound {answer.bound} is not what the claims say")
    objective = None if answer.objective is None else Fraction(answer.objective)
    met = objective is not None and bound is not None and bound >= objective
    if answer.status == "judged":
        if body.claims or objective is None:
            return false("status", "judged: there are claims about other models, or there is no model")
        return holds("status", "judged: the model was given, and nothing is claimed of others")
    follows = {
        "optimal": met and not refuted,
        "feasible": objective is not None and not met and not refuted,
        "infeasible": objective is None and bool(refuted),
        "unknown": objective is None and not refuted,
    }
    if not follows[answer.status]:
        return false("status", f"{answer.status}: does not follow from the claims")
    if answer.status in ("feasible", "unknown"):
        return holds("status", f"{answer.status}: optimality is not claimed")
    proofs = refuted
    if answer.status == "optimal":
        proofs = [row for value, row in lowers if value == bound]
    # An optimum needs all of it: figures, shape, requirements, and the bound.
    needed = [*rows, next((row for row in proofs if row.verdict is Verdict.VERIFIED), proofs[0])]
    if any(row.verdict is Verdict.FALSE for row in needed):
        return false("status", f"{answer.status}: what it rests on does not hold")
    names = tuple(dict.fromkeys(name for row in needed for name in row.rests_on))
    if names:
        return on_trust("status", f"{answer.status}: nothing here proves it", *names)
    why = "the bound proved meets the objective" if answer.status == "optimal" else "as proved above"
    return holds("status", f"{answer.status}: {why}")
