"""Monotone and MeanParity on some of the rows: engines, solvers and checks against enumeration and plain loops."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import parse
from treeform.testing import all_models, brute_force, check_requirement

TABLE = pd.DataFrame(
    {
        "income": [1, 2, 3, 4, 1, 2, 3, 4, 2, 3],
        "debt": [0, 1, 1, 0, 1, 0, 0, 1, 1, 0],
        "quarter": list("aaaabbbbcc"),
        "sex": list("fmfmfmfmfm"),
    }
)
LABELS = ["no", "yes", "no", "yes", "yes", "yes", "no", "no", "yes", "no"]
TARGET = [2, 5, 1, 7, 6, 4, 3, 1, 5, 2]


def classes(*requirements: Requirement, depth: int = 2) -> tf.Problem:
    made = tf.Problem(TABLE, LABELS, shape=tf.Tree(depth), exclude=["quarter", "sex"])
    return made + list(requirements)


def values(*requirements: Requirement, loss: str = "absolute_error", depth: int = 1) -> tf.Problem:
    made = tf.Problem(TABLE, TARGET, shape=tf.Tree(depth), exclude=["quarter", "sex"]).minimize(loss)
    return made + list(requirements)


def slices(requirement: Any) -> list[np.ndarray]:
    """The rows of each part, written out."""
    inside = np.ones(len(TABLE), dtype=bool)
    if requirement.rows is not None:
        inside = (TABLE["quarter"] != "c").to_numpy()
    if requirement.by is None:
        return [inside]
    column = TABLE["quarter" if requirement.by == "quarter" else "sex"]
    return [inside & (column == value).to_numpy() for value in sorted(set(column))]


def falls(graph: DecisionGraph, data: Dataset, rows: np.ndarray) -> bool:
    """Whether, at a test of income, a row of these goes low and is predicted more than one that goes high."""
    predicted = [graph.values[c] if graph.values else c for c in graph.predict_codes(data.X).tolist()]
    for node in np.flatnonzero((graph.feature >= 0) & ~graph.passes).tolist():
        if data.columns[int(graph.feature[node])].source != "income":
            continue
        sides: tuple[list[Any], list[Any]] = ([], [])
        for i in np.flatnonzero(rows).tolist():
            at, path = 0, {}
            while graph.feature[at] >= 0:
                right = not graph.passes[at] and data.X[i, graph.feature[at]] > graph.threshold[at]
                path[at] = right
                at = int(graph.right[at] if right else graph.left[at])
            if node in path:
                sides[int(path[node])].append(predicted[i])
        if sides[0] and sides[1] and max(sides[0]) > min(sides[1]):
            return True
    return False


MONOTONE = [
    tf.Monotone("income").each("quarter"),
    tf.Monotone("income").on("quarter != 'c'"),
    tf.Monotone("income").on("quarter != 'c'").each("sex"),
]


@pytest.mark.parametrize("requirement", MONOTONE, ids=str)
def test_monotone_among_the_rows_of_each_slice(requirement: Any) -> None:
    asked = classes(requirement)
    data, bound = asked.data, asked.requirements[0]
    least, whole = None, None
    for graph in all_models(data, tf.Tree(2), limit=10**6):
        wrong = int((graph.predict_codes(data.X) != data.y).sum())
        kept = not any(falls(graph, data, rows) for rows in slices(requirement))
        assert kept == (bound.violation(graph, data) == 0)
        if kept and (least is None or wrong < least):
            least = wrong
        if not falls(graph, data, np.ones(len(TABLE), dtype=bool)) and (whole is None or wrong < whole):
            whole = wrong
    assert least is not None and whole is not None
    assert classes().solve().objective <= least <= whole
    for solver in (None, "highs"):
        result = asked.solve(solver, warm_start=None if solver else "auto")
        assert result.objective == result.bound == least
    for independent in (False, True):
        assert tf.check(asked.solve().certificate(), TABLE, LABELS, independent=independent).ok


def test_every_period_asks_less_than_all_rows_at_once() -> None:
    """Rows of different quarters are not compared, also where a test of the column parts the quarters."""
    table = pd.DataFrame({"income": [1, 2, 3, 4], "quarter": list("aabb")})
    asked = tf.Problem(table, ["yes", "yes", "no", "no"], shape=tf.Tree(1), exclude=["quarter"])
    assert (asked + tf.Monotone("income").each("quarter")).solve().objective == 0
    assert (asked + tf.Monotone("income")).solve().objective == 2


@pytest.mark.parametrize(
    "requirement",
    [
        tf.Monotone("income").each("quarter"),
        tf.Monotone("debt", "decreasing").on("quarter != 'c'"),
        tf.MeanParity("sex", difference=1).each("quarter"),
        tf.MeanParity("sex", difference="1/2").on("quarter != 'c'"),
    ],
    ids=str,
)
def test_values_of_leaves(requirement: Requirement) -> None:
    asked = values(requirement)
    data, bound = asked.data, asked.requirements[0]
    best = brute_force(data, tf.Tree(1), asked.question.objective, [bound])
    assert best is not None
    for solver in (None, "highs"):
        result = asked.solve(solver, warm_start=None if solver else "auto")
        assert result.objective == result.bound == best[0], solver
        assert bound.violation(result.graph, data) == 0
    report = tf.check(asked.solve().certificate(), TABLE, TARGET)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("requirement", "of_values"),
    [
        (tf.Monotone("age", positive=1).each("group"), False),
        (tf.Monotone("age").each("group"), True),
        (tf.MeanParity("owner", difference="0.3").each("group"), True),
        (tf.MeanParity("group", difference=0).on("owner"), True),
    ],
    ids=str,
)
def test_rows_of_formulations_agree_with_violation(requirement: Requirement, of_values: bool) -> None:
    report = check_requirement(requirement, ["odd"], ["cp-sat"], cases=1, models=6, of_values=of_values)
    assert report.solves and report.models


def test_mean_parity_of_each_slice_in_plain_sums() -> None:
    requirement = tf.MeanParity("sex", difference=1, whole=True).each("quarter")
    asked = values(requirement, depth=2)
    data, bound = asked.data, asked.requirements[0]
    for graph in all_models(data, tf.Tree(1), limit=10**4):
        made = [graph.values[c] for c in graph.predict_codes(data.X).tolist()]
        lack = Fraction(0)
        for rows in slices(requirement):
            means = []
            for sex in "fm":
                own = [v for v, i, s in zip(made, rows, TABLE["sex"], strict=True) if i and s == sex]
                means.append(sum(own, Fraction(0)) / len(own))
            lack = max([lack, *(abs(a - b) - 1 for a, b in combinations(means, 2))])
        assert bound.violation(graph, data) == lack


def test_any_values_under_squared_error() -> None:
    free = values(loss="squared_error").solve()
    each = values(tf.MeanParity("sex", difference=0, whole=False).each("quarter"), loss="squared_error").solve()
    whole = values(tf.MeanParity("sex", difference=0, whole=False), loss="squared_error").solve()
    assert free.objective <= whole.objective
    assert each.objective == each.bound >= free.objective
    assert not any(each.violations.values())
    with pytest.raises(SpecError, match="no frontier"):
        values(loss="squared_error").frontier(over=tf.MeanParity("sex", difference=0).each("quarter"))


def test_the_bound_of_whole_values_moves() -> None:
    curve = values().frontier(over=tf.MeanParity("sex", difference=1).each("quarter"))
    assert curve.proved
    for point in curve.points:
        stated = values(tf.MeanParity("sex", difference=point.value).each("quarter"))
        assert stated.solve().objective == point.objective
    assert tf.check(curve.certificate(), TABLE, TARGET).ok


def test_a_slice_with_one_group_compares_nothing() -> None:
    asked = values(tf.MeanParity("sex", difference=0).on("sex == 'f'"))
    assert asked.solve().objective == values().solve().objective


@pytest.mark.parametrize("text", ["monotone:income,increasing,each=quarter", "monotone:income,on=\"quarter != 'c'\""])
def test_text_files_and_the_command_line(tmp_path: Path, text: str) -> None:
    requirement = parse(text)
    assert Requirement.from_json(json.loads(json.dumps(requirement.to_json()))) == requirement
    path = tmp_path / "table.csv"
    TABLE.assign(y=LABELS).to_csv(path, index=False)
    words = ["fit", str(path), "--target", "y", "--shape", "tree:2", "--exclude", "quarter", "--exclude", "sex"]
    certificate = tmp_path / "it.json"
    done = CliRunner().invoke(app, [*words, "--require", text, "-q", "--certificate", str(certificate)])
    assert done.exit_code == 0, done.output
    assert json.loads(certificate.read_text())["answer"]["objective"] == str(classes(requirement).solve().objective)
    checked = CliRunner().invoke(app, ["check", str(certificate), str(path), "-q"])
    assert checked.exit_code == 0, checked.output
