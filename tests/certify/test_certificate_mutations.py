"""Every field of certificates of many kinds is changed and signed again: nothing false is called verified."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.certificate import read
from treeform.certify.check import question_from
from treeform.certify.verdicts import Verdict
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.testing import brute_force
from treeform.testing.mutate import mutations

ROWS = 9
STEP = 15
"""Every so many mutations are tried, of each kind others; all with ``--nightly``, which takes minutes."""


def table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Nine rows, a column of three values and two of two, labels that no test alone gets right."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.choice([18.5, 30.25, 47.0], ROWS),
            "owner": rng.random(ROWS) < 0.5,
            "debt": rng.integers(0, 2, ROWS),
        }
    )
    y = np.where((frame.age > 20) ^ frame.owner, "good", "bad")
    y[0] = "good" if y[0] == "bad" else "bad"
    return frame, y


class FewOwners(tf.Requirement):
    """A requirement of one's own: at most so many good predictions among owners."""

    name: ClassVar[str] = "few_owners_for_mutations"
    needs = frozenset({"predicted"})

    def __init__(self, most: int) -> None:
        self.most = most

    def build(self, model: Any, ports: Any) -> None:
        owners = np.asarray(ports.data.column("owner"), dtype=np.int64)
        model.add((ports.predicted[:, 1] * owners).sum() <= self.most, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        owners = np.asarray(data.column("owner"), dtype=bool)
        good = graph.predict_codes(data.X) == 1
        return max(0, int((good & owners).sum()) - self.most)


@dataclass
class Case:
    """A certificate, and what goes with it to a check."""

    certificate: dict[str, Any]
    args: tuple[Any, ...]
    more: dict[str, Any]
    optima: dict[str, Fraction | None] = field(default_factory=dict)
    """By problem, as they are found by enumeration."""


def solved(
    problem: tf.Problem, args: tuple[Any, ...], solver: Any = None, more: Any = None, **how: Any
) -> Case:
    result = problem.solve(solver, **how)
    certificate = json.loads(json.dumps(result.certificate()))
    return Case(certificate, args, more or {})


def native(_: Path) -> Case:
    X, y = table(1)
    return solved(tf.Problem(X, y, shape=tf.Tree(2)), (X, y))


def on_trust(_: Path) -> Case:
    X = pd.DataFrame({"a": [0.0, 0, 1, 1], "b": [0.0, 1, 0, 1]})
    y = np.array(["good", "bad", "bad", "good"])
    problem = tf.Problem(X, y, shape=tf.Tree(1, splits="multivariate"))
    return solved(problem, (X, y), "highs")


def infeasible(_: Path) -> Case:
    X, y = table(3)
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    problem += tf.MaxErrors(1)
    return solved(problem, (X, y))


def least_depth(folder: Path) -> Case:
    X, y = table(4)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Depth())
    problem += tf.MaxErrors(1)
    return solved(problem, (X, y), "sat", {"proofs": folder}, proofs=folder)


def lagrangian(_: Path) -> Case:
    X, y = table(5)
    X = X.drop(columns="age")
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += tf.StatisticalParity(groups="debt", difference=0.05, positive="good")
    return solved(problem, (X, y), "highs", warm_start="contree")


def diagram(_: Path) -> Case:
    X, y = table(6)
    X = X.drop(columns="age")
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2)).minimize("error + 1/10*nodes")
    problem += tf.Stability(2)
    return solved(problem, (X, y))


def arrays(_: Path) -> Case:
    X, y = table(7)
    groups = X.pop("debt").map({0: "p", 1: "q"}).to_numpy()
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=groups)
    problem += tf.StatisticalParity(difference=0.2, positive="good")
    return solved(problem, (X, y), "highs", {"sensitive_features": groups})


def weights(_: Path) -> Case:
    X, y = table(8)
    w = np.arange(1, ROWS + 1) / 4
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=w).minimize("error + 1/8*nodes")
    problem += [tf.MinSupport(0.1), tf.MaxNodes(2)]
    return solved(problem, (X, y, w))


def own(_: Path) -> Case:
    X, y = table(9)
    X = X.drop(columns="age")
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += FewOwners(1)
    return solved(problem, (X, y), "highs")


def costs(_: Path) -> Case:
    X, y = table(10)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Cost([[0, 2], ["1/2", 0]]) + tf.Leaves())
    return solved(problem, (X, y), "contree")


KINDS = [native, on_trust, infeasible, least_depth, lagrangian, diagram, arrays, weights, own, costs]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_mutation_that_is_called_verified_is_false(kind, tmp_path, nightly):
    step = 1 if nightly else STEP
    case = kind(tmp_path)
    more = {"time_limit": 20.0, **case.more}
    first = tf.check(case.certificate, *case.args, **more)
    wanted = Verdict.ON_TRUST if kind is on_trust else Verdict.VERIFIED
    assert first.verdict is wanted, str(first)
    seen: Counter[str] = Counter()
    for number, mutation in enumerate(mutations(case.certificate)):
        if number % step != KINDS.index(kind) % step:
            continue
        try:
            report = tf.check(mutation.certificate, *case.args, **more)
        except TreeformError:
            seen["refused"] += 1
            continue
        seen[report.verdict] += 1
        if report.verdict is not Verdict.VERIFIED or mutation.is_metadata:
            if mutation.is_metadata:
                assert report.verdict is wanted, f"metadata changed the verdict\n{mutation}\n{report}"
            continue
        fault = untrue(mutation.certificate, case)
        assert fault is None, f"{mutation}\n{fault}\n{report}"
    kinds = {claim["route"]["kind"] for claim in case.certificate["claims"] if claim["route"]}
    assert kinds == {lagrangian: {"lagrangian"}, least_depth: {"proof"}}.get(kind, set())
    assert min(seen["refused"], seen["false"]) > 40 // step


def untrue(certificate: dict[str, Any], case: Case) -> str | None:
    """What is false in a certificate, found by exhaustive enumeration; None when all of it is true."""
    body = read(certificate)
    X, y, *w = case.args
    data = Dataset.from_user(X, y, *w, exclude=tuple(body.data.exclude))
    question = question_from(body, data, case.more.get("sensitive_features"))
    asked = json.dumps(certificate["problem"], sort_keys=True)
    if asked not in case.optima:
        found = brute_force(data, question.shape, question.objective, question.requirements, limit=10_000_000)
        case.optima[asked] = None if found is None else found[0]
    least, answer = case.optima[asked], body.answer
    for claim in body.claims:
        if claim.kind == "infeasible" and least is not None:
            return f"the value of a model is {least}"
        if claim.kind == "lower" and least is not None and Fraction(claim.value or 0) > least:
            return f"the bound {claim.value} is above the optimum {least}"
    if (answer.status == "infeasible") != (body.model is None):
        return f"{answer.status}, and there is {'no' if body.model is None else 'a'} model"
    if body.model is None:
        return None
    graph = DecisionGraph.from_json(body.model)
    guess = graph.predict_codes(data.X)
    wrong = int((guess != data.y).sum())
    value = question.objective.evaluate(graph, data)
    if (answer.errors, Fraction(answer.objective or -1)) != (wrong, value):
        return f"{wrong} errors, value {value}"
    if any(requirement.violation(graph, data) for requirement in question.requirements):
        return "a requirement is violated"
    if answer.status == "optimal" and value != least:
        return f"{answer.status}, and the optimum is {least}"
    stated = [part.label for part in body.problem.requirements]
    return None if stated == list(question.labels) else "other labels"
