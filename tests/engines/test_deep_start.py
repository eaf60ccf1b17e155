"""The improvement search begins with the model that it is given, and is no worse than that and than simple trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeform as tf
from treeform.data import Dataset
from treeform.engines import ConTree, DeepTreeSearch, EngineRun, RegressionSearch, TreeTask
from treeform.utils.budget import Budget

BRIEF = DeepTreeSearch(work_limit=1)  # the first models alone


def table(seed: int, n: int, features: int, classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features)).round(1)
    score = x[:, 0] * x[:, 1] + np.sin(3 * x[:, -1]) + 0.5 * rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    y[:classes] = range(classes)
    return x, y


@st.composite
def questions(draw: st.DrawFn) -> tuple[Any, Any, int, Any, list[Any]]:
    """A table, a depth, an objective and requirements."""
    seed, classes = draw(st.integers(0, 10**6)), draw(st.integers(2, 3))
    x, y = table(seed, draw(st.integers(20, 90)), draw(st.integers(2, 4)), classes)
    objective: Any = tf.Error()
    if draw(st.booleans()):
        costs = np.random.default_rng(seed).integers(1, 5, (classes, classes))
        np.fill_diagonal(costs, 0)
        objective = tf.Cost(costs)
    if draw(st.booleans()):
        objective = objective + draw(st.sampled_from([0.5, 2])) * tf.Nodes()
    requirements: list[Any] = []
    if draw(st.booleans()):
        requirements.append(tf.MinSupport(draw(st.integers(2, 8))))
    if draw(st.booleans()):
        requirements.append(tf.MaxNodes(draw(st.integers(3, 9))))
    if draw(st.booleans()):
        requirements.append(tf.NoTestOn("x0"))
    return x, y, draw(st.integers(3, 5)), objective, requirements


@given(questions())
@settings(max_examples=15, deadline=None)
def test_no_worse_than_the_start_and_than_the_best_smaller_tree(asked: Any) -> None:
    x, y, depth, objective, requirements = asked
    problem, small = (tf.Problem(x, y, shape=tf.Tree(depth=size)) for size in (depth, 2))
    for one in (problem, small):
        one.minimize(objective)
        for requirement in requirements:
            one += requirement
    smaller = small.solve(tf.ConTree())
    cart = DecisionTreeClassifier(max_depth=depth, criterion="entropy", random_state=0).fit(x, y)
    for start in (smaller.graph, cart):
        if start is None:
            continue
        judged = problem.judge(start)
        found = problem.solve(BRIEF, warm_start=start)
        if judged.ok:
            assert found.objective <= judged.objective


@given(st.integers(0, 10**6), st.booleans(), st.integers(3, 5))
@settings(max_examples=8, deadline=None)
def test_regression_is_no_worse_than_the_start(seed: int, absolute: bool, depth: int) -> None:
    x, _ = table(seed, 60, 3, 2)
    y = (np.abs(x[:, 0]) + x[:, 1] * x[:, 2]).round(2)
    loss: Any = tf.AbsoluteError() if absolute else tf.SquaredError()
    problem = tf.Problem(x, y, shape=tf.Tree(depth=depth))
    problem.minimize(loss)
    start = DecisionTreeRegressor(
        max_depth=depth, criterion="absolute_error" if absolute else "squared_error", random_state=0
    ).fit(x, y)
    found = problem.solve(RegressionSearch(), warm_start=start, time_limit=0.05)
    assert found.objective <= problem.judge(start).objective


@pytest.mark.parametrize("features", [4, 300])
def test_it_begins_with_the_tests_of_the_start(features: int) -> None:
    """A tree of depth five that was planted: no first model finds it, and from it a few rows are put right."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(800, features))
    bits = (x[:, :4] > 0.1).astype(int)
    y = bits.sum(axis=1) % 2  # no single test tells anything
    y[rng.choice(800, 40, replace=False)] ^= 1
    data = Dataset.from_user(x, y)
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(x, y)
    planted = tf.Problem(bits.astype(float), y, shape=tf.Tree(depth=4)).solve().graph
    assert planted is not None
    threshold = np.where(planted.feature >= 0, 0.12, np.nan)  # a little beside the best ones
    start = tf.DecisionGraph.from_arrays(
        planted.feature, threshold, planted.left, planted.right, planted.label, data
    )
    given_errors = int((start.predict(x) != y).sum())
    task = TreeTask(depth=4)
    found = BRIEF.run(data, task, EngineRun(Budget(250.0), start=start))
    alone = BRIEF.run(data, task, EngineRun(Budget(250.0)))
    assert found.upper is not None and alone.upper is not None
    assert found.upper < given_errors < min(alone.upper, int((cart.predict(x) != y).sum()))


