"""What is required of the values of leaves, against brute force in fractions and against other methods."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product as product_of
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import treeform as tf
from treeform.engines.leaf_values.convex import Convex, least_sum, of_targets
from treeform.engines.leaf_values.costs import PricedSamples
from treeform.engines.leaf_values.fit import LeafFits
from treeform.engines.leaf_values.moved import moved_targets
from treeform.engines.leaf_values.problem import product
from treeform.engines.leaf_values.search import depth_two
from treeform.engines.leaf_values.squares import least_squares
from treeform.engines.leaf_values.whole import least_whole_sum
from treeform.errors import TreeformError
from treeform.language.values import ValueRow
from treeform.solve import neighbourhoods
from treeform.solve.engines import value_part
from treeform.solve.ledger import Ledger
from treeform.solve.stage import leaf_values
from treeform.utils.budget import Budget


def drawn_rows(rng: np.random.Generator, n: int) -> list[ValueRow]:
    """Orders of two leaves, and rows with any coefficients, some of them in conflict."""
    rows = []
    for _ in range(int(rng.integers(0, 6))):
        coef = rng.integers(-4, 5, n)
        if n > 1 and rng.random() < 0.5:
            coef = np.zeros(n, dtype=int)
            coef[rng.choice(n, 2, replace=False)] = 1, -1
        rows.append(ValueRow(tuple(coef.tolist()), int(rng.integers(-3, 9))))
    return rows


def drawn_leaves(rng: np.random.Generator, n: int, most: int) -> list[Convex]:
    sizes = rng.integers(1, 8, n)
    return [
        of_targets(rng.integers(-most, most + 1, k).tolist(), rng.integers(1, 4, k).tolist()) for k in sizes
    ]


def possible(rows: list[ValueRow], n: int) -> bool:
    if not rows:
        return True
    A, b = np.array([row.coef for row in rows]), [row.side for row in rows]
    return bool(linprog(np.zeros(n), A_ub=A, b_ub=b, bounds=[(None, None)] * n).status == 0)


def test_least_squares_satisfy_the_conditions_of_the_optimum() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(1, 6))
        rows, weights = drawn_rows(rng, n), rng.integers(1, 9, n).tolist()
        means = [
            Fraction(int(a), int(b))
            for a, b in zip(rng.integers(-20, 20, n), rng.integers(1, 5, n), strict=True)
        ]
        best = least_squares(weights, means, rows)
        assert (best is not None) == possible(rows, n)
        if best is None:
            continue
        assert all(product(row.coef, best.of_leaf) <= row.side for row in rows)
        for i, u in best.multipliers.items():
            assert u >= 0 and (u == 0 or product(rows[i].coef, best.of_leaf) == rows[i].side)
        for leaf in range(n):
            pull = sum(u * rows[i].coef[leaf] for i, u in best.multipliers.items())
            assert 2 * weights[leaf] * (best.of_leaf[leaf] - means[leaf]) + pull == 0


def test_sums_of_distances_are_least() -> None:
    """A dual point of the same value proves the optimum: f_l(v) + (A'y)_l v is least at the values."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = int(rng.integers(1, 6))
        rows, leaves = drawn_rows(rng, n), drawn_leaves(rng, n, 6)
        best = least_sum(leaves, rows)
        assert (best is not None) == possible(rows, n)
        if best is None:
            continue
        assert all(product(row.coef, best.of_leaf) <= row.side for row in rows)
        assert best.cost == sum(f.at(v) for f, v in zip(leaves, best.of_leaf, strict=True))
        assert all(y >= 0 for y in best.multipliers.values())
        dual = -sum(y * rows[i].side for i, y in best.multipliers.items())
        for leaf, function in enumerate(leaves):
            pull = sum(y * rows[i].coef[leaf] for i, y in best.multipliers.items())
            assert abs(pull) <= function.slopes[-1]
            dual += min(function.at(Fraction(x)) + pull * x for x in function.breaks)
        assert dual == best.cost


def test_whole_values_are_the_best_of_all() -> None:
    rng = np.random.default_rng(2)
    for _ in range(25):
        n = int(rng.integers(1, 4))
        rows, leaves = drawn_rows(rng, n), drawn_leaves(rng, n, 2)
        points = [
            p for p in product_of(range(-2, 3), repeat=n) if all(product(r.coef, p) <= r.side for r in rows)
        ]
        least = min(
            (sum(f.at(Fraction(v)) for f, v in zip(leaves, p, strict=True)) for p in points), default=None
        )
        found = least_whole_sum(leaves, rows, -2, 2)
        assert found.closed
        assert least == (None if found.best is None else found.best.cost)


@pytest.mark.parametrize("limits", [(-np.inf, np.inf), (-np.inf, 1.0), (-2.0, np.inf), (0.0, 3.0)])
def test_costs_of_tests_under_absolute_errors_are_those_of_the_best_levels(
    limits: tuple[float, float],
) -> None:
    """With prices that can pay more than all distances, so that the best value is the first or the last one."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        n, columns = int(rng.integers(2, 12)), int(rng.integers(1, 4))
        y = np.append(rng.integers(-5, 6, n).astype(float), [-2.0, 0.0, 1.0, 3.0])
        w, c = (
            rng.integers(1, 4, n + 4).astype(float),
            rng.integers(-4, 5, n + 4) * rng.choice([0.0, 0.5, 2.0]),
        )
        levels, place = np.unique(y, return_inverse=True)
        chosen = rng.permutation(n + 4)[: int(rng.integers(1, n + 5))]
        order = np.array([rng.permutation(chosen) for _ in range(columns)])
        ways = rng.integers(-1, 2, columns)
        cost, wrong = PricedSamples(w, c, y, place, levels).tests(order, ways, 1e-9, *limits)
        paid = w[:, None] * np.abs(y[:, None] - levels) + c[:, None] * levels
        inside = (levels >= limits[0]) & (levels <= limits[1])
        for f, k in product_of(range(columns), range(len(chosen) - 1)):
            sides = paid[order[f, : k + 1]].sum(axis=0), paid[order[f, k + 1 :]].sum(axis=0)
            assert cost[f, k] == sides[0][inside].min() + sides[1][inside].min()
            lower, upper = (np.flatnonzero(side == side.min()) for side in sides[:: ways[f] or 1])
            assert wrong[f, k] == (ways[f] != 0 and lower.min() > upper.max())


def test_orders_under_absolute_errors_are_proved_at_depth_two() -> None:
    """A value that divides those of both sides bounds what an ordered root costs."""
    X, y = homes(120)
    problem = tf.Problem(X, y, shape=tf.Tree(2), exclude=["area"]).minimize("absolute_error")
    free = problem.solve()
    problem += tf.Monotone("size", "decreasing")
    result = problem.solve()
    assert result.status is tf.Status.OPTIMAL and result.objective > free.objective
    assert result.counters["regression-search: trees"] < 200


def drawn_problem(seed: int, loss: str) -> tuple[tf.Problem, pd.DataFrame, np.ndarray]:
    """Ten rows with ties, two groups, a price in one of two, and requirements of each kind."""
    rng = np.random.default_rng(seed)
    n = 10
    frame = pd.DataFrame({"a": rng.integers(0, 4, n), "b": rng.integers(0, 3, n), "g": ["p", "q"] * (n // 2)})
    if seed % 5 == 4:
        frame["g"] = (["p", "q", "r"] * n)[:n]
    y = rng.integers(0, 9, n) / 2
    problem = tf.Problem(
        frame,
        y,
        shape=tf.Tree(1 + (seed % 3 > 0)),
        exclude=["g"],
        sample_weight=rng.integers(1, 4, n) if seed % 4 == 3 else None,
    )
    problem.minimize(f"{loss} + {['0', '1/3'][seed % 2]}*nodes")
    if seed % 3 != 1:
        problem += tf.Monotone("a", "decreasing" if seed % 2 else "increasing")
    if seed % 3 != 0:
        problem += tf.MeanParity("g", Fraction(int(rng.integers(0, 5)), 4))
    if seed % 7 == 5:
        problem += [tf.MaxNodes(2), tf.MinSupport(2)]
    if seed % 7 == 6:
        problem += tf.FeatureBudget(1)
    return problem, frame, y


def every_tree(problem: tf.Problem) -> list[tf.DecisionGraph]:
    """All trees of depth two or one over the distinct thresholds, with any values."""
    data = problem.data
    tests = [
        {"feature": f, "threshold": float((low + high) / 2)}
        for f in range(data.n_features)
        for low, high in zip(np.unique(data.X[:, f])[:-1], np.unique(data.X[:, f])[1:], strict=True)
    ]
    below = [None, *tests] if problem.shape.depth == 2 else [None]
    graphs = [tf.DecisionGraph.constant(Fraction(0), data)]
    for root, left, right in product_of(tests, below, below):
        nodes = [root, left, right]
        feature, low, high = [-1] * 7, [-1] * 7, [-1] * 7
        threshold = [np.nan] * 7
        for k, test in enumerate(nodes):
            if test is not None:
                feature[k], threshold[k] = test["feature"], test["threshold"]
                low[k], high[k] = 2 * k + 1, 2 * k + 2
        label = [-1 if feature[k] >= 0 else k for k in range(7)]
        arrays = map(np.array, (feature, threshold, low, high, label))
        values = tuple(Fraction(k) for k in range(7))
        graph = tf.DecisionGraph.from_arrays(*arrays, data, values=values)
        if len(np.unique(graph.apply(data.X))) == 1 + sum(test is not None for test in nodes):
            graphs.append(graph)  # others are smaller trees
    return graphs


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_values_of_a_tree_are_left_once_the_search_has_to_stop(loss: str, whole: bool) -> None:
    """Those of sixty leaves under an order took forty seconds beyond the limit."""
    problem, _, _ = drawn_problem(0, loss)
    _, rule = value_part(problem.question, tf.RegressionSearch())
    fits, graph = LeafFits(problem.question, replace(rule, whole=whole)), every_tree(problem)[-1]
    assert fits.with_best_values(graph) is not None
    assert fits.with_best_values(graph, lambda: True) is None


def test_after_the_limit_values_have_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that was found in time has its values then, but not for as long as they take."""
    problem, _, _ = drawn_problem(0, "absolute_error")
    graph, over = every_tree(problem)[-1], Budget()
    over.interrupt()
    for moment, kept in ((1e-9, False), (60.0, True)):
        monkeypatch.setattr(leaf_values, "MOMENT", moment)
        ledger = Ledger(problem.question, over)
        run = leaf_values.value_run(problem.question, tf.RegressionSearch(), ledger, over)
        assert run is not None
        run.repaired(graph)
        assert (ledger.graph is not None) is kept


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_a_constant_is_kept_when_the_search_has_no_time(loss: str) -> None:
    problem, _, _ = drawn_problem(0, loss)
    stopped = problem.solve(tf.RegressionSearch(), time_limit=1e-9)
    assert stopped.graph is not None and stopped.limit is tf.Limit.TIME


@pytest.mark.drawn(3)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("seed", range(21))
def test_the_optimum_is_that_of_every_tree_with_fitted_values(seed: int, loss: str) -> None:
    problem, _, _ = drawn_problem(seed, loss)
    _, rule = value_part(problem.question, tf.RegressionSearch())
    fits = LeafFits(problem.question, rule)
    best = None
    for graph in every_tree(problem):
        found = fits.with_best_values(graph)
        value = None if found is None else problem.objective.evaluate(found[0], problem.data)
        if value is not None and (best is None or value < best) and problem.judge(found[0]).ok:
            best = value
    result = problem.solve(tf.RegressionSearch())
    assert result.status is tf.Status.OPTIMAL and result.objective == best


def homes(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"size": rng.integers(0, 30, n), "age": rng.integers(0, 20, n), "area": ["n", "s", "n"] * (n // 3)}
    )
    return frame, (frame["size"] + 8 * (frame["area"] == "n") - frame["age"]).to_numpy() + rng.integers(
        0, 9, n
    ) / 2


def test_squares_under_requirements_on_values_are_proved_and_checked() -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(2), exclude=["area"]).minimize("squared_error + 1/3*nodes")
    problem += [tf.Monotone("age"), tf.MeanParity("area", "1.5")]
    result = problem.solve()
    assert result.status is tf.Status.OPTIMAL and result.solver == "regression-search"
    means = problem.requirements[1].means(result.graph, problem.data)
    assert abs(means["n"] - means["s"]) <= Fraction(3, 2)
    certificate = json.loads(json.dumps(result.certificate()))
    report = tf.check(certificate, X, y)
    assert report.verdict == "verified" and "proved again by the search of all trees with values" in str(
        report
    )
    deeper = tf.Problem(X, y, shape=tf.Tree(3), exclude=["area"]).minimize("squared_error + 1/3*nodes")
    deeper += problem.requirements
    found = deeper.solve()
    assert found.objective <= result.objective and 0 < found.bound <= found.objective
    assert any("depth 2" in note for note in found.notes)


def test_prices_of_rows_raise_the_bound_of_deep_trees() -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(3), exclude=["area"]).minimize("squared_error")
    free = problem.solve()
    problem += tf.MeanParity("area", "0.1")
    result = problem.solve()
    assert free.objective < result.bound <= result.objective
    assert float(result.objective - result.bound) < 0.5 * float(result.objective - free.objective)


