"""The search for deep trees with labels that must not stand on the two sides of a test, as under `tf.Monotone`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from drawing import Draw

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DeepTreeSearch, EngineRun, TreeTask
from treeform.language.meetings import all_meetings


@dataclass(frozen=True)
class Case:
    """A small table whose columns act monotonically, some of them."""

    data: Dataset
    task: TreeTask

    @classmethod
    def drawn(cls, seed: int, classes: int, depth: int) -> Case:
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, size=(int(rng.integers(6, 14)), 3)).astype(float)
        y = rng.integers(0, classes, size=len(X))
        y[:classes] = range(classes)
        weights = rng.integers(1, 4, size=len(X)) if rng.random() < 0.5 else None
        data = Dataset.from_user(X, y, sample_weight=weights)
        rules = [
            tf.Monotone(data.columns[f].name, str(rng.choice(["increasing", "decreasing"])), positive=classes - 1)
            for f in rng.choice(3, size=int(rng.integers(1, 3)), replace=False)
        ]
        meetings = all_meetings([met for rule in rules if (met := rule.meetings(data)) is not None])
        cost = rng.integers(0, 5, size=(classes, classes)) * (1 - np.eye(classes, dtype=int))
        return cls(
            data,
            TreeTask(
                depth=depth,
                cost=cost if rng.random() < 0.4 else None,
                node_penalty=int(rng.integers(0, 2)),
                min_support=int(rng.integers(0, 3)),
                meetings=meetings,
            ),
        )

    def best(self) -> int:
        """The least cost by all trees: of each set of labels that the leaves of a tree have the cheapest tree."""
        data, task = self.data, self.task
        each = task.cost_of_samples(data) * data.weights[:, None]
        assert task.meetings is not None
        sides = task.meetings.classes_on_sides(data.n_features)

        @cache
        def trees(rows: tuple[int, ...], depth: int) -> dict[int, int]:
            here = list(rows)
            out = {1 << label: int(cost) for label, cost in enumerate(each[here].sum(axis=0))}
            for f in range(data.n_features if depth else 0):
                for at in np.unique(data.X[here, f])[1:]:
                    parts = [tuple(r for r in rows if (data.X[r, f] < at) == below) for below in (True, False)]
                    if min(int(data.weights[list(part)].sum()) for part in parts) < task.min_support:
                        continue
                    left, right = (trees(part, depth - 1) for part in parts)
                    for low, a in left.items():
                        for high, b in right.items():
                            if not (low & sides[f][0] and high & sides[f][1]):
                                cost = a + b + task.node_penalty
                                out[low | high] = min(cost, out.get(low | high, cost))
            return out

        return min(trees(tuple(range(data.n_samples)), task.depth).values())


def checked(case: Case, engine: DeepTreeSearch) -> int:
    """The cost of the tree that is found, which has no clash."""
    found = engine.run(case.data, case.task, EngineRun())
    assert found.graph is not None and found.upper is not None and case.task.meetings is not None
    assert case.task.meetings.excess(found.graph, case.data) == 0
    guess = found.graph.predict_codes(case.data.X)
    each = case.task.cost_of_samples(case.data)[np.arange(case.data.n_samples), guess]
    assert found.upper == int((each * case.data.weights).sum()) + case.task.node_penalty * found.graph.n_nodes
    return found.upper


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_two_classes_reach_the_optimum(depth: int, draw: Draw) -> None:
    for seed in draw(range(400 * depth, 400 * depth + 400), 60):
        case = Case.drawn(seed, 2, depth)
        assert checked(case, DeepTreeSearch(seed=seed)) == case.best(), seed


@pytest.mark.parametrize("depth", [2, 4])
def test_trees_of_several_classes_have_no_clash(depth: int, draw: Draw) -> None:
    for seed in draw(range(200), 30):
        case = Case.drawn(seed, 3, depth)
        assert checked(case, DeepTreeSearch(seed=seed, work_limit=10**6)) >= case.best(), seed


@pytest.mark.parametrize(("seed", "classes", "tests"), [(4, 3, 4), (16, 3, 4), (58, 3, 2), (76, 3, 2), (79, 2, 4)])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_leaves_in_place_of_tests_that_are_too_many_have_no_clash(
    seed: int, classes: int, tests: int, depth: int
) -> None:
    case = Case.drawn(seed, classes, depth)
    limited = replace(case, task=replace(case.task, max_nodes=tests))
    assert checked(limited, DeepTreeSearch(seed=seed, work_limit=10**6)) >= case.best()


def test_deep_trees_use_the_columns_that_may_clash() -> None:
    """The search has fewer errors than without these columns."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 5))
    y = ((X[:, 0] + X[:, 1] * X[:, 2] > 0.3) ^ (rng.random(1500) < 0.1)).astype(int)
    data = Dataset.from_user(X, y)
    rule = tf.Monotone(data.columns[0].name, "increasing", positive=1)
    task = TreeTask(depth=5, meetings=rule.meetings(data))
    cost = checked(Case(data, task), DeepTreeSearch(work_limit=10**8))
    without = DeepTreeSearch(work_limit=10**8).answer(
        data, TreeTask(depth=5, features=(frozenset(range(1, 5)),)), EngineRun()
    )
    assert without.upper is not None and cost < without.upper


def test_a_feature_whose_classes_would_clash_with_themselves_has_none() -> None:
    per_sample = np.ones((3, 2, 1), dtype=bool)
    meetings: Any = tf.Meetings(("any",), per_sample, (tf.Clash(0, (0,), (0,)),))
    assert meetings.classes_on_sides(2) == [(0, 0), (0, 0)]


def test_clashes_of_very_many_classes_are_left_to_whoever_judges_the_tree() -> None:
    rng = np.random.default_rng(0)
    data = Dataset.from_user(rng.normal(size=(140, 2)), np.arange(140) % 70)
    meetings = tf.Monotone(data.columns[0].name, "increasing", positive=69).meetings(data)
    found = DeepTreeSearch(work_limit=10**5).run(data, TreeTask(depth=3, meetings=meetings), EngineRun())
    assert found.graph is not None and meetings.classes_on_sides(data.n_features) == []
