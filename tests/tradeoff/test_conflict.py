"""Prices of requirements and conflicts between them, against enumeration; and the commands."""

from __future__ import annotations

import json
from contextlib import nullcontext
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
from treeform.requirements import MaxErrors
from treeform.solve.result import Status
from treeform.testing import all_models, brute_force
from treeform.tradeoff import asking
from treeform.tradeoff.conflict import rounded
from treeform.utils.budget import Limit


def table(seed: int = 0, n: int = 14) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows that agree in a and b agree in the label."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.integers(0, 4, n), "b": rng.integers(0, 3, n), "s": rng.integers(0, 2, n)})
    labels = rng.integers(0, 2, (4, 3))
    labels[X["a"][0], X["b"][0]] = 1 - labels[X["a"][1], X["b"][1]]
    X.loc[:1, "s"] = [0, 1]
    return X, labels[X["a"], X["b"]]


def problem(seed: int = 0, *requirements: tf.Requirement, depth: int = 2) -> tf.Problem:
    found = tf.Problem(*table(seed), shape=tf.Tree(depth), exclude=["s"])
    return found.add(requirements)


def satisfiable(p: tf.Problem, requirements: list[tf.Requirement]) -> bool:
    return any(not any(r.violation(g, p.data) for r in requirements) for g in all_models(p.data, p.shape))


PARITY = tf.StatisticalParity(groups="s", difference="0.05")


# -- prices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_prices_are_those_of_brute_force(seed: int) -> None:
    p = problem(seed, PARITY, tf.MinSupport(2), tf.MaxNodes(2))
    result = p.solve()
    prices = result.prices()

    def optimum(requirements):
        return brute_force(p.data, p.shape, p.objective, requirements)[0]

    whole = list(p.requirements)
    want = [optimum(whole) - optimum([r for r in whole if r is not one]) for one in whole]
    want.append(optimum(whole) - optimum([]))
    assert [row.least for row in prices.rows] == want == [row.most for row in prices.rows]
    assert all(row.proved for row in prices.rows) and prices.limit is None
    assert [row.requirement for row in prices.rows] == [*p.question.labels, "all requirements"]
    frame = prices.to_frame()
    assert frame["price"].tolist() == [float(v) for v in want] and frame["proved"].all()
    assert p.question.labels[0] in str(prices)


def test_the_price_of_what_is_not_proved_is_a_range() -> None:
    from dataclasses import replace

    from treeform.tradeoff.prices import Price

    p = problem(1, PARITY)
    result = p.solve()
    without = tf.Problem(p.data, None, shape=p.shape).solve()
    assert result.objective is not None and without.objective is not None
    open_ = replace(without, bound=without.objective - 2, status=Status.FEASIBLE)
    price = Price("x", result, open_)
    exact = result.objective - without.objective
    assert (price.least, price.most) == (exact, exact + 2) and not price.proved and "open" in str(price)
    impossible = replace(result, graph=None, objective=None, status=Status.INFEASIBLE)
    assert "without it there is a model" in str(Price("x", impossible, without))
    assert "as well" in str(Price("x", impossible, impossible))


def test_prices_without_requirements_and_of_one() -> None:
    assert problem(0).solve().prices().rows == ()
    one = problem(0, PARITY).solve().prices()
    assert [row.requirement for row in one.rows][1:] == ["all requirements"]
    assert one.rows[0].without is one.rows[1].without


# -- conflicts ------------------------------------------------------------------------------------------


CASES = [
    (3, [PARITY, tf.MinSupport(4), tf.MaxErrors(1), tf.MaxNodes(3)]),
    (4, [tf.StatisticalParity(groups="s", ratio="0.97"), tf.MinSupport(3), tf.MaxErrors(1)]),
    (5, [tf.FeatureBudget(1), tf.MaxErrors(0.1), tf.MinSupport(2)]),
    (6, [tf.MaxNodes(1), tf.MaxErrors(1), tf.Stability(0.5)]),
    (7, [PARITY, tf.Stability(9), tf.MaxErrors(2)]),
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("seed", "requirements"), CASES)
def test_a_conflict_is_minimal_and_relaxations_are_the_smallest(seed, requirements) -> None:
    p = problem(seed)
    try:
        p += requirements
    except SpecError:
        pytest.fail("the case is refused before anything is solved")
    whole = list(p.requirements)
    found = p.conflict()
    if satisfiable(p, whole):
        assert found is None
        return
    assert found is not None and found.proved and found.minimal
    by_label = dict(zip(p.question.labels, whole, strict=True))
    members = [by_label[label] for label in found.requirements]
    assert not satisfiable(p, members)
    for one in members:
        assert satisfiable(p, [r for r in members if r is not one])
    assert [r.requirement for r in found.relaxations] == list(found.requirements)
    for relaxation in found.relaxations:
        own = by_label[relaxation.requirement]
        assert isinstance(own, tf.Bounded)
        others = [r for r in whole if r is not own]
        measures = [
            own.measured(g, p.data)
            for g in all_models(p.data, p.shape)
            if not any(r.violation(g, p.data) for r in others)
        ]
        best = None if not measures else min(measures) if own.is_upper else max(measures)
        assert relaxation.bound == best and relaxation.proved
        if best is not None:
            moved = own.with_bound(best)
            assert (
                relaxation.result.objective == brute_force(p.data, p.shape, p.objective, [*others, moved])[0]
            )


