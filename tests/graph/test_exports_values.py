"""Regression models in exports: real engines give the same doubles, digit by digit, on hard rows of every kind."""

from __future__ import annotations

import datetime
import json
import math
import shutil
import sqlite3
import subprocess
from fractions import Fraction

import numpy as np
import pytest
from export_tables import javascript_answers, plain_rows, values_case
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.errors import SpecError


@pytest.fixture(scope="module")
def case():
    graph, table, rows, expected = values_case()
    assert any(value.denominator & (value.denominator - 1) for value in graph.values)  # thirds and the like
    return graph, table, rows, plain_rows(rows), expected


def days(value: object) -> object:
    if isinstance(value, datetime.datetime):
        return (value - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return value


def test_c_also_as_a_unit_of_its_own(case, tmp_path):
    graph, _, _, plain, expected = case
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    code = graph.to_c()
    (tmp_path / "model.c").write_text(code, encoding="utf-8")
    members = [line.strip() for line in code.splitlines() if line.endswith('" */')]
    values = []
    for row in plain:
        for member in members:
            value = days(row[json.loads(member.split("/* ")[1][:-3])])
            if member.startswith("const"):
                text = "" if value is None else "".join(f"\\{byte:03o}" for byte in str(value).encode())
                values.append("NULL" if value is None else f'"{text}"')
            else:
                values.append("NAN" if value is None else float(value).hex())
    main = [
        '#include "model.c"', "#include <stdio.h>", "int main(void) {",
        f"    static const struct model_row rows[] = {{{','.join(values)}}};",
        '    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) printf("%a\\n", predict(&rows[i]));',
        "    return 0;", "}",
    ]  # fmt: skip
    (tmp_path / "main.c").write_text("\n".join(main), encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-missing-braces"]
    subprocess.run([compiler, *flags, "-c", "model.c"], cwd=tmp_path, check=True)
    subprocess.run([compiler, *flags, "main.c", "-o", "run", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, check=True)
    assert [float.fromhex(line) for line in done.stdout.splitlines()] == expected


def test_javascript_and_python(case, tmp_path):
    graph, _, _, plain, expected = case
    space: dict = {}
    exec(graph.to_python(), space)
    assert [space["predict"](row) for row in plain] == expected
    assert javascript_answers(graph, plain, tmp_path) == expected


def test_sql_answers_doubles(case):
    graph, _, rows, _, expected = case
    stored = rows.astype({"grade": object, "job": object}).assign(id=range(len(rows)))
    text = stored.assign(opened=stored["opened"].dt.strftime("%Y-%m-%d %H:%M:%S"))
    base = sqlite3.connect(":memory:")
    text.to_sql("applicants", base, index=False, dtype={"owner": "BOOLEAN"})
    found = base.execute(graph.to_sql("applicants", dialect="sqlite", keep=["id"])).fetchall()
    assert [value for _, value in sorted(found)] == expected
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.register("applicants", stored.astype({"owner": "boolean"}))
    found = base.execute(graph.to_sql("applicants", dialect="duckdb", keep=["id"])).fetchall()
    values = [value for _, value in sorted(found)]
    assert values == expected and {type(value) for value in values} == {float}


@pytest.mark.parametrize("nodes", ["tree", "shared"])
def test_onnx(case, nodes):
    runtime = pytest.importorskip("onnxruntime")
    graph, _, rows, _, expected = case
    session = runtime.InferenceSession(graph.to_onnx(nodes).SerializeToString())
    feed = {}
    for given in session.get_inputs():
        column = [days(row[given.name]) for row in plain_rows(rows)]
        if "string" in given.type:
            feed[given.name] = np.array([x or ("" if x is None else "?") for x in column], dtype=object)[
                :, None
            ]
        else:
            feed[given.name] = np.array([np.nan if x is None else float(x) for x in column])[:, None]
    (values,) = session.run(None, feed)
    assert values.dtype == np.float64 and values.tolist() == expected


def test_treelite(case):
    treelite = pytest.importorskip("treelite")
    graph, _, rows, _, expected = case
    made = graph.to_treelite()
    found = treelite.gtil.predict(made, graph.to_matrix(rows, unseen="other"))
    assert found.reshape(-1).tolist() == expected
    plain = tf.Problem([[1.0], [2], [3]], [1.0, 5, 6], shape=tf.Tree(1)).minimize(tf.SquaredError()).solve()
    lacking = treelite.gtil.predict(plain.graph.to_treelite(), np.array([[np.nan], [1.0]])).reshape(-1)
    assert math.isnan(lacking[0]) and lacking[1] == 1.0


def test_scikit_learn_there_and_back(case):
    graph, table, _, _, _ = case
    tree = graph.to_sklearn(table)
    assert isinstance(tree, DecisionTreeRegressor)
    assert tree.predict(graph.encode(table, nan=True)).tolist() == graph.predict(table).tolist()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    data = tf.Problem(X, y, shape=tf.Tree(1)).minimize(tf.SquaredError(grid=0.001)).data
    fitted = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    back = tf.DecisionGraph.from_sklearn(fitted, data)
    near = np.concatenate([X, X + 1e-9, X - 1e-9])
    assert back.predict(near).tolist() == fitted.predict(near).tolist()
    assert all(isinstance(value, Fraction) for value in back.values)
    with pytest.raises(SpecError, match="DecisionTreeRegressor is not fitted"):
        tf.DecisionGraph.from_sklearn(DecisionTreeRegressor(), data)
    classes = tf.Problem(X, y > 0, shape=tf.Tree(1)).data
    with pytest.raises(SpecError, match="no fitted DecisionTreeClassifier") as caught:
        tf.DecisionGraph.from_sklearn(fitted, classes)
    assert "classes as their target" in caught.value.cause
    with pytest.raises(SpecError, match="2 numbers"):
        tf.DecisionGraph.from_sklearn(DecisionTreeRegressor(max_depth=1).fit(X, X[:, :2]), data)


def test_every_format_of_the_command(case, tmp_path):
    graph, table, _, _, _ = case
    graph.save(tmp_path / "m.json")
    table.to_csv(tmp_path / "rows.csv", index=False)
    for form in ("c", "onnx", "pmml", "treelite", "sklearn"):
        more = ["--data", str(tmp_path / "rows.csv")] if form == "sklearn" else []
        out = tmp_path / f"out.{form}"
        done = CliRunner().invoke(
            app, ["export", str(tmp_path / "m.json"), "--to", form, "-o", str(out), *more]
        )
        assert done.exit_code == 0, done.output
        assert out.stat().st_size > 0


@pytest.mark.parametrize("nodes", ["tree", "shared"])
def test_onnx_of_a_model_with_one_value(nodes):
    """onnxruntime takes a single class for one side of a margin."""
    runtime = pytest.importorskip("onnxruntime")
    data = tf.Problem([[0.0], [1.0]], [0.5, 1.5], shape="tree:1").minimize(tf.SquaredError()).data
    graph = tf.DecisionGraph.build(
        [{"feature": 0, "threshold": 0.5, "left": 1, "right": 1}, {"label": 0}], data, (Fraction(1, 2),)
    )
    session = runtime.InferenceSession(graph.to_onnx(nodes).SerializeToString())
    assert session.run(None, {"x0": np.array([[0.0], [1.0]])})[0].tolist() == [0.5, 0.5]
