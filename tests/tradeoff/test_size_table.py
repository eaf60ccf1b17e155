"""The size table: against single solves and enumeration, prices, the command."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from layered_reference import optimum, random_data
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.odd import OneHyperplane, paper_objective
from treeform.shape import shrunk
from treeform.tradeoff.size_table import SizeBounds
from treeform.tradeoff.trees_at_price import (
    close_price,
    enter_trees_of_each_depth,
    price_to_solve,
    solve_trees_at_price,
)
from treeform.utils.budget import Budget

ALPHAS = ["0.01", "0.1", "0.2", "0.5", "1"]


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_price_against_enumeration(seed: int, solver: str) -> None:
    data = random_data(seed, n=7, n_classes=2 + seed % 2, weighted=seed == 2)
    widths = (1, 2, 2) if seed else (1, 2)
    table = tf.Problem(data, None, shape=tf.Diagram(*widths)).size_table(
        solver, formulation="odd", warm_start=None
    )
    assert table.proved
    for price in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)):
        found = table.at(price)
        assert found.proved
        assert found.objective == optimum(data, widths, price / data.weight_unit) * data.weight_unit


def test_alphas_are_the_papers_objective() -> None:
    data = random_data(4, n=8, n_classes=3)
    shape = tf.Diagram(1, 2, 2)
    problem = tf.Problem(data, None, shape=shape)
    table = problem.size_table(alphas=ALPHAS)
    for alpha in ALPHAS:
        found = table.at_alpha(alpha)
        goal = paper_objective(alpha, data, shape)
        direct = tf.Problem(data, None, shape=shape).minimize(goal).solve(tf.HiGHS())
        root = Fraction(alpha) / 4 if direct.graph.n_nodes else 0
        assert found.proved
        # (18) does not count the root; a constant model may be no better than a model with a free root
        assert Fraction(found.objective) / 8 <= Fraction(direct.objective) - root


@pytest.mark.parametrize("seed", range(4))
def test_trees_at_a_price_bound_every_row(seed: int) -> None:
    data = random_data(seed, n=9, n_classes=2 + seed % 2, weighted=seed > 1)
    problem = tf.Problem(data, None, shape=tf.Tree(3))
    exact = problem.size_table()
    assert exact.proved
    for price in (Fraction(1, 3), Fraction(1), Fraction(2)):
        table = SizeBounds(problem.question)
        solve_trees_at_price(table, price * table.question.scale, Budget())
        lower = [row.lower for row in table.rows]
        assert all(low <= row.upper for low, row in zip(lower, exact.rows, strict=True))
        best = min(row.upper + price * row.graph.n_nodes for row in table.rows if row.graph is not None)
        assert exact.at(price).objective == best
        assert min(low + price * m for m, low in enumerate(lower)) == best


def test_trees_at_a_price_with_a_free_root() -> None:
    """The constant model hides the others at the price itself; a lower price proves what is open all the same."""
    proved = {"at the price": 0, "at the price to solve": 0, "at falling prices": 0}
    for seed in range(8):
        data = random_data(seed, n=12, n_classes=2 + seed % 2, weighted=seed > 5)
        exact = tf.Problem(data, None, shape=tf.Tree(3)).size_table()
        assert exact.proved
        for price in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)):
            for way in proved:
                table = SizeBounds(exact.question)
                each = price * table.question.scale
                table.enter_models(exact)
                for row in exact.rows[:2]:
                    table.raise_lower(row.tests, int(row.lower * table.question.scale), "known")
                q = each if way == "at the price" else price_to_solve(table, each, 1)
                assert 0 <= q <= each
                assert price_to_solve(table, each, 0) == each
                if way == "at falling prices":
                    close_price(table, each, 1, Budget(), lambda phase: None)
                else:
                    solve_trees_at_price(table, q, Budget())
                for m, row in enumerate(exact.rows):
                    assert table.lower[m] <= row.upper * table.question.scale
                proved[way] += not any(target is not None for target in table.targets(each, 1))
    assert proved["at the price"] < proved["at the price to solve"] <= proved["at falling prices"]


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_one_hyperplane_against_big_m(seed: int) -> None:
    data = random_data(seed, n=8, n_classes=2 + seed % 2, weighted=seed > 1)
    problem = tf.Problem(data, None, shape="tree:1:multivariate")
    direct = problem.solve(tf.HiGHS())
    for backend in (tf.HiGHS(), tf.CPSAT()):
        lazy = problem.solve(backend, formulation=OneHyperplane())
        assert str(direct.status) == str(lazy.status) == "optimal"
        assert direct.objective == lazy.objective


def test_multivariate_rows_and_requirements() -> None:
    data = random_data(6, n=6, n_classes=2)
    problem = tf.Problem(data, None, shape="diagram:1,2:multivariate")
    free = problem.size_table()
    assert free.proved
    errors = [row.upper for row in free.rows]
    assert errors == sorted(errors, reverse=True)
    for row in free.rows:
        assert row.graph.n_nodes <= row.tests
    strict = problem.add(tf.MinSupport(2)).size_table()
    assert strict.proved
    assert all(a.upper >= b.upper for a, b in zip(strict.rows, free.rows, strict=True))
    assert str(problem.solve().objective) == str(strict.rows[-1].upper)


def test_requirements_that_rule_out_constants() -> None:
    data = Dataset.from_user([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    table = tf.Problem(data, None, shape="tree:2").add(tf.MaxErrors(1)).size_table(tf.HiGHS())
    assert [row.lower for row in table.rows[:2]] == [None, 1]
    assert table.at(1).objective == 2
    assert table.at(Fraction(1, 4)).objective == Fraction(3, 4)


def test_rows_of_many_tests_are_proved_one_by_one() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(120, 6))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=120) > 0).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    assert problem.data.n_tests > 500
    table, known = problem.size_table(), problem.size_table("diagram-search")
    assert table.proved and known.proved
    assert [row.upper for row in table.rows] == [row.upper for row in known.rows]
    assert [row.by for row in table.rows[1:]] == ["contree"] * 3
    assert "native search" not in [run.name for run in table.plan]
    priced = problem.size_table(prices=[1])
    assert "each row as a question" not in [run.name for run in priced.plan]


def test_skeletons_shrink() -> None:
    assert shrunk(tf.Diagram(1, 2, 4, 8), 3) == tf.Diagram(1, 2, 1)
    assert shrunk(tf.Diagram(1, 2, 4, 8), 7) == tf.Diagram(1, 2, 4, 3)
    assert shrunk(tf.Diagram(1, 2, 2, 2), 1) == tf.Diagram(1)
    assert shrunk(tf.Tree(4, "multivariate"), 2) == tf.Tree(2, "multivariate")


@pytest.mark.parametrize("price", [-1, "-0.5", float("nan"), "cheap"])
def test_bad_prices(price: object) -> None:
    problem = tf.Problem(random_data(0), None, shape="diagram:1,2")
    with pytest.raises(SpecError):
        problem.size_table(prices=[price])
    with pytest.raises(SpecError):
        problem.size_table(alphas=[price])
    with pytest.raises(SpecError):
        problem.minimize("depth").size_table()


def test_a_short_limit_is_stated() -> None:
    rng = np.random.default_rng(0)
    problem = tf.Problem(
        rng.normal(size=(200, 5)), rng.integers(0, 2, 200), shape="diagram:1,2,4:multivariate"
    )
    table = problem.size_table(time_limit=0.3)
    assert str(table.limit) == "time"
    assert not table.proved
    assert "(open)" in str(table) and str(table).endswith("stopped (time): better models may exist in the open rows")
    found = table.at(1)
    assert found.bound <= found.objective


def test_the_command(tmp_path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "a,b,y\n" + "".join(f"{i % 4},{i % 3},{'no' if i % 4 < 2 else 'yes'}\n" for i in range(24))
    )
    out = tmp_path / "sizes.json"
    words = [
        "size-table",
        table,
        "--target",
        "y",
        "--shape",
        "diagram:1,2",
        "--alpha",
        "0.5",
        "--price",
        "2",
        "-q",
    ]
    done = CliRunner().invoke(app, [str(w) for w in [*words, "--output", out]])
    assert done.exit_code == 0, done.output
    assert "alpha 0.5: price 6: objective 0, 1 test, optimal" in done.output
    rows = json.loads(out.read_text())["rows"]
    assert [row["upper"] for row in rows] == ["12", "0", "0", "0"]
    model = tf.DecisionGraph.from_json(rows[1]["model"])
    assert model.n_nodes == 1
    bad = CliRunner().invoke(app, ["size-table", str(table), "--target", "y", "--alpha", "-1"])
    assert bad.exit_code == 2
    assert "alpha" in bad.output


@pytest.mark.parametrize(
    ("verb", "words", "rows"),
    [
        ("size-table", [], ["constant models", "diagram-search"]),
        ("size-table", ["--solver", "highs", "--warm-start", "none"], ["at most 3 tests: hypergraph-flow on highs"]),
        ("pareto", [], ["depth 1: ", "depth 2: "]),
    ],
)
def test_the_commands_show_their_progress(tmp_path, verb: str, words: list[str], rows: list[str]) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b,y\n" + "".join(f"{i % 4},{i % 3},{i * i % 5 % 2}\n" for i in range(24)))
    done = CliRunner().invoke(app, [verb, str(table), "--target", "y", "--shape", "tree:2", "-v", *words])
    assert done.exit_code == 0, done.output
    summary, _, log = done.stderr.partition("    time ")
    assert "taken as" in summary
    lines = ("    time " + log).splitlines()
    assert lines[0].split() == ["time", "incumbent", "bound", "gap", "phase"]
    assert all(any(row in line for line in lines[1:]) for row in rows), done.stderr
    times = [float(line.split("s")[0]) for line in lines[1:]]
    assert times == sorted(times)


def test_a_size_table_starts_from_an_earlier_one() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (60, 3)), rng.integers(0, 3, 60)
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 3))
    whole = problem.size_table()
    assert whole.proved
    again = problem.size_table(start=whole, time_limit=1e-6)
    assert [(r.lower, r.upper, r.by) for r in again.rows] == [(r.lower, r.upper, r.by) for r in whole.rows]
    short = problem.size_table(alphas=["1"])
    longer = problem.size_table(start=short)
    assert [(r.lower, r.upper) for r in longer.rows] == [(r.lower, r.upper) for r in whole.rows]
    for other in (
        tf.Problem(X, y, shape=tf.Diagram(1, 2)),
        tf.Problem(X, y[::-1], shape=tf.Diagram(1, 2, 3)),
    ):
        with pytest.raises(SpecError, match="another problem"):
            other.size_table(start=whole)


def test_a_size_table_of_a_problem_with_other_groups_is_refused() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 4, (40, 2)), rng.integers(0, 2, 40)
    groups = np.arange(40) % 2

    def problem(*requirements: tf.Requirement) -> tf.Problem:
        made = tf.Problem(X, y, shape=tf.Tree(2))
        made += list(requirements)
        return made

    def parity(codes: np.ndarray) -> tf.Requirement:
        return tf.StatisticalParity(groups=codes, difference=0.1, positive=1)

    whole = problem(parity(groups)).size_table()
    again = problem(parity(groups.copy())).size_table(start=whole, time_limit=1e-6)
    assert [(r.lower, r.upper) for r in again.rows] == [(r.lower, r.upper) for r in whole.rows]
    for other in ([parity((y + groups) % 2)], [], [parity(groups), tf.MaxErrors(30)]):
        with pytest.raises(SpecError, match="another problem"):
            problem(*other).size_table(start=whole)


@pytest.mark.parametrize("values", [pd.Series([1, 2]), [np.array([1, 2])], {"a": (1, np.array([2]))}])
def test_requirements_are_compared_by_content(values: object) -> None:
    class Holds(tf.Requirement):
        """Any content."""

        name = "holds_in_test_size_table"

        def __init__(self, values: object) -> None:
            self.values = values

        def build(self, model, ports) -> None:
            pass

        def violation(self, graph, data) -> int:
            return 0

    assert Holds(values) == Holds(copy.deepcopy(values))
    assert Holds(values) != Holds(3)
    assert Holds(True) != Holds(1)
    assert Holds(pd.Series([1, 2])) != Holds(pd.Series([1, 3]))


def test_the_search_closes_every_row_by_itself() -> None:
    """A tree has fewer tests of use than its shape allows where samples are few; no row stays open for that."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (6, 2)).astype(float), np.r_[[0, 1], rng.integers(0, 2, 4)]
        for shape in ("tree:3", "diagram:1,1,2"):
            for requirement in (tf.MinSupport(2), tf.Stability(3), tf.MaxNodes(2)):
                table = tf.Problem(X, y, shape=shape).add(requirement).size_table("diagram-search")
                assert table.proved, (seed, shape, requirement)
                assert table.limit is None


