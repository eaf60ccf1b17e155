"""``treeform judge``: somebody's tree, judged, certified, reported, and a start for a fit."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from treeform.cli.app import app

TABLE = "amount,job,sex,good\n" + "".join(
    f"{row},{'cook' if row % 3 else 'clerk'},{'fm'[row % 2]},{'yes' if row > 5 else 'no'}\n"
    for row in range(12)
)
TREE = {
    "column": "job",
    "is": "cook",
    "yes": {"column": "amount", "at_most": 4, "yes": {"predict": "no"}, "no": {"predict": "yes"}},
    "no": {"predict": "yes"},
}
STATED = ["--target", "good", "--exclude", "sex"]


def run(words: list[str]) -> tuple[int, str]:
    """Exit code and everything that was printed."""
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200", "NO_COLOR": "1"})
    return done.exit_code, done.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(TABLE, encoding="utf-8")
    Path("tree.json").write_text(json.dumps(TREE), encoding="utf-8")
    return tmp_path


def test_a_violation_is_said_certified_checked_and_reported(folder: Path) -> None:
    rules = ["--require", "max_errors:1", "--require", "max_nodes:2"]
    written = ["--certificate", "judged.json", "--report", "judged.md"]
    code, shown = run(["judge", "rows.csv", "--model", "tree.json", *STATED, *rules, *written])
    assert code == 7
    assert (
        "VIOLATED   max_errors:1: 3 errors; at most 1 is allowed" in shown
        and "satisfied  max_nodes:2" in shown
    )
    assert "fits tree:2" in shown
    code, shown = run(["check", "judged.json", "rows.csv"])
    assert code == 7 and "max_errors:1: 3 errors; at most 1 is allowed" in shown
    report = Path("judged.md").read_text(encoding="utf-8")
    assert "judged: the model was given" in report and "violated: 3 errors; at most 1 is allowed" in report
    assert run(["judge", "rows.csv", "--model", "judged.json", *STATED, "--require", "max_nodes:2"])[0] == 0


def test_another_shape_is_said(folder: Path) -> None:
    code, shown = run(["judge", "rows.csv", "--model", "tree.json", *STATED, "--shape", "tree:1"])
    assert code == 7 and "DOES NOT FIT tree:1" in shown


def test_a_description_is_a_start_for_a_fit(folder: Path) -> None:
    assert run(["fit", "rows.csv", *STATED, "--shape", "tree:2", "--warm-start", "tree.json", "-q"])[0] == 0
    assert run(["fit", "rows.csv", *STATED, "--shape", "tree:2", "--model", "model.json", "-q"])[0] == 0
    assert run(["judge", "rows.csv", "--model", "model.json", *STATED, "--require", "max_errors:0"])[0] == 0


def test_what_is_no_model_of_the_table_is_refused(folder: Path) -> None:
    Path("tree.json").write_text(json.dumps({**TREE, "column": "jobs"}), encoding="utf-8")
    code, shown = run(["judge", "rows.csv", "--model", "tree.json", *STATED])
    assert code == 2 and "did you mean 'job'?" in shown
    assert run(["fit", "rows.csv", *STATED, "--shape", "tree:1", "--model", "model.json", "-q"])[0] == 0
    Path("others.csv").write_text(TABLE.replace("clerk", "smith"), encoding="utf-8")
    code, shown = run(["judge", "others.csv", "--model", "model.json", "--target", "good"])
    assert code == 2 and "another table" in shown


def test_columns_that_a_model_file_does_not_know_are_excluded(folder: Path) -> None:
    assert run(["fit", "rows.csv", *STATED, "--shape", "tree:1", "--model", "model.json", "-q"])[0] == 0
    parity = ["--require", "statistical_parity:groups=sex,difference=0.2,positive=yes"]
    code, shown = run(["judge", "rows.csv", "--model", "model.json", "--target", "good", *parity])
    assert code == 0 and "satisfied  statistical_parity" in shown


@pytest.fixture
def trees(folder: Path) -> Path:
    io = pytest.importorskip("skops.io")
    rows = pd.DataFrame({"amount": range(12), "age": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]})
    labels = ["yes" if row > 5 else "no" for row in range(12)]
    rows.assign(good=labels).to_csv("numbers.csv", index=False)
    io.dump(DecisionTreeClassifier(max_depth=2).fit(rows, labels), "tree.skops")
    io.dump(DecisionTreeClassifier(max_depth=2).fit(rows.rename(columns={"amount": "pay"}), labels), "other.skops")
    io.dump(LogisticRegression().fit(rows, labels), "line.skops")
    joblib.dump(DecisionTreeClassifier().fit(rows, labels), "tree.joblib")
    Path("broken.skops").write_bytes(Path("tree.skops").read_bytes()[:400])
    Path("pickled.json").write_bytes(pickle.dumps({}))
    return folder


def test_a_tree_of_scikit_learn_is_judged_and_a_start(trees: Path) -> None:
    stated = ["--target", "good", "--require", "max_nodes:1"]
    code, shown = run(["judge", "numbers.csv", "--model", "tree.skops", *stated])
    assert code == 0 and "if amount <= 5.5" in shown
    code, shown = run(
        ["fit", "numbers.csv", *stated, "--shape", "tree:1", "--warm-start", "tree.skops", "-q"]
    )
    assert code == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tree.joblib", "runs whatever code its writer put into it"),
        ("pickled.json", "reading a pickle"),
        ("broken.skops", "no model file"),
        ("other.skops", "fitted on other columns"),
        ("line.skops", "no fitted DecisionTreeClassifier"),
        ("gone.skops", "gone.skops"),
    ],
)
def test_what_is_no_tree_of_scikit_learn_is_refused(trees: Path, name: str, words: str) -> None:
    code, shown = run(["judge", "numbers.csv", "--model", name, "--target", "good"])
    assert code == 2 and words in shown
    assert "Traceback" not in shown


def test_indices_of_a_hostile_tree_are_checked(trees: Path) -> None:
    """scikit-learn would follow them out of its memory."""
    io = pytest.importorskip("skops.io")
    tree = io.load("tree.skops", trusted=["sklearn.tree._tree.Tree"])
    state = tree.tree_.__getstate__()
    for field, value in (("left_child", 10**9), ("feature", 99), ("feature", -9)):
        nodes = state["nodes"].copy()
        nodes[field][0] = value
        tree.tree_.__setstate__({**state, "nodes": nodes})
        io.dump(tree, "hostile.skops")
        code, shown = run(["judge", "numbers.csv", "--model", "hostile.skops", "--target", "good"])
        assert code == 2 and "no decision graph" in shown
