"""Objectives: exact arithmetic, text form, and agreement of value and expression."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeform as tf
from treeform.data import Dataset
from treeform.errors import CallError, SpecError
from treeform.formulations.odd import ODD, paper_objective
from treeform.graph import DecisionGraph
from treeform.language.numbers import as_fraction
from treeform.language.objective import Objective
from treeform.language.objective_text import quoted, settings_in
from treeform.language.requirement_text import parse
from treeform.utils.text import value_text

X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 0.0]])
Y = ["a", "b", "a", "b", "b"]
TREE = (0, 0.5, 0, (1, 0.5, 1, 0))  # rows 0 and 3 to a; 1 and 4 to b; 2 to a: row 3 is wrong


@pytest.fixture
def data() -> Dataset:
    return Dataset.from_user(X, Y, [0.1, 0.2, 0.3, 0.4, 1])


@pytest.fixture
def graph(data: Dataset) -> DecisionGraph:
    return DecisionGraph.from_nested(TREE, data)


def test_values_are_exact(data: Dataset, graph: DecisionGraph) -> None:
    assert tf.Error().evaluate(graph, data) == Fraction(2, 5)
    assert tf.Nodes().evaluate(graph, data) == 2
    assert tf.Leaves().evaluate(graph, data) == 3
    assert tf.Depth().evaluate(graph, data) == 2
    assert tf.Cost([[0, 1], ["1/3", 0]]).evaluate(graph, data) == Fraction(2, 15)
    goal = 2 * tf.Error() + Fraction(1, 2) * tf.Nodes() + 0.1 * tf.Leaves()
    assert goal.evaluate(graph, data) == Fraction(4, 5) + 1 + Fraction(3, 10)


def test_scale_makes_every_value_whole(data: Dataset) -> None:
    assert Objective.of(tf.Error()).scale(data) == 10
    assert (tf.Error() + Fraction(1, 3) * tf.Nodes()).scale(data) == 30
    assert Objective().scale(data) == 1


@given(st.tuples(*[st.fractions(0, 5, max_denominator=6)] * 3))
@settings(max_examples=15)
def test_expression_is_scale_times_value(weights: tuple[Fraction, ...]) -> None:
    data = Dataset.from_user(X, Y, [0.1, 0.2, 0.3, 0.4, 1])
    graph = DecisionGraph.from_nested(TREE, data)
    terms = (tf.Cost([[0, 2], [0.5, 0]]), tf.Nodes(), tf.Leaves())
    goal = Objective(zip(weights, terms, strict=True))
    compiled = ODD().compile(data, tf.Tree(2), goal)
    x = ODD().encode(compiled, graph)
    assert x is not None
    rows = compiled.objective_expr.rows
    assert all(float(v).is_integer() for v in rows.vals)
    assert compiled.objective_expr.value(x) == goal.scale(data) * goal.evaluate(graph, data)


def test_arithmetic() -> None:
    assert tf.Error() + 2 * tf.Nodes() == tf.Nodes() * 2 + tf.Error()
    assert tf.Error() + tf.Error() == 2 * tf.Error()
    assert (tf.Error() + tf.Nodes()) / 2 == 0.5 * tf.Error() + Fraction(1, 2) * tf.Nodes()
    assert sum([tf.Error(), tf.Nodes()]) == tf.Error() + tf.Nodes()
    assert Objective.of(0 * tf.Nodes() + tf.Error()).terms == ((Fraction(1), tf.Error()),)
    assert 0.1 * tf.Error() == Fraction(1, 10) * tf.Error()
    assert Objective.of(tf.Error) == Objective.of("error")


@pytest.mark.parametrize(
    "text",
    [
        "error",
        "error + 2*nodes",
        "1/2*error + 0.1 * leaves",
        "depth",
        "cost[0 5; 1/2 0] + nodes",
        "nodes*2",
        "nodes/10 + error*3/2",
        "",
    ],
)
def test_text_round_trip(text: str) -> None:
    goal = Objective.parse(text)
    assert Objective.parse(str(goal)) == goal


def test_text_divided() -> None:
    assert Objective.parse("nodes/10 + error*3/2") == tf.Nodes() / 10 + Fraction(3, 2) * tf.Error()


@pytest.mark.parametrize(
    "text",
    ["errors", "2", "error nodes", "error*nodes", "cost", "cost[0 x; 1 0]", "+", "2/nodes", "nodes/0", "1/0*nodes"],
)
def test_text_that_is_none(text: str) -> None:
    with pytest.raises(SpecError, match=r"terms: error, nodes|no cost matrix"):
        Objective.parse(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "x", None, True])
def test_no_number(value: object) -> None:
    with pytest.raises(SpecError, match="no finite number"):
        as_fraction(value, "a number")


def test_decimals_are_what_they_are_written_as() -> None:
    assert as_fraction(0.8, "") == Fraction(4, 5)
    assert as_fraction(np.float32(0.8), "") == Fraction(4, 5)
    assert as_fraction(np.int64(3), "") == 3
    assert as_fraction("4/5", "") == Fraction(4, 5)


def test_what_is_refused(data: Dataset) -> None:
    with pytest.raises(SpecError, match="-1 times nodes"):
        tf.Error() + -1 * tf.Nodes()
    with pytest.raises(SpecError, match="no objective"):
        Objective.of(3)
    with pytest.raises(SpecError, match="not square"):
        tf.Cost([[1, 2]])
    with pytest.raises(SpecError, match="negative"):
        tf.Cost([[0, -1], [1, 0]])
    with pytest.raises(SpecError, match="3 rows"):
        ODD().compile(data, tf.Tree(1), Objective.of(tf.Cost(np.ones((3, 3)))))
    with pytest.raises(SpecError, match="leaves"):
        ODD().compile(data, tf.Diagram(1, 2), Objective.of(tf.Leaves()))
    with pytest.raises(SpecError, match="depth"):
        ODD().compile(data, tf.Tree(1), Objective.of(tf.Depth()))
    assert "own search" in str(ODD().supports(tf.Tree(1), data, tf.Depth() + tf.Error()))


def test_a_class_that_needs_an_argument_is_refused(data: Dataset) -> None:
    class Rare(tf.Error):
        def __init__(self, times: int) -> None:
            self.times = times

    with pytest.raises(CallError, match="Rare needs times"):
        Objective.of(Rare)


def test_coefficients_beyond_float64(data: Dataset) -> None:
    goal = tf.Error() + Fraction(1, 10**17) * tf.Nodes()
    with pytest.raises(SpecError, match="round sample weights"):
        ODD().compile(data, tf.Tree(1), goal)


def test_paper_objective(data: Dataset, graph: DecisionGraph) -> None:
    shape = tf.Diagram(1, 2, 4, 8)
    value = paper_objective(0.5, data, shape).evaluate(graph, data)
    # error rate 0.4 / 2, and alpha / 14 for each of the two tests
    assert value == Fraction(1, 5) + Fraction(1, 2) * Fraction(2, 14)


@pytest.mark.parametrize("text", ['column=2" pipe', "column='a", 'column="a,b', "column=it's"])
def test_a_quote_that_is_not_closed_is_refused_and_not_left_out(text: str) -> None:
    with pytest.raises(SpecError, match="is not closed"):
        settings_in(text, "term")
    with pytest.raises(SpecError, match="is not closed"):
        parse(f"{tf.Monotone.name}:{text},direction=increasing")


@given(st.lists(st.text(alphabet="a ,\"'[]+*=\n", max_size=8), min_size=1, max_size=3))
def test_any_text_is_written_so_that_it_is_read_back(values: list[str]) -> None:
    keys = [f"k{at}" for at in range(len(values))]
    stated = ",".join(f"{key}={quoted(value)}" for key, value in zip(keys, values, strict=True))
    assert settings_in(stated, "term") == dict(zip(keys, values, strict=True))


@pytest.mark.parametrize("name", ["a]b", "[", "it's", "2\" o'clock]", "''"])
def test_names_in_objectives_and_conditions_hold_any_signs(name: str) -> None:
    objective = Objective.parse(f"group_error[groups={quoted(name)}] + 2*nodes")
    assert objective == Objective.parse(str(objective))
    assert objective.terms[0][1].groups == name
    sliced = tf.MaxErrors(3).on(f"city == {name!r}")
    assert parse(str(sliced)) == sliced


def test_numbers_that_are_not_finite_are_shown() -> None:
    assert [value_text(v) for v in (float("inf"), -float("inf"), None, Fraction(1, 4))] == ["inf", "-inf", "-", "0.25"]


def test_a_representation_omits_what_was_not_given() -> None:
    parity = tf.StatisticalParity("sex", difference="0.1")
    assert "None" not in repr(parity) and eval(repr(parity), {**vars(tf), "Fraction": Fraction}) == parity
