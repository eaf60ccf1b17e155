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


@pytest.mark.parametrize("depth", [4, 6])
def test_no_worse_than_cart(depth: int) -> None:
    """The search is stopped as soon as its tree is as good: the limit on time is there for a search that never is."""
    x, y = table(600, 5, 1)
    cart = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(x, y)
    most = float(((cart.predict(x) - y) ** 2).sum())
    problem = tf.Problem(x, y, shape=tf.Tree(depth=depth)).minimize(tf.SquaredError())
    best = [np.inf]

    def take(seconds: float, upper: int, lower: int, graph: tf.DecisionGraph | None) -> None:
        if graph is not None:
            assert graph.depth <= depth
            best.append(float(((graph.predict(x) - y) ** 2).sum()))

    run = EngineRun(Budget().until(lambda: min(best) <= most), on_incumbent=take)
    part = relax(problem.question, RegressionSearch())
    assert part is not None
    RegressionSearch().run(problem.data, part.task, run)
    assert min(best) <= most


def test_bad_settings() -> None:
    with pytest.raises(SpecError):
        RegressionSearch(seed=-1)
    with pytest.raises(SpecError):
        RegressionSearch(improve=1)  # type: ignore[arg-type]
