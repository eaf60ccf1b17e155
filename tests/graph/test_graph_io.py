"""Graphs on paper and on disk: rules, outlines, JSON, SVG, DOT."""

from __future__ import annotations

import copy
import json
import math
import sys
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from graph_samples import nodes_of, random_data, random_graph, random_nested
from hypothesis import given, settings
from hypothesis import strategies as st

import treeform as tf
from treeform.data import Dataset
from treeform.errors import CertificateError, DataError, SpecError
from treeform.graph import DecisionGraph
from treeform.graph.labeljson import label_from_json
from treeform.graph.layout import place_layers, place_tree, spread
from treeform.graph.svg import text_width
from treeform.utils.text import count_of

SEEDS = st.integers(0, 10_000)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def credit() -> Dataset:
    frame = pd.DataFrame(
        {
            "age": [25.0, 30, 45, 50, 60, 70],
            "job": ["skilled", "none", "skilled", "none", "other", "skilled"],
            "owner": [True, False, True, True, False, False],
        }
    )
    return Dataset.from_user(frame, ["bad", "bad", "good", "bad", "good", "good"])


def test_rules_read_like_sentences(credit):
    at = {column.name: f for f, column in enumerate(credit.columns)}
    nested = (0, 37.5, 0, (at["job = skilled"], 0.5, (0, 55.0, (at["owner"], 0.5, 0, 1), 1), 1))
    assert DecisionGraph.from_nested(nested, credit).rules() == [
        "if age <= 37.5 then bad  (support 2, errors 0)",
        "if age > 37.5 and job = skilled then good  (support 2, errors 0)",
        "if 37.5 < age <= 55 and job != skilled and owner is true then good  (support 1, errors 1)",
        "if 37.5 < age <= 55 and job != skilled and owner is false then bad  (support 0, errors 0)",
        "if age > 55 and job != skilled then good  (support 1, errors 0)",
    ]
    assert DecisionGraph.leaf(1, credit).rules() == ["always good  (support 6, errors 3)"]
    other = (at["job = none"], 0.5, (at["job = skilled"], 0.5, 0, 1), (at["job = skilled"], 0.5, 0, 1))
    assert [rule.split(" then")[0] for rule in DecisionGraph.from_nested(other, credit).rules()] == [
        "never good  (support 0, errors 0)",
        "if job = none",
        "if job = skilled",
        "if job != none and job != skilled",
    ]


def test_rules_of_a_diagram_join_paths(credit):
    graph = DecisionGraph.build(nodes_of((0, 37.5, 1, 2), (0, 27.5, 3, 4), (0, 65.0, 4, 3), 0, 1), credit)
    assert graph.rules() == [
        "if (age <= 27.5) or (age > 65) then bad  (support 2, errors 1)",
        "if (27.5 < age <= 37.5) or (37.5 < age <= 65) then good  (support 4, errors 2)",
    ]
    assert "see [" in graph.to_text()


@settings(max_examples=40)
@given(SEEDS)
def test_rules_and_outline_name_every_leaf(seed):
    graph, _ = random_graph(seed)
    shown = graph.canonical()
    assert len(shown.rules()) == len({*shown.apply(np.zeros((1, 3))), *np.flatnonzero(shown.feature < 0)})
    assert str(graph) == graph.to_text()
    assert count_of(graph.n_nodes, "test") in repr(graph)


def test_rules_cover_the_data_once(credit):
    graph = random_graph(3)[0]
    total = graph.counts[0].sum()
    supports = [int(rule.split("support ")[1].split(",")[0]) for rule in graph.rules()]
    assert sum(supports) == total


# ---------------------------------------------------------------- JSON


@settings(max_examples=60)
@given(SEEDS)
def test_json_round_trip(seed):
    graph, data = random_graph(seed)
    text = json.dumps(graph.to_json(), allow_nan=False)
    back = DecisionGraph.from_json(json.loads(text))
    assert back == graph
    assert (back.counts == graph.counts).all()
    assert back.counts.dtype == graph.counts.dtype
    assert back.classes.dtype == graph.classes.dtype
    assert back.to_json() == graph.to_json()
    assert (back.apply(data.X) == graph.apply(data.X)).all()


