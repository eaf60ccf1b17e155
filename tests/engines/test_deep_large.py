"""The search for deep trees on tables whose large parts are lists of rows, or whose trees of depth two take long."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DeepTreeSearch, EngineRun, TreeTask

ROWS = 70_000
"""More than the search holds as sorted columns at every node."""


def table(values: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of a tree of depth four, one of eight wrong; `values` is how many numbers a column has."""
    pick = np.random.default_rng(5)
    X = np.floor(pick.random((ROWS, 4)) * values)
    a, b, c, d = (share * values > column for share, column in zip((0.2, 0.4, 0.6, 0.8), X.T, strict=True))
    y = np.where(a, b ^ c, np.where(d, c, b & c))
    return X, y ^ (pick.random(ROWS) < 0.125)


@pytest.mark.parametrize("values", [20, 10**9])
def test_first_trees_of_many_rows(values: int) -> None:
    X, y = table(values)
    problem = tf.Problem(X, y, shape=tf.Tree(4))
    problem += tf.MinSupport(500)
    result = problem.solve(tf.DeepTreeSearch(work_limit=1))
    greedy = DecisionTreeClassifier(max_depth=4, min_samples_leaf=500, random_state=0).fit(X, y)
    assert result.errors <= (greedy.predict(X) != y).sum()
    assert np.bincount(result.graph.apply(X))[result.graph.feature < 0].min() >= 500
    assert result.errors < 0.13 * ROWS  # the planted tree has an eighth


def test_longer_search_of_many_rows() -> None:
    X, y = table(20)
    problem = tf.Problem(X, y, shape=tf.Tree(4))
    first, later = (problem.solve(tf.DeepTreeSearch(work_limit=work)) for work in (1, 4 * 10**8))
    assert later.errors <= first.errors
    assert later.errors == (later.graph.predict(X) != y).sum()


@pytest.mark.parametrize("support", [0, 100])
def test_a_deep_tree_of_a_sample_comes_early(support: int) -> None:
    """After the leaf and a tree of depth two, before any tree that reads all rows at each of its nodes."""
    X, y = table(10**9)
    data, seen = Dataset.from_user(X, y), []
    run = EngineRun(on_incumbent=lambda seconds, upper, lower, graph: seen.append((upper, graph)))
    DeepTreeSearch(work_limit=1).run(data, TreeTask(depth=5, min_support=support), run)
    assert seen[2][0] < 0.14 * ROWS  # the planted tree has an eighth
    for upper, graph in seen:
        if graph is not None:
            assert upper == int((graph.predict(X) != y).sum())
            assert np.bincount(graph.apply(X))[graph.feature < 0].min() >= support


def test_leaves_of_a_sample_need_their_part_of_the_minimum_support() -> None:
    """A leaf needs more rows than a sample has, so that a sample alone would have no tree."""
    X, y = table(10**9)
    found = DeepTreeSearch(work_limit=1).run(
        Dataset.from_user(X, y), TreeTask(depth=5, min_support=12_000), EngineRun()
    )
    assert found.graph is not None and found.upper == int((found.graph.predict(X) != y).sum())
    assert found.upper < 0.22 * ROWS  # CART's tests with the best leaves have 0.227
    assert np.bincount(found.graph.apply(X))[found.graph.feature < 0].min() >= 12_000


def test_a_tree_of_one_test_has_one_level() -> None:
    """Of so many rows and columns that a tree of depth two of a sample comes first where two levels are allowed."""
    X, y = table(20)
    found = DeepTreeSearch().run(Dataset.from_user(np.tile(X, 7), y), TreeTask(depth=1), EngineRun())
    assert found.graph is not None and found.graph.depth == 1
    assert found.upper == int((found.graph.predict(np.tile(X, 7)) != y).sum()) < 0.4 * ROWS


def many_columns() -> tuple[np.ndarray, np.ndarray]:
    """Of ten classes: an exclusive or of two columns, then a third one; one label of ten is noise."""
    pick = np.random.default_rng(3)
    X = pick.integers(0, 6, size=(1_500, 60)).astype(float)
    y = np.where((X[:, 0] > 2) ^ (X[:, 1] > 2), 0, 1 + (X[:, 2] > 2))
    return X, np.where(pick.random(1_500) < 0.1, pick.integers(10, size=1_500), y)


@pytest.mark.parametrize(
    "engine", [DeepTreeSearch(work_limit=1), DeepTreeSearch(), tf.ConTree()], ids=["first", "whole", "proof"]
)
@pytest.mark.parametrize("depth", [2, 3])
def test_a_greedy_tree_comes_first_where_trees_of_depth_two_take_long(engine: Any, depth: int) -> None:
    """Of many columns and classes: the root test of the best tree of depth two reads their square."""
    X, y = many_columns()
    seen: list[Any] = []
    run = EngineRun(on_incumbent=lambda seconds, upper, lower, graph: seen.append(upper))
    found = engine.run(Dataset.from_user(X, y), TreeTask(depth=depth), run)
    greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    assert seen[1] <= (greedy.predict(X) != y).sum()
    if depth == 3 or not getattr(engine, "work_limit", None):
        assert found.upper < seen[1] - 200  # the exclusive or of two columns, which no first test shows


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("name", ["monotone", "parity"])
def test_a_greedy_tree_comes_before_a_proof_under_requirements(depth: int, name: str) -> None:
    """The search for such proofs has a tree of one test for seconds on tables of many columns and classes."""
    X, y = many_columns()
    X += np.random.default_rng(4).random(X.shape) / 2  # many thresholds
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    if name == "monotone":
        problem += tf.Monotone("x5", positive=0)
    else:
        problem += tf.StatisticalParity(groups=X[:, 7] > 3, difference=0.2, positive=0)

    def until_the_proof(progress: tf.Progress) -> None:
        if "continuous-totals" in progress.phase:
            signal.raise_signal(signal.SIGINT)

    result = problem.solve(on_progress=until_the_proof)
    greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    assert result.status.value == "feasible"
    assert result.errors <= (greedy.predict(X) != y).sum()


