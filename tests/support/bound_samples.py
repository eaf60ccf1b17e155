"""A small question, an engine that is told what to answer, and rows over predictions, for tests of bounds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import treeform as tf
from treeform.engines import Engine, EngineOutcome, EngineRun
from treeform.graph import DecisionGraph
from treeform.solve.lagrangian import Row

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
Y = [0, 1, 1, 0, 1, 1]
GROUPS = list("ppqpqq")
ALL = frozenset(
    {"cost", "node_penalty", "min_support", "max_nodes", "min_flow", "widths", "weights", "max_features"}
)


class Scripted(Engine):
    """Understands what it is told to, and answers with what it is given."""

    name: ClassVar[str] = "scripted"
    understands = ALL

    def __init__(self, understands=ALL, outcomes=()):
        self.understands = frozenset(understands)
        self.outcomes = list(outcomes)
        self.asked = []

    def run(self, data, task, run: EngineRun) -> EngineOutcome:
        self.asked.append((data, task, run))
        answer = self.outcomes.pop(0)
        return answer(data, task, run) if callable(answer) else answer


def question(goal="error", *requirements, shape="tree:2", y=Y, weights=None, rows=X):
    problem = tf.Problem(rows, y, shape=shape, sample_weight=weights, sensitive_features=GROUPS)
    problem.minimize(goal)
    problem += list(requirements)
    return problem.question


def leaf(q, label=0):
    return DecisionGraph.leaf(label, q.data)


class AtMost(tf.Requirement):
    """Rows over predictions, as given."""

    name: ClassVar[str] = "at_most_in_bounds"
    needs = frozenset({"predicted"})

    def __init__(self, rows):
        self.rows = rows

    def prediction_rows(self, data):
        return [(np.asarray(coef, dtype=np.int64), rhs) for coef, rhs in self.rows]

    def violation(self, graph, data):
        return sum(max(0, Row("", coef, rhs).slack(graph, data)) for coef, rhs in self.prediction_rows(data))

    def build(self, model, ports):
        # sum_i weight_i * coef[i, class predicted for i] <= rhs
        for coef, rhs in self.prediction_rows(ports.data):
            model.add((coef * ports.weights[:, None] * ports.predicted).sum() <= rhs, self.name)

    def __str__(self):
        return self.name


def favoured(label, at_most, times=1):
    """At most so much weight is predicted a class."""
    coef = np.zeros((6, 2), dtype=np.int64)
    coef[:, label] = times
    return coef, at_most * times