@given(FINITE)
def test_thresholds_come_back_exactly(threshold):
    data = random_data(np.random.default_rng(0))
    graph = DecisionGraph.from_nested((0, threshold, 0, 1), data)
    back = DecisionGraph.from_json(json.loads(json.dumps(graph.to_json())))
    assert back.threshold[0] == threshold


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [True, False],
        [0.5, 1.5],
        ["a", "b"],
        np.array(["ä", "b"], dtype=object),
        [("x", 1), ("y", 2.5)],
        [1, "one"],
        np.array([1, 2], dtype=np.uint8),
        np.array([b"x", b"y"], dtype=object),
        [date(2020, 1, 1), datetime(2020, 1, 1, 2)],
        np.array([pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp("2021-01-01", tz="UTC")]),
        [Fraction(1, 3), Decimal("0.30")],
        list(np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")),
    ],
)
def test_labels_come_back_with_their_type(labels, tmp_path):
    data = Dataset.from_user(np.array([[1.0], [2.0]]), labels)
    graph = DecisionGraph.from_nested((0, 1.5, int(data.y[0]), int(data.y[1])), data)
    graph.save(tmp_path / "model.json")
    back = DecisionGraph.load(tmp_path / "model.json")
    assert back == graph
    assert back.classes.dtype == graph.classes.dtype
    assert [type(label) for label in back.classes] == [type(label) for label in graph.classes]
    assert list(back.predict([[1.0], [2.0]])) == list(labels)


def test_labels_that_json_cannot_hold():
    data = Dataset.from_user(np.array([[1.0], [2.0]]), [frozenset("a"), frozenset("b")])
    with pytest.raises(SpecError, match="cannot be written"):
        DecisionGraph.leaf(0, data).to_json()
    spans = Dataset.from_user(np.array([[1.0], [2.0]]), np.array([1, 2], dtype="timedelta64[ns]"))
    with pytest.raises(SpecError, match="cannot be written"):
        DecisionGraph.leaf(0, spans).to_json()


@pytest.mark.parametrize(
    "label", [{"date": "2020-13-01"}, {"decimal": "x"}, {"fraction": "1/0"}, {"list": "[]"}]
)
def test_tagged_labels_are_validated(label):
    with pytest.raises(ValueError, match=r"."):
        label_from_json(label)


def _edited(value, path, new):
    value = copy.deepcopy(value)
    place = value
    for key in path[:-1]:
        place = place[key]
    if new is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return value


EDITS = [
    (("nodes", 0, "left"), 0),
    (("nodes", 0, "left"), 99),
    (("nodes", 0, "left"), -1),
    (("nodes", 0, "left"), 1.0),
    (("nodes", 0, "feature"), 99),
    (("nodes", 0, "feature"), True),
    (("nodes", 0, "feature"), 2**40),
    (("nodes", 0, "threshold"), math.nan),
    (("nodes", 0, "threshold"), math.inf),
    (("nodes", 0, "threshold"), 10**400),
    (("nodes", 0, "threshold"), "1.0"),
    (("nodes", 0, "threshold"), None),
    (("nodes", 0, "label"), 1),
    (("nodes", 0, "counts"), [1]),
    (("nodes", 0, "counts"), [1, -1]),
    (("nodes", 0, "counts"), [1, "x"]),
    (("nodes", 0, "counts"), [1, 10**30]),
    (("nodes", 1, "label"), 5),
    (("nodes", 1), []),
    (("nodes",), []),
    (("nodes",), {}),
    (("classes", "labels"), ["a", "a"]),
    (("classes", "labels"), [1, 2]),
    (("classes", "labels"), [["a"], "b"]),
    (("classes", "type"), "complex128"),
    (("classes", "type"), "int64"),
    (("classes",), []),
    (("columns", 0, "kind"), "odd"),
    (("columns", 0, "category"), 3),
    (("columns", 0), {}),
    (("columns",), []),
    (("encoder", "sources", 0, "name"), "other"),
    (("encoder",), 7),
    (("encoder",), KeyError),
    (("extra",), 1),
    (("version",), 2),
    (("format",), "pickle"),
]