def test_the_search_alone_refuses_what_it_does_not_know() -> None:
    problem = tf.Problem([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], shape="diagram:1,2")
    with pytest.raises(SpecError, match="cannot support feature_budget:1"):
        problem.add(tf.FeatureBudget(1)).size_table("diagram-search")
    hyperplanes = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(2, "multivariate"))
    with pytest.raises(SpecError, match="multivariate"):
        hyperplanes.size_table(tf.DiagramSearch())


def test_rows_without_an_admissible_model() -> None:
    """A bound on the errors rules out all models of few tests: the search says so, and leaves nothing open."""
    problem = tf.Problem([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], shape="diagram:1,1,2")
    table = problem.add(tf.MaxErrors(1)).size_table("diagram-search")
    assert [row.lower for row in table.rows] == [None, None, 1, 1, 0]
    assert [row.upper for row in table.rows] == [None, None, 1, 1, 0]
    assert table.proved
    assert table.limit is None


def test_pass_throughs_in_a_size_table() -> None:
    """XOR on 1-1-2 has no errors with four tests, the root a pass-through; single solves say the same."""
    X, y = [[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    problem = tf.Problem(X, y, shape="diagram:1,1,2")
    for table in (problem.size_table(), problem.size_table("diagram-search")):
        assert [row.upper for row in table.rows] == [2, 2, 1, 1, 0]
        assert table.proved
        assert table.at(Fraction(1, 4)).objective == Fraction(1)
        assert table.at(Fraction(1, 8)).objective == Fraction(1, 2)
    result = problem.solve("diagram-search")
    assert (str(result.status), result.errors, result.graph.n_nodes) == ("optimal", 0, 4)
    assert result.graph.passes[0]
    strict = tf.Problem(X, y, shape="diagram:1,1,2").add(tf.MinSupport(1))
    assert strict.size_table("diagram-search").rows[-1].upper == 1
    assert strict.solve("diagram-search", warm_start=result.graph).errors == 1


def test_without_a_model_a_row_is_asked_for_all_values_at_once() -> None:
    """Between nothing and the first model lie a million values, which are not asked for one by one."""
    X = [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1.0, 0.0]]
    problem = tf.Problem(X, [0, 1, 1, 1, 1], shape=tf.Tree(1), sample_weight=[1, 10**6, 1, 1, 1])
    curve = (problem + tf.AccuracyParity(groups=[1, 0, 1, 0, 0], ratio=1)).pareto()
    assert curve.proved


def test_the_largest_tree_and_its_prunings_are_models_of_all_sizes() -> None:
    """Before a search for all sizes: the proved tree is the last row, and no row is left with the constant model."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3)).round(1)
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.5) ^ (rng.random(80) < 0.1)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    bounds = SizeBounds(problem.question)
    enter_trees_of_each_depth(bounds, Budget())
    known = [row.upper for row in bounds.rows]
    exact = [row.upper for row in problem.size_table().rows]
    assert known[-1] == exact[-1] == bounds.rows[-1].lower
    assert all(one is not None and one >= least for one, least in zip(known[1:], exact[1:], strict=True))
    limited = problem.size_table(time_limit=250)
    assert [row.upper for row in limited.rows] == exact


def test_few_tests_are_no_worse_than_in_the_best_trees_of_less_depth() -> None:
    """The prunings of the largest tree have no model of one test that is as good as the best one."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3)).round(1)
    y = ((X[:, 0] > 0.7) | ((X[:, 1] > 0) ^ (X[:, 2] > 0))).astype(int)
    question = tf.Problem(X, y, shape=tf.Tree(3)).question
    bounds = SizeBounds(question)
    enter_trees_of_each_depth(bounds, Budget())
    for depth, tests in ((1, 1), (2, 3)):
        assert bounds.row(tests).upper <= tf.Problem(X, y, shape=tf.Tree(depth)).solve().errors
