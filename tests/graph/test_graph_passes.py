"""Pass-throughs in graphs: building, files, texts, drawings, predictions, rewrites; and the tests as values."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from graph_samples import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from treeform.data import Dataset
from treeform.errors import CertificateError, SpecError
from treeform.graph import DecisionGraph, LinearForm, NodeTest, evaluate, normalised
from treeform.graph.rules import branches

DATA = Dataset.from_user(
    np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), ["x", "y", "y", "x"], feature_names=["a", "b"]
)
NODES: dict[Any, dict[str, Any]] = {
    "root": {"pass": "a"},
    "a": {"feature": 0, "threshold": 0.5, "left": "b", "right": "sum"},
    "b": {"feature": 1, "threshold": 0.5, "left": "x", "right": "y"},
    "sum": {"weights": {0: 1.0, 1: -2.0}, "threshold": 0.0, "left": "x", "right": "passing"},
    "passing": {"pass": "y"},
    "x": {"label": 0},
    "y": {"label": 1},
}
GRAPH = DecisionGraph.build(NODES, DATA)


def test_counts_and_structure() -> None:
    assert (GRAPH.n_nodes, GRAPH.n_leaves, GRAPH.depth) == (5, 2, 4)
    assert GRAPH.passes.tolist() == [True, False, False, False, False, True, False]
    assert GRAPH.feature[GRAPH.passes].min() >= 0
    assert (GRAPH.left[GRAPH.passes] == GRAPH.right[GRAPH.passes]).all()
    assert not GRAPH.is_tree
    assert not GRAPH.is_univariate
    assert GRAPH.features_used() == {0, 1}


def test_a_tree_with_a_pass_through_is_a_tree() -> None:
    tree = DecisionGraph.build(
        [{"pass": 1}, {"feature": 0, "threshold": 0.5, "left": 2, "right": 3}, *LEAVES], DATA
    )
    assert tree.is_tree
    assert tree.is_univariate
    assert ElementTree.fromstring(tree.to_svg()) is not None


LEAVES = [{"label": 0}, {"label": 1}]


def test_tests_as_values() -> None:
    form = LinearForm((0, 1), (1.0, -2.0))
    nothing = LinearForm((), ())
    assert GRAPH.tests() == (
        NodeTest(0, None, nothing, 0.0),
        NodeTest(1, 0, None, 0.5),
        NodeTest(2, 1, None, 0.5),
        NodeTest(3, None, form, 0.0),
        NodeTest(5, None, nothing, 0.0),
    )
    assert [test.columns for test in GRAPH.tests()] == [(), (0,), (1,), (0, 1), ()]
    assert [test.passes for test in GRAPH.tests()] == [True, False, False, False, True]
    assert [test.weight(0) for test in GRAPH.tests()] == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert [test.weight(1) for test in GRAPH.tests()] == [0.0, 0.0, 1.0, -2.0, 0.0]


def test_predictions_on_any_row() -> None:
    assert GRAPH.predict_codes(DATA.X).tolist() == [0, 1, 1, 0]
    assert evaluate.predictions(GRAPH, DATA).tolist() == [0, 1, 1, 0]
    far = np.array([[1e300, -1e300], [-1e300, 1e300]])
    assert GRAPH.predict_codes(far).tolist() == [1, 1]
    assert GRAPH.goes_left(DATA.X)[:, GRAPH.passes].all()
    assert GRAPH.route(DATA.X)[:, 0].all()
    assert GRAPH.counts[:2].tolist() == [[2, 2], [2, 2]]


def test_texts_show_no_condition() -> None:
    text = GRAPH.to_text()
    assert text.startswith("pass  (support 4)\n    always: a <= 0.5?")
    assert "0 <= 0" not in text + GRAPH.to_dot() + GRAPH.to_svg() + "".join(GRAPH.rules())
    assert branches(GRAPH, 0) == (("always", 1),)
    assert GRAPH.to_dot().count('label="always"') == 2
    words = [element.text for element in ElementTree.fromstring(GRAPH.to_svg()).iter() if element.text]
    assert words.count("always") == words.count("pass") == 2
    assert words.count("yes") == words.count("no") == 3
    assert GRAPH.rules()[0].startswith("if (a <= 0.5 and b <= 0.5) or (a > 0.5 and a - 2*b <= 0) then x")
    lone = DecisionGraph.build([{"pass": 1}, {"label": 0}], DATA)
    assert lone.rules() == ["always x  (support 4, errors 2)"]


def test_files(tmp_path: Any) -> None:
    again = DecisionGraph.from_json(json.loads(json.dumps(GRAPH.to_json())))
    assert again == GRAPH
    assert again.passes.tolist() == GRAPH.passes.tolist()
    GRAPH.save(tmp_path / "model.json")
    assert DecisionGraph.load(tmp_path / "model.json") == GRAPH


@pytest.mark.parametrize("change", [{"right": 2}, {"threshold": 0.5}, {"threshold": -1.0}, {"weights": [[]]}])
def test_files_with_other_pass_throughs_are_refused(change: dict[str, Any]) -> None:
    value = GRAPH.to_json()
    value["nodes"][0] |= change
    with pytest.raises(CertificateError):
        DecisionGraph.from_json(value, validate="structure")


@pytest.mark.parametrize(
    ("left", "right", "threshold"), [([1, 2, -1], [2, 2, -1], 0.0), ([1, 2, -1], [1, 2, -1], 1.0)]
)
def test_arrays_with_other_pass_throughs_are_refused(left: Any, right: Any, threshold: float) -> None:
    with pytest.raises(SpecError, match="no decision graph") as error:
        DecisionGraph.from_arrays(
            [2, 0, -1], [threshold, 0.5, np.nan], left, right, [-1, -1, 0], DATA, (LinearForm((), ()),)
        )
    assert "pass-through has one child" in str(error.value.cause)


@pytest.mark.parametrize("node", [{"pass": "z"}, {"pass": "a", "threshold": 0.0}, {"pass": "root"}])
def test_bad_descriptions(node: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        DecisionGraph.build({**NODES, "root": node}, DATA)


def test_rewrites() -> None:
    assert GRAPH.canonical() == GRAPH
    assert GRAPH.canonical().passes.sum() == 2
    simple = GRAPH.simplified()
    assert simple.n_nodes == 3
    assert not simple.passes.any()
    assert simple != GRAPH
    assert normalised(GRAPH, DATA) == GRAPH


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_random_graphs_with_pass_throughs(seed: int) -> None:
    graph, data = random_graph(seed)
    passing = normalised(graph, data)
    again = DecisionGraph.from_json(json.loads(json.dumps(passing.to_json())))
    assert again == passing
    assert (again.counts == passing.counts).all()
    ElementTree.fromstring(passing.to_svg())
    assert passing.to_dot().count("->") == 2 * passing.n_nodes - passing.passes.sum()
    assert sum(len(branches(passing, test.node)) for test in passing.tests()) == (
        2 * passing.n_nodes - passing.passes.sum()
    )
    assert (evaluate.predictions(passing, data) == passing.predict_codes(data.X)).all()
    supports = [int(rule.split("support ")[1].split(",")[0]) for rule in passing.rules()]
    assert sum(supports) == data.total_weight


def test_simplification_by_arcs_and_not_by_children() -> None:
    """The right child of the second test has samples, which come by another arc: the test still decides nothing."""
    nodes = {
        "root": {"feature": 0, "threshold": 0.5, "left": "second", "right": "y"},
        "second": {"feature": 0, "threshold": 0.7, "left": "b", "right": "y"},
        "b": {"feature": 1, "threshold": 0.5, "left": "x", "right": "y"},
        "x": {"label": 0},
        "y": {"label": 1},
    }
    data = Dataset.from_user(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), [0, 1, 1])
    nodes["second"] |= {"feature": 1, "threshold": 1.5}
    graph = DecisionGraph.build(nodes, data)
    assert graph.simplified().n_nodes == 3  # elsewhere it may decide
    assert graph.simplified(data).n_nodes == 2
