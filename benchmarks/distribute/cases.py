"""What is searched: engine, set and depth as text, such as ``contree:avila:4``.

``totals:compas:6`` is the search with requirements, under statistical parity within .05; ``diagram:raisin:1-2-3`` that
for diagrams of these widths.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.contree.compare import load
from benchmarks.harness import read_set
from benchmarks.totals.compare import SENSITIVE
from treeform.data import Dataset
from treeform.engines import DL85, ConTree, DiagramSearch, EngineOutcome, EngineRun, TreeTask
from treeform.solve.relaxation import relax


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
    sensitive, favourable = SENSITIVE[rows]
    problem = tf.Problem(X.drop(columns=sensitive), y, shape=tf.Tree(depth))
    problem += tf.StatisticalParity(groups=X[sensitive], favourable=favourable, difference="0.05")
    engine = tf.TotalsSearch(**settings)
    relaxation = relax(problem.question, engine)
    assert relaxation is not None
    return engine, problem.data, relaxation.task


@dataclass
class Recording:
    """A search of which every part was timed.

    Attributes
    ----------
    outcome : EngineOutcome
    seconds : dict
        CPU seconds of each part, by its question.
    replies : dict
        Its reply.
    rest : float
        CPU seconds of all that is not shared.
    """

    outcome: EngineOutcome
    rest: float
    seconds: dict[bytes, float] = field(default_factory=dict)
    replies: dict[bytes, Any] = field(default_factory=dict)


def record(engine: Any, data: Dataset, task: TreeTask, callers: int = 1) -> Recording:
    """Search in this process, one part after the other, and keep each part with its CPU seconds."""
    evaluator, lock = engine.evaluator(data, task), threading.Lock()
    seconds: dict[bytes, float] = {}
    replies: dict[bytes, Any] = {}

    def ask(question: Any) -> Any:
        with lock:
            before = time.process_time()
            reply = evaluator.evaluate(question, lambda: (False, None))
            key = np.asarray(question).tobytes()
            seconds[key], replies[key] = time.process_time() - before, reply
            return reply

    began = time.process_time()
    outcome = engine.run_distributed(data, task, EngineRun(), ask, callers)
    rest = time.process_time() - began - sum(seconds.values())
    return Recording(outcome, rest, seconds, replies)
