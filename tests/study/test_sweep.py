"""Sweeps: every run a row, whoever does the work; resumed where they stopped; failures are rows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import distributed
import numpy as np
import pandas as pd
import pytest
from repository import ROOT
from sklearn.model_selection import KFold
from study_samples import SAME, table, under_parity
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.errors import SpecError
from treeform.study import subject
from treeform.study.page import Mean, front_of
from treeform.study.runs import combinations, folds_of, some_rows
from treeform.study.sweep import Journal

SVG = "{http://www.w3.org/2000/svg}"

GRID = {"shape": ["tree:1", "tree:2"], "price": [0, 3], "statistical_parity__difference": ["0.5", "0.05"]}


@pytest.fixture
def problem() -> tf.Problem:
    return under_parity()


def test_every_run_is_a_row_and_equals_its_own_solve(problem: tf.Problem) -> None:
    study = tf.sweep(problem, GRID)
    assert study.complete
    assert study.total == len(study.table) == 8
    frame = table()
    for row in study.table.to_dict("records"):
        alone = tf.Problem(frame, "y", shape=row["shape"], exclude=["sex"])
        alone.minimize(tf.Error() + row["price"] * tf.Nodes())
        alone += tf.StatisticalParity("sex", difference=row["statistical_parity__difference"], positive=1)
        assert row["objective"] == alone.solve().objective
        assert row["status"] == "optimal"
        assert row["gap"] == 0


def test_requirements_of_a_run_hold_beside_those_of_the_problem(problem: tf.Problem) -> None:
    study = tf.sweep(problem, {"shape": ["tree:2"], "requirements": [[], ["max_nodes:1"], tf.MaxNodes(0)]}, cv=2)
    assert study.table.groupby("requirements")["tests"].max().to_dict() == {
        "max_nodes:0": 0, "max_nodes:1": 1, "none": 3
    }  # fmt: skip
    assert (study.table["held_out statistical_parity"].notna()).all()
    alone = tf.sweep(problem + tf.MaxNodes(1), {"shape": ["tree:2"]}, cv=2)
    ours = study.table[study.table.requirements == "max_nodes:1"]
    assert ours.objective.tolist() == alone.table.objective.tolist()


def test_folds_are_held_out(problem: tf.Problem) -> None:
    study = tf.sweep(problem, {"shape": ["tree:2"]}, cv=3, seeds=[0, 1])
    assert study.table[["seed", "fold"]].to_numpy().tolist() == [[s, f] for s in (0, 1) for f in range(3)]
    frame = table()
    splitter = KFold(3)
    by_hand = []
    for train, test in splitter.split(frame):
        part = frame.iloc[train]
        one = tf.Problem(part, "y", shape="tree:2", exclude=["sex"])
        one += tf.StatisticalParity("sex", difference="0.1", positive=1)
        graph = one.solve().graph
        assert graph is not None
        held = frame.iloc[test]
        by_hand.append(float((graph.predict(held.drop(columns="y")) != held["y"]).mean()))
    given = tf.sweep(problem, {"shape": ["tree:2"]}, cv=splitter)
    pairs = tf.sweep(problem, {"shape": ["tree:2"]}, cv=list(splitter.split(frame)))
    assert pairs.table["test_error"].tolist() == given.table["test_error"].tolist()
    assert given.table["test_error"].tolist() == pytest.approx(by_hand)
    assert given.table["held_out statistical_parity"].notna().all()
    summary = given.summary()
    assert summary["test_error"].tolist() == pytest.approx([np.mean(by_hand)])
    assert summary["standard_error"].tolist() == pytest.approx([np.std(by_hand, ddof=1) / 3**0.5])


@pytest.mark.parametrize("executor", ["loky", "threading"])
def test_the_answers_do_not_depend_on_who_works(problem: tf.Problem, executor: str) -> None:
    here = tf.sweep(problem, GRID, cv=2)
    there = tf.sweep(problem, GRID, cv=2, executor=executor, workers=2)
    pd.testing.assert_frame_equal(here.table[SAME], there.table[SAME])


def test_a_client_of_dask_works_too(problem: tf.Problem) -> None:
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
    ) as client:
        there = tf.sweep(problem, GRID, cv=2, executor=client)
    pd.testing.assert_frame_equal(tf.sweep(problem, GRID, cv=2).table[SAME], there.table[SAME])


@pytest.mark.slow
def test_a_cluster_of_ray_works_too(problem: tf.Problem) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        there = tf.sweep(problem, GRID, cv=2, executor="ray")
    finally:
        ray.shutdown()
    pd.testing.assert_frame_equal(tf.sweep(problem, GRID, cv=2).table[SAME], there.table[SAME])


def test_a_study_goes_on_where_it_stopped(problem: tf.Problem, tmp_path: Path) -> None:
    first = tf.sweep(problem, GRID, folder=tmp_path)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert len(files) == 16  # a row and a certificate each
    certificate = json.loads((tmp_path / first.table["certificate"][3]).read_text())
    frame = table()
    assert tf.check(certificate, frame.drop(columns="y"), frame["y"]).ok
    gone = next(path for path in files if path.name.endswith("certificate.json"))
    row = gone.with_name(gone.name.replace(".certificate", ""))
    row.unlink()
    (tmp_path / "runs" / next(p.name for p in files if p not in (gone, row))).write_text("{ cut")
    again = tf.sweep(problem, GRID, folder=tmp_path)
    pd.testing.assert_frame_equal(first.table[SAME], again.table[SAME])
    changed = [p for p, when in files.items() if p.stat().st_mtime_ns != when and p.name.count(".") == 1]
    assert row in changed
    assert len(changed) <= 2
    wider = tf.sweep(problem, {**GRID, "shape": ["tree:1", "tree:2", "tree:3"]}, folder=tmp_path)
    assert wider.total == 12


def test_a_run_that_fails_is_a_row_and_is_tried_again(
    problem: tf.Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = subject.solve

    def fails(question: Any, options: Any) -> Any:
        if question.shape == tf.Tree(2):
            raise RuntimeError("out of luck")
        return usual(question, options)

    monkeypatch.setattr(subject, "solve", fails)
    study = tf.sweep(problem, {"shape": ["tree:1", "tree:2"]}, folder=tmp_path)
    assert study.table["status"].tolist() == ["optimal", "error"]
    assert study.summary()["runs"].tolist() == [1, 0]
    assert study.table["message"][1] == "RuntimeError: out of luck"
    assert not study.complete
    assert "1 error" in str(study)
    monkeypatch.undo()
    assert tf.sweep(problem, {"shape": ["tree:1", "tree:2"]}, folder=tmp_path).complete


def test_ctrl_c_keeps_what_has_ended(problem: tf.Problem, tmp_path: Path) -> None:
    def press(progress: Any) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    study = tf.sweep(problem, GRID, folder=tmp_path, on_progress=press)
    assert 3 <= len(study.table) < study.total
    assert tf.sweep(problem, GRID, folder=tmp_path).complete


def test_some_of_the_rows_are_learnt_from(problem: tf.Problem) -> None:
    study = tf.sweep(problem, {"rows": [20, 40, 80], "shape": ["tree:1"]}, seeds=[0, 1])
    assert study.complete
    assert study.table["test_error"].notna().all()
    assert study.table["seed"].tolist() == [0] * 3 + [1] * 3
    fold = folds_of(None, [3], np.zeros(90), True)[0]
    small, large = (some_rows(fold, count, 90) for count in (20, 40))
    assert set(small.train) < set(large.train)  # type: ignore[arg-type]
    assert sorted([*small.train, *small.test]) == list(range(90))  # type: ignore[misc]
    folds = tf.sweep(problem, {"rows": [10], "shape": ["tree:1"]}, cv=2)
    assert len(folds.table) == 2
    with pytest.raises(SpecError, match="rows=91"):
        tf.sweep(problem, {"rows": [91]})
    with pytest.raises(SpecError, match="both price and alpha"):
        tf.sweep(problem, {"price": [1], "alpha": [0.1]})


def test_the_best_is_the_smallest_within_one_standard_error(problem: tf.Problem) -> None:
    study = tf.sweep(problem, {"shape": ["tree:1", "tree:2", "tree:3"]}, cv=3)
    summary = study.summary()
    errors = summary["test_error"].to_numpy()
    most = errors.min() + summary["standard_error"].to_numpy()[errors.argmin()]
    near = summary[summary["test_error"] <= most]
    assert study.best() == {"shape": near.loc[near["tests"].idxmin(), "shape"]}


def test_the_page_of_a_study(problem: tf.Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = tf.sweep(problem, GRID, cv=2)
    page = study.html(tmp_path / "study.html")
    assert (tmp_path / "study.html").read_text(encoding="utf-8") == page
    assert "<script" not in page and "http-equiv" in page
    maps = re.findall(r'<table class="matrix">.*?</table>', page, re.DOTALL)
    assert len(maps) == 2  # one for each value of the setting that is on neither axis
    best = ", ".join(f"{name} {value}" for name, value in study.best().items())
    cells = re.findall(r'<td class="num hit-(\d+)( chosen)?" title="([^"]*)">([\d.]+)</td>', "".join(maps))
    assert [tip.startswith(f"{best}:") for _, chosen, tip, _ in cells if chosen] == [True]
    summary = study.summary()
    assert sorted(text for *_, text in cells) == sorted(f"{100 * error:.2f}" for error in summary["test_error"])
    by_shade = sorted((int(shade), float(text)) for shade, _, _, text in cells)
    assert by_shade[0][0] == 0 and by_shade[-1][0] == 10
    assert [error for _, error in by_shade] == pytest.approx(sorted(error for _, error in by_shade), abs=5)
    (plot,) = (ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    assert len(list(plot.iter(f"{SVG}circle"))) == len(summary) + 1
    monkeypatch.setattr(subject, "solve", lambda *a: 1 / 0)
    broken = tf.sweep(problem, {"shape": ["tree:1"]}).html()
    assert "ZeroDivisionError" in broken and "<svg" not in broken


def test_one_setting_makes_one_row_of_a_heat_map(problem: tf.Problem) -> None:
    page = tf.sweep(problem, {"price": [0, 1, 5]}).html()
    (heat,) = re.findall(r'<table class="matrix">.*?</table>', page, re.DOTALL)
    assert heat.count("<td") == 3 and heat.count('<th scope="row">') == 1
    assert "error on the rows learnt from" in page
    assert "<svg" not in tf.sweep(problem, {}).html()


def test_the_front_of_errors_and_tests() -> None:
    at = [
        Mean("", error, tests, 0.0, True, False)
        for tests, error in ((1, 0.4), (3, 0.1), (2, 0.4), (2, 0.2), (4, 0.1))
    ]
    assert [(m.tests, m.error) for m in front_of(at)] == [(1, 0.4), (2, 0.2), (3, 0.1)]


def test_an_estimator() -> None:
    frame = table()
    X, y = frame[["a", "b", "c"]], frame["y"]
    study = tf.sweep(
        tf.OptimalTreeClassifier(), {"max_depth": [1, 2], "min_weight_fraction_leaf": [0.0, 0.1]}, X, y, cv=2
    )
    assert study.complete
    assert len(study.table) == 8
    whole = tf.sweep(tf.OptimalTreeClassifier(), {"max_depth": [2]}, X, y)
    assert whole.table["objective"][0] == tf.OptimalTreeClassifier(max_depth=2).fit(X, y).result_.objective


@pytest.mark.parametrize(
    ("grid", "more", "what"),
    [
        ({"shape": "tree:2"}, {}, "value 'tree:2'"),
        ({"shape": []}, {}, "no values"),
        ({"depth": [2]}, {}, "unknown setting 'depth'"),
        ({"statistical_parity__diff": [0.1]}, {}, "unknown setting"),
        ({"requirements": [[tf.MinSupport(2).soft(1)]]}, {}, "stands in the objective"),
        ({"requirements": [[tf.StatisticalParity([0, 1] * 45, difference=0)]], "rows": [10]}, {}, "by an array"),
        ({"shape": ["bush:2"]}, {}, "bush"),
        ({"solver": ["nobody"]}, {}, "nobody"),
        ({"shape": ["tree:2"]}, {"cv": 1}, "cv=1"),
        ({"shape": ["tree:2"]}, {"cv": 80}, "80"),
        ({"shape": ["tree:2"]}, {"cv": 2, "seeds": []}, "no seed"),
        ({"rows": [5]}, {"seeds": []}, "no seed"),
        ({"shape": ["tree:2"]}, {"executor": "loki"}, "loki"),
        ({"shape": ["tree:2"]}, {"workers": 0}, "workers=0"),
        ({"shape": ["tree:2"]}, {"X": [[1]]}, "rows already"),
    ],
)
def test_what_does_not_fit_is_refused_first(
    problem: tf.Problem, grid: dict[str, Any], more: dict[str, Any], what: str
) -> None:
    with pytest.raises(SpecError) as error:
        tf.sweep(problem, grid, **more)
    assert what in str(error.value)


def test_groups_by_an_array_are_refused_with_folds() -> None:
    frame = table()
    one = tf.Problem(frame.drop(columns="sex"), "y", shape="tree:1")
    one += tf.StatisticalParity(frame["sex"].to_numpy(), difference="0.1", positive=1)
    assert tf.sweep(one, {"shape": ["tree:1"]}).complete
    with pytest.raises(SpecError, match="array"):
        tf.sweep(one, {"shape": ["tree:1"]}, cv=2)


def test_something_else_cannot_be_swept() -> None:
    with pytest.raises(SpecError, match="cannot be swept"):
        tf.sweep("tree:2", {"shape": ["tree:2"]})
    with pytest.raises(SpecError, match="X and y"):
        tf.sweep(tf.OptimalTreeClassifier(), {"max_depth": [1]})


def test_the_last_setting_changes_first_and_grids_follow_each_other() -> None:
    grid = [{"a": [1, 2], "b": ["xy"]}, {"c": [3]}]
    assert combinations(grid) == [{"a": 1, "b": "xy"}, {"a": 2, "b": "xy"}, {"c": 3}]
    assert [tuple(p.values()) for p in combinations({"a": [1, 2], "b": [3, 4]})] == [
        (1, 3),
        (1, 4),
        (2, 3),
        (2, 4),
    ]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="cannot be made"):
        Journal(tmp_path / "file" / "study")


STUDY = """
data = "data.csv"
target = "y"
exclude = ["sex"]
cv = 2
output = "runs.csv"
report = "study.html"
folder = "study"

