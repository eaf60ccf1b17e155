"""The AND/OR graph over many thresholds, neighbouring ones left out unseen, against a count without bounds."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.certify.left_out import count_alternatives
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.solve.columns_on_demand import priced_part


def stated(seed: int) -> tf.Problem:
    rng = np.random.default_rng(seed)
    X = rng.random((70, 5))
    X[:, 4] = np.floor(X[:, 4] * 20)
    noise = rng.random(70) < 0.1
    y = ((X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0.4) * (seed % 2 + 1) ^ noise) % (2 + seed % 2)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=rng.integers(1, 5, 70))
    problem.minimize(tf.Error() + seed % 3 * tf.Nodes())
    if seed % 4 >= 2:
        problem += tf.StatisticalParity(groups=rng.integers(0, 2, 70), difference="0.02", favourable=1)
    return problem


@pytest.mark.drawn(4)
@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_left_out_that_a_cheap_tree_uses(seed: int) -> None:
    problem = stated(seed)
    relaxation = priced_part(problem.question)
    assert relaxation is not None and problem.data.n_tests > 256
    trees = GraphOfTrees(problem.data, relaxation.task)
    priced = trees.relax()
    assert priced is not None
    for step in (0, 3):
        graph = trees.up_to(priced.lower + step)
        assert graph is not None
        counted = count_alternatives(
            problem.data,
            relaxation.task,
            priced.lower + step,
            priced.multipliers,
            priced.unit,
            True,
            lambda: False,
        )
        assert (graph.n_nodes, graph.n_alternatives) == counted
    if not problem.requirements:
        result = problem.solve("contree")
        assert result.objective == priced.lower
