"""A solver that breaks down is a note of the result, where a model was found before."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from misbehaving import Misbehaving
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.errors import SolverFailed

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
