"""Cases with requirements that allow certain sets of columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from graph_cases import Cases, under_rules

import treeform as tf
from treeform.engines import graph_columns
from treeform.engines.graph_columns import GraphOverColumnSets
from treeform.language.question import Question
from treeform.solve.columns_on_demand import priced_part
from treeform.testing.cases import Case, draw_cases

Columns = list[str]
RULES: dict[str, Callable[[Columns], list[tf.Requirement]]] = {
    "budget": lambda columns: [tf.FeatureBudget(1)],
    "two": lambda columns: [tf.FeatureBudget(2)],
    "paid": lambda columns: [tf.FeatureCost({c: 1 + i % 2 for i, c in enumerate(columns)}, at_most=2)],
    "exclusive": lambda columns: [tf.Exclusive(columns[:2])],
    "both": lambda columns: [tf.FeatureBudget(2), tf.Exclusive(columns[:2])],
    "path": lambda columns: [tf.FeatureBudget(1), tf.OncePerPath()],
}


def cases(name: str, number: int, seed: int) -> Cases:
    """Cases with the rule, every other one under parity, too."""

    def rules(case: Case) -> list[tf.Requirement]:
        columns = list(dict.fromkeys(column.source for column in case.data.columns))
        return RULES[name](columns) if len(columns) > 2 and case.data.n_tests > 2 else []

    return under_rules(draw_cases(20 * number, seed, (tf.Tree(2),)), number, rules)


def graph_of(question: Question) -> GraphOverColumnSets:
    part = priced_part(question)
    assert part is not None
    trees = graph_columns.graph_of(question.data, part.task, "feature")
    assert isinstance(trees, GraphOverColumnSets)
    return trees


def bits(n: int = 300, columns: int = 9, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, columns))
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(n) < 0.2)).astype(int)
    return X, y, np.where(rng.random(n) < 0.5, "p", "q")
