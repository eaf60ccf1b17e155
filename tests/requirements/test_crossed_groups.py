"""Groups of several columns: by their names, in texts, and as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import DataError
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import parse
from treeform.requirements import Groups
from treeform.utils.text import Caution


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 60), "town": rng.choice(["n", "s"], 60), "x": rng.integers(0, 4, 60)}
    )
    return frame, (frame.x + (frame.sex == "f") > 2).astype(int)


def solved(table, requirement, **options):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(2), **options)
    problem += requirement
    return problem, problem.solve()


@pytest.mark.parametrize("mixed", [["sex", 3], ["town", None], ["sex", "town", 0.5]], ids=str)
def test_names_among_values_are_values(table, mixed):
    """A list in which not everything is a text names no columns; as groups of each row it is too short."""
    with pytest.raises(DataError):
        solved(table, tf.StatisticalParity(mixed, difference="0.3", positive=1))


def test_all_ways_to_name_them_agree(table):
    frame, _ = table
    ways = [["sex", "town"], "sex & town", "sex&town", frame[["sex", "town"]]]
    results = [solved(table, tf.StatisticalParity(way, difference="0.3", positive=1))[1] for way in ways]
    assert len({result.objective for result in results}) == 1
    problem, result = solved(table, parse("statistical_parity:groups=sex & town,difference=0.3,positive=1"))
    assert result.objective == results[0].objective
    report = problem.requirements[0].report(result.graph, problem.data)
    assert [row.group for row in report] == ["f & n", "f & s", "m & n", "m & s"]


def test_columns_are_read_once_for_each_table(table):
    """Each judgement of a model asks for its groups."""
    frame, y = table
    data, other = (tf.Problem(frame, y, shape=tf.Tree(1)).data for _ in range(2))
    assert Groups.of("sex & town", data) is Groups.of(["sex", "town"], data) is not Groups.of("sex & town", other)


def test_texts_files_and_certificates_keep_the_names(table):
    frame, y = table
    problem, result = solved(table, tf.EqualOpportunity(["sex", "town"], difference="0.4", positive=1))
    bound = problem.requirements[0]
    assert "groups=sex & town" in str(bound)
    assert Requirement.from_json(bound.to_json()).groups == parse(str(bound)).groups == "sex & town"
    assert str(tf.check(result.certificate(), frame, y).verdict) == "verified"


def test_others_that_compare_groups(table):
    problem, _ = solved(table, tf.ConditionalParity("sex", given=["town", "x"], difference="0.9", positive=1))
    assert "given=town & x" in str(problem.requirements[0])
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(1)).minimize(tf.MaxGroupError(["sex", "town"]))
    apart = tf.Problem(frame, y, shape=tf.Tree(1)).minimize(tf.MaxGroupError(frame[["sex", "town"]]))
    assert problem.solve().objective == apart.solve().objective
    assert "sex & town" in str(problem.objective)


def test_a_test_on_one_of_them_is_said(table):
    _, result = solved(table, tf.StatisticalParity(["sex", "town"], difference="0.6", positive=1))
    assert {t.columns for t in result.graph.tests()}
    used = {result.graph.columns[f].source for f in result.graph.features_used()}
    told = [note for note in result.notes if note.startswith("warning")]
    assert len(told) == len(used & {"sex", "town"})


def test_a_name_that_is_none(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(1))
    for wrong in (["sex", "twn"], "sex & twn"):
        with pytest.raises(DataError, match="no column 'twn'"):
            problem += tf.StatisticalParity(wrong, difference="0.1")
    both = frame.assign(**{"sex & town": ["a", "b"] * 30})
    assert Groups.of("sex & town", tf.Problem(both, y, shape=tf.Tree(1)).data).labels == ("a", "b")


def test_groups_that_differ_in_spelling_are_named() -> None:
    table = pd.DataFrame({"a": np.arange(24) % 5, "sex": ["F", "M", "f", "M "] * 6})
    problem = tf.Problem(table, np.arange(24) % 2, shape=tf.Tree(1), exclude=["sex"])
    problem += tf.StatisticalParity(groups="sex", difference="0.9", positive=1)
    (note,) = (note for note in problem.solve().notes if "case or spaces" in note)
    assert note.startswith("groups of sex differ in case or spaces only: 'F' and 'f'; 'M' and 'M '; they are compared")
    assert isinstance(note, Caution)
