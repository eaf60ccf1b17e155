"""Mean parity at depth one, against closed forms and enumeration that know nothing of rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from drawing import Draw

import treeform as tf
from treeform.errors import SpecError

Rows = list[int]


class Drawn:
    """A few rows in two groups or three, with ties, decimals, weights, and a bound."""

    def __init__(self, seed: int, groups: str = "AB", parts: tuple[int, ...] = (1, 2, 4)) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(len(groups) + 2, 9))
        self.x = rng.integers(0, int(rng.integers(2, 4)), n).tolist()
        self.g = [*groups, *rng.choice([*groups], n - len(groups)).tolist()]
        self.y = (rng.integers(0, 5, n) / int(rng.choice(parts))).tolist()
        self.y[0] = self.y[1] + 1
        self.weights = [None, rng.integers(1, 5, n).tolist(), (rng.integers(1, 9, n) / 4).tolist()][
            int(rng.integers(3))
        ]
        self.difference = Fraction(str(rng.choice(["0", "0.1", "0.25", "1/3", "0.7"])))
        self.table = pd.DataFrame({"x": self.x, "g": self.g})
        self.w = [Fraction(str(w)) for w in self.weights or [1] * n]
        self.target = [Fraction(str(v)) for v in self.y]

    def problem(self, loss: tf.Objective | str, whole: bool) -> tf.Problem:
        problem = tf.Problem(
            self.table, self.y, shape=tf.Tree(1), exclude=["g"], sample_weight=self.weights
        ).minimize(loss)
        return problem.add(tf.MeanParity("g", self.difference, whole=whole))

    def weight(self, rows: Rows) -> Fraction:
        return sum((self.w[i] for i in rows), Fraction(0))

    def mean(self, rows: Rows) -> Fraction:
        return sum((self.w[i] * self.target[i] for i in rows), Fraction(0)) / self.weight(rows)

    def squares(self, rows: Rows, value: Fraction) -> Fraction:
        return sum((self.w[i] * (self.target[i] - value) ** 2 for i in rows), Fraction(0))

    def splits(self) -> list[list[Rows]]:
        every = list(range(len(self.x)))
        cuts = sorted(set(self.x))[:-1]
        return [
            [every],
            *([[i for i in every if self.x[i] <= c], [i for i in every if self.x[i] > c]] for c in cuts),
        ]

    def gap(self, leaves: list[Rows], values: tuple[Fraction, ...]) -> Fraction:
        """The largest difference of the mean predictions of two groups."""
        means = []
        for group in set(self.g):
            own = [[i for i in leaf if self.g[i] == group] for leaf in leaves]
            paid = sum((v * self.weight(rows) for v, rows in zip(values, own, strict=True)), Fraction(0))
            means.append(paid / sum(map(self.weight, own)))
        return max(means) - min(means)

    def least_squares(self) -> Fraction:
        """Two groups: the means of these differ by |c| |v_left - v_right|, c the difference of their shares left."""
        best = []
        for leaves in self.splits():
            cost = sum((self.squares(leaf, self.mean(leaf)) for leaf in leaves), Fraction(0))
            if len(leaves) == 2:
                apart = abs(self.mean(leaves[0]) - self.mean(leaves[1]))
                c = self.gap(leaves, (Fraction(1), Fraction(0)))
                if c * apart > self.difference:
                    left, right = map(self.weight, leaves)
                    cost += (apart - self.difference / c) ** 2 * left * right / (left + right)
            best.append(cost)
        return min(best)

    def least_whole_squares(self) -> Fraction:
        """All whole values, for any number of groups."""
        unit = tf.Problem(self.table, self.y, shape=tf.Tree(1)).minimize("squared_error").data.quantity.unit
        steps = (max(self.target) - min(self.target)) / unit
        values = [min(self.target) + k * unit for k in range(int(steps) + 1)]
        return min(
            sum((self.squares(rows, v) for rows, v in zip(leaves, chosen, strict=True)), Fraction(0))
            for leaves in self.splits()
            for chosen in product(values, repeat=len(leaves))
            if self.gap(leaves, chosen) <= self.difference
        )


def test_means_are_any_fractions_under_squared_errors() -> None:
    """The right-hand side of a row is no multiple of what its coefficients are multiples of."""
    table = pd.DataFrame({"x": [2, 2, 0, 1, 2], "g": list("AABBB")})
    problem = tf.Problem(table, [3, 0, 0, 3, 2], shape=tf.Tree(1), exclude=["g"]).minimize("squared_error")
    problem += tf.MeanParity("g", "0.1")
    result = problem.solve()
    assert result.status is tf.Status.OPTIMAL and result.objective == Fraction(1039, 125)
    assert result.graph.values == (Fraction(34, 25), Fraction(83, 50))
    assert tf.check(result.certificate(), table, [3, 0, 0, 3, 2], independent=True).ok


def test_the_optimum_of_squares_is_that_of_the_closed_form(draw: Draw) -> None:
    for seed in draw(range(372), 30):
        case = Drawn(seed)
        result = case.problem("squared_error", whole=False).solve()
        assert result.status is tf.Status.OPTIMAL and result.objective == case.least_squares(), seed


@pytest.mark.parametrize("groups", ["AB", "ABC"])
def test_the_optimum_of_whole_values_is_that_of_all_of_them(groups: str, draw: Draw) -> None:
    for seed in draw(range(120), 15):
        case = Drawn(seed, groups, parts=(1, 2))
        result = case.problem("squared_error", whole=True).solve()
        assert result.status is tf.Status.OPTIMAL and result.objective == case.least_whole_squares(), seed


def test_a_difference_beyond_all_targets_bounds_nothing() -> None:
    case = Drawn(1)
    free = case.problem("squared_error", whole=False)
    wide = tf.Problem(case.table, case.y, shape=tf.Tree(1), exclude=["g"], sample_weight=case.weights)
    wide.minimize("squared_error").add(tf.MeanParity("g", 10**30))
    least = tf.Problem(case.table, case.y, shape=tf.Tree(1), exclude=["g"], sample_weight=case.weights)
    assert wide.solve().objective == least.minimize("squared_error").solve().objective
    assert free.solve().objective >= wide.solve().objective
    stated = wide.minimize("absolute_error").solve("cp-sat", warm_start=None)
    assert stated.objective == least.minimize("absolute_error").solve().objective


def test_values_far_from_the_mean_on_one_side_are_counted() -> None:
    """Whole sums stay exact for the deviation that is largest, above the mean or below it."""
    for sign in (1, -1):
        y = [0.0] * 38 + [sign, sign * 1e15]
        problem = tf.Problem([[0], [1]] * 20, y, shape=tf.Tree(1)).minimize("absolute_error")
        with pytest.raises(SpecError, match="cannot be stated exactly"):
            problem.add(tf.MeanParity(["p", "q"] * 20, "0.1")).solve()