@pytest.mark.parametrize("rows", [1000, 1500])
def test_beside_a_proof_at_depth_four_the_search_for_better_trees_comes_early(rows: int) -> None:
    """On tables of more than 50,000 cells its models of some milliseconds are seen before those of the proof."""
    rng = np.random.default_rng(0)
    x = np.zeros((rows, 60))
    x[:, :3] = rng.normal(size=(rows, 3))
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + rng.normal(size=rows) / 2 > 0
    data = Dataset.from_user(x, y.astype(int))

    def costs(engine: Any) -> list[int]:
        seen: list[int] = []
        engine.run(data, TreeTask(depth=4), EngineRun(on_incumbent=lambda _, upper, *more: seen.append(upper)))
        return seen

    alone, beside = costs(DeepTreeSearch(work_limit=10**8)), costs(ConTree())
    assert len(alone) > 5
    assert beside[: len(alone)] == alone


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The work of the search for better trees in each run."""
    done: list[int] = []

    def noted(outcome: Any, native: dict[str, Any]) -> Any:
        done.append(native["work"])
        return outcome

    monkeypatch.setattr("treeform.engines.contree.with_stages", noted)
    return done


def test_proofs_of_milliseconds_at_depth_four_take_no_search_for_better_trees(work: list[int]) -> None:
    """The proof works alone at first, on small tables and without a tree to begin with; both find the same optimum."""
    data, task = Dataset.from_user(*table(3, 60, 2, 3)), TreeTask(depth=4)
    alone = ConTree().run(data, task, EngineRun())
    assert alone.proved and alone.graph is not None
    begun = ConTree().run(data, task, EngineRun(start=alone.graph))
    assert begun.proved and begun.upper == alone.upper
    assert work[0] == 0 < work[1]


def test_beside_a_short_proof_the_search_for_better_trees_does_little(work: list[int]) -> None:
    """Its work at depth four: that of the first trees, at most four times that, and a hundredth of the proof's."""
    rng = np.random.default_rng(0)
    data = Dataset.from_user(rng.integers(0, 2, (200, 40)), rng.integers(0, 3, 200))
    assert ConTree().run(data, TreeTask(depth=4), EngineRun()).proved
    BRIEF.run(data, TreeTask(depth=4), EngineRun())
    beside, first = work
    assert first < beside < 6 * first


def test_beside_a_proof_of_milliseconds_at_depth_five_there_are_the_first_trees_alone(work: list[int]) -> None:
    """The search went on as soon as the work of the proof was estimated, often at several times what it was."""
    rng = np.random.default_rng(0)
    data, task = Dataset.from_user(rng.integers(0, 3, (60, 4)), rng.integers(0, 3, 60)), TreeTask(depth=5)
    assert ConTree().run(data, task, EngineRun()).proved
    BRIEF.run(data, task, EngineRun())
    beside, first = work
    assert beside == first


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("max_nodes", [None, 6])
def test_no_model_costs_as_much_as_the_bound(threads: int, max_nodes: int | None) -> None:
    """Beside a proof on several threads the search kept the bound to itself; a model above it took a start's place."""
    for seed in range(4):
        data, task = Dataset.from_user(*table(seed, 60, 2, 3)), TreeTask(depth=4, max_nodes=max_nodes)
        best = ConTree().run(data, task, EngineRun())
        none = ConTree(threads=threads).run(data, task, EngineRun(upper=best.upper))
        assert none.graph is None and none.lower == best.upper
        kept = ConTree(threads=threads).run(data, task, EngineRun(start=best.graph))
        assert kept.proved and kept.upper == best.upper
