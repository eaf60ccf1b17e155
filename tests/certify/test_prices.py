"""The search by prices against exhaustive enumeration, whatever the multipliers are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeform as tf
from treeform.certify import prices, tables
from treeform.certify.provers import BY_PRICES
from treeform.certify.reference import OutOfReach, Stopped
from treeform.certify.tables import Table
from treeform.engines import TotalsSearch
from treeform.engines.relaxation import Relaxation, relax
from treeform.language.question import Question
from treeform.testing import brute_force
from treeform.utils.budget import Budget


def case(seed: int) -> tf.Problem:
    """A tiny problem with one or two requirements on totals, and perhaps filters, weights and a price of tests."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(5, 9))
    X = pd.DataFrame({"a": draw.integers(0, 3, n), "b": draw.integers(0, 2, n)})
    y = draw.integers(0, 2, n)
    y[:2] = 0, 1
    groups = draw.integers(0, 2, n)
    groups[:2] = 1, 0
    weight = draw.integers(1, 4, n) if draw.random() < 0.5 else None
    problem = tf.Problem(X, y, shape=tf.Tree(int(draw.integers(1, 4 if n < 7 else 3))), sample_weight=weight)
    problem.minimize(tf.Error() + Fraction(int(draw.integers(0, 3)), 2) * tf.Nodes())
    problem += tf.StatisticalParity(groups=groups, difference=Fraction(int(draw.integers(0, 6)), 10))
    if draw.random() < 0.5:
        problem += tf.EqualOpportunity(
            groups=groups, ratio=Fraction(int(draw.integers(5, 11)), 10), positive=1
        )
    if draw.random() < 0.4:
        problem += tf.MinSupport(int(draw.integers(1, 4)))
    if draw.random() < 0.3:
        problem += tf.MaxNodes(int(draw.integers(0, 4)))
    if draw.random() < 0.3:
        problem += tf.Stability(int(draw.integers(1, 4)))
    return problem


def stated(problem: tf.Problem) -> tuple[Question, Relaxation]:
    question = problem.question
    relaxation = relax(question, TotalsSearch())
    assert relaxation is not None and relaxation.exact
    return question, relaxation


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.lists(st.integers(-50, 50), max_size=6), st.integers(1, 40))
def test_no_multipliers_lead_astray(seed: int, multipliers: list[int], unit: int) -> None:
    question, relaxation = stated(case(seed))
    best = brute_force(question.data, question.shape, question.objective, question.requirements)
    rows = 0 if relaxation.task.totals is None else len(relaxation.task.totals.rows)
    rows += relaxation.task.max_nodes is not None
    given = (multipliers + [0] * rows)[:rows]
    ceiling = 10**6 if best is None else relaxation.upper(int(best[0] * question.scale))
    found = prices.cheapest(question.data, relaxation.task, ceiling, given, unit, Budget())
    if best is None:
        assert found.least is None
    else:
        assert found.least is not None
        assert question.to_units(relaxation.lower(found.least)) == best[0]
        below = prices.cheapest(question.data, relaxation.task, found.least - 1, given, unit, Budget())
        assert below.least is None


def test_pairs_of_tests_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table of all pairs is held, and a limit is looked at after each part."""
    question, relaxation = stated(case(3))
    table = Table(question.data, relaxation.task)
    points, looks = np.arange(len(table.weight)), [0]

    def stop() -> bool:
        looks[0] += 1
        return False

    search = prices.Prices(table, relaxation.task, [], 1, Budget(over=stop))
    whole = search.by_test(points, 2)
    assert looks == [2]
    monkeypatch.setattr(prices, "ENTRIES", 2 * len(whole))
    assert (search.by_test(points, 2) == whole).all()
    assert looks == [3 + -(-len(whole) // 2)] and len(whole) > 2


@pytest.mark.parametrize("seed", range(12))
def test_sums_over_sorted_values_are_those_of_the_table(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many thresholds in a column: for all points and some of them, all columns and some, at each depth."""
    question, relaxation = stated(case(seed))
    read = {0, 1}, {1}, {0}
    listed = [Table(question.data, relaxation.task).over(columns) for columns in read]
    monkeypatch.setattr(tables, "MANY_THRESHOLDS", 1)
    by_values = [Table(question.data, relaxation.task).over(columns) for columns in read]
    for one, other in zip(listed, by_values, strict=True):
        assert one.cell is None and (other.cell is None) is (len(other.feature) == 0)
        searches = [prices.Prices(table, relaxation.task, [3, -2], 5, Budget()) for table in (one, other)]
        for points in (np.arange(len(one.weight)), np.arange(0, len(one.weight), 2)):
            amounts = np.random.default_rng(seed).integers(-9, 9, (len(points), 3)).astype(np.float64)
            assert (one.on_right(points, amounts) == other.on_right(points, amounts)).all()
            for depth in (1, 2, 3):
                found, expected = (search.by_test(points, depth) for search in searches[::-1])
                assert (found == expected).all()


