"""PMML: valid by the published schema, and equal to the model on every row, in a plain interpreter and in pmml4s."""

from __future__ import annotations

import datetime
import importlib.util
import json
import math
import shutil
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_tables import ExportCase, export_cases, plain_rows, values_case

import treeform as tf
from treeform.errors import SpecError
from treeform.graph.export import pmml

SPACE = f"{{{pmml.NAMESPACE}}}"


@pytest.fixture(scope="module", params=[0, 1])
def cases(request) -> list[ExportCase]:
    return export_cases(request.param)


def days(value: object) -> object:
    return (
        (value - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        if isinstance(value, datetime.datetime)
        else value
    )


def decide(node: ET.Element, row: dict[str, object]) -> str:
    """PMML's rules for missingValueStrategy="none": the first child whose predicate is true; unknown is false."""
    children = node.findall(f"{SPACE}Node")
    if not children:
        return str(node.get("score"))
    return decide(next(child for child in children if holds(child[0], row) is True), row)


def holds(predicate: ET.Element, row: dict[str, object]) -> bool | None:
    name = predicate.tag.removeprefix(SPACE)
    if name in ("True", "False"):
        return name == "True"
    if name == "CompoundPredicate":
        assert predicate.get("booleanOperator") == "or"
        parts = [holds(part, row) for part in predicate]
        return True if True in parts else None if None in parts else False
    value, operator = row[predicate.get("field")], predicate.get("operator")
    if operator == "isMissing":
        return value is None
    if value is None:
        return None
    asked = predicate.get("value")
    if operator == "equal":
        return (str(value).lower() if isinstance(value, bool) else str(value)) == asked
    return value < float(asked) if operator == "lessThan" else value <= float(asked)


def test_a_plain_interpreter_of_the_standard_decides_every_row_alike(cases):
    for case in cases:
        tree = ET.fromstring(case.graph.to_pmml()).find(f"{SPACE}TreeModel/{SPACE}Node")
        found = [decide(tree, {k: days(v) for k, v in row.items()}) for row in case.plain]
        assert found == case.expected


def test_the_schema_of_the_data_mining_group(cases):
    """The package of the reference implementation carries it; it needs Java only to evaluate."""
    lxml = pytest.importorskip("lxml.etree")
    found = importlib.util.find_spec("jpmml_evaluator")
    if found is None:
        pytest.skip("the package jpmml-evaluator, which holds the schema, is not here")
    jars = (Path(found.origin).parent / "dependencies").glob("pmml-model-[0-9]*.jar")
    with zipfile.ZipFile(next(jars)) as jar:
        schema = lxml.XMLSchema(lxml.fromstring(jar.read("pmml.xsd")))
    for graph in [values_case()[0], *(case.graph for case in cases)]:
        schema.assertValid(lxml.fromstring(graph.to_pmml().encode()))


def test_pmml4s_decides_every_row_alike(cases):
    """Rows go in as JSON, which keeps every digit; missing values are left out: pmml4s reads null as false.

    It reads an empty string as missing, so that a level which training did not have has another name here.
    """
    pypmml = pytest.importorskip("pypmml")
    if shutil.which("java") is None:
        pytest.skip("Java is not here")
    for case in cases[:3]:  # it takes a second for fifty rows
        model = pypmml.Model.fromString(case.graph.to_pmml())
        rows = [
            {
                k: "never seen" if row[k] == "" else days(row[k])
                for k in model.inputNames
                if row[k] is not None
            }
            for row in case.plain
        ]
        found = json.loads(model.predict(json.dumps(rows)))
        assert [str(row["predicted_label"]) for row in found] == case.expected


def test_regression_models():
    graph, _, rows, expected = values_case()
    root = ET.fromstring(graph.to_pmml())
    model = root.find(f"{SPACE}TreeModel")
    assert model.get("functionName") == "regression" and not list(model.iter(f"{SPACE}ScoreDistribution"))
    plain = [{k: days(v) for k, v in row.items()} for row in plain_rows(rows)]
    assert [float(decide(model.find(f"{SPACE}Node"), row)) for row in plain] == expected


def test_counts_and_shares_stand_at_the_leaves(cases):
    graph = cases[0].graph
    leaves = [
        node for node in ET.fromstring(graph.to_pmml()).iter(f"{SPACE}Node") if node.get("score") is not None
    ]
    assert sum(float(leaf.get("recordCount")) for leaf in leaves) == graph.counts[0].sum()
    for leaf in leaves:
        shares = [float(part.get("probability")) for part in leaf.findall(f"{SPACE}ScoreDistribution")]
        assert math.isclose(sum(shares), 1)


def test_what_cannot_be_written():
    levels = pd.DataFrame({"a": pd.Series(["x", 1, "x", 1], dtype=object)})
    graph = tf.Problem(levels, [0, 1, 0, 1], shape="tree:1", categorical_features=["a"]).solve().graph
    with pytest.raises(SpecError, match="different types"):
        graph.to_pmml()
    graph = tf.Problem(pd.DataFrame({"a\x07": [1.0, 2]}), [0, 1], shape="tree:1").solve().graph
    with pytest.raises(SpecError, match="XML"):
        graph.to_pmml()


def test_names_labels_and_booleans():
    table = pd.DataFrame({"label": [1.5, 2, 3, 4], "b": np.array([True, False, True, False])})
    graph = tf.Problem(table, [True, True, False, False], shape="tree:1").solve().graph
    root = ET.fromstring(graph.to_pmml())
    assert [f.get("name") for f in root.iter(f"{SPACE}DataField")] == ["label", "label_"]
    assert {node.get("score") for node in root.iter(f"{SPACE}Node")} == {None, "true", "false"}
    constant = tf.DecisionGraph.leaf(0, tf.Problem(table, [1, 0, 1, 0], shape="tree:1").data)
    assert ET.fromstring(constant.to_pmml()).find(f"{SPACE}TreeModel/{SPACE}Node").get("score") == "0"
