"""Hyperplanes in exports: real engines decide rows around the exact limit of each sum as the model does."""

from __future__ import annotations

import datetime
import json
import math
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from export_tables import javascript_answers, plain_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from sum_tables import model, near_limits, table

import treeform as tf
from treeform.errors import SpecError
from treeform.graph import LinearForm
from treeform.graph.export import pmml
from treeform.graph.export.exact_steps import sign_steps
from treeform.graph.export.sums import Sum

SPACE = f"{{{pmml.NAMESPACE}}}"


@pytest.fixture(scope="module")
def case():
    rows = table()
    labels = np.arange(len(rows)) % 3
    graph = model(tf.Problem(rows, labels, shape="tree:1", dates="days"))
    hard = near_limits(graph, rows)
    expected = graph.predict(hard).tolist()
    assert set(expected) == {0, 1, 2}
    return graph, hard, plain_rows(hard), expected


def days(value: object) -> object:
    if isinstance(value, datetime.datetime):
        return (value - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return value


def test_rows_lie_where_rounding_decides(case):
    """Plain sums of doubles get some of these rows wrong, so that the tests below can fail."""
    graph, hard, _, _ = case
    encoded = graph.encode(hard)
    form = graph.tests()[0].form
    plain = encoded[:, list(form.features)] @ np.array(form.weights) <= graph.threshold[0]
    exact = graph.goes_left(encoded)[:, 0]
    assert (plain != exact).any()


def test_python(case):
    graph, _, plain, expected = case
    space: dict = {}
    exec(compile(graph.to_python(), "exported.py", "exec"), space)
    assert [space["predict"](row) for row in plain] == expected


def test_javascript(case, tmp_path):
    graph, _, plain, expected = case
    assert javascript_answers(graph, plain, tmp_path) == expected


def test_c(case, tmp_path):
    graph, _, plain, expected = case
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "the README asks for a compiler"
    code = graph.to_c()
    names = [json.loads(line.split("/* ")[1][:-3]) for line in code.splitlines() if line.endswith('" */')]
    values = [
        json.dumps(row[name]) if isinstance(row[name], str) else float(days(row[name])).hex()
        for row in plain
        for name in names
    ]
    (tmp_path / "main.c").write_text(
        f"{code}\n#include <stdio.h>\nstatic const struct model_row rows[] = {{{','.join(values)}}};\n"
        "int main(void) {\n"
        "    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) puts(model_labels[predict(&rows[i])]);\n"
        "    return 0;\n}\n"
    )
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-missing-braces"]
    subprocess.run([compiler, *flags, "main.c", "-o", "run", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == expected


@pytest.mark.parametrize("nodes", ["tree", "shared"])
def test_onnx(case, nodes):
    runtime = pytest.importorskip("onnxruntime")
    graph, hard, _, expected = case
    session = runtime.InferenceSession(graph.to_onnx(nodes).SerializeToString())
    feed = {}
    for part in session.get_inputs():
        values = hard[part.name]
        if "string" in part.type:
            feed[part.name] = values.astype(str).to_numpy(dtype=object)[:, None]
        else:
            feed[part.name] = np.array([days(value) for value in values], dtype=float)[:, None]
    assert session.run(["label"], feed)[0].tolist() == expected


def test_treelite(case):
    treelite = pytest.importorskip("treelite")
    graph, hard, _, expected = case
    made = graph.to_treelite()
    assert treelite.gtil.predict(made, graph.to_matrix(hard))[:, 0, :].argmax(axis=1).tolist() == expected
    assert len(json.loads(json.loads(made.dump_as_json())["attributes"])["sums"]) == 3


def test_json_rules(case):
    graph, _, plain, expected = case
    rules = json.loads(json.dumps(graph.to_json_rules()))["rules"]
    for row, label in zip(plain[::4], expected[::4], strict=True):
        fired = [rule["then"] for rule in rules if all(holds(c, row) for c in rule["if"])]
        assert fired == [label]


def holds(condition: dict, row: dict) -> bool:
    if "sum" not in condition:
        return (row[condition["column"]] <= condition["value"]) == condition["holds"]
    exact = sum(
        Fraction(term["weight"]) * Fraction(read(term, row[term["column"]])) for term in condition["sum"]
    )
    return (float(exact) <= condition["value"]) == condition["holds"]


def read(term: dict, value: object) -> float:
    if term["of"] == "level":
        return float(value == term["level"])
    if term["of"] == "position":
        return float(term["levels"].index(value)) if value in term["levels"] else -1.0
    return float(days(value))


def test_pmml(case):
    """An interpreter of the functions used, in Python's doubles."""
    graph, _, plain, expected = case
    root = ET.fromstring(graph.to_pmml()).find(f"{SPACE}TreeModel")
    fields = root.findall(f"{SPACE}LocalTransformations/{SPACE}DerivedField")
    tree = root.find(f"{SPACE}Node")
    for row, label in zip(plain[::4], expected[::4], strict=True):
        known = {name: days(value) for name, value in row.items()}
        for field in fields:
            known[field.get("name")] = computed(field[0], known)
        node = tree
        while children := node.findall(f"{SPACE}Node"):
            node = next(child for child in children if fits(child[0], known))
        assert node.get("score") == str(label)


FUNCTIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "min": min,
    "max": max,
    "floor": math.floor,
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
    "isMissing": lambda a: a is None,
}


def computed(part: ET.Element, known: dict) -> object:
    name = part.tag.removeprefix(SPACE)
    if name == "FieldRef":
        return known[part.get("field")]
    if name == "Constant":
        kinds = {"double": float, "string": str, "boolean": lambda text: text == "true"}
        return kinds[part.get("dataType")](part.text)
    if part.get("function") == "if":
        return computed(part[1 if computed(part[0], known) else 2], known)
    return FUNCTIONS[part.get("function")](*(computed(each, known) for each in part))


def fits(predicate: ET.Element, known: dict) -> bool:
    if predicate.tag == f"{SPACE}True":
        return True
    value, limit = known[predicate.get("field")], float(predicate.get("value"))
    return value < limit if predicate.get("operator") == "lessThan" else value <= limit


def test_pmml4s(case):
    pypmml = pytest.importorskip("pypmml")
    if shutil.which("java") is None:
        pytest.skip("Java is not here")
    graph, _, plain, expected = case
    model = pypmml.Model.fromString(graph.to_pmml())
    rows = [{k: days(row[k]) for k in model.inputNames} for row in plain[::12]]
    found = json.loads(model.predict(json.dumps(rows)))
    assert [row["predicted_label"] for row in found] == expected[::12]


def answers(graph: tf.DecisionGraph, rows: pd.DataFrame, dialect: str) -> list[object]:
    query = graph.to_sql("t", dialect=dialect, keep=["id"])
    stored = rows.assign(id=range(len(rows)), grade=rows["grade"].astype(str))
    if dialect == "sqlite":
        base = sqlite3.connect(":memory:")
        stored.to_sql("t", base, index=False)
        return [label for _, label in sorted(base.execute(query).fetchall())]
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.register("t", stored.astype({"job": object, "grade": object}))
    return [label for _, label in sorted(base.execute(query).fetchall())]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_sql_never_answers_otherwise_and_says_which_rows_have_no_answer(dialect):
    rows = table(dates=False)
    graph = model(tf.Problem(rows, np.arange(len(rows)) % 3, shape="tree:1"))
    hard = near_limits(graph, rows)
    found, expected = answers(graph, hard, dialect), graph.predict(hard).tolist()
    decided = [label is not None for label in found]
    assert [label for label in found if label is not None] == [
        label for label, sure in zip(expected, decided, strict=True) if sure
    ]
    assert all(decided[: len(rows)])
    with pytest.raises(SpecError, match=f"no answer for {decided.count(False)} of the rows") as caught:
        graph.to_sql("t", dialect=dialect, X=hard)
    assert str(decided.index(False)) in caught.value.cause
    assert graph.to_sql("t", dialect=dialect, X=rows) == graph.to_sql("t", dialect=dialect)


def test_sql_decides_all_rows_of_whole_numbers():
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(rng.integers(-6, 7, (200, 2)), columns=["a", "b"])
    problem = tf.Problem(rows, rng.integers(0, 2, 200), shape="tree:1")
    nodes = [
        {"weights": {0: 0.5, 1: -1.25}, "threshold": 1.5, "left": 1, "right": 2},
        {"label": 0},
        {"label": 1},
    ]
    graph = tf.DecisionGraph.build(nodes, problem.data)
    assert (0.5 * rows.a - 1.25 * rows.b == 1.5).any()
    base = sqlite3.connect(":memory:")
    rows.to_sql("t", base, index_label="id")
    found = sorted(base.execute(graph.to_sql("t", dialect="sqlite", keep=["id"], X=rows)).fetchall())
    assert [label for _, label in found] == graph.predict(rows).tolist()


numbers = st.one_of(
    st.integers(-4, 4).map(float), st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-60)
)


@settings(max_examples=50)
@given(st.lists(st.tuples(numbers.filter(bool), numbers), min_size=1, max_size=4), st.integers(-2, 2))
def test_steps_have_the_sign_of_the_exact_sum(terms, steps):
    form = LinearForm.of(dict(enumerate(weight for weight, _ in terms)))
    row = [value for _, value in terms]
    near = form.nearest(row)
    threshold = near + steps * math.ulp(near)
    if threshold and not 1e-80 < abs(threshold) < 1e80:
        return
    columns = tf.Problem([[0.0] * len(row), [1.0] * len(row)], [0, 1], shape="tree:1").data.columns
    asked = Sum.of(0, form, columns, threshold)
    inputs = [f"x{j}" for j in range(len(row))]
    held: dict[str, float] = dict(zip(inputs, row, strict=True))
    run = {**FUNCTIONS, "first": lambda a, b: a or b}
    for step in sign_steps(asked, inputs, "s"):
        left, right = (held[x] if isinstance(x, str) else x for x in (step.left, step.right))
        held[step.name] = run[step.operator](left, right)
    sign = held[step.name]
    assert (sign <= 0 if asked.includes_limit else sign < 0) == (near <= threshold)


def test_what_is_refused():
    rows = table()
    graph = model(tf.Problem(rows, np.arange(len(rows)) % 3, shape="tree:1", dates="days"))
    with pytest.raises(SpecError, match="the date 'opened'"):
        graph.to_sql("t")
    with pytest.raises(SpecError, match="hyperplanes"):
        graph.to_sklearn(rows)
    problem = tf.Problem([[0.0], [1.0]], [0, 1], shape="tree:1")
    nodes = [{"weights": {0: 1e-200}, "threshold": 0.5, "left": 1, "right": 2}, {"label": 0}, {"label": 1}]
    with pytest.raises(SpecError, match="1e-200"):
        tf.DecisionGraph.build(nodes, problem.data).to_onnx()
    gaps = tf.Problem(pd.DataFrame({"a": [0.0, None, 1.0]}), [0, 1, 1], shape="tree:1")
    nodes[0] = {"weights": {0: 2.0}, "threshold": 0.5, "left": 1, "right": 2}
    with pytest.raises(SpecError, match="missing values in training"):
        tf.DecisionGraph.build(nodes, gaps.data).to_python()
