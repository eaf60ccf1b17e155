"""Regression trees: against a brute force in fractions, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from regression_cases import drawn_case, least

import treeform as tf
from treeform.errors import DataError, SpecError, TreeformError


def judge(seed: int) -> None:
    """One drawn problem: by scans or by pairs of thresholds, on one instruction set, with one thread or two."""
    case = drawn_case(np.random.default_rng(seed))
    settings = {"threads": 1 + seed % 2, "pairs": ("auto", "never")[seed // 3 % 2]}
    try:
        engine = tf.RegressionSearch(simd=("auto", "avx2", "plain")[seed % 3], **settings)
    except SpecError:  # this processor lacks it
        engine = tf.RegressionSearch(**settings)
    result, expected = case.problem().solve(engine), least(case)
    assert result.objective == expected, seed
    assert result.status is (tf.Status.INFEASIBLE if expected is None else tf.Status.OPTIMAL), seed


@pytest.mark.parametrize("block", range(4))
def test_agrees_with_the_brute_force(block: int) -> None:
    for seed in range(15 * block, 15 * block + 15):
        judge(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_agrees_with_the_brute_force_ten_thousand_times(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        judge(seed)


@pytest.mark.parametrize("seed", range(6))
def test_scans_and_pairs_agree_on_more_rows(seed: int) -> None:
    """Only scans cut children off by what the others leave room for; pairs of thresholds solve depth two outright."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 90))
    X = rng.normal(size=(n, 3)).round(int(rng.integers(1, 3)))
    y = np.rint(100 * (X[:, 0] * X[:, 1] + rng.normal(size=n))).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.SquaredError() + (seed % 3) * 5000 * tf.Nodes())
    if seed % 2:
        problem += [tf.MinSupport(4), tf.MaxNodes(5)]
    scanned, paired = (problem.solve(tf.RegressionSearch(pairs=pairs)) for pairs in ("never", "always"))
    assert (scanned.objective, scanned.bound) == (paired.objective, paired.bound)
    assert paired.counters["regression-search: pairs"] > 0 == scanned.counters["regression-search: pairs"]


def test_pairs_of_thresholds_give_the_same_answers() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(150, 3))
    cuts = np.quantile(values, [0.2, 0.4, 0.6, 0.8], axis=0)
    X = (
        np.concatenate([values <= cuts[0], values > cuts[1], values <= cuts[2], values <= cuts[3]], axis=1)
        * 1.0
    )
    X = np.column_stack([X, rng.integers(0, 5, 150)])
    y = (1000 * (values[:, 0] * values[:, 1] + rng.normal(size=150))).round()
    for depth, extra in ((2, []), (3, [tf.MinSupport(10)]), (4, [tf.MaxNodes(6)])):
        problem = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(tf.SquaredError() + 500 * tf.Nodes())
        for requirement in extra:
            problem += requirement
        pairs, scans = (problem.solve(tf.RegressionSearch(pairs=way)) for way in ("auto", "never"))
        assert pairs.counters["regression-search: pairs"] > 0 == scans.counters["regression-search: pairs"]
        assert pairs.objective == scans.objective and pairs.status is scans.status is tf.Status.OPTIMAL
    with pytest.raises(SpecError, match="auto, always, never"):
        tf.RegressionSearch(pairs="yes")


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_near_ties_are_decided_as_fractions(order: list[int]) -> None:
    # The two tests cost A^2 + (A + 1)^2 and A^2 + (A - 1)^2, halved: nearer to each other than doubles are trusted.
    A = 10**15
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[:, order]
    result = tf.Problem(X, [0, A, -A, 1], shape=tf.Tree(1)).minimize(tf.SquaredError()).solve()
    assert result.objective == Fraction(A**2 + (A - 1) ** 2, 2) and result.status is tf.Status.OPTIMAL
    assert result.counters["regression-search: near_ties"] > 0


def test_leaves_hold_exact_values() -> None:
    problem = tf.Problem([[0], [1], [2]], [0.1, 0.2, 0.4], shape=tf.Tree(1)).minimize("squared_error")
    graph = problem.solve().graph
    assert graph.values == (Fraction(3, 20), Fraction(2, 5)) and graph.is_regression
    assert graph.predict([[0.0], [5.0]]).tolist() == [0.15, 0.4]
    assert tf.DecisionGraph.from_json(graph.to_json()) == graph
    assert graph.rules()[0] == "if x0 <= 1.5 then 0.15  (support 2, mean 0.15, deviation 0.05)"
    assert "0.15" in graph.to_svg() and "mean" in graph.to_text()
    with pytest.raises(SpecError, match="no shares of classes"):
        graph.predict_proba([[0.0]])


def test_the_lower_median_is_taken() -> None:
    problem = tf.Problem([[0], [0]], [1, 2], shape=tf.Tree(1)).minimize(tf.AbsoluteError())
    assert problem.solve().graph.values == (Fraction(1),)


def test_the_task_follows_from_the_objective() -> None:
    X, y = [[0], [1], [2], [3]], [1, 1, 2, 3]
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    assert problem.solve().errors == 1
    regression = problem.minimize(tf.SquaredError()).solve()
    assert regression.errors is None and regression.objective == Fraction(1, 2)
    assert problem.minimize(tf.Error()).solve().errors == 1
    fractional = tf.Problem(X, [0.5, 1.5, 2.5, 3.5], shape=tf.Tree(1))
    assert fractional.minimize(tf.SquaredError()).solve().objective == 1