@pytest.mark.parametrize(("path", "new"), EDITS)
def test_edited_models_are_refused(credit, path, new):
    value = DecisionGraph.from_nested((0, 37.5, 0, 1), credit).to_json()
    edited = _edited(value, path, new)
    for how in ("digest", "structure"):
        with pytest.raises(CertificateError) as caught:
            DecisionGraph.from_json(edited, validate=how)
        assert caught.value.fix


def test_a_sound_edit_needs_consent(credit, tmp_path):
    value = DecisionGraph.from_nested((0, 37.5, 0, 1), credit).to_json()
    edited = _edited(value, ("nodes", 0, "threshold"), 40.0)
    with pytest.raises(CertificateError, match="changed after it was written"):
        DecisionGraph.from_json(edited)
    assert DecisionGraph.from_json(edited, validate="structure").threshold[0] == 40.0
    del edited["digest"]
    assert DecisionGraph.from_json(edited, validate="structure").n_nodes == 1
    with pytest.raises(SpecError, match="validate"):
        DecisionGraph.from_json(value, validate="none")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[1, 2]", b'{"a": NaN}', b"[" * 100_000])
def test_files_that_are_no_models(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(CertificateError):
        DecisionGraph.load(path)
    with pytest.raises(CertificateError, match="there is no model file"):
        DecisionGraph.load(tmp_path / "missing.json")


def test_model_without_encoder_takes_the_encoded_matrix(credit):
    value = DecisionGraph.from_nested((0, 37.5, 0, 1), credit).to_json()
    value["encoder"] = None
    graph = DecisionGraph.from_json(value, validate="structure")
    assert graph.predict(credit.X).tolist() == ["bad", "bad", "good", "good", "good", "good"]


# ---------------------------------------------------------------- drawings


def _rectangles(root) -> list[tuple[float, float, float, float]]:
    boxes = []
    for group in root.findall(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is not None and group.find(f"{SVG}title") is not None:
            x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
            boxes.append((x, y, x + w, y + h))
    return boxes


@settings(max_examples=40)
@given(SEEDS)
def test_svg_is_valid_and_nodes_do_not_overlap(seed):
    graph, _ = random_graph(seed)
    root = ElementTree.fromstring(graph.to_svg())
    left, top, width, height = map(float, root.get("viewBox").split())
    boxes = _rectangles(root)
    assert len(boxes) == len(graph.feature)
    for x0, y0, x1, y1 in boxes:
        assert left <= x0 <= x1 <= width
        assert top <= y0 <= y1 <= height
    for a, b in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    assert len(root.findall(f".//{SVG}path")) == 2 * graph.n_nodes
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert words.count("yes") == words.count("no") == graph.n_nodes


def test_svg_text_is_escaped_and_fits():
    ugly = '<b> & "q" \x00\x1f \ud800 ' + "W" * 60
    table = np.array([[1.0, "<"], [2.0, "&"]], dtype=object)
    data = Dataset.from_user(table, ["<script>", "]]>"], feature_names=[ugly, "短い"])
    graph = DecisionGraph.from_nested((0, 1.5, (1, 0.5, 0, 1), 1), data)
    text = graph.plot()._repr_svg_()
    root = ElementTree.fromstring(text)
    assert "<script>" not in text
    assert root.find(f"{SVG}title").text == "Decision tree: 2 tests, 3 leaves, depth 2"
    for group in root.findall(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if group.find(f"{SVG}title") is not None:
            for line in group.findall(f"{SVG}text"):
                assert text_width(line.text, float(line.get("font-size"))) <= float(rect.get("width"))


def test_svg_without_counts_and_of_a_single_leaf(credit, tmp_path):
    bare = DecisionGraph.from_nested((0, 37.5, 0, 1), credit)
    value = bare.to_json()
    for node in value["nodes"]:
        node["counts"] = [0, 0]
    ElementTree.fromstring(DecisionGraph.from_json(value, validate="structure").to_svg())
    drawing = DecisionGraph.leaf(0, credit).plot()
    drawing.save(tmp_path / "leaf.svg")
    ElementTree.parse(tmp_path / "leaf.svg")


def test_tree_layout_centres_parents():
    rng = np.random.default_rng(4)
    data = random_data(rng)
    graph = DecisionGraph.from_nested(random_nested(rng, data, 6), data)
    pairs = zip(graph.left.tolist(), graph.right.tolist(), strict=True)
    children = [pair if pair[0] > 0 else () for pair in pairs]
    layout = place_tree(children, rng.uniform(40, 200, len(children)).tolist())
    for node, pair in enumerate(children):
        if pair:
            assert layout.x[node] == pytest.approx((layout.x[pair[0]] + layout.x[pair[1]]) / 2)


def test_layers_put_terminals_last():
    layout = place_layers([(1, 2), (2, 3), (3, 4), (), ()], [50.0] * 5)
    assert layout.layer == [0, 1, 2, 3, 3]
    assert len(layout.bends[0, 1]) == 1
    assert len(layout.bends[1, 1]) == 1


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8), st.data())
def test_spread_keeps_distances_and_is_optimal(wanted, draw):
    k = len(wanted)
    distances = draw.draw(st.lists(st.floats(0, 30), min_size=k - 1, max_size=k - 1))
    weights = draw.draw(st.lists(st.sampled_from([1.0, 3.0]), min_size=k, max_size=k))
    placed = spread(wanted, weights, distances)
    assert all(b - a >= d - 1e-6 for a, b, d in zip(placed, placed[1:], distances, strict=False))
    cost = sum(w * (p - q) ** 2 for w, p, q in zip(weights, placed, wanted, strict=True))
    for i in range(k):  # moving a tail right or a head left keeps the distances: neither may help
        for step in (0.01, -0.01):
            moved = [p + step * ((j >= i) if step > 0 else (j <= i)) for j, p in enumerate(placed)]
            assert (
                sum(w * (p - q) ** 2 for w, p, q in zip(weights, moved, wanted, strict=True)) >= cost - 1e-6
            )


def test_dot_is_quoted(credit):
    frame = pd.DataFrame({'say "hi" \\': [1.0, 2.0]})
    data = Dataset.from_user(frame, ["line\nbreak", "b"])
    source = DecisionGraph.from_nested((0, 1.5, 0, 1), data).to_dot()
    assert '\\"hi\\" \\\\ <= 1.5?' in source
    assert "n0 -> n1" in source
    assert source.count("\n") == 9


def test_drawings_are_what_their_name_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset.from_user([[0.0], [1.0]], ["a", "b"])
    drawing = DecisionGraph.leaf(0, data).plot()
    drawing.save(tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_text() == drawing.svg
    with pytest.raises(SpecError, match=r"g\.svg"):
        drawing.save(tmp_path / "g.jpeg")
    with pytest.raises(SpecError, match="cannot be written"):
        drawing.save(tmp_path / "nowhere" / "g.svg")
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(SpecError, match="pip install cairosvg"):
        drawing.save(tmp_path / "g.png")
    assert not (tmp_path / "g.png").exists()
    made = SimpleNamespace(
        svg2png=lambda **given: b"png" + given["bytestring"], svg2pdf=lambda **given: b"pdf"
    )
    monkeypatch.setitem(sys.modules, "cairosvg", made)
    drawing.save(tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes() == b"png" + drawing.svg.encode()


def test_what_predict_takes_other_methods_take() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "job": ["cook", "pilot", "cook", "pilot"]})
    graph = tf.Problem(frame, [0, 0, 1, 1], shape="tree:2").solve().graph
    other = frame[["job", "age"]]
    assert graph.apply(other).tolist() == graph.apply(graph.encode(frame)).tolist()
    assert graph.classes[graph.predict_codes(other)].tolist() == graph.predict(other).tolist()
    assert graph.route(other).tolist() == graph.route(graph.encode(frame)).tolist()
    with pytest.raises(DataError, match="not numbers"):
        graph.apply([["a", "b", "c"]])
    with pytest.raises(SpecError, match="cannot be written"):
        graph.save("/no/such/folder/model.json")
