"""Frontiers against enumeration, what a time limit keeps, certificates of points, and the command."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ended_early import ended_after
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.errors import SolverFailed, SpecError
from treeform.graph import DecisionGraph
from treeform.language.rational import least_above, least_at_least
from treeform.solve.result import Status
from treeform.testing import all_models, draw_cases
from treeform.tradeoff import asking
from treeform.utils.budget import Limit

AXES = {
    "difference": tf.StatisticalParity(groups="group", positive=None),
    "ratio": tf.StatisticalParity(groups="group", ratio=0.5),
    "opportunity": tf.EqualOpportunity(groups="group", difference=None),
    "odds": tf.EqualizedOdds(groups="group", ratio=0.9),
    "tests": tf.MaxNodes(1),
    "columns": tf.FeatureBudget(1),
    "errors": tf.MaxErrors(fraction=0.5),
    "support": tf.MinSupport(fraction=0.1),
    "flow": tf.Stability(fraction=0.1),
}


class AtMostTests(tf.Bounded):
    """A user's own requirement with a bound."""

    needs = frozenset({"active"})
    demands_tests = False

    def __init__(self, most: int) -> None:
        self.most = most

    def build(self, model, ports):
        model.add(ports.active.sum() <= self.most)

    def violation(self, graph, data):
        return max(0, graph.n_nodes - self.most)

    @property
    def bound(self):
        return self.most

    def with_bound(self, bound):
        return AtMostTests(int(bound))

    def measured(self, graph, data):
        return graph.n_nodes


def expected(problem: tf.Problem, axis: tf.Requirement) -> list[tuple[Fraction, Fraction]]:
    """(measure, objective) of every model that no other beats, the loosest first."""
    data = problem.data
    bound = axis.bind(data)
    assert isinstance(bound, tf.Bounded)
    sign = 1 if bound.is_upper else -1
    pairs = {
        (sign * Fraction(bound.measured(g, data)), Fraction(problem.objective.evaluate(g, data)))
        for g in all_models(data, problem.shape)
        if not any(r.violation(g, data) for r in problem.requirements)
    }
    best = {p for p in pairs if not any(o != p and o[0] <= p[0] and o[1] <= p[1] for o in pairs)}
    return [(sign * v, f) for v, f in sorted(best, reverse=True)]


