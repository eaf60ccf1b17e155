"""What is searched: engine, set and depth as text, such as ``contree:avila:4``.

``totals:compas:6`` is the search with requirements, under statistical parity within .05; ``diagram:raisin:1-2-3`` that
for diagrams of these widths.
"""

from __future__ import annotations

from typing import Any

import treeform as tf
from benchmarks.contree.compare import load
from benchmarks.harness import read_set
from benchmarks.totals.compare import SENSITIVE
from treeform.data import Dataset
from treeform.engines import DL85, ConTree, DiagramSearch, TreeTask
from treeform.engines.relaxation import relax


def case_of(text: str, **settings: Any) -> tuple[Any, Dataset, TreeTask]:
    """Engine, data and task of a case."""
    name, rows, depth = text.split(":")
    if name == "totals":
        return _totals(rows, int(depth), **settings)
    if name == "diagram":
        widths = tuple(map(int, depth.split("-")))
        return DiagramSearch(**settings), Dataset.from_user(*load(rows)), TreeTask(len(widths), widths=widths)
    if name == "contree":
        return ConTree(**settings), Dataset.from_user(*load(rows)), TreeTask(int(depth))
    return DL85(**settings), Dataset.from_user(*read_set("binary", rows)), TreeTask(int(depth))


def _totals(rows: str, depth: int, **settings: Any) -> tuple[Any, Dataset, TreeTask]:
    X, y = read_set("fairness", rows)
    sensitive, positive = SENSITIVE[rows]
    problem = tf.Problem(X.drop(columns=sensitive), y, shape=tf.Tree(depth))
    problem += tf.StatisticalParity(groups=X[sensitive], positive=positive, difference="0.05")
    engine = tf.TotalsSearch(**settings)
    relaxation = relax(problem.question, engine)
    assert relaxation is not None
    return engine, problem.data, relaxation.task
