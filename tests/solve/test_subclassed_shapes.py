"""Shapes that somebody derived from a tree or a diagram have the stages and the checks of these."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.shape import Shape
from treeform.solve.verification import misfit


class OurTree(tf.Tree):
    """With a name of its own."""


class OurDiagram(tf.Diagram):
    """With a name of its own."""


@pytest.mark.parametrize(("own", "plain"), [(OurTree(2), tf.Tree(2)), (OurDiagram(1, 2), tf.Diagram(1, 2))])
def test_they_are_solved_as_what_they_derive_from(own: Shape, plain: Shape) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (12, 2)), rng.integers(0, 2, 12)
    result, expected = (tf.Problem(X, y, shape=shape).solve() for shape in (own, plain))
    assert result.status is expected.status is tf.Status.OPTIMAL
    assert result.errors == expected.errors


def test_models_that_do_not_fit_are_told() -> None:
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    data = tf.Problem(X, y, shape=tf.Tree(2)).question.data
    graph = tf.DecisionGraph.from_nested((0, 0.5, (1, 0.5, 0, 1), (1, 0.5, 1, 0)), data)
    assert misfit(graph, OurTree(2), data) is None
    assert misfit(graph, OurTree(1), data) == misfit(graph, tf.Tree(1), data) is not None
    assert misfit(graph, OurDiagram(1, 1), data) == misfit(graph, tf.Diagram(1, 1), data) is not None