def two_classes(count: int, seed: int) -> list[tf.Problem]:
    found = []
    for case in draw_cases(12 * count, seed, shapes=(tf.Tree(2),)):
        if case.data.n_classes == 2 and len(found) < count:
            problem = tf.Problem(
                case.frame, case.labels, shape=case.shape, sample_weight=case.weights, exclude=["group"]
            )
            found.append(problem.minimize(case.objective))
    return found


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """A table with groups and a label that depends on them."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(
        {"a": rng.integers(0, 3, 40), "b": rng.integers(0, 3, 40), "group": rng.integers(0, 2, 40)}
    )
    y = (X["group"] + (rng.random(40) < 0.4) + (X["a"] > 1)).to_numpy() > 1
    X["a"] = np.where(rng.random(40) < 0.7, X["group"] + X["a"] // 2, X["a"])
    return X, y


def long_frontier() -> tf.Problem:
    """A problem with four points or more."""
    return tf.Problem(*table(), shape="tree:2", exclude=["group"])


@pytest.mark.drawn(5)
@pytest.mark.parametrize("name", AXES)
def test_the_points_are_those_of_enumeration(name: str) -> None:
    axis = AXES[name]
    for problem in two_classes(1, seed=sum(map(ord, name))):
        found = problem.frontier(over=axis)
        assert found.proved and found.limit is None
        assert [(p.value, p.objective) for p in found.points] == expected(problem, axis)
        for point in found.points:
            assert point.result.status is Status.OPTIMAL
            assert point.result.violations == dict.fromkeys(point.result.violations, 0)


def test_requirements_of_the_problem_hold_and_its_own_bound_is_moved() -> None:
    for problem in two_classes(1, seed=5):
        problem += [tf.MaxNodes(2), tf.StatisticalParity(groups="group", difference="0.4")]
        alone = tf.Problem(problem.data, None, shape=problem.shape).minimize(problem.objective)
        alone += tf.MaxNodes(2)
        want = expected(alone, AXES["difference"])
        for over in (AXES["difference"], "statistical_parity", problem.question.labels[1]):
            found = problem.frontier(over=over)
            assert [(p.value, p.objective) for p in found.points] == want
        both = problem.frontier(over=AXES["ratio"])  # another form: the difference of the problem stays
        assert [(p.value, p.objective) for p in both.points] == expected(problem, AXES["ratio"])


def test_a_range_of_bounds() -> None:
    problem = long_frontier()
    whole = problem.frontier(over=AXES["difference"])
    values = [p.value for p in whole.points]
    assert len(values) >= 4
    part = problem.frontier(over=AXES["difference"], between=(values[1], values[-2]))
    assert [(p.value, p.objective) for p in part.points] == [
        (p.value, p.objective) for p in whole.points[1:-1]
    ] and part.proved
    assert part.at(values[1]).value == values[1]
    for outside in (values[0], values[-1]):
        with pytest.raises(SpecError, match="says nothing of the bound"):
            part.at(outside)
    between = Fraction(values[0] + values[1]) / 2
    assert whole.at(between) is whole.points[1]
    assert whole.at("0.99") is whole.points[0]
    # The tightest bound itself is asked about even where it lies between two points.
    half = problem.frontier(over=AXES["difference"], between=(None, between))
    assert [p.value for p in half.points] == values[:2]


@pytest.mark.parametrize("name", ["difference", "ratio"])
def test_a_soft_bound_is_paid_for(name: str) -> None:
    """The least objective + price * lack over all models, which may be between the hard bound and none."""
    problem, axis, chosen = long_frontier(), AXES[name], set()
    bound = axis.bind(problem.data)
    assert isinstance(bound, tf.Bounded)
    models = {
        (Fraction(bound.measured(g, problem.data)), Fraction(problem.objective.evaluate(g, problem.data)))
        for g in all_models(problem.data, problem.shape)
    }
    frontier = problem.frontier(over=axis)
    part = problem.frontier(over=axis, between=(None, frontier.points[1].value))
    sign = 1 if bound.is_upper else -1
    asked = frontier.points[-1].value
    for price in ("0", "5", "20", "200"):
        found = frontier.soft(asked, price)
        want = min(f + Fraction(price) * max(Fraction(0), sign * (v - asked)) for v, f in models)
        assert found is not None and found.proved and found.value == want == found.lower
        assert found.value == found.point.objective + Fraction(price) * found.lack
        chosen.add(found.point.value)
        cut = part.soft(asked, price)
        assert cut is not None and cut.lower is not None and cut.lower <= want <= cut.value
        assert not cut.proved or cut.value == want
    assert len(chosen) >= 2
    with pytest.raises(SpecError, match="price of -1"):
        frontier.soft(asked, -1)


def test_a_requirement_of_ones_own_on_a_solver() -> None:
    problem = two_classes(1, seed=3)[0]
    found = problem.frontier("highs", over=AtMostTests(1), formulation="odd")
    assert found.proved
    assert [(p.value, p.objective) for p in found.points] == expected(problem, AtMostTests(1))


def test_three_groups_and_weights() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.integers(0, 3, 14), "b": rng.integers(0, 2, 14)})
    problem = tf.Problem(X, rng.integers(0, 2, 14), shape="tree:2", sample_weight=rng.integers(1, 8, 14) / 4)
    for form in ({"difference": None}, {"ratio": "0.7"}):
        axis = tf.StatisticalParity(groups=np.array(list("pqr"))[np.arange(14) % 3], **form)
        found = problem.frontier(over=axis)
        assert found.proved
        assert [(p.value, p.objective) for p in found.points] == expected(problem, axis)


def test_every_point_has_a_certificate_that_holds() -> None:
    problem = long_frontier()
    found = problem.frontier(over=AXES["difference"])
    assert len(found.certificates()) == len(found.points) + (found.end is not None)
    for certificate in found.certificates():
        assert tf.check(certificate, *table()).ok
    written = json.loads(json.dumps(found.to_json()))
    assert [Fraction(p["value"]) for p in written["points"]] == [p.value for p in found.points]


def test_a_model_of_a_tighter_bound_serves_the_looser_one() -> None:
    """Steps of one objective are one point, and its certificate is of the loosest bound with the last model."""
    X = pd.DataFrame({"a": [0, 0, 1, 1, 0, 1], "b": [0, 1, 0, 1, 1, 0], "g": list("ppqqpq")})
    problem = tf.Problem(X, [0, 1, 0, 1, 0, 1], shape="tree:1", exclude=["g"])
    found = problem.frontier(over=tf.StatisticalParity(groups="g", difference=None))
    assert [(p.value, p.objective) for p in found.points] == expected(
        problem, tf.StatisticalParity(groups="g", difference=None)
    )
    assert all(p.result.objective == p.objective for p in found.points)
    assert found.points[0].until is None
    assert [p.until for p in found.points[1:]] == [p.value for p in found.points[:-1]]


def test_infeasible_at_every_bound() -> None:
    problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape="tree:1")
    problem += tf.MaxErrors(0)
    found = problem.frontier(over=tf.MaxNodes(1))
    assert found.complete and not found.points and found.at(1) is None
    assert "no model satisfies" in str(found)


def test_what_a_limit_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points before the limit stay proved, the open one says its bound, and a model of a tighter bound replaces it."""
    problem = long_frontier()
    whole = problem.frontier(over=AXES["difference"])
    solve, asked = asking.solve_certified, []

    def cut(question, options):
        result = solve(question, options)
        asked.append(question)
        if len(asked) < 3:
            return result
        return replace(
            result,
            graph=DecisionGraph.leaf(1, question.data),
            status=Status.FEASIBLE,
            limit=Limit.TIME,
            objective=int((question.data.y != 1).sum()),
        )

    monkeypatch.setattr(asking, "solve_certified", cut)
    found = problem.frontier(over=AXES["difference"])
    assert not found.proved and found.limit is Limit.TIME
    assert [(p.value, p.proved) for p in found.points[:2]] == [(p.value, True) for p in whole.points[:2]]
    assert not found.points[-1].proved and "open, at least" in str(found)
    assert found.points[-1].lower == whole.points[2].objective


