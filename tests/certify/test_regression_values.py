"""The search of all trees with values: it shows every optimum again, and nothing above it."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify import regression_values
from treeform.certify.certificate import sign
from treeform.certify.regression_values import _Leaf, _listed, _whole_reach, nothing_below
from treeform.language.values import ValueRow
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach


def drawn(seed: int, loss: str) -> tf.Problem:
    """Twelve rows with ties, two or three groups, weights, prices, limits, and requirements of each kind."""
    rng = np.random.default_rng(seed)
    n = 12
    frame = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.integers(0, 3, n), "g": ["p", "q"] * (n // 2)})
    if seed % 5 == 4:
        frame["g"] = ["p", "q", "r"] * (n // 3)
    weights = rng.integers(1, 4, n) if seed % 4 == 3 else None
    y = rng.integers(0, 9, n) / 2
    problem = tf.Problem(
        frame, y, shape=tf.Tree(1 + (seed % 3 > 0)), exclude=["g"], sample_weight=weights
    ).minimize(f"{loss} + {['0', '1/3'][seed % 2]}*nodes")
    if seed % 3 != 1:
        problem += tf.Monotone("a", "decreasing" if seed % 2 else "increasing")
    if seed % 3 != 0:
        whole = loss == "absolute_error" and seed % 2 == 0
        problem += tf.MeanParity("g", Fraction(int(rng.integers(1, 5)), 4), whole=whole)
    if seed % 7 == 5:
        problem += [tf.MaxNodes(2), tf.MinSupport(2)]
    if seed % 7 == 6:
        problem += tf.FeatureBudget(1)
    return problem


@pytest.mark.drawn(4)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("seed", range(40))
def test_it_shows_the_optimum_and_nothing_above(seed: int, loss: str) -> None:
    problem = drawn(seed, loss)
    question = problem.question
    best = problem.solve(tf.RegressionSearch()).objective
    rules = [rule for one in problem.requirements if (rule := one.value_rule(question.data)) is not None]
    number = sum(len(rule.rows) for rule in rules)
    rng = np.random.default_rng(seed)
    for prices in ([Fraction(0)] * number, [Fraction(int(p), 4) for p in rng.integers(0, 9, number)]):
        assert nothing_below(question, best, prices, Budget())
        assert not nothing_below(question, best + Fraction(1, 1000), prices, Budget())


@pytest.mark.parametrize("price", [Fraction(-5), Fraction(10) ** 300, Fraction(2) ** 60])
def test_prices_that_are_no_prices_show_nothing_false(price: Fraction) -> None:
    problem = drawn(5, "squared_error")
    best = problem.solve(tf.RegressionSearch()).objective
    prices = [price, *[Fraction(0)] * 1]
    assert nothing_below(problem.question, best, prices, Budget())
    assert not nothing_below(problem.question, best + Fraction(1, 1000), prices, Budget())


def homes(n: int = 45) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"size": rng.integers(0, 20, n), "age": rng.integers(0, 9, n), "area": ["n", "s", "n"] * (n // 3)}
    )
    return frame, frame["size"].to_numpy() + 8 * (frame["area"] == "n").to_numpy() - frame["age"].to_numpy()


@pytest.mark.parametrize("objective", ["squared_error + 1/3*leaves", "absolute_error"])
def test_certificates_are_verified_without_the_engine(objective: str) -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(2), exclude=["area"]).minimize(objective)
    problem += [tf.Monotone("age"), tf.MeanParity("area", 2)]
    certificate = json.loads(json.dumps(problem.solve(tf.RegressionSearch()).certificate()))
    report = tf.check(certificate, X, y, independent=True)
    assert report.verdict == "verified" and regression_values.BY_VALUES in str(report), str(report)
    forged = copy.deepcopy(certificate)
    for claim in forged["claims"]:
        if "witness" in claim["metadata"]["details"]:
            claim["metadata"]["details"]["witness"] = {"multipliers": [-(10**400), "x"], "unit": 0}
    assert tf.check(sign(forged), X, y, independent=True).verdict == "verified"


def test_what_is_out_of_reach_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(3), exclude=["area"]).minimize("squared_error")
    problem += tf.MeanParity("area", 2)
    with pytest.raises(OutOfReach, match="depth"):
        nothing_below(problem.question, Fraction(1), [], Budget())
    shallow = tf.Problem(X, y, shape=tf.Tree(2), exclude=["area"]).minimize("squared_error")
    shallow += problem.requirements
    best = shallow.solve().objective
    monkeypatch.setattr(regression_values, "MOST_TREES", 1)
    with pytest.raises(OutOfReach, match="one by one"):
        nothing_below(shallow.question, best, [], Budget())


def test_values_that_may_be_fractions_and_whole_ones() -> None:
    """Means of 0 and of 1 that may differ by a half: halves cost half a unit of each, whole values a unit."""
    X = np.array([[0.0], [1.0]])
    for whole, best in ((False, Fraction(1, 2)), (True, Fraction(1))):
        problem = tf.Problem(X, [0, 1], shape=tf.Tree(1)).minimize("absolute_error")
        problem += tf.MeanParity(["p", "q"], Fraction(1, 2), whole=whole)
        assert problem.solve(tf.RegressionSearch()).objective == best
        for prices in ([], [Fraction(1), Fraction(1)]):
            assert nothing_below(problem.question, best, prices, Budget())
            assert not nothing_below(problem.question, best + Fraction(1, 100), prices, Budget())


def test_pairs_are_listed_by_the_sum_of_their_costs() -> None:
    """Rows that have a price may make a side cost less than nothing."""
    left, right = np.array([[5.0, 7.0]]), np.array([[-3.0, 2.0]])
    assert [side.tolist() for side in _listed(left, right, 3.0)] == [[0], [0]]


def test_boxes_are_cut_at_the_widest_side_until_none_is_left() -> None:
    """``v0 < v1 <= v0``: each row can be satisfied in a box that has a whole point to lose."""
    leaves = [_Leaf(np.array([0]), np.array([1]))] * 2
    rows = [ValueRow((1, -1), -1), ValueRow((-1, 1), 0)]
    assert _whole_reach(leaves, rows, 0, 2, Fraction(10**6))
    assert not _whole_reach(leaves, rows[:1], 0, 2, Fraction(2))
    assert _whole_reach(leaves, rows[:1], 0, 2, Fraction(1))
