"""A solver that breaks down is a note of the result, where a model was found before."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from misbehaving import Misbehaving
from typer.testing import CliRunner

import treeform as tf
from treeform.backends import Answer, Run, Session, Verdict
from treeform.backends.TEMPLATE import Enumeration, EnumerationSession
from treeform.backends.watch import Watch
from treeform.cli.app import app
from treeform.errors import SolverFailed
from treeform.model import Model
from treeform.utils import budget

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
SAID = {"killed": "SIGKILL", "crash on import": "SIGABRT", "hang": "did not stop"}


def problem(*requirements: tf.Requirement) -> tf.Problem:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (24, 3)).astype(float)
    stated = tf.Problem(X, rng.integers(0, 2, 24), shape="tree:2")
    for requirement in requirements:
        stated += requirement
    return stated


@pytest.mark.drawn(1)
@posix
@pytest.mark.parametrize("fault", SAID)
def test_models_and_bounds_found_before_are_kept(fault: str) -> None:
    native = problem().solve("contree")
    result = problem().solve(
        Misbehaving(fault),
        formulation="odd",
        warm_start=native.graph,
        isolate=True,
        time_limit=6.0 if fault == "hang" else None,
    )
    assert (result.status, result.objective) == (tf.Status.FEASIBLE, native.objective)
    assert result.bound is not None
    assert result.limit in (tf.Limit.SOLVER, tf.Limit.TIME)
    assert any(SAID[fault] in note for note in result.notes)


@pytest.mark.slow
@posix
def test_without_any_model_the_failure_is_the_error() -> None:
    with pytest.raises(SolverFailed, match="SIGKILL"):
        problem(tf.MaxErrors(7)).solve(Misbehaving("killed"), warm_start=None, isolate=True)


def test_isolation_changes_no_result() -> None:
    there, here = (
        problem(tf.MaxNodes(2)).solve("highs", warm_start=None, isolate=isolate) for isolate in (True, False)
    )
    assert (there.status, there.objective, there.solver) == (here.status, here.objective, here.solver)
    assert {claim.by for claim in there.claims} == {claim.by for claim in here.claims}


def test_native_engines_are_not_isolated() -> None:
    result = problem().solve(isolate=True)
    assert any("isolate has no effect" in note for note in result.notes)


def test_isolate_on_the_command_line_and_in_a_specification(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("x,y\n" + "".join(f"{i % 5},{'ab'[i % 5 > 2]}\n" for i in range(15)))
    spec = tmp_path / "spec.toml"
    spec.write_text('data = "table.csv"\ntarget = "y"\nshape = "tree:1"\nsolver = "highs"\nisolate = true\n')
    for words in (
        [str(table), "--target", "y", "--shape", "tree:1", "--solver", "highs", "--isolate"],
        ["--spec", str(spec)],
    ):
        done = CliRunner().invoke(
            app, ["fit", *words, "--warm-start", "none", "--verbose"], env={"COLUMNS": "200"}
        )
        assert done.exit_code == 0, done.output
        assert "optimal" in done.output


class Late(Enumeration):
    """Reads its solution when its time is over, as programs with files for solutions do."""

    name = "late"

    def open(self, model: Model) -> Session:
        return LateSession(self, model)


class LateSession(EnumerationSession):
    grace = 60.0

    def _search(self, run: Run, watch: Watch) -> Answer:
        Clock.ahead = 10**6
        time.sleep(0.3)  # the watch looks at the limits about twenty times a second
        asked_to_end.append(watch.ending)
        return Answer(Verdict.UNKNOWN, reason="time")


class Clock:
    """The clock of a budget, which a solver can put forward: on a machine of any speed the time is over in it."""

    ahead = 0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


asked_to_end: list[bool] = []


def test_a_solver_may_end_by_itself_at_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "time", Clock())
    monkeypatch.setattr(Clock, "ahead", 0)
    asked_to_end.clear()
    result = problem(tf.MaxNodes(2)).solve(Late(), formulation="odd", warm_start=None, time_limit=10**5)
    assert result.limit is tf.Limit.TIME and asked_to_end == [False]
