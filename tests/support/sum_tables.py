"""A table with every kind of column, a model with hyperplanes on it, and rows around the exact limits of its sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd

import treeform as tf


def table(dates: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 40
    made = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "pay": rng.normal(0, 1, n) * 10.0 ** rng.integers(-3, 9, n),
            "owner": rng.integers(0, 2, n).astype(bool),
            "job": rng.choice(["cook", "clerk"], n),
            "grade": pd.Categorical(rng.choice(list("ABC"), n), categories=list("ABC"), ordered=True),
            "opened": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
        }
    )
    return made if dates else made.drop(columns="opened")


def model(problem: tf.Problem) -> tf.DecisionGraph:
    """A diagram with a test of one column, two hyperplanes that share a child, and one with many columns."""
    names = [column.name for column in problem.data.columns]
    at = {name: names.index(name) for name in names}
    days = {at["opened"]: -0.1} if "opened" in at else {}
    many = {
        at["age"]: 1 / 3, at["pay"]: -0.7, at["owner"]: 1e8, at["job = cook"]: 2.5, at["grade"]: 3.0, **days
    }  # fmt: skip
    nodes = {
        0: {"weights": {at["age"]: 1.0, at["pay"]: -0.1}, "threshold": 41.3, "left": 1, "right": 2},
        1: {"weights": many, "threshold": -7.0, "left": 3, "right": 4},
        2: {"weights": {at["age"]: -3.0, at["pay"]: 1.0}, "threshold": 0.0, "left": 4, "right": 3},
        3: {"label": 0},
        4: {"feature": at["age"], "threshold": 50.0, "left": 5, "right": 6},
        5: {"label": 1},
        6: {"label": 2},
    }
    return tf.DecisionGraph.build(nodes, problem.data)


def near_limits(graph: tf.DecisionGraph, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, and rows whose pay makes a sum as near to its threshold as doubles can, or a little further."""
    encoded = graph.encode(rows)
    pay = [column.name for column in graph.columns].index("pay")
    found = [rows, *(rows.head(4).assign(pay=value) for value in (1e80, -1e80, 0.0, 1e-80))]
    for test in graph.tests():
        if test.form is None:
            continue
        form = test.form
        weight = Fraction(form.weights[form.features.index(pay)])
        for row in range(0, len(rows), 6):
            rest = form.exact(encoded[row]) - weight * Fraction(encoded[row, pay])
            value = float((Fraction(test.threshold) - rest) / weight)
            for steps in (-2, -1, 0, 1, 2):
                moved = value + steps * math.ulp(value)
                found.append(rows.iloc[[row]].assign(pay=moved))
    return pd.concat(found, ignore_index=True).astype({"grade": rows["grade"].dtype})
