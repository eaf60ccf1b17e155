"""Which engines a check asks: by what they declare, first one that shares no code with the claim's."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.certify.provers import name_of, provers

rng = np.random.default_rng(5)


def problem(values: int, shape: str = "tree:2", goal: str = "error") -> tf.Problem:
    """A table of up to three times so many tests."""
    X = rng.integers(0, values, (4 * values, 3)).astype(float)
    return tf.Problem(X, rng.integers(0, 2, 4 * values), shape=shape).minimize(goal)


def names(stated: tf.Problem, maker: str) -> list[str]:
    return [name_of(engine) for engine in provers(stated.question, maker)]


@pytest.mark.parametrize(
    ("maker", "expected"),
    [("dl85", ["contree", "dl85"]), ("contree", ["dl85", "contree"]), ("odd on highs", ["contree", "dl85"])],
)
def test_of_two_families_the_other_one_comes_first(maker: str, expected: list[str]) -> None:
    assert names(problem(5), maker) == expected


def test_few_tests_are_what_an_engine_declares() -> None:
    assert names(problem(300), "dl85") == ["contree"]


def test_diagrams_and_values() -> None:
    assert names(problem(5, "diagram:1,2,2"), "contree") == ["contree", "diagram-search"][::-1]
    assert names(problem(5, goal="squared_error"), "regression-search") == ["regression-search"]


def test_sums_over_rows_are_proved_plainly_first_and_by_the_rival_where_it_made_the_claim() -> None:
    stated = problem(5)
    stated += tf.StatisticalParity(rng.integers(0, 2, 20), difference="0.1", positive=1)
    plain = "totals-search with multipliers only"
    assert names(stated, "highs")[:2] == [plain, "totals-search"]
    assert names(stated, "continuous-totals")[:2] == [plain, "continuous-totals without its shortcuts"]
