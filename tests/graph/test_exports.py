"""Exports, each executed by a real engine on every row: equal to the model's own predictions."""

from __future__ import annotations

import datetime
import itertools
import json
import shutil
import sqlite3
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from export_tables import export_cases, javascript_answers, mixed_table, models, plain_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.cli.export import FORMATS
from treeform.errors import SpecError

SEEDS = [0, 1]


@pytest.fixture(scope="module", params=SEEDS)
def cases(request):
    """Models, rows, and what the models predict for them as text."""
    return [(case.graph, case.rows, case.expected) for case in export_cases(request.param)]


def test_python(cases):
    for graph, rows, expected in cases:
        space: dict = {}
        exec(compile(graph.to_python(), "exported.py", "exec"), space)
        assert [str(space["predict"](row)) for row in plain_rows(rows)] == expected


def test_javascript(cases, tmp_path):
    for graph, rows, expected in cases:
        answers = javascript_answers(graph, utc(plain_rows(rows)), tmp_path, "String(predict(row))")
        assert answers == expected


def utc(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    zone = datetime.UTC
    return [
        {k: v.replace(tzinfo=zone) if isinstance(v, datetime.datetime) else v for k, v in row.items()}
        for row in rows
    ]


def test_c(cases, tmp_path):
    """Compiled without warnings; values arrive bit by bit, as hexadecimal floats."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "the README asks for a compiler"
    for number, (graph, rows, expected) in enumerate(cases):
        code = graph.to_c()
        (tmp_path / "model.c").write_text(code, encoding="utf-8")
        members = [
            line.split(";")[0].split() for line in code.splitlines() if line.endswith('" */') and ";" in line
        ]
        names = [json.loads(line.split("/* ")[1][:-3]) for line in code.splitlines() if line.endswith('" */')]
        values = []
        for row in plain_rows(rows):
            for (kind, *_), name in zip(members, names, strict=True):
                values.append(c_literal(row[name], text=kind == "const"))
        main = [
            '#include "model.c"', "#include <stdio.h>", "int main(void) {",
            f"    static const struct model_row rows[] = {{{','.join(values)}}};",
            "    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) puts(model_labels[predict(&rows[i])]);",
            "    return 0;", "}",
        ]  # fmt: skip
        (tmp_path / "main.c").write_text("\n".join(main), encoding="utf-8")
        flags = [
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-missing-braces",
            "-Wno-missing-field-initializers",
        ]
        run = tmp_path / f"run{number}"
        subprocess.run([compiler, *flags, "main.c", "-o", str(run), "-lm"], cwd=tmp_path, check=True)
        done = subprocess.run([str(run)], capture_output=True, text=True, check=True, encoding="utf-8")
        assert done.stdout.splitlines() == expected


def c_literal(value: object, text: bool) -> str:
    if value is None:
        return "NULL" if text else "NAN"
    if isinstance(value, str):
        return '"' + "".join(f"\\{byte:03o}" for byte in value.encode()) + '"'
    if isinstance(value, datetime.datetime):
        value = (value - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return float(value).hex()


def test_sqlite(cases):
    for graph, rows, expected in cases:
        base = sqlite3.connect(":memory:")
        stored = rows.astype({name: object for name in ("grade",) if name in rows})
        for name in rows.select_dtypes("datetime"):
            stored[name] = stored[name].dt.strftime("%Y-%m-%d %H:%M:%S")
        kinds = {name: "BOOLEAN" for name in ("owner",) if name in rows}
        stored.to_sql("applicants", base, index_label="id", dtype=kinds)
        query = graph.to_sql("applicants", dialect="sqlite", keep=["id"])
        found = sorted(base.execute(query).fetchall())
        assert [str(label) for _, label in found] == expected


def test_duckdb(cases):
    duckdb = pytest.importorskip("duckdb")
    for graph, rows, expected in cases:
        base = duckdb.connect()
        kinds = {"grade": object, "job": object, "owner": "boolean"}
        stored = rows.astype({name: kind for name, kind in kinds.items() if name in rows})
        stored = stored.assign(id=range(len(rows)))
        base.register("applicants", stored)
        found = sorted(base.execute(graph.to_sql("applicants", dialect="duckdb", keep=["id"])).fetchall())
        assert [str(label) for _, label in found] == expected


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "snowflake", "tsql"])
def test_other_dialects_are_valid(cases, dialect):
    sqlglot = pytest.importorskip("sqlglot")
    for graph, _, _ in cases:
        assert sqlglot.parse_one(graph.to_sql("applicants", dialect=dialect), dialect=dialect)


def test_json_rules(cases):
    """Exactly one rule fires for each row."""
    for graph, rows, expected in cases:
        exported = json.loads(json.dumps(graph.to_json_rules()))
        for row, label in zip(plain_rows(rows), expected, strict=True):
            fired = [
                rule for rule in exported["rules"] if all(holds(c, row[c["column"]]) for c in rule["if"])
            ]
            assert [str(rule["then"]) for rule in fired] == [label]


def holds(condition: dict, value: object) -> bool:
    if condition["is"] == "is missing":
        answer = value is None
    elif value is None:
        answer = condition["or_missing"]
    elif condition["is"] == "is true":
        answer = value is True
    elif condition["is"] == "is level":
        answer = value == condition["value"]
    elif condition["is"] == "among":
        answer = value in condition["value"]
    elif condition["is"] == "before":
        answer = (value - datetime.datetime(1970, 1, 1)).days < condition["value"]
    else:
        answer = value <= condition["value"]
    return answer == condition["holds"]


@pytest.mark.parametrize("nodes", ["tree", "shared"])
def test_onnx(cases, nodes):
    pytest.importorskip("onnxruntime")
    for graph, rows, expected in cases:
        # ONNX has no missing strings: the empty one is. As a level that training did not have it is any other one.
        rows = rows.replace({graph.columns[t.column].source: {"": "never seen"} for t in graph.tests()})
        made = graph.to_onnx(nodes)
        kinds = [node.op_type for node in made.graph.node]
        assert ("TreeEnsembleClassifier" in kinds, "Loop" in kinds) == (nodes == "tree", nodes == "shared")
        labels, scores = run_onnx(made, rows, ["label", "scores"])
        assert [str(label) for label in labels] == expected
        assert (scores.argmax(axis=1) == [graph.classes.tolist().index(label) for label in labels]).all()
        assert (scores.sum(axis=1) == 1).all() and scores.dtype == np.float32


def run_onnx(made, rows: pd.DataFrame, outputs: list[str] | None) -> list[np.ndarray]:
    session = pytest.importorskip("onnxruntime").InferenceSession(made.SerializeToString())
    feed = {given.name: onnx_column(rows[given.name], given.type) for given in session.get_inputs()}
    return session.run(outputs, feed)


def test_onnx_writes_the_smaller_form(cases):
    pytest.importorskip("onnx")
    for graph, _, _ in cases:
        made, tree, shared = (graph.to_onnx(nodes) for nodes in ("auto", "tree", "shared"))
        operator = next(node for node in tree.graph.node if node.op_type == "TreeEnsembleClassifier")
        ids = next(a for a in operator.attribute if a.name == "nodes_nodeids").ints
        assert f"tree of {len(ids)} nodes" in tree.doc_string
        assert f"its tree has {len(ids)}" in shared.doc_string
        sizes = [len(one.SerializeToString()) for one in (made, tree, shared)]
        assert sizes[0] == min(sizes)


def test_a_diagram_of_a_million_paths_as_onnx(tmp_path):
    """Each level has two nodes, and both children of each lie in the next: 2**20 paths."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(60, 20)), columns=["node_", "values", "label", *map(str, range(17))])
    data = tf.Problem(rows, rng.integers(0, 2, 60), shape="tree:1").data
    names = ["top", *(f"{level}{side}" for level in range(1, 20) for side in "ab"), "enda", "endb"]
    nodes: dict = {}
    for at, name in enumerate(names[:-2]):
        level = (at + 1) // 2
        left, right = (f"{level + 1 if level < 19 else 'end'}{side}" for side in rng.permutation(["a", "b"]))
        nodes[name] = {"feature": level, "threshold": rng.normal(), "left": left, "right": right}
    nodes |= {"enda": {"label": 0}, "endb": {"label": 1}}
    order = {name: number for number, name in enumerate(names)}
    graph = tf.DecisionGraph.build(
        {
            order[name]: {k: order.get(v, v) if k in ("left", "right") else v for k, v in node.items()}
            for name, node in nodes.items()
        },
        data,
    )
    with pytest.raises(SpecError, match=r"an ONNX tree of [0-9]{7} nodes"):
        graph.to_onnx("tree")
    with pytest.raises(SpecError, match="'shard'") as caught:
        graph.to_onnx("shard")
    assert "'shared'" in caught.value.fix
    made = graph.to_onnx()
    assert len(made.SerializeToString()) < 10_000
    (labels,) = run_onnx(made, rows, ["label_"])  # a column has the name of the output
    assert labels.tolist() == graph.predict(rows).tolist()
    graph.save(tmp_path / "m.json")
    done = CliRunner().invoke(
        app, ["export", str(tmp_path / "m.json"), "--to", "onnx", "-o", str(tmp_path / "m.onnx")]
    )
    assert "41 nodes, shared ones written once; its tree has" in done.stderr
    assert f"{(tmp_path / 'm.onnx').stat().st_size} bytes" in done.stderr


def onnx_column(values: pd.Series, kind: str) -> np.ndarray:
    if "string" in kind:
        text = ["" if pd.isna(value) else str(value) for value in values]
        return np.array(text, dtype=object)[:, None]
    if values.dtype.kind == "M":
        days = (values - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        return days.to_numpy(dtype=np.float64)[:, None]
    return pd.to_numeric(values.astype(object).where(values.notna(), np.nan)).to_numpy(dtype=np.float64)[
        :, None
    ]


def test_a_row_that_lacks_a_needed_value_has_no_answer():
    graph = tf.Problem(pd.DataFrame({"a": [1.0, 2, 3, 4]}), [0, 0, 1, 1], shape="tree:1").solve().graph
    space: dict = {}
    exec(graph.to_python(), space)
    with pytest.raises(ValueError, match="missing a value"):
        space["predict"]({"a": None})
    base = sqlite3.connect(":memory:")
    pd.DataFrame({"a": [1.0, None]}).to_sql("t", base, index=False)
    assert base.execute(graph.to_sql("t", dialect="sqlite")).fetchall() == [(0,), (None,)]
    assert "return -1;" in graph.to_c()
    assert graph.to_json_rules()["never_missing"] == ["a"]
    for nodes in ("tree", "shared"):
        labels, scores = run_onnx(graph.to_onnx(nodes), pd.DataFrame({"a": [1.0, None, 4.0]}), None)
        assert labels.tolist() == [0, -1, 1] and scores.tolist() == [[1, 0], [0, 0], [0, 1]]


PAIRS = pd.DataFrame(itertools.product([None, 0.0, 1.0, 2.0, 3.0], repeat=2), columns=["a", "b"])


def sql_of_pairs(nodes: list[tuple[str, float, bool, int, int]]) -> str:
    """The SQL of a graph of such nodes and two leaves, which answers as the graph for every pair."""
    model = {
        f"n{at}": {"column": of, "at_most": value, "or_missing": lacking, "yes": f"n{yes}", "no": f"n{no}"}
        for at, (of, value, lacking, yes, no) in enumerate(nodes)
    }
    leaves = {f"n{len(nodes) + label}": {"predict": label} for label in (0, 1)}
    data = tf.Problem(PAIRS, np.arange(25) % 2, shape="tree:4").data
    graph = tf.DecisionGraph.from_dict({"root": "n0", "nodes": {**model, **leaves}}, data)
    code = graph.to_sql("t", dialect="sqlite")
    base = sqlite3.connect(":memory:")
    PAIRS.to_sql("t", base, index=False)
    assert [label for (label,) in base.execute(code)] == graph.predict(PAIRS).tolist()
    return code


@settings(max_examples=6)
@given(st.data())
def test_sql_answers_as_graphs_that_ask_columns_again(data):
    test = st.tuples(st.sampled_from("ab"), st.sampled_from([0.5, 1.5, 2.5]), st.booleans())
    sql_of_pairs([(*data.draw(test), at + 1, at + 2) for at in range(4)])


@pytest.mark.parametrize(
    ("nodes", "times"),
    [
        ([("a", 2.5, True, 1, 3), ("a", 1.5, True, 2, 3)], 2),  # the second can be asked of a missing value
        ([("a", 2.5, False, 1, 3), ("a", 1.5, True, 2, 3)], 0),  # only of one that is at most 2.5
        ([("a", 0.5, True, 2, 1), ("a", 1.5, True, 2, 3)], 1),  # only of one that is more than 0.5
        ([("a", 0.5, True, 1, 2), ("b", 0.5, False, 2, 3), ("a", 1.5, True, 4, 3)], 3),  # on one of two ways
    ],
)
def test_sql_asks_no_more_whether_a_value_is_missing_that_is_there(nodes, times):
    assert sql_of_pairs(nodes).count("IS NULL") == times


@pytest.mark.parametrize("nodes", ["tree", "shared"])
def test_onnx_answers_no_row_that_lacks_an_ordered_level(nodes):
    grade = pd.Categorical(list("ABCD") * 3, categories=list("ABCD"), ordered=True)
    rows = pd.DataFrame({"grade": grade, "pay": np.arange(12.0)})
    y = np.where(grade.codes > 1, "high", "low")
    graph = tf.Problem(rows, y, shape="tree:1").solve().graph
    asked = pd.concat([rows, rows.head(2).assign(grade=[None, "E"])], ignore_index=True)
    labels, _ = run_onnx(graph.to_onnx(nodes), asked, None)
    assert labels.tolist() == [*y, "", "low"]
    values = tf.Problem(rows, (y == "low") * 1.5, shape="tree:1").minimize(tf.SquaredError()).solve().graph
    (found,) = run_onnx(values.to_onnx(nodes), asked, None)
    assert np.array_equal(found, [*((y == "low") * 1.5), np.nan, 1.5], equal_nan=True)


def test_constant_models_and_pass_throughs():
    data = tf.Problem(pd.DataFrame({"a": [1.0, 2, 3]}), [0, 0, 1], shape="tree:1").data
    constant = tf.DecisionGraph.leaf(1, data)
    space: dict = {}
    exec(constant.to_python(), space)
    assert space["predict"]({"a": 3}) == 1
    assert constant.to_sql(dialect="duckdb").strip() == "1"
    assert "return 1;" in constant.to_c()
    with pytest.raises(SpecError, match="constant"):
        constant.to_onnx()
    passing = tf.DecisionGraph.build(
        {
            0: {"pass": 1},
            1: {"feature": 0, "threshold": 2.5, "left": 2, "right": 3},
            2: {"label": 0},
            3: {"label": 1},
        },
        data,
    )
    exec(passing.to_python(), space)
    assert [space["predict"]({"a": a}) for a in (1, 2, 3)] == [0, 0, 1]


def test_what_cannot_be_exported_is_refused():
    X, y = [[0.0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    lines = tf.Problem(X, [0, 1, 1, 1], shape=tf.Tree(1, "multivariate")).solve("cp-sat").graph
    with pytest.raises(SpecError, match="hyperplanes") as caught:
        lines.to_sklearn(X)
    assert caught.value.fix
    graph = tf.Problem(X, y, shape="tree:2").solve().graph
    with pytest.raises(SpecError, match="dialect 'postgress'") as caught:
        graph.to_sql("t", dialect="postgress")
    assert "postgres" in caught.value.fix
    odd = tf.Problem([[0], [1]], [frozenset("a"), frozenset("b")], shape="tree:1").solve().graph
    with pytest.raises(SpecError, match="no Python literal"):
        odd.to_python()


def test_exports_need_no_solver_and_no_treeform_to_run(tmp_path):
    graph = models(0)[0]
    (tmp_path / "exported.py").write_text(graph.to_python(), encoding="utf-8")
    code = (
        "import sys, exported; print(sorted(m for m in sys.modules if m in ('treeform', 'numpy', 'pandas')))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_the_command(tmp_path):
    path = tmp_path / "model.json"
    graph = models(0)[0]
    graph.save(path)
    run = CliRunner()
    table, _ = mixed_table(0)
    table.to_csv(tmp_path / "rows.csv", index=False)
    for name in FORMATS:
        out = tmp_path / f"out.{name}"
        more = ["--data", str(tmp_path / "rows.csv")] if name == "sklearn" else []
        done = run.invoke(app, ["export", str(path), "--to", name, "-o", str(out), *more])
        assert done.exit_code == 0, done.output
        assert out.stat().st_size > 0
    tree = joblib.load(tmp_path / "out.sklearn")
    assert tree.predict(graph.encode(table, nan=True)).tolist() == graph.predict(table).tolist()
    shown = run.invoke(
        app, ["export", str(path), "--to", "sql", "--table", "t", "--dialect", "duckdb", "--id", "k"]
    )
    assert shown.stdout == graph.to_sql("t", dialect="duckdb", keep=["k"])
    for wrong, what in [
        (["--to", "pythn"], "python"),
        (["--to", "onnx"], "-o model.onnx"),
        (["--to", "sklearn", "-o", "t"], "--data"),
    ]:
        done = run.invoke(app, ["export", str(path), *wrong])
        assert done.exit_code == 2
        assert what in done.stderr
