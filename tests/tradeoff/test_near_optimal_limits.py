"""What a list of near-optimal models says where there are too many of them."""

from __future__ import annotations

import pickle
import signal
from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.engines import TreeTask, enumeration
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.errors import SpecError
from treeform.tradeoff import listing
from treeform.tradeoff.near_trees import NearModel, NearTrees
from treeform.utils.out_of_reach import Stopped


def stated() -> tf.Problem:
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.6) ^ (rng.random(300) < 0.2)).astype(int)
    return tf.Problem(X, y, shape=tf.Tree(2))


def test_a_graph_that_does_not_fit_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stated().near_optimal(within="0.1")
    monkeypatch.setattr(enumeration, "MOST_ALTERNATIVES", 40)
    asked: list[int | None] = []
    up_to = enumeration.GraphOfTrees.up_to

    def counting(self: enumeration.GraphOfTrees, cost: int | None, *rest: object) -> object:
        asked.append(cost)
        return up_to(self, cost, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(enumeration.GraphOfTrees, "up_to", counting)
    found = stated().near_optimal(within="0.1")
    assert len(asked) == len(set(asked))
    assert found.counted and found.count == whole.count > len(found.models) > 0
    assert found.best.objective == whole.best.objective
    assert found.trees is None and "of those listed" in str(found)
    with pytest.raises(SpecError, match="alternatives, or fills the memory"):
        found.importance()
    monkeypatch.setattr(enumeration.GraphOfTrees, "count", lambda *_: None)
    found = stated().near_optimal(within="0.1")
    assert not found.counted and found.count <= whole.count
    assert "alternatives, or fills the memory" in str(found)


def test_more_columns_than_are_stated_for_a_solver_by_default_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All trees of three leaves and less, beside a count by hand; four leaves cost more than the threshold."""
    monkeypatch.setattr("treeform.solve.columns_on_demand.FEW_TESTS_BELOW", 100)
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (12, 300)).astype(bool)
    y = X[:, 7].copy()
    y[0] = not y[0]
    problem = tf.Problem(X.astype(int), y.astype(int), shape="tree:3").minimize(tf.Error() + 2 * tf.Leaves())
    found = problem.near_optimal(within="1/5", max_models=10**6)
    assert (found.best.objective, found.threshold) == (5, 6) and found.complete
    wrong = (y[:, None] != X).sum(axis=0)
    no_test = int(y.sum() <= 4) + int((~y).sum() <= 4)
    one_test = int((wrong <= 2).sum() + (wrong >= 10).sum())
    two_tests = 0
    for side in [*X.T, *~X.T]:  # the leaf is on the other side, and no row is misclassified
        leaf = y[~side]
        if len(leaf) > 0 and leaf.min() == leaf.max() and y[side].min() < y[side].max():
            wrong = (X[side] != y[side, None]).sum(axis=0)
            two_tests += int((wrong == 0).sum() + (wrong == side.sum()).sum())
    assert found.count == no_test + one_test + two_tests > 50


def test_parts_are_counted_where_the_whole_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph of all models is not finished in time: what is counted is all up to a smaller objective."""
    rng = np.random.default_rng(2)
    X = rng.random((30, 3))
    y = ((X[:, 0] > 0.5) ^ (rng.random(30) < 0.2)).astype(int)
    problem = tf.Problem(X, y, shape="tree:2")
    whole = problem.near_optimal(within="1/2", max_models=10**6)
    assert whole.complete and len({model.objective for model in whole.models}) > 2
    widest = GraphOfTrees.up_to

    def too_long(self, cost, most, seconds=None, stop=lambda: False):
        return None if cost > whole.best.objective + 1 else widest(self, cost, most, seconds, stop)

    monkeypatch.setattr(GraphOfTrees, "up_to", too_long)
    monkeypatch.setattr(GraphOfTrees, "count", lambda *_: None)
    found = problem.near_optimal(within="1/2", max_models=10**6, time_limit=1000.0)
    assert not found.counted and found.proved and found.counted_to is not None
    assert whole.best.objective < found.counted_to < found.threshold == whole.threshold
    assert found.models == tuple(m for m in whole.models if m.objective <= found.counted_to)
    assert "those beyond are not counted" in str(found)


class Anything(tf.Requirement):
    """Satisfied by all models, which have to be judged to know that."""

    def build(self, model: tf.Model, ports: Any) -> None:
        pass

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return 0


def test_what_was_counted_has_no_reason_why_it_was_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is full with the last part only, after the graph of all models was not finished in time."""
    rng = np.random.default_rng(2)
    X = rng.random((30, 3))
    y = ((X[:, 0] > 0.5) ^ (rng.random(30) < 0.2)).astype(int)
    problem = tf.Problem(X, y, shape="tree:2")
    size = problem.near_optimal(within="1/2").count
    judged = tf.Problem(X, y, shape="tree:2")
    judged += Anything()
    found = judged.near_optimal(within="1/2", max_models=size)
    assert found.counted and found.count == size and found.uncounted is None

    monkeypatch.setattr(enumeration.Enumeration, "prepare", lambda *_: enumeration.TOO_LONG)
    monkeypatch.setattr(GraphOfTrees, "count", lambda *_: size)
    found = problem.near_optimal(within="1/2", max_models=size)
    assert found.counted and found.trees is not None and found.uncounted is None
    few = problem.near_optimal(within="1/2", max_models=1)
    assert few.counted and few.trees is None and few.uncounted == enumeration.TOO_LONG


def test_ctrl_c_while_models_are_listed_keeps_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stated().near_optimal(within="0.1", max_models=10**6)
    assert whole.complete and whole.count > 128
    listed = NearTrees.model

    def interrupted(self: NearTrees, index: int) -> NearModel:
        if index == 65:
            signal.raise_signal(signal.SIGINT)
        return listed(self, index)

    monkeypatch.setattr(NearTrees, "model", interrupted)
    found = stated().near_optimal(within="0.1", max_models=10**6)
    assert found.limit is tf.Limit.INTERRUPTED and not found.complete
    assert (found.count, found.counted_to) == (whole.count, whole.counted_to)
    assert found.models == whole.models[:128]


def test_what_is_asked_of_counted_trees_has_no_part_in_the_time_of_the_search() -> None:
    over: list[bool] = []
    trees = enumeration.Enumeration(stated().data, TreeTask(2), 10**6, stop=lambda: bool(over))
    counts = trees.counts(60)
    assert counts is not None
    over.append(True)
    with pytest.raises(Stopped):
        trees.counts(60)
    values = np.zeros(counts.graph.n_alternatives)
    values[counts.graph.tests] = 1.0
    least, largest = counts.extremes(values)
    assert 0 < least <= largest <= 3
    assert len({counts.cost(index) for index in (0, counts.size - 1)}) == 2


@pytest.mark.parametrize("most", [10**6, 20])
def test_models_that_are_listed_or_counted_can_be_pickled(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(listing, "MOST_TREES", most)
    found = stated().near_optimal(within="0.1", time_limit=250)
    assert found.trees is not None
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.sample(3, 1) == found.sample(3, 1)
    assert again.importance().equals(found.importance())
