"""The curve depth x tests x errors against enumeration, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.errors import SpecError
from treeform.testing import all_models


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.integers(0, 2, (14, 3)), columns=list("abc"))
    return X, ((X["a"] ^ X["b"]) | (rng.random(14) < 0.2)).to_numpy().astype(int)


@pytest.mark.parametrize("solver", [None, "glucose42"])
def test_the_curve_is_that_of_enumeration(solver: str | None) -> None:
    X, y = table()
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    found = problem.pareto(solver, warm_start=None)
    assert found.proved and all(p.proved for p in found.points)
    models = {
        (g.depth, g.n_nodes, int((g.predict_codes(problem.data.X) != problem.data.y).sum()))
        for g in all_models(problem.data, tf.Tree(2))
    }
    best = {
        m
        for m in models
        if not any(o != m and all(a <= b for a, b in zip(o, m, strict=True)) for o in models)
    }
    assert {(p.depth, p.tests, p.value) for p in found.points} == best
    for p in found.points:
        assert (p.graph.depth, p.graph.n_nodes) == (p.depth, p.tests)


def test_tests_are_those_of_the_shape() -> None:
    # The sum of the two columns separates the classes; no single column does.
    X = pd.DataFrame({"a": [0, 1, 2, 3, 0, 1, 2, 3], "b": [3, 2, 1, 0, 4, 3, 2, 1]})
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    found = tf.Problem(X, y, shape=tf.Tree(2, splits="multivariate")).pareto()
    assert found.proved
    assert [(p.depth, p.tests, p.value) for p in found.points] == [(0, 0, 4), (1, 1, 0)]
    assert all(table.question.shape.splits == "multivariate" for table in found.tables.values())


def test_diagrams_have_no_depths() -> None:
    X, y = table()
    with pytest.raises(SpecError, match="no curve over depths"):
        tf.Problem(X, y, shape=tf.Diagram(1, 2)).pareto()


def test_the_command(tmp_path: Path) -> None:
    X, y = table()
    path, out = tmp_path / "table.csv", tmp_path / "curve.json"
    X.assign(y=y).to_csv(path, index=False)
    done = CliRunner().invoke(
        app,
        ["pareto", str(path), "--target", "y", "--shape", "tree:2", "-q", "-o", str(out)],
    )
    assert done.exit_code == 0, done.output
    points = json.loads(out.read_text())["points"]
    assert [p["tests"] for p in points] == sorted(p["tests"] for p in points)
    assert done.stdout.count("\n") == len(points) + 1
    refused = CliRunner().invoke(
        app, ["pareto", str(path), "--target", "y", "--shape", "tree:2", "--threads", "2"]
    )
    assert refused.exit_code == 2
    assert "--solver" in refused.output


def test_a_curve_that_was_cut_short_is_not_proved(monkeypatch):
    """Depth 1 alone is complete, and depth 2 was not looked at."""
    from treeform.solve.result import SolveOptions
    from treeform.utils.budget import Budget

    problem = tf.Problem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], shape=tf.Tree(2))
    whole = problem.pareto()
    assert whole.proved and whole.depth == 2 and [p.value for p in whole.points] == [2, 1, 0]

    class Spent(Budget):
        def stop(self):
            return True

    limits = iter([Spent()])  # of the curve; each table has its own
    monkeypatch.setattr(SolveOptions, "budget", lambda options: next(limits, Budget()))
    short = problem.pareto()
    assert list(short.tables) == [1] and short.tables[1].proved
    assert not short.proved