def test_values_are_whole_where_solvers_state_them() -> None:
    X, y = homes(12)
    problem = tf.Problem(X, y, shape=tf.Tree(1), exclude=["area"]).minimize("squared_error")
    problem += tf.MeanParity("area", 1)
    assert problem.requirements[0].whole is False
    problem.minimize("absolute_error")
    assert problem.requirements[0].whole is True
    whole = problem.solve(tf.RegressionSearch())
    stated = problem.solve("cp-sat", warm_start=None)
    assert whole.status is stated.status is tf.Status.OPTIMAL and whole.objective == stated.objective
    free = tf.Problem(X, y, shape=tf.Tree(1), exclude=["area"]).minimize("absolute_error")
    free += tf.MeanParity("area", 1, whole=False)
    assert free.solve().objective <= whole.objective
    with pytest.raises(TreeformError, match="whole=True"):
        free.solve("cp-sat")
    with pytest.raises(TreeformError, match="whole=True"):
        tf.Problem(X, y, shape=tf.Diagram(1, 2, 2)).minimize("absolute_error").add(free.requirements[0])


@pytest.mark.parametrize("seed", [1, 7, 13])
def test_moved_targets_pay_the_loss_and_the_prices_of_rows(seed: int) -> None:
    """Exactly, for any values: moved loss + constant = loss + u (A v - b) at the multipliers that were rounded."""
    problem, _, _ = drawn_problem(seed, "squared_error")
    question = problem.question
    _, rule = value_part(question, tf.RegressionSearch())
    loss, unit = tf.SquaredError(), question.data.quantity.unit
    prices = np.zeros(len(rule.rows))
    prices[0] = 0.75  # a multiple of every power of two that is used
    moved, constant = moved_targets(question, rule, prices)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        graph = tf.DecisionGraph.constant(
            Fraction(int(rng.integers(-9, 20)), int(rng.integers(1, 6))), question.data
        )
        value = question.data.quantity.in_units(graph.values[0])
        paid = sum(int(k) for k in rule.rows[0].coef) * value - rule.rows[0].side
        direct = loss.evaluate(graph, question.data) / loss.per_unit(question.data) + Fraction(3, 4) * paid
        theirs = moved.data
        again = tf.DecisionGraph.constant(value * unit, theirs)
        assert loss.evaluate(again, theirs) / loss.per_unit(question.data) + constant == direct


