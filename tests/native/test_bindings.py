"""Calls of the native core with changed arguments: an answer or an exception, never the end of the process."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import bindings_fuzz
import numpy as np
import pytest

import treeform as tf
from treeform import _core
from treeform.data import Dataset
from treeform.errors import SpecError


@pytest.fixture(scope="module")
def calls() -> dict[str, Any]:
    return bindings_fuzz.recorded()


def test_changed_calls_are_answered_or_refused(calls: dict[str, Any]) -> None:
    assert {
        "binary",
        "contree",
        "diagram",
        "diagram_rows",
        "priced_tests",
        "regression",
        "totals",
    } <= calls.keys()
    answered = sum(bindings_fuzz.answers(one) for one in bindings_fuzz.calls(3, 200, calls))
    assert 50 <= answered <= 180


NAN, NEGATIVE = float("nan"), -(2**63)


@pytest.mark.parametrize(
    ("name", "what", "value"),
    [
        ("binary", "depth", 64),  # ran on whatever its time limit
        ("binary", "exact_depth", 63),
        ("binary", "time_limit", NAN),
        ("binary", 1, NEGATIVE),
        ("contree", "depth", 31),
        ("contree", "threads", 2**31 - 1),
        ("contree", "node_penalty", -1),
        ("continuous_totals", 3, -1),
        ("continuous_totals", "threads", 2**20),
        ("diagram", 0, NAN),
        ("diagram", 1, NEGATIVE),
        ("diagram", 1, 2**62),
        ("diagram", 2, -1),
        ("diagram", 3, -1),
        ("diagram", "max_nodes", -1),
        ("diagram", "max_nodes", 2**31 - 1),
        ("diagram", "widths", [1, 0]),
        ("diagram", "widths", [1] * 31),
        ("diagram", "rates", [0]),
        ("diagram", "prices", [2**62]),
        ("diagram", "free_tests", -1),
        ("diagram", "known", [NEGATIVE]),
        ("diagram_rows", "max_nodes", -1),
        ("diagram_rows", "rate", 0),
        ("diagram_rows", 4, 2**62),
        ("priced_tests", 0, -1),
        ("priced_tests", 0, 16),
        ("priced_tests", 4, 4),
        ("regression", "depth", 31),
        ("regression", "threads", 0),
        ("regression", "min_support", -1),
        ("totals", "depth", 10),
        ("totals", "multiplier_unit", 0),
        ("totals", "multipliers", [1]),
    ],
)
def test_impossible_arguments_are_refused(calls: dict[str, Any], name: str, what: Any, value: Any) -> None:
    """An argument by its keyword, or an entry of one by its place."""
    _, args, named = calls[name]
    args, named = list(args), named | ({"time_limit": 1.0} if named else {})
    if isinstance(what, str):
        named[what] = value
    else:
        args[what] = args[what].copy()
        args[what].reshape(-1)[-1] = value
    with pytest.raises(ValueError, match=r"\w \w"):
        getattr(_core, name)(*args, **named)


@pytest.mark.parametrize("reply", [None, "stop", (False,), (0, "none")])
@pytest.mark.parametrize("name", ["binary", "contree", "diagram", "regression", "totals"])
def test_a_reply_of_another_type_is_refused(calls: dict[str, Any], name: str, reply: Any) -> None:
    _, args, named = calls[name]
    with pytest.raises(TypeError, match="the reply of a callable"):
        getattr(_core, name)(*args, **(named | {"poll": lambda *_: reply}))


def test_prices_beyond_exact_arithmetic_and_threads_are_refused_before() -> None:
    data = Dataset.from_user(np.arange(8.0)[:, None], [0, 1] * 4)
    for price in (Fraction(1, 2**59), Fraction(2**60)):
        with pytest.raises(SpecError, match="price of a test"):
            tf.DiagramSearch().size_table(data, tf.Diagram(1, 2), [price])
    for engine in (tf.ConTree, tf.DL85, tf.TotalsSearch, tf.RegressionSearch):
        with pytest.raises(SpecError, match="at most 1024"):
            engine(threads=1025)


@pytest.mark.parametrize("huge", ["target", "weight"])
def test_sums_of_targets_and_of_weights_have_limits_of_their_own(calls: dict[str, Any], huge: str) -> None:
    _, (x, target, *rest), named = calls["regression"]
    target, weight = np.zeros_like(target), np.ones_like(target)
    (target if huge == "target" else weight)[-1] = 2**54
    with pytest.raises(ValueError, match="too large to be added exactly"):
        _core.regression(x, target, weight, *rest[1:], **(named | {"time_limit": 1.0}))


@pytest.mark.parametrize(("number", "weight"), [(2**62, 8), (2**61, 32)])
def test_sums_of_squares_that_are_too_large_are_refused(number: int, weight: int) -> None:
    numbers, weights = np.array([number, number]), np.array([1, weight])
    with pytest.raises(ValueError, match="too large to be added exactly"):
        _core.sum_of_squares(numbers, weights)
    high, low = _core.sum_of_squares(numbers, np.array([1, 2]))
    assert high * 2**64 + low == 3 * number**2