[[requirements]]
name = "statistical_parity"
groups = "sex"
difference = 0.1
positive = 1

[grid]
shape = ["tree:1", "tree:2"]
statistical_parity__difference = ["0.1", "0.5"]
"""


def test_on_the_command_line(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    done = CliRunner().invoke(app, ["sweep", str(tmp_path / "study.toml")], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert "8 of 8 runs, 8 proved" in done.stdout
    assert "best: shape tree:" in done.stdout
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert len(runs) == 8
    assert "A study of 8 runs" in (tmp_path / "study.html").read_text(encoding="utf-8")
    assert len(list((tmp_path / "study" / "runs").glob("*.certificate.json"))) == 8


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("[grid]", "[gird]", "no [grid]"),
        ("cv = 2", "cv = 1", "cv"),
        ('target = "y"', "", "no target"),
        ('"runs.csv"', '"runs.xls"', "not a kind of table"),
        ("folder", "foldr", "foldr"),
    ],
)
def test_studies_that_are_wrong(tmp_path: Path, old: str, new: str, what: str) -> None:
    table().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY.replace(old, new))
    done = CliRunner().invoke(app, ["sweep", str(tmp_path / "study.toml")], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert what in done.output


@pytest.mark.parametrize(
    "name", ["study", "studies/odd_calibration", "studies/fairness_frontier", "studies/sat_recovery"]
)
def test_the_grids_of_the_examples_fit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, str]] = []

    def solve(*known: Any) -> Any:
        seen.append((known[0].number, str(known[0].settings)))
        raise SpecError("it would be solved now")

    monkeypatch.setattr(subject.ProblemSubject, "run", lambda self, *known: solve(*known))
    done = CliRunner().invoke(app, ["sweep", str(ROOT / "examples" / f"{name}.toml")], env={"COLUMNS": "200"})
    assert "it would be solved now" in done.output
    assert len(seen) >= 15
