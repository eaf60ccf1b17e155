"""Trees that lack tests of required columns have them where they cost the fewest errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treeform as tf
from treeform.language.missing_tests import with_missing_tests
from treeform.utils.budget import Budget


def problem(seed: int, depth: int, rows: int = 60) -> tf.Problem:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (rows, 4)).astype(float)
    y = ((X[:, 0] > 1) ^ (X[:, 1] > 2) ^ (rng.random(rows) < 0.2)).astype(int)
    made = tf.Problem(X, y, shape=tf.Tree(depth))
    made += tf.Uses(["x3"])
    return made


@pytest.mark.parametrize("seed", range(5))
def test_a_leaf_gives_way_to_the_best_test_of_a_missing_column(seed: int) -> None:
    question = problem(seed, 3).question
    data = question.data
    nested = (0, 1.5, (1, 2.5, 0, 1), (1, 2.5, 1, 0))
    tree = with_missing_tests(question, tf.DecisionGraph.from_nested(nested, data), Budget())
    assert not question.requirements[0].violation(tree, data) and tree.n_nodes == 4

    def errors(low: object, high: object) -> int:
        graph = tf.DecisionGraph.from_nested((0, 1.5, low, high), data)
        return int((graph.predict_codes(data.X) != data.y).sum())

    tests = [(3, cut, a, b) for cut in (0.5, 1.5, 2.5) for a, b in itertools.product((0, 1), repeat=2)]
    best = min(
        min(
            errors((1, 2.5, t, 1), (1, 2.5, 1, 0)), errors((1, 2.5, 0, t), (1, 2.5, 1, 0)),
            errors((1, 2.5, 0, 1), (1, 2.5, t, 0)), errors((1, 2.5, 0, 1), (1, 2.5, 1, t)),
        )
        for t in tests
    )  # fmt: skip
    assert int((tree.predict_codes(data.X) != data.y).sum()) == best


def test_without_room_a_test_above_two_leaves_gives_way() -> None:
    question = problem(0, 2).question
    full = tf.DecisionGraph.from_nested((0, 1.5, (1, 2.5, 0, 1), (1, 2.5, 1, 0)), question.data)
    tree = with_missing_tests(question, full, Budget())
    assert tree.n_nodes == 3 and tree.depth == 2 and not question.requirements[0].violation(tree, question.data)


def test_a_tree_that_lacks_nothing_stays() -> None:
    question = problem(0, 3).question
    tree = tf.DecisionGraph.from_nested((3, 1.5, 0, 1), question.data)
    assert with_missing_tests(question, tree, Budget()) is tree
    other = tf.DecisionGraph.from_nested((0, 1.5, 0, 1), question.data)
    assert with_missing_tests(question.with_(requirements=()), other, Budget()) is other