def test_quantities_are_refused_by_classifiers() -> None:
    rng = np.random.default_rng(0)
    problem = tf.Problem(rng.normal(size=(60, 2)), rng.normal(size=60).round(3), shape=tf.Tree(1))
    with pytest.raises(DataError, match=r"tf.SquaredError\(\)"):
        problem.solve()


def test_too_many_digits_are_refused_with_a_grid() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    with pytest.raises(DataError, match="grid='1e-"):
        problem.minimize(tf.SquaredError(grid=None))
    result = problem.minimize(tf.SquaredError()).solve()
    assert any("rounded to multiples" in note for note in result.notes)
    assert "grid=1/" in str(problem.objective)
    coarse = problem.minimize("squared_error[grid=0.5]").solve()
    assert coarse.question.data.quantity.unit == Fraction(1, 2)


def test_durations_are_no_quantities() -> None:
    targets = np.array([1, 2, 3], dtype="timedelta64[us]")
    with pytest.raises(DataError, match="is no number"):
        tf.Problem([[0], [1], [2]], targets, shape=tf.Tree(1)).minimize("squared_error")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p.add(tf.MaxErrors(3)), "max_errors"),
        (lambda p: p.minimize(tf.SquaredError() + tf.Error()), "mixes squared_error with error"),
        (lambda p: p.minimize(tf.SquaredError() + tf.AbsoluteError()), "mixes squared_error"),
        (lambda p: p.minimize(tf.SquaredError(grid=-1)), "positive"),
        (lambda p: p.solve(tf.ConTree()), "contree cannot support the objective squared_error"),
        (lambda p: p.solve("highs"), "takes squares"),
        (lambda p: p.solve(formulation="odd-paper"), "formulation that offers it: odd"),
        (lambda p: p.solve(warm_start=tf.ConTree()), "warm start"),
        (lambda p: p.add(tf.OncePerPath()).solve(), "cannot be required"),
        (lambda p: p.near_optimal(), "under the objective squared_error cannot be listed"),
    ],
)  # fmt: skip
def test_refusals(change, words: str) -> None:
    problem = tf.Problem([[0], [1], [2]], [1, 2, 4], shape=tf.Tree(2)).minimize(tf.SquaredError())
    with pytest.raises(TreeformError, match=words):
        change(problem)


def test_other_refusals() -> None:
    with pytest.raises(DataError, match="is no number"):
        tf.Problem([[0], [1]], ["a", "b"], shape=tf.Tree(1)).minimize(tf.SquaredError())
    diagram = tf.Problem([[0], [1]], [1, 2], shape=tf.Diagram(1, 1, 1)).minimize(tf.SquaredError())
    with pytest.raises(SpecError, match="cannot support the widths"):
        diagram.solve(tf.RegressionSearch())
    classes = tf.Problem([[0], [1]], [1, 2], shape=tf.Tree(1))
    with pytest.raises(SpecError, match="regression-search cannot support"):
        classes.solve(tf.RegressionSearch())
    with pytest.raises(SpecError, match="needs a quantity"):
        tf.SquaredError().largest(classes.data, classes.shape)


def test_columns_may_be_left_out_and_starts_given() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (40, 3)).astype(float)
    y = X[:, 0] * 2 + rng.integers(0, 3, 40)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.SquaredError() + 3 * tf.Leaves())
    free = problem.solve()
    again = problem.solve(warm_start=free.graph)
    assert again.objective == free.objective and again.status is tf.Status.OPTIMAL
    problem += tf.NoTestOn("x0")
    bound = problem.solve()
    assert bound.objective > free.objective and 0 not in bound.graph.features_used()


def test_columns_and_weights_of_tests_are_bounded() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 6, (60, 4)).astype(float)
    y = X[:, 0] * 3 + X[:, 1] * X[:, 2] + rng.integers(0, 3, 60)
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.SquaredError())
    problem += [tf.FeatureBudget(1), tf.Stability(20), tf.MaxDepth(2), tf.MaxLeaves(4)]
    result = problem.solve()
    graph = result.graph
    assert result.status is tf.Status.OPTIMAL and len(graph.features_used()) == 1 and graph.depth == 2
    assert min(graph.route(X)[:, graph.feature >= 0].sum(axis=0)) >= 20
    checked = tf.check(result.certificate(), X, y, independent=True)
    assert checked.ok, checked
    assert result.counters["regression-search: column_sets"] > 1
    stopped = problem.solve(time_limit=1e-6)
    assert stopped.bound <= result.objective


def test_a_time_limit_leaves_a_model_and_a_bound() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 12))
    y = (100 * (X[:, 0] * X[:, 1] + rng.normal(size=3000))).round()
    result = tf.Problem(X, y, shape=tf.Tree(4)).minimize(tf.SquaredError()).solve(time_limit=0.5)
    assert result.status is tf.Status.FEASIBLE and result.limit is tf.Limit.TIME
    assert 0 <= result.bound < result.objective


@pytest.mark.parametrize(("rows", "levels", "pairs"), [(60, 30, False), (400, 30, True)])
def test_pairs_are_counted_where_columns_have_few_thresholds_for_their_rows(
    rows: int, levels: int, pairs: bool
) -> None:
    rng = np.random.default_rng(0)
    X = np.array([rng.permutation(rows) % levels for _ in range(2)]).T.astype(float)
    y = rng.integers(0, 99, rows)
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize("squared_error")
    result, other = problem.solve(), problem.solve(tf.RegressionSearch(pairs="never" if pairs else "always"))
    assert (result.counters["regression-search: pairs"] > 0) == pairs
    assert (other.counters["regression-search: pairs"] > 0) != pairs
    assert result.objective == other.objective
