"""Hyperplanes over a few points: counted by Cover's formula, and exact about the margin."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.shape import MARGIN
from treeform.solve import misfit, verify
from treeform.testing import all_models, brute_force
from treeform.testing.dichotomies import Dichotomies


def data_of(X: np.ndarray) -> Dataset:
    return Dataset.from_user(X, [0, 1] * (len(X) // 2) + [0] * (len(X) % 2))


@pytest.mark.parametrize(("n", "d"), [(5, 2), (7, 2), (6, 3), (6, 1)])
def test_points_in_general_position(n: int, d: int) -> None:
    """Cover (1965): hyperplanes part n points in d dimensions in sum over k <= d of comb(n - 1, k) unordered ways."""
    data = data_of(np.random.default_rng(n + d).random((n, d)).round(3))
    cuts = Dichotomies(data).cuts(2**n - 1)
    assert len(cuts) == sum(comb(n - 1, k) for k in range(d + 1)) - 1  # less the one with an empty side
    assert len({frozenset((cut.left, cut.right)) for cut in cuts}) == len(cuts)


def test_a_square_cannot_be_parted_crosswise() -> None:
    data = data_of(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]))
    sides = {frozenset((cut.left, cut.right)) for cut in Dichotomies(data).cuts(15)}
    assert len(sides) == 6
    assert frozenset((0b1001, 0b0110)) not in sides


def test_signs_of_weights() -> None:
    data = data_of(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]))
    for cut in Dichotomies(data, by_sign=True).cuts(15):
        if {cut.left, cut.right} == {0b0001, 0b1110}:
            assert len({w > 0 for w in cut.form.weights}) == 1
            assert len(cut.form.weights) == 2


@pytest.mark.parametrize(("gap", "parted"), [(1.02, True), (0.9, False)])
def test_the_margin_decides(gap: float, parted: bool) -> None:
    step = gap * float(MARGIN)
    data = data_of(np.array([[5.0], [5.5], [5.5 + step], [6.0]]))
    assert (len(Dichotomies(data).cuts(0b0110)) == 1) == parted
    for graph in all_models(data, tf.Tree(1, "multivariate")):
        assert misfit(graph, tf.Tree(1, "multivariate"), data) is None


def test_what_nobody_can_decide_is_refused() -> None:
    data = data_of(np.array([[0.0], [0.5], [0.5 + 0.98 * float(MARGIN)], [1.0]]))
    with pytest.raises(SpecError, match="margin"):
        Dichotomies(data).cuts(0b0110)


@pytest.mark.parametrize(
    ("shape", "seed"),
    [(tf.Tree(1, "multivariate"), 3), (tf.Diagram(1, 1, splits="multivariate"), 4)],
    ids=str,
)
def test_brute_force_and_odd_agree_on_hyperplanes(shape: tf.Tree | tf.Diagram, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = Dataset.from_user(rng.integers(0, 4, (6, 2)).astype(float), rng.permutation([0, 0, 0, 1, 1, 1]))
    for objective, requirement in (("error", []), ("error + 3/10*nodes", []), ("error", [tf.MinSupport(2)])):
        problem = tf.Problem(data, None, shape=shape)
        problem.minimize(objective)
        problem += requirement
        expected = brute_force(data, shape, objective, requirement)
        assert expected is not None
        assert verify(problem.question, expected[1]).ok
        result = problem.solve("highs", formulation="odd")
        assert (str(result.status), result.objective) == ("optimal", expected[0])