def test_open_bounds_are_asked_again_with_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answers are the models without a test, which no bound excludes; the others are whole."""
    problem = long_frontier()
    whole = problem.frontier(over=AXES["difference"])
    assert len(whole.points) >= 4
    solve, given = asking.solve_certified, []

    def weak_at_first(question, options):
        given.append(options.time_limit)
        with ended_after(1, Limit.TIME) if len(given) <= 3 else nullcontext():
            return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", weak_at_first)
    found = problem.frontier(over=AXES["difference"], time_limit=1000.0)
    assert [(p.value, p.objective, p.lower) for p in found.points] == [
        (p.value, p.objective, p.lower) for p in whole.points
    ]
    assert found.proved and found.limit is None
    assert given[0] < 251 and given[1] > 700  # all that is left for the one bound that is open


def test_a_bound_that_breaks_down_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = long_frontier()
    whole = problem.frontier(over=AXES["difference"])
    solve, asked = asking.solve_certified, []

    def breaks(question, options):
        asked.append(question)
        if len(asked) == 3:
            raise SolverFailed("it is gone")
        return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", breaks)
    found = problem.frontier(over=AXES["difference"])
    assert [p.value for p in found.points] == [p.value for p in whole.points[:2]]
    assert not found.complete and found.limit is Limit.SOLVER
    assert any("it is gone" in note for note in found.notes)
    asked[:] = [None, None]
    with pytest.raises(SolverFailed):
        problem.frontier(over=AXES["difference"])


def test_no_time_at_all_is_refused_and_little_time_is_kept_to() -> None:
    problem = two_classes(1, seed=8)[0]
    with pytest.raises(SpecError, match="time limit"):
        problem.frontier(over=AXES["tests"], time_limit=0)
    found = problem.frontier(over=AXES["tests"], time_limit=1e-6)
    assert not found.complete and "tighter bounds are open" in str(found)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda p: p.frontier(over=3), "is no requirement"),
        (lambda p: p.frontier(over="statistical_parity"), "names no requirement of the problem"),
        (lambda p: p.frontier(over=tf.Monotone("age")), "has no numeric bound"),
        (lambda p: p.frontier(over=AXES["tests"], between=3), "is no range of bounds"),
        (lambda p: p.frontier(over=AXES["tests"], between=(1, 2)), "cannot begin at 1 and end at 2"),
        (lambda p: p.frontier(over=AXES["ratio"], between=(2, None)), "ratio 2 is not possible"),
        (lambda p: p.frontier(over=AXES["tests"], between=("x", None)), "cannot be a bound"),
        (lambda p: p.add(AXES["difference"]), "has no bound"),
    ],
)
def test_what_is_refused_before_a_solver_starts(make, text, monkeypatch) -> None:
    monkeypatch.setattr(asking, "solve_certified", lambda *_: pytest.fail("a solver was started"))
    with pytest.raises(SpecError, match=text):
        make(two_classes(1, seed=8)[0])


def test_counts_of_uneven_weights_cannot_be_moved() -> None:
    problem = tf.Problem([[0.0], [1.0]], ["a", "b"], shape="tree:1", sample_weight=[0.25, 1.5])
    with pytest.raises(SpecError, match="cannot be moved step by step"):
        problem.frontier(over=tf.MinSupport(1))
    assert problem.frontier(over=tf.MinSupport(0.1)).proved


def test_fractions_next_to_a_number() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        largest = int(rng.integers(1, 12))
        value = Fraction(int(rng.integers(0, 60)), int(rng.integers(1, 40)))
        every = {Fraction(p, q) for q in range(1, largest + 1) for p in range(62 * q)}
        assert least_at_least(value, largest) == min(f for f in every if f >= value)
        assert least_above(value, largest) == min(f for f in every if f > value)


def test_the_command(tmp_path: Path) -> None:
    X, y = table()
    path, out, plot = tmp_path / "table.csv", tmp_path / "frontier.json", tmp_path / "frontier.svg"
    X.assign(y=y.astype(int)).to_csv(path, index=False)
    words = ["frontier", str(path), "--target", "y", "--shape", "tree:2", "--exclude", "group", "-q"]
    over = ["--over", "statistical_parity:groups=group"]
    done = CliRunner().invoke(app, [*words, *over, "-o", str(out), "--plot", str(plot)])
    assert done.exit_code == 0, done.output
    points = json.loads(out.read_text())["points"]
    assert done.stdout.splitlines()[0].split() == ["difference", "error", "errors", "tests"]
    assert len(done.stdout.splitlines()) >= len(points) + 1
    assert plot.read_text().count("<circle") == len(points)
    part = CliRunner().invoke(app, [*words, *over, "--from", "0.2", "--to", "0.1"])
    assert part.exit_code == 0 and len(part.stdout) < len(done.stdout)
    named = CliRunner().invoke(app, [*words, "--require", "max_nodes:2", "--over", "max_nodes"])
    assert named.exit_code == 0 and named.stdout.split()[0] == "tests"
    wrong = CliRunner().invoke(app, [*words, "--over", "monotone:a"])
    assert wrong.exit_code == 2 and "no numeric bound" in wrong.output
