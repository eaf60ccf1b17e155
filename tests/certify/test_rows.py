"""The rows of a certificate: known again in any order, and told apart row by row and column by column."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import treeform as tf
from treeform.certify.certificate import sign
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.data.prints import order_like, prints_of, shared
from treeform.errors import CertificateError

N = 40


def table(seed: int = 0, n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "age": rng.integers(20, 24, n),
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n) / 4),
            "job": rng.choice(["clerk", "cook", "smith"], n),
            "grade": pd.Categorical(rng.choice(list("ABC"), n), categories=list("ABC"), ordered=True),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    return made.assign(y=np.where((made["age"] > 21) ^ (rng.random(n) < 0.2), "yes", "no"))


def solved(frame: pd.DataFrame, **given_too: Any) -> dict[str, Any]:
    problem = tf.Problem(frame, "y", shape="tree:2", exclude=["sex"], **given_too)
    problem += [tf.StatisticalParity(groups="sex", difference="0.5"), tf.MinSupport(3)]
    return problem.solve().certificate()


words = st.lists(st.integers(0, 5), min_size=1, max_size=20)


@given(words, words)
def test_shared_counts_as_a_multiset(rows: list[int], others: list[int]) -> None:
    found = shared(np.array(rows, dtype=np.uint64), np.array(others, dtype=np.uint64))
    expected = {v: min(rows.count(v), others.count(v)) for v in set(rows)}
    assert {v: int(found[np.array(rows) == v].sum()) for v in set(rows)} == expected


@given(words, st.randoms())
def test_the_order_is_found_again(rows: list[int], random: Any) -> None:
    moved = list(rows)
    random.shuffle(moved)
    there, here = np.array(rows, dtype=np.uint64), np.array(moved, dtype=np.uint64)
    assert here[order_like(here, there)].tolist() == rows


@given(st.data())
@settings(max_examples=25)
def test_prints_do_not_depend_on_what_other_rows_hold(data: Any) -> None:
    frame = table(data.draw(st.integers(0, 5)))
    rows = data.draw(st.lists(st.integers(0, N - 1), min_size=6, unique=True))
    part = frame.iloc[rows]
    if part["y"].nunique() < 2:
        return
    whole, some = (
        prints_of(Dataset.from_user(one, "y", exclude=["sex"]), True).rows for one in (frame, part)
    )
    assert (whole[rows] == some).all()
    assert (prints_of(Dataset.from_user(part[part.columns[::-1]], "y", exclude=["sex"])).rows == some).all()


@pytest.mark.parametrize("kind", ["plain", "weights", "rounded weights", "groups", "values"])
def test_the_same_rows_in_any_order_are_verified(kind: str) -> None:
    frame, order = table(1), np.random.default_rng(3).permutation(N)
    weights = np.random.default_rng(4).integers(1, 4, N) / (np.pi if kind == "rounded weights" else 1)
    given_too: dict[str, Any] = {"sample_weight": weights} if "weights" in kind else {}
    again: dict[str, Any] = {"sample_weight": weights[order]} if "weights" in kind else {}
    if kind == "values":
        frame["y"] = np.random.default_rng(5).normal(size=N) * 1e6
        problem = tf.Problem(frame, "y", shape="tree:2", exclude=["sex"]).minimize("squared_error[grid=1/7]")
        certificate = problem.solve().certificate()
    elif kind == "groups":
        groups = np.random.default_rng(6).choice(["a", "b"], N)
        problem = tf.Problem(frame, "y", shape="tree:2", exclude=["sex"], sensitive_features=groups)
        problem += [tf.StatisticalParity(difference="0.4"), tf.MustClassifyRight([0, 7])]
        certificate, again = problem.solve().certificate(), {"sensitive_features": groups[order]}
    else:
        certificate = solved(frame, weight_grid="0.0001", **given_too)
    report = tf.check(certificate, frame.iloc[order].reset_index(drop=True), **again)
    assert report.ok, report
    moved = dict(again)
    for name, values in again.items():  # the same weights, or groups, of other rows
        moved[name] = np.roll(values, 1)
        with pytest.raises(CertificateError):
            tf.check(certificate, frame.iloc[order].reset_index(drop=True), **moved)


CHANGES = {
    "age": 99,
    "income": 77.5,
    "job": "baker",
    "grade": "B",
    "sex": "x",
    "y": "yes",
}


@pytest.mark.parametrize("column", CHANGES)
@pytest.mark.parametrize("ordered", [True, False])
def test_a_changed_cell_is_named(column: str, ordered: bool) -> None:
    frame = table(2)
    certificate = solved(frame)
    row = int(np.flatnonzero(frame[column] != CHANGES[column])[3])
    frame.loc[row, column] = CHANGES[column]
    if not ordered:
        frame = frame.iloc[::-1].reset_index(drop=True)
        row = N - 1 - row
    with pytest.raises(CertificateError, match="for other data") as caught:
        tf.check(certificate, frame)
    cause = str(caught.value.cause)
    assert {"y": "the target", "sex": "excluded column 'sex'"}.get(column, f"column '{column}'") in cause
    assert column == "sex" or f"(row {row} " in cause


def test_missing_and_exchanged_cells_and_columns_are_named() -> None:
    frame = table(2)
    certificate = solved(frame)
    gap = frame.copy()
    gap.loc[5, "job"] = None
    exchanged = frame.copy()
    exchanged.loc[[0, 1], "age"] = frame.loc[[1, 0], "age"].to_numpy()
    assert frame.loc[0, "age"] != frame.loc[1, "age"]
    for other, what in (
        (gap, "1 row differs in column 'job' (row 5"),
        (exchanged, "2 rows differ since values were exchanged between rows (rows 0, 1"),
        (frame.rename(columns={"job": "work"}), "column 'job' is only there; column 'work' is only here"),
        (frame.iloc[:-1], "40 samples there, 39 here"),
    ):
        with pytest.raises(CertificateError) as caught:
            tf.check(certificate, other.rename(columns={"other": "x"}))
        assert what.replace("column ", "") in str(caught.value.cause).replace("column ", "")
    with pytest.raises(CertificateError, match="the weights"):
        tf.check(certificate, frame, sample_weight=[2] * N)


def test_an_order_of_levels_that_a_file_lost_is_the_reason() -> None:
    """A .csv file holds text where a .parquet file holds ordered categories."""
    frame = table(2)
    ordered = frame.assign(job=pd.Categorical(frame["job"], ordered=True))
    for one, other, what in (
        (ordered, frame, "column 'job' has levels without an order here, and numbers or ordered levels there"),
        (frame, ordered, "column 'job' is ordered here, and has levels without an order there"),
    ):
        with pytest.raises(CertificateError) as caught:
            tf.check(solved(one), other)
        assert str(caught.value.cause).startswith(what)


def test_positions_that_are_not_known_are_refused_in_another_order() -> None:
    frame, weights = table(3), [0, *[1] * (N - 1)]
    certificate = solved(frame, sample_weight=weights)
    assert tf.check(certificate, frame, sample_weight=weights).ok
    with pytest.raises(CertificateError, match="in another order"):
        tf.check(certificate, frame.iloc[::-1], sample_weight=weights[::-1])


@pytest.mark.parametrize("weight", [1, 3])
def test_rows_that_are_named_are_told_apart_from_equal_ones(weight: int) -> None:
    """What is paid for row 0 depends on its weight; in another order nothing tells which of two equal rows it was."""
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "y": [0, 0, 1, 0]})
    problem = tf.Problem(frame, "y", shape="tree:1", sample_weight=[1, 3, weight, weight])
    problem.minimize(tf.Nodes() + tf.MustClassifyRight([2, 0]).soft(5))
    certificate, order = problem.solve().certificate(), [1, 0, 2, 3]
    assert tf.check(certificate, frame, sample_weight=[1, 3, weight, weight]).ok
    with pytest.raises(CertificateError, match="in another order") as caught:
        tf.check(certificate, frame.iloc[order], sample_weight=[3, 1, weight, weight])
    assert "must_classify_right:rows=0 2 names rows by position" in str(caught.value.cause)
    free = tf.Problem(frame, "y", shape="tree:1", sample_weight=[1, 3, weight, weight]).solve().certificate()
    assert tf.check(free, frame.iloc[order], sample_weight=[3, 1, weight, weight]).ok


def test_prints_that_are_not_those_of_the_rows_are_false() -> None:
    frame = table(4)
    certificate = json.loads(json.dumps(solved(frame)))
    for key, value in (("prints", "0" * 16 * N), ("in_table", 7), ("of_target", False)):
        edited = copy.deepcopy(certificate)
        edited["data"]["rows"][key] = value
        assert tf.check(sign(edited), frame).verdict == "false"
    del certificate["data"]["rows"]  # as older versions wrote them
    assert tf.check(sign(certificate), frame).ok


def test_a_report_knows_training_rows(tmp_path: Path) -> None:
    frame = table(5)
    files = {
        "train": frame,
        "shuffled": frame.sample(frac=1, random_state=0),
        "sampled": frame.sample(15, random_state=1),
        "new": table(5).assign(age=lambda t: t["age"] + 50),
    }
    files["mixed"] = pd.concat([files["new"].head(5), files["sampled"].head(4)])
    for name, one in files.items():
        one.to_csv(tmp_path / f"{name}.csv", index=False)

    def done(*words: object) -> Any:
        return CliRunner().invoke(
            app, [str(tmp_path / w) if str(w).endswith((".csv", ".json")) else str(w) for w in words]
        )

    fit = done(
        "fit",
        "train.csv",
        "--target",
        "y",
        "--shape",
        "tree:2",
        "--exclude",
        "sex",
        "--certificate",
        "c.json",
    )
    assert fit.exit_code == 0, fit.output
    assert done("check", "c.json", "shuffled.csv").exit_code == 0
    assert done("predict", "c.json", "shuffled.csv").exit_code == 0
    said = {}
    for name in files:
        made = done("report", "c.json", f"{name}.csv", "-o", "out.json")
        assert made.exit_code == 0, made.output
        said[name] = json.loads((tmp_path / "out.json").read_text())
    assert said["shuffled"]["rows"] == said["train"]["rows"] == "the training rows"
    assert said["shuffled"]["outcome"] == said["train"]["outcome"]
    assert said["new"]["rows"] == "the held-out rows"
    for name, equal in (("sampled", "15 of 15 rows"), ("mixed", "4 of 9 rows")):
        assert said[name]["rows"] == "these rows"
        assert dict(said[name]["outcome"])["equal to rows of training"] == equal
        assert "held-out" not in json.dumps(said[name]["outcome"])
    done("report", "c.json", "train.csv", "--held-out", "sampled.csv", "-o", "out.json")
    later = json.loads((tmp_path / "out.json").read_text())["held_out"]
    assert [name for name, _ in later][:3] == [
        "other table",
        "equal to rows of training",
        "errors on the other rows",
    ]