def test_pairs_of_subtrees_are_not_listed_once_the_search_has_to_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("treeform.engines.leaf_values.search.MOST_PAIRS", 10)
    problem = tf.Problem(np.arange(8.0)[:, None], np.arange(8.0) % 3, shape=tf.Tree(2)).minimize(
        tf.SquaredError()
    )
    problem += tf.Monotone("x0")
    part, rule = value_part(problem.question, tf.RegressionSearch())
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    costs = [(np.zeros(40), np.zeros(50))]
    for until, found in ((lambda: False, 2000), (stop, 3 * 50)):
        search = depth_two(part, LeafFits(problem.question, rule), np.zeros(len(rule.rows)), None, until)
        pairs = [pair for slab in search._promising(costs, 0.0) for pair in zip(*slab, strict=True)]
        assert len(set(pairs)) == len(pairs) == found
    assert asked == 4


def test_beyond_its_size_it_says_that_it_ends_before_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_values, "MOST_CELLS", 10)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (30, 2))
    problem = tf.Problem(X, X[:, 0] - X[:, 1] + 0.5 * rng.integers(0, 3, 30), shape=tf.Tree(2))
    problem.minimize(tf.SquaredError())
    problem += tf.Monotone(problem.question.data.columns[1].source)
    result = problem.solve(time_limit=20)
    assert result.graph is not None
    assert any("up to 10 values" in note and "before the time limit" in note for note in result.notes)


