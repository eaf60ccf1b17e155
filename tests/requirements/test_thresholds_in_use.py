"""MaxThresholds states what the tests of a formulation can tell apart, and no more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.formulations.hypergraph import HypergraphFlow
from treeform.solve import Status
from treeform.solve.columns_on_demand import priced_part
from treeform.testing import brute_force


def table(seed: int, rows: int = 30, values: int = 6) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, values, (rows, 2)), columns=["a", "b"])
    y = ((frame.a > 2) ^ (frame.b > rng.integers(1, 4)) ^ (rng.random(rows) < 0.2)).astype(int)
    return frame, y.to_numpy()


@pytest.mark.parametrize("at_most", [0, 1, 2])
@pytest.mark.parametrize("formulation", ["hypergraph-flow", "odd", "flow-oct"])
def test_optima_are_those_of_brute_force(formulation: str, at_most: int) -> None:
    for seed in range(3):
        frame, y = table(seed)
        problem = tf.Problem(frame, y, shape=tf.Tree(2)) + tf.MaxThresholds("a", at_most)
        question = problem.question
        best = brute_force(problem.data, question.shape, question.objective, question.requirements)
        assert best is not None
        found = problem.solve("cp-sat", formulation=formulation, warm_start=None)
        assert (found.status, found.objective) == (Status.OPTIMAL, best[0]), seed


def test_rows_grow_with_the_tests_that_are_stated_and_not_with_the_table() -> None:
    frame, y = table(0, rows=400, values=200)
    problem = tf.Problem(frame[["a"]], y, shape=tf.Tree(2)) + tf.MaxThresholds("a", 1)
    part = priced_part(problem.question)
    assert part is not None
    trees = GraphOfTrees(problem.data, part.task, "feature")
    priced = trees.relax()
    assert priced is not None
    graph = trees.up_to(priced.lower + 1)
    assert graph is not None
    question = problem.question
    stated = (
        HypergraphFlow()
        .over(graph)
        .compile(problem.data, problem.shape, question.objective, question.requirements)
    )
    tests = np.flatnonzero(graph.feature == 0)
    nodes = len(np.unique(graph.node[tests]))
    assert nodes > 1
    rows = [block.n_rows for block in stated.model.blocks if "who goes" in block.name]
    assert 0 < sum(rows) <= 2 * (len(tests) + nodes) < nodes * 400
