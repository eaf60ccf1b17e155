"""The calibration protocol of `benchmarks.odd`: what is run, going on where it stopped, its tables, the command."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from repository import ROOT
from typer.testing import CliRunner

import treeform as tf

sys.path.append(str(ROOT))

from benchmarks.__main__ import app
from benchmarks.harness import SESSION, Figures, Rows
from benchmarks.harness.figures import read
from benchmarks.odd import protocol, runs
from treeform.errors import SpecError
from treeform.formulations.odd import paper_objective


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small sets, and one whose training half has one class."""
    where = tmp_path_factory.mktemp("data") / "odd"
    where.mkdir()
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


@pytest.fixture(autouse=True)
def quick(sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "STEP_ONE_SECONDS", 0.1)
    monkeypatch.setenv("TREEFORM_DATA", str(sets.parent))
    monkeypatch.setattr(SESSION, "folder", tmp_path)


def bench(tmp_path: Path, *words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app(), ["--out", str(tmp_path), "odd", "runs", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def test_parts_are_disjoint_shares() -> None:
    train, validation, test = protocol.parts(101, 3)
    assert (len(train), len(validation), len(test)) == (50, 25, 26)
    assert sorted(np.concatenate([train, validation, test])) == list(range(101))
    assert not np.array_equal(train, protocol.parts(101, 4)[0])


def test_a_draw_is_repeatable_and_its_head_is_a_smaller_draw() -> None:
    assert len(protocol.jobs_of()) == 3 * 2 * 5
    drawn = protocol.jobs_of(sample=12, draw=5)
    assert drawn == protocol.jobs_of(sample=12, draw=5)
    assert len({job.key for job in drawn}) == 12
    assert drawn[:7] == protocol.jobs_of(sample=7, draw=5)
    assert drawn != protocol.jobs_of(sample=12, draw=6)


def test_small_sets_may_be_left_out(tmp_path: Path, sets: Path) -> None:
    assert protocol.training_rows("two") == 20
    assert {job.set for job in protocol.jobs_of(min_rows=20)} == {"two", "three"}
    assert not protocol.jobs_of(min_rows=21)
    code, out, _ = bench(tmp_path, "--min-rows", 20, "--sample", 2, "--draw", 1, "--show")
    first, second = protocol.jobs_of(min_rows=20, sample=2, draw=1)
    assert code == 0
    assert [line.split(" (")[0] for line in out.splitlines()] == [first.set, second.set]
    assert f"(20 rows), {first.splits}, {first.skeleton}, seed 0" in out


def test_ladders_of_the_large_sets(tmp_path: Path) -> None:
    from benchmarks.odd import ladders

    monkeyed = SESSION.folder
    ladders.main(cpu=2, min_rows=20, sample=4, ways="all;first version")
    jobs = [job for job in protocol.jobs_of(min_rows=20, sample=4, draw=1) if job.splits == "univariate"]
    _, _, rows = read(monkeyed / "odd_ladders.csv")
    assert [(row["set"], row["way"]) for row in rows] == [
        (j.set, way) for j in jobs for way in ("all", "first version")
    ]
    assert all(
        row[f"proved {alpha}"] == "1" and float(row[f"gap {alpha}"]) == 0
        for row in rows
        for alpha in protocol.ALPHAS
    )


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"sets": ("tow",)}, "no set 'tow'"),
        ({"splits": ("oblique",)}, "no kind of splits"),
        ({"skeletons": ("V",)}, "no skeleton 'V'"),
        ({"sample": 31}, "31 jobs cannot be drawn"),
    ],
)
def test_wrong_choices_are_refused(how: dict, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        protocol.jobs_of(**how)


def test_one_size_table_answers_every_alpha_as_single_solves_do() -> None:
    rows = protocol.run_job(protocol.Job("three", "univariate", "I"), 30)
    (X, y), *_ = protocol.read_parts("three", 0)
    shape = tf.Diagram(1, 2, 4, 8)
    assert [row["alpha"] for row in rows] == list(protocol.ALPHAS)
    for row in rows[2:]:
        problem = tf.Problem(X, y, shape=shape)
        goal = paper_objective(row["alpha"], problem.question.data, shape)
        direct = problem.minimize(goal).solve(tf.DiagramSearch())
        free = Fraction(row["alpha"]) / 14 if direct.graph.n_nodes else 0
        assert row["proved"] == 1
        assert row["objective"] == row["bound"] <= row["step1"]
        assert row["objective"] == pytest.approx(float(direct.objective - free), abs=1e-6)
        assert row["improved"] == (row["objective"] < row["step1"])
        assert 0 <= row["test"] <= 1


def test_each_run_can_have_its_own_time() -> None:
    job = protocol.Job("three", "univariate", "II")
    for limit in (1e-4, 30):
        rows = protocol.run_job(job, limit, each_run=True)
        for row in rows:
            assert row["proved"] <= row["own_proved"]
            assert row["bound"] <= row["own_bound"] <= row["own_objective"] <= row["objective"]
            assert (row["own_seconds"] == 0) or not row["proved"]
    assert all(row["own_proved"] for row in rows)


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    jobs = protocol.jobs_of(sets=("two",), splits=("univariate",), skeletons=("I", "tree"))
    assert runs.run(Figures("some", protocol.KEY), jobs[:1], time_limit=5) == jobs[:1]
    first = (tmp_path / "some.csv").read_text()
    assert runs.run(Figures("some", protocol.KEY), jobs, time_limit=5) == jobs[1:]
    assert (tmp_path / "some.csv").read_text().startswith(first)
    assert not runs.run(Figures("some", protocol.KEY), jobs, time_limit=5)
    assert len(read(tmp_path / "some.csv")[2]) == 10


def test_one_class_in_the_training_half_is_a_note(tmp_path: Path) -> None:
    rows = protocol.run_job(protocol.Job("one", "univariate", "I"), 5)
    assert len(rows) == 5
    assert "class" in rows[0]["note"]
    Figures("some", protocol.KEY).add(*rows)
    assert runs.table_one(rows_of(*read(tmp_path / "some.csv")[2])).frame.empty


def rows_of(*rows: dict[str, str]) -> Rows:
    return Rows(pd.DataFrame(rows).fillna(""), {})


def row(**values: object) -> dict[str, str]:
    base = {"set": "s", "splits": "univariate", "skeleton": "I", "seed": "0", "stability": "", "alpha": "1"}
    return {**base, **{key: str(value) for key, value in values.items()}}


def test_calibration_takes_the_best_validation_and_then_the_smaller_model() -> None:
    rows = [
        row(validation=0.8, test=0.1, tests=2, proved=1),
        row(validation=0.9, test=0.7, tests=5, proved=0),
        row(validation=0.9, test=0.6, tests=3, proved=1),
        row(set="t", validation=0.5, test=0.4, tests=1, proved=1),
    ]
    assert [r["test"] for r in protocol.calibrated(rows)] == ["0.6", "0.4"]
    table = runs.table_two(rows_of(*rows))
    assert table.frame.to_numpy().tolist() == [["univariate", "2", "2", "0.500", "", "", "", "", "75 %"]]
    assert "Univariate: s, t." in table.note


def test_table_one_counts_runs() -> None:
    rows = [
        row(proved=1, improved=0, cpu=1, limit=9),
        row(proved=0, improved=1, cpu=3, limit=9, skeleton="tree"),
        row(proved=1, improved=1, cpu=5, limit=9, splits="multivariate", alpha="0.01"),
    ]
    table = runs.table_one(rows_of(*rows))
    lines = {tuple(line[:2]): line[2:] for line in table.frame.to_numpy().tolist()}
    assert lines["univariate", "I"] == ["", "", "", "", "1/1", "1/1", "0/1"]
    assert lines["univariate", "all"] == ["", "", "", "", "1/2", "1/2 (50 %)", "50 %"]
    assert lines["all", "all"] == ["1/1", "", "", "", "1/2", "2/3 (67 %)", "67 %"]
    assert table.note.startswith("3 runs of 3 size tables.") and "took 3 seconds" in table.note


def test_the_command_shows_table_one_and_goes_on(tmp_path: Path) -> None:
    words = ("--sets", "two", "--skeletons", "II", "--time-limit", 3)
    code, out, _ = bench(tmp_path, *words)
    assert code == 0
    assert "set two, splits univariate, skeleton II" in out and "set two, splits multivariate" in out
    table = out[out.index("Table 1") :]
    assert bench(tmp_path, *words) == (0, f"\n{table}", "")


def test_the_command_with_stability_solver_and_formulation(tmp_path: Path) -> None:
    words = ("--sets", "two", "--splits", "univariate", "--skeletons", "I")
    code, out, _ = bench(
        tmp_path, *words, "--name", "stability", "--stability", "none,0.05", "--time-limit", 3
    )
    assert code == 0
    assert "S = 0.05 n" in out
    chosen = ("--formulation", "odd-paper", "--solver", "highs", "--time-limit", 1)
    code, out, _ = bench(tmp_path, *words, *chosen)
    assert code == 0
    assert "Table 1" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--skeletons", "V"), "no skeleton 'V'"),
        (("--sample", "99"), "99 jobs cannot be drawn"),
        (("--stability", "much"), "much"),
        (("--solver", "gurobi", "--sets", "two"), "gurobi"),
    ],
)
def test_the_command_refuses_bad_input(tmp_path: Path, words: tuple, message: str) -> None:
    code, out, err = bench(tmp_path, *words)
    assert code != 0
    assert message in out + err
    assert "Traceback" not in out + err


def test_a_folder_without_sets_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEFORM_DATA", str(tmp_path))
    code, _, err = bench(tmp_path)
    assert code == 1
    assert "holds no data sets" in err
