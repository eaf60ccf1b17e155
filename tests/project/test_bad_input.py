"""Obvious bad input ends in an error of treeform's own, with what to do; never in a raw traceback."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import TreeformError

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
Y = [0, 1, 0, 1]


def problem(table: Any = X, y: Any = Y, **given: Any) -> tf.Problem:
    return tf.Problem(table, y, **{"shape": "tree:2", **given})


def parity(**given: Any) -> tf.Requirement:
    return tf.StatisticalParity(difference=0.1, positive=1, **given)


BAD: dict[str, Callable[[], object]] = {
    "no rows": lambda: problem(np.zeros((0, 2)), []),
    "no columns": lambda: problem(np.zeros((4, 0))),
    "one class": lambda: problem(y=[1, 1, 1, 1]),
    "NaN": lambda: problem(np.where(X == 3, np.nan, X), missing="error"),
    "inf": lambda: problem(np.where(X == 3, np.inf, X)),
    "objects": lambda: problem(np.array([[object()], [1], [2], [3]], dtype=object)),
    "lists in cells": lambda: problem(pd.DataFrame({"a": [[1], [2], [3], [4]]})),
    "bytes in cells": lambda: problem(pd.DataFrame({"a": [b"x", b"y", b"z", b"w"]})),
    "huge integers": lambda: problem(pd.DataFrame({"a": [10**30, 1, 2, 3]})),
    "integers beyond float64": lambda: problem(np.array([[10**400], [1], [2], [3]], dtype=object)),
    "repeated columns": lambda: problem(pd.DataFrame(X, columns=["a", "a"])),
    "columns alike as text": lambda: problem(pd.DataFrame(X, columns=[1, "1"])),
    "short target": lambda: problem(y=[1, 2]),
    "scalar target": lambda: problem(y=1),
    "no target": lambda: problem(y=None),
    "no table": lambda: problem(None),
    "a path as table": lambda: problem("table.csv"),
    "ragged table": lambda: problem([[1, 2], [3]], [0, 1]),
    "dates": lambda: problem(pd.DataFrame({"a": pd.date_range("2020", periods=4)})),
    "short weights": lambda: problem(sample_weight=[1, 2]),
    "text weights": lambda: problem(sample_weight=["a"] * 4),
    "weights beyond float64": lambda: problem(sample_weight=np.array([10**400, 1, 1, 1], dtype=object)),
    "exclude no column": lambda: problem(exclude=["zz"]),
    "exclude a number": lambda: problem(exclude=3),
    "lists as groups": lambda: problem(sensitive_features=[[1], [2, 3], [4], [5]]).add(parity()),
    "dicts as groups": lambda: problem(sensitive_features=[{}, {}, {}, {1: 2}]).add(parity()),
    "one number as groups": lambda: problem(sensitive_features=3).add(parity()),
    "no shape": lambda: problem(shape=None),
    "a class as shape": lambda: problem(shape=tf.Tree),
    "a shape with too many digits": lambda: problem(shape="tree:" + "9" * 5000),
    "fraction of a depth": lambda: tf.Tree(2.0),
    "no objective": lambda: problem().minimize(None),
    "NaN in the objective": lambda: problem().minimize(float("nan") * tf.Error()),
    "no cost matrix": lambda: problem().minimize(tf.Cost(None)),
    "costs in one dimension": lambda: problem().minimize(tf.Cost([1, 2])),
    "costs of one class": lambda: problem().minimize(tf.Cost(np.zeros(3))),
    "costs without a common unit": lambda: problem().minimize(tf.Cost([[0, 1e300], [1e-300, 0]])),
    "no requirement": lambda: problem().add(None),
    "a class as requirement": lambda: problem().add(tf.MaxNodes),
    "text that names no requirement": lambda: problem().add("min_suport:2"),
    "text without its number": lambda: problem().add("min_support"),
    "a number as requirement": lambda: problem().add(3),
    "negative support": lambda: problem().add(tf.MinSupport(-1)),
    "negative number of tests": lambda: problem().add(tf.MaxNodes(-1)),
    "unknown direction": lambda: problem().add(tf.Monotone("x0", "sideways")),
    "negative number of columns": lambda: problem().add(tf.FeatureBudget(-1)),
    "unknown solver": lambda: problem().solve("nope"),
    "a number as solver": lambda: problem().solve(3),
    "solvers in a list": lambda: problem().solve(["highs", "cp-sat"]),
    "unknown solver of Pyomo": lambda: problem().solve("pyomo:nope", warm_start=None),
    "bad setting": lambda: problem().solve("highs:threads=x"),
    "unknown formulation": lambda: problem().solve("highs", formulation="nope"),
    "a number as formulation": lambda: problem().solve("highs", formulation=3),
    "time limit 0": lambda: problem().solve(time_limit=0),
    "time limit NaN": lambda: problem().solve(time_limit=float("nan")),
    "time limit as text": lambda: problem().solve(time_limit="60"),
    "time limit in a list": lambda: problem().solve(time_limit=[1]),
    "time limit as Decimal": lambda: problem().solve(time_limit=Decimal(1)),
    "a number as warm start": lambda: problem().solve("highs", warm_start=3),
    "a number as callback": lambda: problem().solve("highs", on_progress=3),
    "a number as callback of a size table": lambda: problem().size_table(on_progress=3),
    "a number as callback of a curve": lambda: problem().pareto(on_progress=3),
    "a number as proofs": lambda: problem().minimize("depth").solve(proofs=3),
    "one price": lambda: problem().size_table(prices=3),
    "prices as text": lambda: problem().size_table(prices="35"),
    "a number as start": lambda: problem().size_table(start=3),
    "apply to text": lambda: problem().solve().graph.apply([["a", "b"]]),
    "apply to nothing": lambda: problem().solve().graph.apply(None),
    "predict with NaN": lambda: problem().solve().graph.predict([[1.0, np.nan]]),
    "an engine in a process of its own": lambda: tf.Isolated("contree"),
    "an engine in a portfolio": lambda: tf.Portfolio(["contree", "highs"]),
    "no table to select from": lambda: problem().solve().graph.to_sql(table=""),
    "half a quotation mark in a table's name": lambda: problem().solve().graph.to_sql(table="x'"),
    "unknown setting of a study": lambda: tf.sweep(problem(), {"colour": [1]}),
    "no model file": lambda: tf.DecisionGraph.load("/no/such/file.json"),
    "a folder as model file": lambda: tf.DecisionGraph.load("/"),
    "text targets of a regression": lambda: tf.OptimalTreeRegressor().fit(X, ["a", "b", "a", "b"]),
    "save nowhere": lambda: problem().solve().graph.save("/no/such/folder/model.json"),
    "text as class code": lambda: tf.DecisionGraph.leaf("x", problem().data),
    "class code out of range": lambda: tf.DecisionGraph.leaf(7, problem().data),
    "requirements that are none": lambda: tf.OptimalTreeClassifier(requirements=3).fit(X, Y),
    "no certificate": lambda: tf.check(None, X, Y),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(TreeformError) as caught:
        BAD[name]()
    assert caught.value.what
    assert caught.value.fix, caught.value.what


@pytest.mark.drawn(6)
@pytest.mark.parametrize("solver", ["highs", "cp-sat", "mathopt:scip", "pyomo:cbc", "contree", "glucose42"])
@pytest.mark.parametrize("limit", [float("inf"), 1e300])
def test_a_limit_beyond_all_time_is_none(solver: str, limit: float) -> None:
    warm = None if solver != "contree" else "auto"
    assert problem().solve(solver, warm_start=warm, time_limit=limit).status is tf.Status.OPTIMAL


@pytest.mark.parametrize("solver", [None, "dl85", "diagram-search", "highs", "cp-sat"])
def test_values_at_the_ends_of_float64(solver: str | None) -> None:
    table = [[1.7976931348623157e308], [-1.7976931348623157e308], [0.0], [5e-324]]
    result = problem(table).solve(solver, time_limit=250)
    assert result.errors == 0
