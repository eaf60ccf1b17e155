"""The improvement search beside RegressionSearch's proof: the same optimum, and trees that are no worse than CART's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawing import Draw
from sklearn.tree import DecisionTreeRegressor

import treeform as tf
from treeform.engines import EngineRun, RegressionSearch
from treeform.engines.relaxation import relax
from treeform.errors import SpecError
from treeform.utils.budget import Budget

LOSSES = [tf.SquaredError(), tf.AbsoluteError()]


def table(n: int, features: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, (n, features)).astype(float)
    y = np.round(x[:, 0] * (x[:, 1] > 20) - 3 * (x[:, 2] > x[:, 0]) * x[:, 1] + rng.normal(0, 4, n))
    return x, y


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("support", [0, 4])
def test_the_proof_is_the_same_with_and_without(loss: Any, support: int, draw: Draw) -> None:
    for seed in draw(range(3), 3):
        x, y = table(24, 3, seed)
        values = set()
        for engine in (
            RegressionSearch(),
            RegressionSearch(improve=False),
            RegressionSearch(seed=7, threads=2),
        ):
            problem = tf.Problem(x, y, shape=tf.Tree(depth=4)).minimize(loss)
            if support:
                problem += tf.MinSupport(support)
            result = problem.solve(engine)
            assert result.status is tf.Status.OPTIMAL
            values.add(result.objective)
        assert len(values) == 1


def errors(loss: Any, y: Any, predicted: Any) -> float:
    off = predicted - y
    return float((off**2 if loss.is_squared else np.abs(off)).sum())


def cart_errors(loss: Any, depth: int, x: Any, y: Any) -> float:
    """Of CART's tree, which goes by squared errors, with the best values at its leaves."""
    leaf = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(x, y).apply(x)
    predicted = np.empty(len(y))
    for node in np.unique(leaf):
        rows = leaf == node
        predicted[rows] = y[rows].mean() if loss.is_squared else np.median(y[rows])
    return errors(loss, y, predicted)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(("rows", "depth"), [(600, 4), (600, 6), (70_000, 5)])  # parts of many rows are lists
def test_no_worse_than_cart(rows: int, depth: int, loss: Any) -> None:
    """The search is stopped as soon as its tree is as good: the limit on time is there for a search that never is."""
    x, y = table(rows, 5, 1)
    most = cart_errors(loss, depth, x, y)
    problem = tf.Problem(x, y, shape=tf.Tree(depth=depth)).minimize(loss)
    best = [np.inf]

    def take(seconds: float, upper: int, lower: int, graph: tf.DecisionGraph | None) -> None:
        if graph is not None:
            assert graph.depth <= depth
            best.append(errors(loss, y, graph.predict(x)))
            assert best[-1] <= best[-2]

    run = EngineRun(Budget().until(lambda: min(best) <= most), on_incumbent=take)
    part = relax(problem.question, RegressionSearch())
    assert part is not None
    RegressionSearch().run(problem.data, part.task, run)
    assert min(best) <= most


@pytest.mark.parametrize("support", [0, 3_000])
def test_the_proof_is_the_same_on_many_rows(support: int) -> None:
    """Beside tables of pairs, which have no such search; few thresholds make a proof short."""
    x, y = table(70_000, 3, 2)
    x = x // 14
    found = []
    for engine in (RegressionSearch(pairs="never"), RegressionSearch(pairs="always")):
        problem = tf.Problem(x, y, shape=tf.Tree(depth=4)).minimize(tf.SquaredError())
        if support:
            problem += tf.MinSupport(support)
        result = problem.solve(engine)
        assert result.status is tf.Status.OPTIMAL
        assert np.bincount(result.graph.apply(x))[result.graph.feature < 0].min() >= support
        found.append(result.objective)
    assert found[0] == found[1]


def test_leaves_of_a_sample_need_their_part_of_the_minimum_support() -> None:
    """A leaf needs more rows than a sample has: it had no tree at all, and the search of many rows crashed on that."""
    x, y = table(60_000, 4, 1)
    problem = tf.Problem(x, y, shape=tf.Tree(depth=3)).minimize(tf.AbsoluteError())
    problem += tf.MinSupport(25_000)
    part = relax(problem.question, RegressionSearch())
    assert part is not None
    seen: list[Any] = []
    has_a_test = Budget().until(lambda: any(graph.n_nodes for graph in seen))
    run = EngineRun(has_a_test, on_incumbent=lambda *news: seen.append(news[-1]))
    RegressionSearch().run(problem.data, part.task, run)
    assert any(graph.n_nodes for graph in seen)
    for graph in seen:
        assert np.bincount(graph.apply(x))[graph.feature < 0].min() >= 25_000


def test_trees_of_a_sample_do_not_stand_for_trees_of_all_rows() -> None:
    """A sample may divide two rows that all rows may not. Where a tree of all rows had the same two at a node, the
    sample's tree was taken for it; nothing is as cheap, and the best tree was not reported."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (40_100, 24)).astype(float)
    bits[:, 2] = bits[:, 3]
    bits[100:104, 2] = 1 - bits[100:104, 3]  # a sample may not tell these two columns from each other
    y = 100 * (bits[:, 0] != bits[:, 1]) + 10 * bits[:, 3]
    bits[-4:], y[-4:] = 0, (100_000, 100_100, 200_000, 200_100)
    place, weights = np.zeros(len(y)), np.ones(len(y), dtype=np.int64)
    place[-4:], weights[-4:] = (1, 2, 3, 4), (18, 6, 18, 6)
    x = np.column_stack([place, bits])
    problem = tf.Problem(x, y, sample_weight=weights, shape=tf.Tree(depth=4)).minimize(tf.SquaredError())
    problem += tf.MinSupport(8)
    engine = RegressionSearch(pairs="never", seed=53)
    part = relax(problem.question, engine)
    assert part is not None
    seen: list[float] = []

    def note(*news: Any) -> None:
        if news[-1] is not None:
            seen.append(float(weights @ (news[-1].predict(x) - y) ** 2))

    run = EngineRun(Budget().until(lambda: bool(seen) and seen[-1] < 1e8), on_incumbent=note)
    engine.run(problem.data, part.task, run)
    assert seen[-1] == pytest.approx(90_000)  # of the two pairs; the next trees without them cost 590,000 and more


def test_bad_settings() -> None:
    with pytest.raises(SpecError):
        RegressionSearch(seed=-1)
    with pytest.raises(SpecError):
        RegressionSearch(improve=1)  # type: ignore[arg-type]