def test_sums_over_sorted_values_beyond_64_bits_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sum is small enough, and those of all columns together are not."""
    monkeypatch.setattr(tables, "MANY_THRESHOLDS", 1)
    X = np.tile(np.array([[0.0], [1.0]]), 3000)
    problem = tf.Problem(X, [0, 1], shape=tf.Tree(1))
    relaxation = relax(problem.question, TotalsSearch())
    assert relaxation is not None
    table = Table(problem.data, relaxation.task)
    assert (table.on_right(np.arange(2), np.array([[1.0], [2.0**52]])) == 2.0**52).all()


def test_a_bound_of_the_search_for_totals_is_proved_by_it() -> None:
    draw = np.random.default_rng(3)
    X = pd.DataFrame(draw.integers(0, 2, (60, 5)), columns=list("abcde"))
    y, groups = draw.integers(0, 2, 60), draw.integers(0, 2, 60)
    problem = tf.Problem(X, y, shape=tf.Tree(3))
    problem += tf.StatisticalParity(groups=groups, difference="0.02")
    result = problem.solve(TotalsSearch())
    report = tf.check(result.certificate(), X, y, sensitive_features=groups)
    assert report.verdict == "verified"
    assert any(BY_PRICES in row.detail for row in report.rows)


def test_a_wrong_bound_is_refuted_with_the_value_of_a_tree() -> None:
    question, relaxation = stated(case(7))
    best = brute_force(question.data, question.shape, question.objective, question.requirements)
    assert best is not None
    most = relaxation.upper(int(best[0] * question.scale))
    found = prices.cheapest(question.data, relaxation.task, most + 5, [], 1, Budget())
    assert found.least is not None and found.least <= most


def test_it_stops_and_refuses_what_is_out_of_its_reach() -> None:
    question, relaxation = stated(case(7))
    with pytest.raises(Stopped):
        prices.cheapest(question.data, relaxation.task, 3, [], 1, Budget(over=lambda: True))
    with pytest.raises(OutOfReach):
        prices.cheapest(question.data, relaxation.task, 3, [2**52] * 4, 2**52, Budget())


@pytest.mark.parametrize("depth", range(4))
def test_the_least_price_is_that_of_the_cheapest_tree_listed(depth: int) -> None:
    """The parity of three columns: each level of tests costs less; single points and all of them."""
    X = np.array(list(np.ndindex(2, 2, 2)), dtype=float)
    problem = tf.Problem(X, X.sum(axis=1).astype(int) % 2, shape=tf.Tree(3))
    relaxation = relax(problem.question, TotalsSearch())
    assert relaxation is not None
    table = Table(problem.data, relaxation.task)
    priced = prices.Prices(table, relaxation.task, [], 1, Budget())
    for points in (np.arange(8), np.arange(4), np.array([1])):
        listed = priced.priced(priced.trees(points, depth, 1e9))
        assert priced.least(points, depth) == listed.min()
    assert priced.least(np.arange(8), depth) == [4, 4, 4, 0][depth]


def test_columns_are_counted_by_their_powers_of_two() -> None:
    assert prices._ones(np.array([3, 0, 1, 3, 2**61 + 5])).tolist() == [2, 0, 1, 2, 3]
