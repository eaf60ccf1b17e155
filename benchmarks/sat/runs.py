"""The runs behind the SAT tables."""

from __future__ import annotations

import json
import statistics
from functools import lru_cache
from typing import Any

import pandas as pd

import treeform as tf
from benchmarks.harness import Figures, read_set, user_seconds
from treeform.formulations.sat import (
    ExamplePaths,
    LabelledLeaves,
    LeafClasses,
    NodeFeatures,
    SatDepth,
    SatSize,
)


def rows_in_order(name: str, order: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Features and classes; other orders of the rows for other runs of the same search."""
    X, y = read_set(*name.split("/", 1))
    if order:
        X = X.sample(frac=1, random_state=order)
    return X.reset_index(drop=True), y[X.index].reset_index(drop=True)


def formulation(kind: str, options: dict[str, Any]) -> SatDepth:
    """A formulation from flat options: those of `NodeFeatures`, ``start``, and those of `SatDepth`."""
    options = dict(options)
    nodes = NodeFeatures(**{k: options.pop(k) for k in ("at_most_one", "tests") if k in options})
    paths = ExamplePaths(**{k: options.pop(k) for k in ("start",) if k in options})
    if kind == "depth":
        return SatDepth(nodes + paths + LeafClasses(), **options)
    return SatSize(nodes + paths + LeafClasses(unlabelled=True) + LabelledLeaves(), **options)


def rows_of(task: dict[str, Any]) -> tuple[pd.DataFrame, pd.Series]:
    """The rows that are learnt from."""
    X, y = rows_in_order(task["set"], task.get("order", 0))
    if task.get("train") is not None:
        inside = [i % task["parts"] != task["train"] for i in range(len(y))]
        X, y = X[inside].reset_index(drop=True), y[inside].reset_index(drop=True)
    return X, y


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """One run, from the table to the tree; imports are not counted."""
    X, y = rows_of(task)
    model = formulation(task["kind"], task.get("options", {}))
    _ready(task)
    begin = user_seconds()
    problem = tf.Problem(X, y, shape=tf.Tree(task.get("depth", 10)))
    if task.get("goal", "depth") == "depth":
        problem.minimize(tf.Depth()).add(tf.MaxErrors(0))
    result = problem.solve(
        task.get("solver", "sat"),
        formulation=None if task.get("native") else model,
        warm_start=task.get("engine"),
        time_limit=task.get("limit", 120),
    )
    seconds = [user_seconds() - begin]
    for _ in range(task.get("repeat", 1) - 1):
        seconds.append(again(task))
    out: dict[str, Any] = {"seconds": statistics.median(seconds), "status": str(result.status)}
    out |= {"rows": len(y), "points": problem.data.points.n_points, "tests": problem.data.n_tests}
    out |= {"bound": result.bound, "errors": result.errors, "notes": list(result.notes)}
    out["examples"] = len(model.remembered(problem.data)) or None
    if result.graph is not None:
        out |= {"depth": result.graph.depth, "nodes": result.graph.n_nodes}
        out["accuracy"] = accuracy(task, result.graph)
    return out


@lru_cache
def _imported(solver: str, engine: str | None, native: bool) -> None:
    """Whatever is imported at the first run."""
    problem = tf.Problem([[0, 1], [1, 0]], [0, 1], shape=tf.Tree(1))
    problem.solve(solver, formulation=None if native else SatDepth(), warm_start=engine)
    if not native:
        problem.minimize(tf.Depth()).add(tf.MaxErrors(0)).solve(
            solver, formulation=SatSize(), warm_start=engine
        )


def _ready(task: dict[str, Any]) -> None:
    _imported(task.get("solver", "sat"), task.get("engine"), bool(task.get("native")))


def again(task: dict[str, Any]) -> float:
    """User seconds of the same run once more, in this process."""
    X, y = rows_of(task)
    model = formulation(task["kind"], task.get("options", {}))
    begin = user_seconds()
    problem = tf.Problem(X, y, shape=tf.Tree(task.get("depth", 10))).minimize(tf.Depth()).add(tf.MaxErrors(0))
    problem.solve(task.get("solver", "sat"), formulation=model, warm_start=task.get("engine"))
    return user_seconds() - begin


def accuracy(task: dict[str, Any], graph: tf.DecisionGraph) -> float | None:
    """On the test part: the fold's own file, or the rows left out."""
    if "-train" in task["set"]:
        X, y = rows_in_order(task["set"].replace("-train", "-test"))
    elif task.get("train") is not None:
        X, y = rows_in_order(task["set"], task.get("order", 0))
        out = [i % task["parts"] == task["train"] for i in range(len(y))]
        X, y = X[out], y[out]
    else:
        return None
    return float((graph.predict(X) == y.to_numpy()).mean())


def run(task: dict[str, Any]) -> dict[str, Any]:
    """The result of a task, from file if it is there."""
    figures = Figures("sat_runs", ("task",), raw=True)
    key = json.dumps(task, sort_keys=True)
    return dict(
        json.loads(figures.measure(lambda: {"result": json.dumps(measure(task))}, task=key)["result"])
    )
