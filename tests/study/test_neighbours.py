"""What runs of a sweep give to each other: models and bounds; proofs hold without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from study_samples import table, under_parity

import treeform as tf
from treeform.study import subject
from treeform.study.neighbours import has_all_models


@pytest.fixture
def problem() -> tf.Problem:
    return under_parity()


def test_neighbours_pass_their_models_on(problem: tf.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = []
    usual = subject.solve

    def solve(question: Any, options: Any) -> Any:
        starts.append(options.warm_start)
        return usual(question, options)

    monkeypatch.setattr(subject, "solve", solve)
    tf.sweep(problem, {"statistical_parity__difference": ["0.05", "0.1", "0.5"]})
    assert starts[0] == "auto"
    assert all(isinstance(start, tf.DecisionGraph) for start in starts[1:])


LEARNT = [
    {"price": [0, 9, 4], "shape": ["tree:2", "tree:1"]},
    {"statistical_parity__difference": ["0.5", "0.2", "0.1", "0.3"]},
    {"alpha": ["0", "0.5", "0.2"], "shape": ["diagram:1,2"]},
]


@pytest.mark.parametrize("grid", LEARNT)
@pytest.mark.parametrize("solver", [[], ["cp-sat"]])
def test_bounds_pass_between_neighbours(
    problem: tf.Problem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    grid: dict[str, Any],
    solver: list[str],
) -> None:
    chosen = {"solver": solver} if solver else {}
    # Two seeds without folds: the same rows twice, and shapes learn from each other.
    study = tf.sweep(problem, grid | chosen | {"rows": [90]}, seeds=[0, 1], folder=tmp_path)
    certificates = [json.loads((tmp_path / path).read_text()) for path in study.table["certificate"]]
    assert "solver" not in grid | chosen or study.summary()["solver"].eq("cp-sat").all()
    by = [claim["metadata"]["by"] for one in certificates for claim in one["claims"]]
    assert any("of the study" in name for name in by)
    frame = table()
    for certificate in certificates:
        assert tf.check(certificate, frame.drop(columns="y"), frame["y"]).ok
    monkeypatch.setattr(subject, "bounds_from", lambda *known: [])
    alone = tf.sweep(problem, grid | {"rows": [90]}, seeds=[0, 1])
    pd.testing.assert_frame_equal(study.table[["objective", "bound"]], alone.table[["objective", "bound"]])


def rows_of(folder: Path) -> list[Path]:
    """The files of the runs of a study, without their certificates."""
    return sorted(path for path in (folder / "runs").iterdir() if path.name.count(".") == 1)


def test_bounds_never_come_from_questions_that_have_fewer_models(problem: tf.Problem) -> None:
    def at(shape: str, difference: str) -> Any:
        one = tf.Problem(table(), "y", shape=shape, exclude=["sex"])
        return one.add(tf.StatisticalParity("sex", difference=difference, positive=1)).question

    assert has_all_models(at("tree:3", "0.2"), at("tree:2", "0.1"))
    assert has_all_models(at("tree:2", "0.2"), at("tree:2", "0.2"))
    assert not has_all_models(at("tree:2", "0.1"), at("tree:2", "0.2"))
    assert not has_all_models(at("tree:1", "0.2"), at("tree:2", "0.2"))
    assert not has_all_models(at("diagram:1,1", "0.2"), at("tree:1", "0.2"))
    other = problem.question.with_(requirements=(tf.MaxNodes(2),))
    assert not has_all_models(problem.question, other)
    assert not has_all_models(other, problem.question.with_(requirements=(tf.MaxNodes(3),)))
    assert has_all_models(other, problem.question.with_(requirements=(tf.MaxNodes(1),)))
