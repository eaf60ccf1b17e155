"""The calibration protocol: what is run, that it can be taken up again, its tables, and the command."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.bench import odd as protocol
from treeform.bench.tables import calibrated, stability_table, table_one
from treeform.cli.app import app
from treeform.errors import SpecError
from treeform.formulations.odd import paper_objective


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "STEP_ONE_SECONDS", 0.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small sets, and one whose training half has one class."""
    where = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(1)
    for name, k in (("two", 2), ("three", 3)):
        X = rng.integers(0, 5, (40, 3)) / 4
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        frame["target"] = (X.sum(axis=1) * k / 3.1).astype(int)
        frame.to_csv(where / f"{name}.csv.gz", index=False)
    train = protocol.parts(8, 0)[0]
    y = np.ones(8, int)
    y[train] = 0
    pd.DataFrame({"a": range(8), "target": y}).to_csv(where / "one.csv.gz", index=False)
    return where


def bench(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(
        app, ["bench", "odd", *map(str, words)], env={"COLUMNS": "200", "NO_COLOR": "1"}
    )
    return done.exit_code, done.stdout, done.stderr


def test_parts_are_disjoint_shares() -> None:
    train, validation, test = protocol.parts(101, 3)
    assert (len(train), len(validation), len(test)) == (50, 25, 26)
    assert sorted(np.concatenate([train, validation, test])) == list(range(101))
    assert not np.array_equal(train, protocol.parts(101, 4)[0])


def test_a_draw_is_repeatable_and_its_head_is_a_smaller_draw(folder: Path) -> None:
    assert len(protocol.jobs_of(folder)) == 3 * 2 * 5
    drawn = protocol.jobs_of(folder, sample=12, draw=5)
    assert drawn == protocol.jobs_of(folder, sample=12, draw=5)
    assert len({job.key for job in drawn}) == 12
    assert drawn[:7] == protocol.jobs_of(folder, sample=7, draw=5)
    assert drawn != protocol.jobs_of(folder, sample=12, draw=6)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"sets": ("tow",)}, "no set 'tow'"),
        ({"splits": ("oblique",)}, "no kind of splits"),
        ({"skeletons": ("V",)}, "no skeleton 'V'"),
        ({"sample": 31}, "31 jobs cannot be drawn"),
    ],
)
def test_wrong_choices_are_refused(folder: Path, how: dict, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        protocol.jobs_of(folder, **how)


def test_one_ladder_answers_every_alpha_as_single_solves_do(folder: Path) -> None:
    rows = protocol.run_job(protocol.Job("three", "univariate", "I"), folder, 30)
    (X, y), *_ = protocol.read_parts(folder, "three", 0)
    shape = tf.Diagram(1, 2, 4, 8)
    assert [row["alpha"] for row in rows] == list(protocol.ALPHAS)
    for row in rows[2:]:
        problem = tf.Problem(X, y, shape=shape)
        goal = paper_objective(row["alpha"], problem.question.data, shape)
        direct = problem.minimize(goal).solve(tf.DiagramSearch(), time_limit=30)
        free = Fraction(row["alpha"]) / 14 if direct.graph.n_nodes else 0
        assert row["proved"] == 1
        assert row["objective"] == row["bound"] <= row["step1"]
        assert row["objective"] == pytest.approx(float(direct.objective - free), abs=1e-6)
        assert row["improved"] == (row["objective"] < row["step1"])
        assert 0 <= row["test"] <= 1


def test_each_run_can_have_its_own_time(folder: Path) -> None:
    job = protocol.Job("three", "univariate", "II")
    for limit in (1e-4, 30):
        rows = protocol.run_job(job, folder, limit, each_run=True)
        for row in rows:
            assert row["proved"] <= row["own_proved"]
            assert row["bound"] <= row["own_bound"] <= row["own_objective"] <= row["objective"]
            assert (row["own_seconds"] == 0) or not row["proved"]
    assert all(row["own_proved"] for row in rows)


def test_a_run_is_taken_up_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    jobs = protocol.jobs_of(folder, sets=("two",), splits=("univariate",), skeletons=("I", "tree"))
    assert list(protocol.run(jobs[:1], folder, output, time_limit=5)) == jobs[:1]
    first = output.read_text()
    assert list(protocol.run(jobs, folder, output, time_limit=5)) == jobs[1:]
    assert output.read_text().startswith(first)
    assert not list(protocol.run(jobs, folder, output, time_limit=5))
    assert len(protocol.read_rows(output)) == 10


def test_one_class_in_the_training_half_is_a_note(folder: Path) -> None:
    rows = protocol.run_job(protocol.Job("one", "univariate", "I"), folder, 5)
    assert len(rows) == 5
    assert "class" in rows[0]["note"]
    table = table_one([{column: str(row.get(column, "")) for column in protocol.COLUMNS} for row in rows])
    assert "/" not in table.replace("0/0", "")


def row(**values: object) -> dict[str, str]:
    base = {"set": "s", "splits": "univariate", "skeleton": "I", "seed": "0", "stability": "", "alpha": "1"}
    return {**base, **{key: str(value) for key, value in values.items()}}


def test_calibration_takes_the_best_validation_and_then_the_smaller_model() -> None:
    rows = [
        row(validation=0.8, test=0.1, tests=2),
        row(validation=0.9, test=0.7, tests=5),
        row(validation=0.9, test=0.6, tests=3),
        row(set="t", validation=0.5, test=0.4, tests=1),
    ]
    assert [r["test"] for r in calibrated(rows)] == ["0.6", "0.4"]
    assert stability_table(rows).splitlines() == ["splits,S = 0 n", "univariate,0.500"]


def test_table_one_counts_runs() -> None:
    rows = [
        row(proved=1, improved=0),
        row(proved=0, improved=1),
        row(proved=1, improved=1, splits="multivariate", alpha="0.01"),
    ]
    lines = table_one(rows).splitlines()
    assert lines[1].startswith("I,1/1,0/0,0/0,0/0,1/2,1/1,")
    assert lines[2].endswith("2/3,2/3")
    assert lines[3:] == [
        "# multivariate: proved 1/1, improved 1/1",
        "# univariate: proved 1/2, improved 1/2",
    ]


def test_the_command_prints_table_one_and_takes_up(folder: Path, tmp_path: Path) -> None:
    words = (
        folder,
        "-o",
        tmp_path / "o.csv",
        "--sets",
        "two",
        "--skeletons",
        "II",
        "--seeds",
        1,
        "--time-limit",
        3,
    )
    code, out, err = bench(*words)
    assert code == 0
    assert out.startswith("skeleton,proved 0.01,")
    assert "1: two univariate II" in err
    assert "2: two multivariate II" in err
    again = bench(*words)
    assert again == (0, out, "")


def test_the_command_with_stability_solver_and_formulation(folder: Path, tmp_path: Path) -> None:
    words = (
        "-o",
        tmp_path / "o.csv",
        "--sets",
        "two",
        "--splits",
        "univariate",
        "--skeletons",
        "I",
        "--quiet",
    )
    code, out, _ = bench(folder, *words, "--seeds", 1, "--stability", "0.05,0.3", "--time-limit", 3)
    assert code == 0
    assert out.startswith("splits,S = 0.05 n,S = 0.3 n")
    chosen = ("--formulation", "odd-paper", "--solver", "highs", "--time-limit", 1, "--seeds", 1)
    code, out, _ = bench(folder, "-o", tmp_path / "p.csv", *words[2:], *chosen)
    assert code == 0
    assert out.splitlines()[0].startswith("skeleton")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--skeletons", "V"), "no skeleton 'V'"),
        (("--sample", "99", "--seeds", "1"), "99 jobs cannot be drawn"),
        (("--stability", "much"), "much"),
        (("--solver", "gurobi", "--sets", "two"), "gurobi"),
    ],
)
def test_the_command_refuses_bad_input(folder: Path, tmp_path: Path, words: tuple, message: str) -> None:
    code, out, err = bench(folder, "-o", tmp_path / "o.csv", *words)
    assert code != 0
    assert message in out + err
    assert "Traceback" not in out + err


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    for where in (tmp_path, tmp_path / "nowhere"):
        code, _, err = bench(where)
        assert code != 0
        assert "folder" in err or "no data sets" in err
