"""Unusual names, labels and numbers of a user: what is said of them, and that they are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import DataError, SpecError

TABLE = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0, 1, 0, 1]})
CLASSES = ["x", "x", "y", "y"]


def test_a_name_with_a_line_break_does_not_end_a_rule() -> None:
    table = pd.DataFrame({"debt\nif always": [0, 1, 2, 3]})
    graph = tf.Problem(table, ["a\r", "a\r", "b", "b"], shape=tf.Tree(1)).solve().graph
    assert graph is not None
    assert graph.rules()[0].startswith("if debt\\nif always <= 1.5 then a\\r  (")
    assert all(len(line.splitlines()) == 1 for line in [*graph.rules(), *graph.to_text().split("\n")])


DATES = {
    "text": ["2024-01-01", "2024-02-01"] * 2,
    "timestamps": list(pd.date_range("2024-01-01", periods=2)) * 2,
    "numpy": np.array(["2024-01-01", "2024-02-01"] * 2, dtype="datetime64[s]"),
}


@pytest.mark.parametrize("kind", DATES)
def test_dates_as_a_target_are_classes_and_a_note_says_so(kind: str) -> None:
    notes = tf.Problem(TABLE, DATES[kind], shape=tf.Tree(1)).solve().notes
    assert any("each of the 2 dates in the target is a class of its own" in note for note in notes)


@pytest.mark.parametrize("labels", [["2024", "spring"] * 2, [2024, 2025] * 2])
def test_other_labels_are_no_dates(labels: list[Any]) -> None:
    assert not any("dates" in note for note in tf.Problem(TABLE, labels, shape=tf.Tree(1)).solve().notes)


def test_a_period_is_advised_what_periods_have() -> None:
    table = TABLE.assign(a=pd.period_range("2020", periods=4, freq="M"))
    with pytest.raises(DataError, match=r"to_timestamp\(\)"):
        tf.Problem(table, CLASSES, shape=tf.Tree(1))
    table["a"] = table["a"].dt.to_timestamp()
    assert tf.Problem(table, CLASSES, shape=tf.Tree(1), dates="days").solve().errors == 0


def test_a_classifier_says_which_labels_it_learns() -> None:
    with pytest.raises(SpecError, match="text, whole numbers or booleans"):
        tf.OptimalTreeClassifier(max_depth=1).fit(TABLE, DATES["timestamps"])


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    two = np.int64(2)
    assert tf.Tree(two) == tf.Tree(2) and type(tf.Tree(two).depth) is int
    assert tf.Diagram(np.int8(1), two) == tf.Diagram(1, 2)
    problem = tf.Problem(TABLE, CLASSES, shape=tf.Tree(two))
    assert problem.solve(tf.HiGHS(threads=np.int64(1)), formulation="odd").errors == 0
    found = problem.near_optimal(max_models=two)
    assert len(found.models) <= 2 and len(found.sample(two, seed=0)) == 2
    for depth in (np.float64(2), np.bool_(True), "2"):
        with pytest.raises(SpecError, match="whole number"):
            tf.Tree(depth)
