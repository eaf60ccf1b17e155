"""Requirements by name: command-line text and typed parameters."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pandas as pd
import pytest

import treeform as tf
from treeform.catalogue.requirements import names
from treeform.errors import SpecError
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import make, parse


def test_parity() -> None:
    made = parse("statistical_parity:groups=sex,ratio=0.8")
    assert made == tf.StatisticalParity("sex", ratio=0.8)
    assert made.ratio == Fraction(4, 5)
    assert parse("statistical_parity: sex , difference=1/20 , positive=good") == tf.StatisticalParity(
        "sex", difference=0.05, positive="good"
    )


def test_quoted_values() -> None:
    made = parse("statistical_parity:groups=\"race, ethnicity\",ratio=0.8,positive='<=50K'")
    assert (made.groups, made.positive) == ("race, ethnicity", "<=50K")


@pytest.mark.parametrize("column", ["price, EUR", "it's", '2" pipes', "a=b", " a ", "a;b", "x + y"])
@pytest.mark.parametrize(
    "make_one",
    [
        lambda column: tf.Monotone(column, "decreasing", positive=column),
        lambda column: tf.StatisticalParity(column, difference=0.1, positive=column),
        lambda column: tf.ConditionalParity(column, difference=0.1, given=column),
        lambda column: tf.MaxThresholds(column, 2),
        lambda column: tf.Below(column, above=column + "b"),
        lambda column: tf.NoTestOn(column),
        lambda column: tf.MinRecall(0.5, positive=column),
        lambda column: tf.MaxTestsPerPath([column.strip(), "b"], 1),
        lambda column: tf.OncePerPath([column.strip()]),
        lambda column: tf.Uses([column.strip(), "b"]),
        lambda column: tf.Interaction([[column.strip(), "b"], ["c"]]),
        lambda column: tf.Exclusive([column.strip(), "b"]),
        lambda column: tf.FeatureCost({column.strip(): 1, "b": 2}, at_most=2),
    ],
)
def test_awkward_names_read_back(make_one: Callable[[str], Requirement], column: str) -> None:
    made = make_one(column)
    again = parse(str(made))
    assert again.to_json() == made.to_json()


@pytest.mark.parametrize(
    "made",
    [
        tf.Uses(["0"]),
        tf.OncePerPath(["1"]),
        tf.MaxTestsPerPath(["0"], 1),
        tf.StatisticalParity("1", difference=0.1),
    ],
)
def test_columns_named_by_numbers_are_found(made: Requirement) -> None:
    table = pd.DataFrame([[1, 2], [2, 2], [1, 3], [2, 3]])
    problem = tf.Problem(table, [0, 1, 1, 1], shape=tf.Tree(1))
    again = parse(str(made)).bind(problem.question.data)
    model = problem.solve().graph
    assert model is not None
    data = problem.question.data
    assert again.violation(model, data) == made.bind(data).violation(model, data)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("min_support:0.05", tf.MinSupport(0.05)),
        ("min_support:20", tf.MinSupport(20)),
        ("min_support:count=20", tf.MinSupport(count=20)),
        ("min_support:fraction=1", tf.MinSupport(fraction=1.0)),
        ("max_nodes:7", tf.MaxNodes(7)),
        ("max_nodes:at_most=7", tf.MaxNodes(7)),
        ("max_errors:0", tf.MaxErrors(0)),
    ],
)
def test_amounts(text: str, expected: Requirement) -> None:
    assert parse(text) == expected
    assert parse(str(expected)) == expected


def test_a_constructor_of_ones_own_that_sets_a_parameter_leaves_it_out_of_the_text() -> None:
    class SmallTrees(tf.MaxNodes):
        name = "small_trees_in_texts"

        def __init__(self):
            super().__init__(3)

    made = SmallTrees()
    assert str(made) == "small_trees_in_texts"
    assert parse(str(made)).at_most == 3


def test_from_a_table_of_values() -> None:
    assert make("min_support", {"fraction": 0.05}) == tf.MinSupport(0.05)
    assert make("statistical_parity", {"groups": "sex", "ratio": 0.8}) == tf.StatisticalParity("sex", 0.8)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("parity:ratio=0.8", ["no requirement 'parity'", "statistical_parity"]),
        ("min_suport:3", ["did you mean 'min_support'"]),
        ("statistical_parity:group=sex,ratio=0.8", ["'group'", "groups, ratio", "did you mean 'groups'"]),
        ("max_nodes:seven", ["'at_most'", "'seven'", "integer"]),
        ("max_nodes", ["lacks its parameter 'at_most'"]),
        ("max_nodes:7,8", ["'8'", "no parameter"]),
        ("max_nodes:at_most=7,at_most=8", ["twice"]),
        ("statistical_parity:groups=sex,ratio=high", ["'high'"]),
        ("statistical_parity:groups=sex,ratio=1.25", ["ratio 1.25", "(0, 1]", "ratio=0.8"]),
        ("min_support:1.5", ["1.5"]),
    ],
)
def test_errors_say_what_is_known(text: str, parts: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        parse(text)
    for part in parts:
        assert part in str(caught.value)


def test_what_an_own_constructor_cannot_read_is_named_with_its_text() -> None:
    class ShareOfSomething(tf.LinearRequirement):
        samples = ("share_of_something:1/2",)

        def __init__(self, share):
            self.share = Fraction(share)

        def forms(self, rows):
            yield rows.errors() <= self.share

    assert parse("share_of_something:1/4").share == Fraction(1, 4)
    for text, why in (("x", "Invalid literal"), ("1/0", "Fraction(1, 0)")):
        with pytest.raises(SpecError, match="is not possible") as caught:
            parse(f"share_of_something:{text}")
        for part in (f"share_of_something:share={text}", why, "write for example share_of_something:1/2"):
            assert part in str(caught.value)


def test_own_requirement_without_annotations() -> None:
    class AtMostSomething(Requirement):
        def __init__(self, k, label="x"):
            self.k, self.label = k, label

        def build(self, model, ports): ...

        def violation(self, graph, data):
            return 0

    made = parse("at_most_something:3")
    assert isinstance(made, AtMostSomething)
    assert (made.k, made.label) == (3, "x")
    assert parse("at_most_something:0.5,label=y").k == 0.5
    assert names()["at_most_something"] == "k, label"