def test_subtrees_of_the_best_tree_are_searched_anew_beyond_depth_two(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    problem = tf.Problem(X, np.round(X[:, 0] * X[:, 1] - X[:, 2] + rng.normal(size=200), 2), shape=tf.Tree(4))
    problem.minimize(tf.SquaredError())
    problem += tf.Monotone("x1")
    better = problem.solve(time_limit=60)
    assert not any(better.violations.values())
    monkeypatch.setattr(leaf_values.ValueRun, "_improve", lambda run: None)
    assert better.objective < problem.solve(time_limit=60).objective


@pytest.mark.parametrize("ends", [True, False])
def test_subtrees_whose_search_was_broken_off_are_not_called_searched_to_the_end(
    ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = tf.RegressionSearch.run

    def run(engine: Any, data: Any, *rest: Any) -> Any:
        found = search(engine, data, *rest)
        return found if ends or data.n_samples == 80 else replace(found, proved=False)

    monkeypatch.setattr(tf.RegressionSearch, "run", run)
    X = np.random.default_rng(2).normal(size=(80, 3))
    problem = tf.Problem(X, np.round(X[:, 0] * X[:, 1], 1), shape=tf.Tree(4)).minimize(tf.SquaredError())
    problem += tf.Monotone("x0")
    (note,) = [note for note in problem.solve().notes if "searched subtrees" in note]
    assert note.endswith("not all of them to the end") != ends


@pytest.mark.parametrize("nodes", [4, 5])
def test_a_subtree_has_the_tests_that_the_rest_of_the_tree_leaves(
    nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def spliced(*parts: Any) -> tf.DecisionGraph:
        made = neighbourhoods.spliced(*parts)
        tried.append(made.n_nodes)
        return made

    monkeypatch.setattr(leaf_values, "spliced", spliced)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    problem = tf.Problem(X, np.round(X[:, 0] * X[:, 1] + rng.normal(size=40), 1), shape=tf.Tree(4))
    problem.minimize(tf.SquaredError())
    problem += [tf.Monotone("x0"), tf.MaxNodes(nodes)]
    result = problem.solve()
    assert tried and max(tried) <= nodes
    assert not any(result.violations.values())