def test_most_of_these_cases_conflict() -> None:
    assert sum(problem(seed, *many).conflict() is not None for seed, many in CASES) >= 4


def test_every_part_has_a_certificate_that_holds() -> None:
    p = problem(3, *CASES[0][1])
    found = p.conflict()
    assert found is not None
    X, y = table(3)
    certificates = found.certificates()
    assert set(certificates) == {"conflict", *(f"without {label}" for label in found.requirements)}
    for certificate in certificates.values():
        assert tf.check(certificate, X, y).ok
    written = json.loads(json.dumps(found.to_json()))
    assert written["proved"] and written["minimal"]
    parts = [one[name] for one in written["relaxations"] for name in ("certificate", "refuted")]
    assert all(tf.check(part, X, y).ok for part in parts if part is not None)
    assert sum(part is not None for part in parts) >= len(parts) / 2


def test_a_result_that_is_infeasible_says_how_to_go_on() -> None:
    p = problem(3, *CASES[0][1])
    result = p.solve()
    assert result.status is Status.INFEASIBLE
    assert any("result.conflict()" in note for note in result.notes)
    found, other = result.conflict(), p.conflict()
    assert found is not None and other is not None
    assert found.requirements == other.requirements and str(found) == str(other)
    assert problem(3).solve().conflict() is None


def test_a_conflict_on_a_solver() -> None:
    p = problem(6, tf.MaxNodes(1), MaxErrors(0))
    found, native = p.conflict("highs", formulation="odd"), p.conflict()
    assert found is not None and native is not None and found.minimal
    assert found.requirements == native.requirements
    assert [r.bound for r in found.relaxations] == [r.bound for r in native.relaxations]


def test_what_no_time_leaves_is_not_called_a_conflict() -> None:
    found = problem(3, *CASES[0][1]).conflict("highs", formulation="odd", time_limit=1e-3)
    assert found is None or found.proved or "not proved" in str(found)


def test_bounds_are_rounded_so_that_they_would_do() -> None:
    assert rounded(Fraction(1, 3), looser_is_up=True) == "0.3334"
    assert rounded(Fraction(1, 3), looser_is_up=False) == "0.3333"
    assert rounded(Fraction(7), looser_is_up=True) == "7"
    assert rounded(Fraction(123456, 7), looser_is_up=True) == "17640"


# -- commands -------------------------------------------------------------------------------------------


def run(tmp_path: Path, command: str, *words: object) -> object:
    X, y = table(3)
    path = tmp_path / "table.csv"
    X.assign(y=y).to_csv(path, index=False)
    start = [command, str(path), "--target", "y", "--shape", "tree:2", "--exclude", "s"]
    return CliRunner().invoke(app, [*start, *map(str, words)], env={"COLUMNS": "200", "NO_COLOR": "1"})


def test_the_command_conflict(tmp_path: Path) -> None:
    out = tmp_path / "conflict.json"
    require = ["--require", "min_support:4", "--require", "max_errors:1", "--require", "max_nodes:3"]
    done = run(tmp_path, "conflict", *require, "-o", out)
    assert done.exit_code == 3, done.output
    assert " conflicts with " in done.stdout and "is the best possible" in done.stdout
    assert json.loads(out.read_text())["minimal"]
    fine = run(tmp_path, "conflict", "--require", "max_nodes:3")
    assert fine.exit_code == 0 and "no conflict" in fine.stdout
    fitted = run(tmp_path, "fit", *require)
    assert fitted.exit_code == 3 and " conflicts with " in fitted.stdout


def test_fit_with_prices(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    require = ["--require", "min_support:3", "--require", "statistical_parity:groups=s,difference=0.05"]
    done = run(tmp_path, "fit", *require, "--prices", "--report", page)
    assert done.exit_code == 0, done.output
    assert "what each requirement costs" in done.stdout and "all requirements" in done.stdout
    assert "What each requirement costs" in page.read_text()


# -- limits ---------------------------------------------------------------------------------------------


def told(found) -> list[object]:
    return [
        found.requirements,
        found.minimal,
        [(one.requirement, one.bound, one.proved) for one in found.relaxations],
    ]


def conflicting() -> tf.Problem:
    return problem(0, tf.MaxErrors(2), tf.MinSupport(4), tf.MaxNodes(2))


@pytest.mark.parametrize("first", [0, 1, 3])
def test_what_is_left_open_is_asked_again(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """Some answers after the first ones end at a limit, and the time that is left decides the same as no limit."""
    whole = conflicting().conflict()
    assert whole.minimal and whole.relaxations
    solve, asked = asking.solve_certified, []

    def weak(question, options):
        asked.append(options.time_limit)
        with ended_after(1, Limit.TIME) if first < len(asked) <= first + 4 else nullcontext():
            return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", weak)
    found = conflicting().conflict(time_limit=1000.0)
    assert asked[0] > 900  # all else rests on it
    assert told(found) == told(whole)
    assert found.limit is None


def test_a_question_that_breaks_down_leaves_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = conflicting().conflict()
    solve, asked = asking.solve_certified, []

    def breaks(question, options):
        asked.append(question)
        if len(asked) > 1:
            raise SolverFailed("it is gone")
        return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", breaks)
    found = conflicting().conflict()
    assert found.proved and not found.minimal
    assert found.requirements == conflicting().question.labels
    assert found.limit is Limit.SOLVER
    assert any("it is gone" in note for note in found.notes)
    assert len(whole.requirements) <= len(found.requirements)
