"""Exports of models whose columns, levels and labels have names that mean something in the language written."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

import treeform as tf

NAMES = [
    "NAN",
    "M_PI",
    "linux",
    "class",
    "_value",
    "1st",
    "ValueError",
    "True",
    "*/",
    "select",
    "größe €",
    "__proto__",
]


def chain(problem: tf.Problem) -> tf.DecisionGraph:
    """One test after the other, on each feature; the last leaf has the other class."""
    count = problem.data.n_features
    nodes: dict = {
        at: {"feature": at, "threshold": 0.5, "left": at + 1, "right": count + 1} for at in range(count)
    }
    return tf.DecisionGraph.build({**nodes, count: {"label": 0}, count + 1: {"label": 1}}, problem.data)


@pytest.fixture(scope="module")
def named():
    rows = pd.DataFrame(np.vstack([np.eye(len(NAMES)), np.zeros(len(NAMES))]), columns=NAMES)
    graph = chain(tf.Problem(rows, [1] * len(NAMES) + [0], shape="tree:1", categorical_features=[]))
    assert graph.predict(rows).tolist() == [1] * len(NAMES) + [0]
    return graph, rows


def test_columns_called_like_words_of_python_and_sql(named):
    graph, rows = named
    space: dict = {}
    exec(graph.to_python(), space)
    assert [space["predict"](row) for row in rows.to_dict("records")] == graph.predict(rows).tolist()
    base = sqlite3.connect(":memory:")
    rows.to_sql("t", base, index=False)
    found = base.execute(graph.to_sql("t", dialect="sqlite")).fetchall()
    assert [label for (label,) in found] == graph.predict(rows).tolist()


def test_tables_called_like_words_of_sql(named):
    graph, rows = named
    base = sqlite3.connect(":memory:")
    rows.to_sql("select", base, index=False)
    found = base.execute(graph.to_sql("main.select", dialect="sqlite")).fetchall()
    assert [label for (label,) in found] == graph.predict(rows).tolist()
    # What PostgreSQL, Oracle and most others make of a name without quotes.
    written = {"postgres": '"order"', "oracle": '"ORDER"', "snowflake": '"ORDER"', "tsql": "[order]"}
    for dialect, name in written.items():
        assert graph.to_sql("Order", dialect=dialect).split()[-1] == name
        assert graph.to_sql("Applicants", dialect=dialect).split()[-1] == "Applicants"
    assert graph.to_sql('"Order"', dialect="oracle").split()[-1] == '"Order"'


def test_columns_called_like_macros_of_c(named, tmp_path):
    """GNU C defines linux as 1, and math.h the others."""
    graph, rows = named
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    values = ", ".join(f"{{{', '.join(map(repr, row))}}}" for row in rows.to_numpy().tolist())
    (tmp_path / "main.c").write_text(
        f"{graph.to_c()}\n#include <stdio.h>\nstatic const struct model_row rows[] = {{{values}}};\n"
        'int main(void) {\n    for (int i = 0; i < %d; ++i) printf("%%d ", predict(&rows[i]));\n    return 0;\n}\n'
        % len(rows)
    )
    subprocess.run(
        [compiler, "-std=gnu17", "-Wall", "-Werror", "main.c", "-o", "run"], cwd=tmp_path, check=True
    )
    done = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, check=True)
    assert list(map(int, done.stdout.split())) == graph.predict(rows).tolist()


def test_truth_values_as_labels_in_sql():
    """SQLite takes a column called True for the word; Transact-SQL has no truth value to return."""
    rows = pd.DataFrame({"True": [0.0, 1], "False": [0.0, 0]})
    graph = tf.Problem(rows, [False, True], shape="tree:1").solve().graph
    base = sqlite3.connect(":memory:")
    rows.to_sql("t", base, index=False)
    assert base.execute(graph.to_sql("t", dialect="sqlite")).fetchall() == [(0,), (1,)]
    assert "CAST(1 AS BIT)" in graph.to_sql("t", dialect="tsql")


def test_text_in_transact_sql_is_compared_letter_by_letter():
    rows = pd.DataFrame({"job": ["größer", "cook", "clerk"] * 2})
    graph = tf.Problem(rows, ["ä", "b", "c"] * 2, shape="tree:2").solve().graph
    code = graph.to_sql("t", dialect="tsql")
    assert "[job] COLLATE Latin1_General_100_BIN2 = " in code and "THEN N'ä'" in code.replace("ELSE", "THEN")


def test_microseconds_in_sqlite():
    """Its text of a date may have digits after the point, or none."""
    seen = pd.to_datetime("2020-01-01 12:00:00") + pd.to_timedelta(range(4), unit="us")
    problem = tf.Problem(pd.DataFrame({"at": seen}), [0, 0, 1, 1], shape="tree:1", dates="days")
    graph = problem.solve().graph
    base = sqlite3.connect(":memory:")
    for text in ("%Y-%m-%d %H:%M:%S.%f", None):
        stored = pd.DataFrame({"at": seen.strftime(text) if text else seen})
        stored.to_sql("t", base, index=False, if_exists="replace")
        assert base.execute(graph.to_sql("t", dialect="sqlite")).fetchall() == [(0,), (0,), (1,), (1,)]


def test_whole_numbers_that_javascript_would_round():
    big = 2**60 + 1
    graph = tf.Problem([[0.0], [1.0]], [big, 5], shape="tree:1").solve().graph
    assert f"return {big}n;" in graph.to_javascript() and "return 5;" in graph.to_javascript()


def test_thresholds_beyond_all_values_ask_nothing():
    """Such tests come with models of others: all rows go one way, missing values and unknown levels too."""
    grade = pd.Categorical(["a", "b", None, "a"], categories=["a", "b"], ordered=True)
    rows = pd.DataFrame({"grade": grade, "size": [1.0, None, 2.0, 3.0], "job": ["x", "y", "x", "y"]})
    problem = tf.Problem(rows, [0, 1, 0, 1], shape="tree:1")
    asked = pd.concat([rows, rows.head(1).assign(grade="z", job="z")], ignore_index=True)
    for feature in range(problem.data.n_features):
        for threshold in (-2.0, -1.0, -0.5, 1.0, 7.0, -(2.0**1010), 2.0**1010):
            graph = tf.DecisionGraph.build(
                [
                    {"feature": feature, "threshold": threshold, "left": 1, "right": 2},
                    {"label": 0},
                    {"label": 1},
                ],
                problem.data,
            )
            expected = graph.predict(asked, unseen="other").tolist()
            space: dict = {}
            exec(graph.to_python(), space)
            plain = asked.astype(object).where(asked.notna(), None).to_dict("records")
            assert [space["predict"](row) for row in plain] == expected
            again = tf.DecisionGraph.from_dict(json.loads(json.dumps(graph.to_dict())), problem.data)
            assert again.predict(asked, unseen="other").tolist() == expected


def test_whole_numbers_as_levels_of_onnx():
    """pandas makes 1 a 1.0 where a value is missing; both are read, in training and later."""
    runtime = pytest.importorskip("onnxruntime")
    rows = pd.DataFrame({"kind": pd.Categorical([1, 2, None, 1, 2, None])})
    graph = tf.Problem(rows, [0, 1, 2, 0, 1, 2], shape="tree:2").solve().graph
    session = runtime.InferenceSession(graph.to_onnx().SerializeToString())
    given = np.array([["1"], ["1.0"], ["2"], ["2.0"], [""]], dtype=object)
    assert session.run(["label"], {"kind": given})[0].tolist() == [0, 0, 1, 1, 2]
