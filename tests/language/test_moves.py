"""Bounds that a class names in ``moves``: read off its inequalities, and verified at every bound that is used."""

import math
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeform as tf
from treeform.errors import SpecError
from treeform.testing import all_models

TABLE = pd.DataFrame({"amount": [3, 1, 4, 1, 5, 9, 2, 6], "age": [20, 31, 20, 45, 31, 45, 60, 60]})
LABELS = ["no", "yes", "yes", "no", "yes", "no", "yes", "yes"]
PROBLEM = tf.Problem(TABLE, LABELS, shape=tf.Tree(1))
MODELS = list(all_models(PROBLEM.data, tf.Tree(1), limit=10**4))
SHAPES = {
    "linear": lambda bound, k: bound + k,
    "faster beyond": lambda bound, k: bound + max(0, bound - k),
    "cubic": lambda bound, k: bound + k * bound * (bound - 1) * (bound - 2),
    "capped": lambda bound, k: min(bound, k),
    "whole": lambda bound, k: Fraction(math.floor(bound)),
    "rounded up": lambda bound, k: Fraction(math.ceil(bound)),
    "rounded": lambda bound, k: Fraction(round(bound)),
    "tenths": lambda bound, k: round(Fraction(bound), 1),
}
"""All but "capped" and those that round increase, and all but the first agree with a line at some bounds only."""


class Lent(tf.LinearRequirement, tf.Bounded, listed=False):
    """What is lent, as a share of ``over``, is bounded by a function of a budget."""

    moves = "budget"

    def __init__(self, budget=None, shape="linear", k=0, over=1):
        self.budget, self.shape, self.k, self.over = budget, shape, k, over

    def forms(self, rows):
        yield rows.amount("amount", predicted="yes") / self.over <= SHAPES[self.shape](self.budget, self.k)


def trade_off(least):
    """The Pareto front of all models: the least bound that each satisfies, and its errors."""
    points = set()
    for graph in MODELS:
        predicted = graph.predict_codes(PROBLEM.data.X)
        lent = int(TABLE.amount[predicted == 1].sum())
        points.add((least(lent), int((predicted != PROBLEM.data.y).sum())))
    return {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}


@settings(max_examples=40, deadline=None)
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    k=st.integers(1, 12),
    over=st.sampled_from([1, 2, 3]),
    budget=st.one_of(st.none(), st.integers(0, 30), st.fractions(0, 30, max_denominator=4)),
)
def test_a_frontier_is_that_of_all_models_or_refused(shape, k, over, budget):
    """Whatever function of the bound an author writes: no point is wrong, and lines are always moved."""
    axis = Lent(budget, shape, k, over)
    try:
        points = PROBLEM.frontier(over=axis).points
    except SpecError:
        if shape == "linear":
            raise
        return
    for point in points:
        held = axis.with_bound(point.value)
        assert held.violation(point.result.graph, PROBLEM.data) == 0
    if shape == "linear":
        assert {(p.value, p.result.errors) for p in points} == trade_off(lambda lent: Fraction(lent, over) - k)
    elif shape == "whole":  # the least bound of a model is a whole number
        assert {(p.value, p.result.errors) for p in points} <= trade_off(lambda lent: math.ceil(Fraction(lent, over)))


@pytest.mark.parametrize("shape", ["faster beyond", "cubic"])
def test_a_line_at_three_bounds_is_not_enough(shape):
    """Both functions are the bound itself at 0, 1 and 2."""
    with pytest.raises(SpecError, match="cannot be moved") as error:
        PROBLEM.frontier(over=Lent(1, shape, 2))
    assert "the inequalities are not linear in budget, as " in str(error.value)


@pytest.mark.parametrize("budget", [None, "1/4", "3/2", 5])
def test_a_bound_that_is_rounded_down_moves_over_whole_numbers(budget):
    """Wherever it begins: 1/4 asks for the same as 0, and no point may say that 0 is not enough."""
    found = PROBLEM.frontier(over=Lent(None if budget is None else Fraction(budget), "whole"))
    assert {(p.value, p.result.errors) for p in found.points} == trade_off(Fraction)


@pytest.mark.parametrize("budget", [None, "1/4", 5])
@pytest.mark.parametrize("shape", ["rounded up", "rounded", "tenths"])
def test_a_bound_that_is_rounded_to_the_looser_side_is_refused(shape, budget):
    """They are linear at whole numbers. Between two of them they admit what the stricter point excludes."""
    with pytest.raises(SpecError, match="a looser bound"):
        PROBLEM.frontier(over=Lent(None if budget is None else Fraction(budget), shape))


@pytest.mark.parametrize(("rounded", "refused"), [(math.ceil, False), (math.floor, True), (round, True)])
def test_a_lower_bound_may_be_rounded_up_only(rounded, refused):
    class AtLeast(tf.LinearRequirement, tf.Bounded, listed=False):
        moves, is_upper = "budget", False

        def __init__(self, budget):
            self.budget = budget

        def forms(self, rows):
            yield rows.amount("amount", predicted="yes") >= Fraction(rounded(self.budget))

    if refused:
        with pytest.raises(SpecError, match="a looser bound"):
            PROBLEM.frontier(over=AtLeast(1))
        return
    for point in PROBLEM.frontier(over=AtLeast(1)).points:
        lent = int(TABLE.amount[point.result.graph.predict_codes(PROBLEM.data.X) == 1].sum())
        assert point.value == lent


def test_a_lower_bound_may_stand_beside_an_inequality_that_always_holds():
    class AtLeast(tf.LinearRequirement, tf.Bounded, listed=False):
        moves, is_upper = "budget", False

        def __init__(self, budget):
            self.budget = budget

        def forms(self, rows):
            yield rows.amount("amount", predicted="yes") >= self.budget
            yield rows.amount("amount", predicted="yes") >= 0

    points = PROBLEM.frontier(over=AtLeast(1)).points
    assert points and [p.value for p in points] == sorted(p.value for p in points)


def test_an_open_bound_of_an_own_class_is_moved_and_else_refused():
    found = PROBLEM.frontier(over=Lent())
    assert {(p.value, p.result.errors) for p in found.points} == trade_off(Fraction)
    with pytest.raises(SpecError, match="has no bound"):
        (PROBLEM + Lent()).solve()
    near = tf.Problem(TABLE, LABELS, shape=tf.Tree(1)).frontier(over=Lent().each("age"))
    assert near.points and all(p.value is not None for p in near.points)


def test_a_bound_that_counts_can_be_open_without_forms():
    class Tests(tf.Bounded, listed=False):
        needs, moves = frozenset({"active"}), "k"

        def __init__(self, k=None):
            self.k = k

        def build(self, model, ports):
            model.add(ports.active.sum() <= self.k)

        def violation(self, graph, data):
            return max(0, graph.n_nodes - self.k)

        def measured(self, graph, data):
            return graph.n_nodes

    found = tf.Problem(TABLE, LABELS, shape=tf.Tree(1)).frontier(over=Tests(), solver="highs")
    assert [p.value for p in found.points] == [1, 0] or [p.value for p in found.points] == [0, 1]
