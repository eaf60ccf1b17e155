"""PathSearch against enumeration, alone and under several rules at once; its certificates, limits and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.engines import EngineRun, TreeTask
from treeform.engines.paths.table import parts
from treeform.errors import SpecError, TreeformError
from treeform.solve.engines import lowered
from treeform.testing import brute_force, draw_cases
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import Stopped

COLUMNS = ["age", "owner", "job"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 3, (60, 4)), columns=["a", "b", "c", "d"])
    y = ((frame.a > 1) ^ (frame.b > 0) ^ (frame.c == 1) ^ (rng.random(60) < 0.1)).astype(int).to_numpy()
    return frame, y


def rules(rng, case):
    """Requirements on paths for a drawn table, and others that the engine knows."""
    known = list(dict.fromkeys(column.source for column in case.data.columns))
    price = {name: int(rng.integers(1, 4)) for name in known}
    f = int(rng.integers(case.data.n_features))
    cuts = case.data.ranks.thresholds(f)
    upper = [tf.DecisionGraph.from_nested((f, float(rng.choice(cuts)), 0, 1), case.data)] if len(cuts) else []
    return [
        tf.MaxTestsPerPath(known[:2], int(rng.integers(0, 2))),
        tf.OncePerPath(),
        tf.FeatureCost(price, at_most=int(rng.integers(1, 6)), per_path=True),
        tf.Interaction([known[:2], known[1:]]),
        tf.Below(known[0], above=known[1]),
        tf.MinSupport(2),
        tf.Stability("0.4"),
        *(tf.Fix(graph) for graph in upper),
    ]


def test_several_rules_at_once(draw):
    rng = np.random.default_rng(7)
    for case in draw(list(draw_cases(60, seed=21, shapes=(tf.Tree(2),))), 4):
        pool = rules(rng, case)
        problem = tf.Problem(case.data, None, shape=tf.Tree(2))
        problem.minimize(case.goal)
        problem += [pool[i] for i in rng.permutation(len(pool))[:2]]
        q = problem.question
        best = brute_force(problem.data, q.shape, q.objective, q.requirements)
        for engine in (tf.PathSearch(), tf.PathSearch(pairs=False)):
            result = problem.solve(engine)
            assert result.objective == (None if best is None else best[0]), case.code(*q.requirements)
            assert str(result.status) == ("infeasible" if best is None else "optimal")


def test_three_layers(draw):
    names = ["a", "b", "c"]
    for seed in draw(range(60), 2):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(rng.integers(0, [3, 2, 2], (7, 3)), columns=names)
        price = {name: int(rng.integers(1, 4)) for name in names}
        pool = [
            tf.MaxTestsPerPath(names[:2], int(rng.integers(1, 3))),
            tf.OncePerPath(),
            tf.FeatureCost(price, at_most=int(rng.integers(2, 7)), per_path=True),
            tf.Interaction([names[:2], names[1:]]),
            tf.Below("a", above="b"),
            tf.MinSupport(2),
        ]
        problem = tf.Problem(table, [0, 1, *rng.integers(0, 2, 5)], shape=tf.Tree(3))
        problem.minimize("error + 1/16*nodes")
        problem += [pool[i] for i in rng.permutation(len(pool))[: rng.integers(1, 3)]]
        q = problem.question
        best = brute_force(problem.data, q.shape, q.objective, q.requirements)
        for engine in (tf.PathSearch(), tf.PathSearch(pairs=False)):
            assert problem.solve(engine).objective == best[0], (seed, q.requirements)


def test_it_is_chosen_where_it_supports_more_and_its_bound_is_proved_again(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(3))
    problem += [tf.OncePerPath(), tf.MinSupport(3), tf.NoTestOn("d")]
    result = problem.solve()
    assert result.solver == "path-search" and str(result.status) == "optimal"
    assert not any(result.violations.values())
    checked = tf.check(result.certificate(), frame, y, independent=True)
    assert str(checked.verdict) == "verified"
    assert problem.solve(tf.PathSearch(pairs=False)).objective == result.objective
    loose = tf.Problem(frame, y, shape=tf.Tree(3))
    loose += [tf.MinSupport(3), tf.NoTestOn("d")]
    assert loose.solve().objective < result.objective


def test_the_given_upper_part_stands_in_the_model(table):
    frame, y = table
    upper = tf.Problem(frame, y, shape=tf.Tree(1)).solve().graph
    problem = tf.Problem(frame, y, shape=tf.Tree(3))
    problem += tf.Fix(upper)
    result = problem.solve()
    assert str(result.status) == "optimal" and result.solver == "path-search"
    assert (result.graph.feature[0], result.graph.threshold[0]) == (upper.feature[0], upper.threshold[0])


def test_what_it_leaves_out_is_a_bound(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(2))
    problem += [tf.Below("a", above="b"), tf.OncePerPath(), tf.MaxNodes(2)]
    with pytest.raises(SpecError, match="cannot support max_nodes:2"):
        problem.solve(tf.PathSearch())
    result = problem.solve("cp-sat")
    assert str(result.status) == "optimal" and any("path-search" in note for note in result.notes)


def test_parts_of_much_work_look_at_the_clock_first():
    assert len(list(parts(10, 10, 100, lambda: True))) == 1  # little work is done at once
    with pytest.raises(Stopped):
        next(parts(10, 10, 50, lambda: True))


def test_limits(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(3))
    problem += tf.OncePerPath()
    outcome = tf.PathSearch().run(problem.data, TreeTask(3), EngineRun(Budget().share(0.0)))
    assert outcome.reason == "time" and not outcome.proved and outcome.graph is not None
    assert outcome.lower <= outcome.upper
    many = pd.DataFrame({"x": np.arange(11_000.0)})
    problem = tf.Problem(many, np.arange(11_000) % 2, shape=tf.Tree(2))
    problem += tf.OncePerPath()
    with pytest.raises(TreeformError, match="at most 10000 tests"):
        problem.solve(tf.PathSearch())


def test_the_clock_is_read_while_pairs_are_counted(monkeypatch):
    """In parts of the rows, which add up to the same tree: all of a large table took a second from look to look."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 4, (300, 5)).astype(float)
    problem = tf.Problem(X, rng.integers(0, 3, 300), shape=tf.Tree(2)) + tf.OncePerPath() + tf.MinSupport(20)
    task = lowered(problem.question, tf.PathSearch()).task
    whole = tf.PathSearch().run(problem.data, task, EngineRun())
    monkeypatch.setattr("treeform.engines.paths.table.AT_A_TIME", 50 * 15)
    monkeypatch.setattr("treeform.engines.paths.search.AT_A_TIME", 50 * 15)
    monkeypatch.setattr("treeform.engines.paths.pairs.AT_A_TIME", 50 * 15**2)
    looks = []
    parts = tf.PathSearch().run(
        problem.data, task, EngineRun(Budget().until(lambda: looks.append(1) or False))
    )
    assert parts.proved and (parts.graph, parts.upper) == (whole.graph, whole.upper)
    assert len(looks) > 2 * (3 + 2) * (problem.data.points.n_points // 50)
    for most in range(1, len(looks)):
        stopping = Budget().until(lambda most=most, seen=[]: seen.append(1) or len(seen) >= most)
        outcome = tf.PathSearch().run(problem.data, task, EngineRun(stopping))
        assert outcome.reason == "interrupted" and not outcome.proved and outcome.lower <= whole.upper


def test_both_sides_of_a_test_of_missing_values_are_there() -> None:
    """The given part sends missing values right: of two tests that part the rows alike, the other sends them left."""
    X = [[0.0], [1.0], [2.0], [float("nan")], [float("nan")]]
    y = [0, 1, 1, 0, 0]
    plain = tf.Problem(X, y, shape=tf.Tree(1))
    for side in ("above", "below"):
        column = next(i for i, c in enumerate(plain.data.columns) if c.missing == side)
        threshold = 2.0 if side == "above" else -1e300
        upper = tf.DecisionGraph.from_nested((column, threshold, 1, 0), plain.data)
        result = (plain + tf.Fix(upper)).solve(tf.PathSearch())
        assert (str(result.status), result.objective) == ("optimal", 1), side


def test_deep_trees_are_known_long_before_the_first_test_at_the_root_is_done():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (300, 10))
    y = (X[:, :6].sum(axis=1) % 2) ^ (rng.random(300) < 0.1)
    less, deep = (tf.Problem(X, y, shape=tf.Tree(depth)) for depth in (3, 5))
    less += tf.OncePerPath()
    deep += tf.OncePerPath()
    asked = []
    stopping = Budget().until(lambda: asked.append(1) or len(asked) > 130)
    task = lowered(deep.question, tf.PathSearch()).task
    outcome = tf.PathSearch().run(deep.data, task, EngineRun(stopping))
    assert not outcome.proved and outcome.upper <= less.solve(tf.PathSearch()).objective
