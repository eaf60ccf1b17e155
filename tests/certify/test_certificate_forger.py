"""A forger who keeps everything consistent: another problem, another model, any bound, all figures right, signed."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from test_certificate_mutations import Case, untrue

import treeform as tf
from treeform.certify.certificate import read, sign
from treeform.certify.check import question_from
from treeform.certify.verdicts import Verdict
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import confusion, errors, weighted_errors
from treeform.language.question import Question
from treeform.solve.verification import verify

FORGERIES = int(os.environ.get("TREEFORM_FORGERIES", "150"))
OBJECTIVES = ["error", "error + nodes", "nodes", "depth", "error + 1/10*nodes", "leaves"]
SHAPES = [
    {"type": "tree", "depth": 1},
    {"type": "tree", "depth": 2},
    {"type": "tree", "depth": 2, "splits": "multivariate"},
    {"type": "diagram", "widths": [1, 1]},
    {"type": "diagram", "widths": [1, 2]},
]


def test_no_consistent_forgery_is_called_verified_and_false():
    rng = np.random.default_rng(int(os.environ.get("TREEFORM_FORGER_SEED", "0")))
    seen: Counter[str] = Counter()
    case = genuine(rng)
    for number in range(FORGERIES):
        if number % 10 == 9:
            case = genuine(rng)
        try:
            certificate = forged(case, rng)
        except TreeformError:  # the problem is impossible on these data
            continue
        report = tf.check(certificate, *case.args, time_limit=5.0)
        seen[report.verdict] += 1
        if report.verdict is not Verdict.VERIFIED:
            continue
        if "splits" in certificate["problem"]["shape"]:  # nothing here can prove a bound over hyperplanes
            provers = {row.proved_by for row in report.rows} - {"", "counting"}
            assert not provers, str(report)
            continue
        fault = untrue(certificate, case)
        assert fault is None, f"{fault}\n{certificate['problem']}\n{report}"
    # What is on trust depends on what is proved in time, and may be nothing among so few.
    assert {Verdict.VERIFIED, Verdict.FALSE} <= set(seen)


def genuine(rng: np.random.Generator) -> Case:
    """A certificate of a solve, for the data that go with the forgeries."""
    X = pd.DataFrame(
        {"a": rng.integers(0, 3, 10), "b": rng.integers(0, 2, 10), "sex": rng.permutation(10) % 2}
    )
    y = rng.permutation(np.arange(10) % 2)
    result = tf.Problem(X, y, shape=tf.Tree(1), exclude=["sex"]).solve()
    return Case(json.loads(json.dumps(result.certificate())), (X, y), {})


def forged(case: Case, rng: np.random.Generator) -> dict[str, Any]:
    body = copy.deepcopy(case.certificate)
    pick = [tf.MaxNodes(2), tf.MinSupport(3), tf.Stability(5), tf.MaxErrors(3)]
    pick.append(tf.StatisticalParity(groups="sex", difference=0.2, positive=1))
    chosen = [pick[i] for i in np.flatnonzero(rng.random(len(pick)) < 0.25)]
    body["problem"] = {
        "shape": SHAPES[rng.integers(len(SHAPES))],
        "objective": OBJECTIVES[rng.integers(len(OBJECTIVES))],
        "requirements": [{"label": str(one), **one.to_json()} for one in chosen],
    }
    X, y = case.args
    data = Dataset.from_user(X, y, exclude=("sex",))
    question = question_from(read(sign(body)), data)
    graph = None if rng.random() < 0.2 else any_tree(data, rng)
    by = ["contree", "odd on highs", "my word"][rng.integers(3)]
    body["model"] = None if graph is None else graph.to_json()
    body["answer"], body["claims"] = answered(question, graph, by, rng)
    return sign(json.loads(json.dumps(body)))


def any_tree(data: Dataset, rng: np.random.Generator) -> DecisionGraph:
    def grown(depth: int) -> Any:
        feature = int(rng.integers(data.n_features))
        thresholds = data.ranks.thresholds(feature)
        if depth == 0 or rng.random() < 0.3 or not len(thresholds):
            return int(rng.integers(data.n_classes))
        return (feature, float(rng.choice(thresholds)), grown(depth - 1), grown(depth - 1))

    return DecisionGraph.from_nested(grown(2), data)


def answered(
    question: Question, graph: DecisionGraph | None, by: str, rng: np.random.Generator
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Right figures of the model, and a bound out of thin air."""
    made = {"route": None, "metadata": {"by": by}}
    if graph is None:
        empty = {"status": "infeasible", "objective": None, "bound": None}
        return empty, [{"kind": "infeasible", "value": None, **made}]
    data, found = question.data, verify(question, graph)
    value = question.to_units(found.value)
    bound = value if rng.random() < 0.7 else Fraction(int(rng.integers(0, 5)))
    answer = {
        "status": "optimal" if bound >= value else "feasible",
        "objective": str(value),
        "bound": str(bound),
        "errors": int(errors(graph, data)),
        "weighted_errors": int(weighted_errors(graph, data)),
        "confusion": confusion(graph, data).tolist(),
        "leaf_of_sample": graph.apply(data.X).tolist(),
        "violations": {label: str(Fraction(v)) for label, v in found.violations.items()},
    }
    return answer, [
        {"kind": "upper", "value": str(value), **made},
        {"kind": "lower", "value": str(bound), **made},
    ]