@pytest.mark.parametrize(
    ("kind", "depth"), [("labels", 3), ("labels", 4), ("support", 4), ("weights", 3), ("classes", 3), ("ties", 3)]
)
def test_proofs_that_read_lists_are_those_that_read_sorted_sides(kind: str, depth: int) -> None:
    """The same splits in the same order, by lists of rows beside the search and by the sorted columns without it."""
    pick = np.random.default_rng(7)
    X = pick.integers(0, 6, (ROWS, 3)) if kind == "ties" else np.round(pick.normal(size=(ROWS, 2)), 1)
    classes = 3 if kind == "classes" else 2
    noisy = X[:, 0] * X[:, 1] + 0.2 * pick.normal(size=ROWS)
    y = np.digitize(noisy, np.quantile(noisy, np.arange(1, classes) / classes))
    data = Dataset.from_user(X, y, pick.integers(1, 4, ROWS) if kind == "weights" else None)
    task = TreeTask(depth, min_support=9_000 if kind == "support" else 1)
    found = [tf.ConTree(improve=improve).run(data, task, EngineRun()) for improve in (True, False)]
    assert found[0].proved and found[1].proved and found[0].upper == found[1].upper
    graph = found[0].graph
    assert graph is not None and found[0].upper == int(data.weights[graph.predict_codes(X) != y].sum())
    if depth == 3:
        assert found[0].counters["splits"] == found[1].counters["splits"] > 0


def test_a_table_of_many_cells_has_lists_of_its_rows() -> None:
    """Of fewer rows: all models on the way are what they are said to be, and a longer search is no worse."""
    pick = np.random.default_rng(3)
    X = pick.normal(size=(1_100, 1_000))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.5)) ^ (pick.random(len(X)) < 0.1)
    data, uppers = Dataset.from_user(X, y), []
    for work in (1, 3 * 10**9):
        seen: list[Any] = []
        run = EngineRun(on_incumbent=lambda seconds, upper, lower, graph, seen=seen: seen.append((upper, graph)))
        found = DeepTreeSearch(work_limit=work).run(data, TreeTask(depth=4), run)
        for upper, graph in [*seen, (found.upper, found.graph)]:
            assert graph is None or upper == int((graph.predict_codes(X) != y).sum())
        uppers.append(found.upper)
    greedy = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    assert uppers[1] <= uppers[0] <= (greedy.predict(X) != y).sum()


def fewest_of_one_test(lines: list[np.ndarray], support: int) -> int:
    """Errors of the best tree of at most one test on rows of two classes; `lines` has them by values of a column."""
    each = lines[0].sum(axis=0)
    best = int(each.min()) if each.sum() >= support else int(each.sum())
    for by_value in lines:
        below = by_value.cumsum(axis=0)[:-1]
        sides = np.stack([below, each - below])
        allowed = (sides.sum(axis=2) >= support).all(axis=0)
        best = min([best, *sides.min(axis=2).sum(axis=0)[allowed].tolist()])
    return best


def fewest_of_depth_two(cells: np.ndarray, support: int) -> int:
    """By enumeration; `cells` has the rows of each cell of a grid by class."""
    best = fewest_of_one_test([cells.sum(axis=1), cells.sum(axis=0)], support)
    for turned in (cells, cells.transpose(1, 0, 2)):
        own, heads = turned.sum(axis=1), turned.cumsum(axis=0)
        for cut in range(1, len(own)):
            sides = [own[:cut], heads[cut - 1]], [own[cut:], heads[-1] - heads[cut - 1]]
            if min(side.sum() for side, _ in sides) >= support:
                best = min(best, sum(fewest_of_one_test(side, support) for side in sides))
    return best


@pytest.mark.parametrize("share", [0, 0.22, 0.32])
def test_lists_of_rows_under_a_minimum_support(share: float) -> None:
    """No two rows are equal, so that large parts are lists; weights count for the support."""
    pick, side = np.random.default_rng(8), 260
    X = np.stack(np.divmod(np.arange(side**2), side), axis=1)
    y = (((X[:, 0] < 52) ^ (X[:, 1] < 182)) | (pick.random(side**2) < 0.2)).astype(int)
    weight = pick.integers(1, 4, side**2)
    cells = (weight[:, None] * (y[:, None] == [0, 1])).reshape(side, side, 2)
    support = int(share * weight.sum())
    task, data = TreeTask(depth=2, min_support=support), Dataset.from_user(X.astype(float), y, weight)
    found = tf.ConTree().run(data, task, EngineRun())
    assert found.upper == found.lower == fewest_of_depth_two(cells, support)
    assert np.bincount(found.graph.apply(X), weight)[found.graph.feature < 0].min() >= support
    assert found.upper <= tf.DeepTreeSearch().run(data, task, EngineRun()).upper
