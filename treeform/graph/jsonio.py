"""Graphs as JSON. Loading checks every entry, and evaluates or unpickles nothing."""

from __future__ import annotations

import hashlib
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeform.data.columns import CATEGORY, KINDS, ORDERED, Column
from treeform.data.encode import Encoder
from treeform.errors import CertificateError, SpecError
from treeform.graph.forms import LinearForm
from treeform.graph.graph import FlatGraph
from treeform.graph.labeljson import label_from_json, label_to_json
from treeform.utils.arrays import Floats
from treeform.utils.files import is_as_written, parse_json, read_text, reading, write_text
from treeform.utils.rows import worded

FORMAT = "treeform.graph"
VERSION = 1
G = TypeVar("G", bound=FlatGraph)
_KEYS = {"format", "version", "columns", "classes", "encoder", "nodes", "digest"}
_VALUE_KEYS = {"values", "moments"}
"""Of regression models."""
_TEST_KEYS = {"feature", "threshold", "left", "right", "counts"}
_FORM_KEYS = {"weights", "threshold", "left", "right", "counts"}
_LEAF_KEYS = {"label", "counts"}
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?")
_FIXED_TYPES = {"bool", "float16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def to_json(graph: FlatGraph) -> dict[str, Any]:
    """See `DecisionGraph.to_json`. Raises SpecError if the labels are of a type that JSON cannot hold."""
    value: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "columns": [_column_to_json(column) for column in graph.columns],
        "classes": _classes_to_json(graph.classes),
        "encoder": None if graph.encoder is None else graph.encoder.to_json(),
        "nodes": [_node_to_json(graph, node) for node in range(len(graph.feature))],
    }
    if graph.values:
        value["values"] = [str(one) for one in graph.values]
        value["moments"] = [[None if math.isnan(m) else m for m in pair] for pair in graph.moments.tolist()]
    value["digest"] = digest(value)
    return value


def from_json(kind: type[G], value: Any, validate: str = "digest") -> G:
    """See `DecisionGraph.from_json`."""
    if validate not in ("digest", "structure"):
        raise SpecError(f"validate={validate!r} is not known", fix="use 'digest' or 'structure'")
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise CertificateError("this is no treeform model", fix="pass a file that graph.save wrote")
    if value.get("version") != VERSION:
        raise CertificateError(
            f"the model has version {value.get('version')!r} of the format, this treeform reads {VERSION}",
            fix="use the release of treeform that wrote it, or write it again",
        )
    if validate == "digest":
        _check_digest(value)
    keys = _KEYS | _VALUE_KEYS if "values" in value else _KEYS
    unknown = sorted(map(str, set(value) ^ keys))
    if unknown and not (validate == "structure" and unknown == ["digest"]):
        raise _malformed(f"keys missing or unknown: {', '.join(unknown)}")
    columns = tuple(_column_from_json(entry) for entry in _list(value["columns"], "columns"))
    classes = _classes_from_json(value["classes"])
    encoder = None if value["encoder"] is None else Encoder.from_json(value["encoder"])
    if encoder is not None and encoder.columns != columns:
        raise _malformed("the encoder makes other columns than the model names")
    nodes = _list(value["nodes"], "nodes")
    values = _values_from_json(value["values"]) if "values" in value else ()
    moments = _moments_from_json(value["moments"], len(nodes)) if values else np.empty((0, 2))
    return _graph_from_json(kind, nodes, columns, classes, encoder, values, moments)


def digest(value: dict[str, Any]) -> str:
    """SHA-256 (hex) of everything but the digest itself, independent of key order and white space."""
    body = {key: entry for key, entry in value.items() if key != "digest"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def save(graph: FlatGraph, path: str | Path) -> None:
    """Write the model file, one node a line."""
    value = to_json(graph)
    nodes = ",\n  ".join(json.dumps(node, allow_nan=False) for node in value.pop("nodes"))
    head = json.dumps({**value, "nodes": "@"}, indent=1, allow_nan=False)
    write_text(path, head.replace('"nodes": "@"', f'"nodes": [\n  {nodes}\n ]') + "\n")


def _written() -> str:
    return worded("graph.save(path)", "treeform fit --model")


def load(kind: type[G], path: str | Path, validate: str = "digest") -> G:
    """Read a model file; see `DecisionGraph.load`."""
    with reading(path, "model file", f"write one with {_written()}", CertificateError):
        try:
            value = parse_json(read_text(path))
        except ValueError as error:
            raise CertificateError(
                f"the model file {path} is not JSON in UTF-8",
                cause=str(error),
                fix=f"write it again with {_written()}",
            ) from None
    return from_json(kind, value, validate)


def _check_digest(value: dict[str, Any]) -> None:
    if not is_as_written(value, digest):
        raise CertificateError(
            "the model was changed after it was written",
            cause="its digest does not match its content",
            fix=f"write it again with {_written()}"
            + worded(', or accept a model made by hand with validate="structure"', ""),
        )


# ---------------------------------------------------------------- nodes


def _node_to_json(graph: FlatGraph, node: int) -> dict[str, Any]:
    counts = graph.counts[node].tolist()
    if graph.feature[node] < 0:
        return {"label": int(graph.label[node]), "counts": counts}
    feature = int(graph.feature[node])
    read: dict[str, Any] = {"feature": feature}
    if feature >= len(graph.columns):
        form = graph.forms[feature - len(graph.columns)]
        read = {"weights": [[f, w] for f, w in zip(form.features, form.weights, strict=True)]}
    return {
        **read,
        "threshold": float(graph.threshold[node]),
        "left": int(graph.left[node]),
        "right": int(graph.right[node]),
        "counts": counts,
    }


def _graph_from_json(
    kind: type[G],
    nodes: list[Any],
    columns: tuple[Column, ...],
    classes: NDArray[Any],
    encoder: Encoder | None,
    values: tuple[Fraction, ...],
    moments: Floats,
) -> G:
    for index, node in enumerate(nodes):
        _check_node(index, node, len(columns), len(classes))
    forms = tuple(
        LinearForm(tuple(f for f, _ in node["weights"]), tuple(float(w) for _, w in node["weights"]))
        for node in nodes
        if "weights" in node
    )
    numbers = iter(range(len(columns), len(columns) + len(forms)))
    whole = all(isinstance(count, int) for node in nodes for count in node["counts"])
    try:
        return kind(
            feature=[next(numbers) if "weights" in node else node.get("feature", -1) for node in nodes],  # type: ignore[arg-type]
            threshold=[node.get("threshold", math.nan) for node in nodes],  # type: ignore[arg-type]
            left=[node.get("left", -1) for node in nodes],  # type: ignore[arg-type]
            right=[node.get("right", -1) for node in nodes],  # type: ignore[arg-type]
            label=[node.get("label", -1) for node in nodes],  # type: ignore[arg-type]
            columns=columns,
            classes=classes,
            encoder=encoder,
            counts=np.array([node["counts"] for node in nodes], dtype=np.int64 if whole else np.float64),
            forms=forms,
            values=values,
            moments=moments,
        )
    except SpecError as error:
        raise _malformed(error.cause or error.what) from None
    except OverflowError:
        raise _malformed("a count is too large") from None


def _values_from_json(entry: Any) -> tuple[Fraction, ...]:
    """The exact values of leaves, from texts such as "12" and "25/2"."""
    texts = _list(entry, "values")
    if not all(isinstance(text, str) and _NUMBER.fullmatch(text) for text in texts):
        raise _malformed("a value of a leaf is no exact number such as '12' or '25/2'")
    try:
        values = tuple(Fraction(text) for text in texts)
    except ValueError:
        raise _malformed("a value of a leaf has thousands of digits") from None
    if list(values) != sorted(set(values)):
        raise _malformed("the values of leaves do not ascend")
    return values


def _moments_from_json(entry: Any, n_nodes: int) -> Floats:
    pairs = _list(entry, "moments")
    fits = all(
        isinstance(pair, list) and len(pair) == 2 and all(m is None or _is_finite(m) for m in pair)
        for pair in pairs
    )
    if not fits or len(pairs) != n_nodes:
        raise _malformed(f"'moments' has no mean and standard deviation for each of {n_nodes} nodes")
    return np.array([[math.nan if m is None else float(m) for m in pair] for pair in pairs])


def _check_node(index: int, node: Any, n_features: int, n_classes: int) -> None:
    if not isinstance(node, dict) or set(node) not in (_TEST_KEYS, _FORM_KEYS, _LEAF_KEYS):
        raise _malformed(
            f"node {index} is neither a test (feature or weights, threshold, left, right, counts) "
            "nor a leaf (label, counts)"
        )
    if "feature" in node and _is_int(node["feature"]) and node["feature"] >= n_features:
        raise _malformed(f"node {index} tests a feature beyond the {n_features} known ones")
    if "weights" in node and not _are_weights(node["weights"]):
        raise _malformed(f"the weights of node {index} are no list of [feature, finite number] pairs")
    for key in ("feature", "left", "right", "label"):
        if key in node and not (_is_int(node[key]) and 0 <= node[key] < 2**31):
            raise _malformed(f"{key} of node {index} is {node[key]!r}")
    if "threshold" in node and not _is_finite(node["threshold"]):
        raise _malformed(f"the threshold of node {index} is {node['threshold']!r}")
    counts = node["counts"]
    if not isinstance(counts, list) or len(counts) != n_classes:
        raise _malformed(f"node {index} has no list of {n_classes} counts")
    if not all(_is_finite(count) and count >= 0 for count in counts):
        raise _malformed(f"node {index} has a count that is negative or no number")


def _are_weights(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and _is_int(pair[0]) and _is_finite(pair[1])
        for pair in value
    )


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    if _is_int(value):
        return bool(abs(value) <= 2**1023)
    return isinstance(value, float) and math.isfinite(value)


# ---------------------------------------------------------------- columns and classes


def _column_to_json(column: Column) -> dict[str, Any]:
    value: dict[str, Any] = {"source": column.source, "kind": column.kind, "category": column.category}
    if column.missing:
        value["missing"] = column.missing
    if column.levels:
        value["levels"] = list(column.levels)
    return value


def _column_from_json(entry: Any) -> Column:
    needed, more = {"source", "kind", "category"}, {"missing", "levels"}
    if not isinstance(entry, dict) or not needed <= set(entry) <= needed | more:
        raise _malformed("a column needs source, kind and category")
    source, kind, category = entry["source"], entry["kind"], entry["category"]
    missing, levels = entry.get("missing", ""), entry.get("levels", [])
    if not isinstance(source, str) or kind not in KINDS:
        raise _malformed(f"column {source!r} has the kind {kind!r}")
    fits = isinstance(category, str | bool | int | float | None) if kind == CATEGORY else category is None
    if not fits:
        raise _malformed(f"column {source!r} of kind {kind} has the category {category!r}")
    if missing not in ("", "below", "above") or (missing and kind == CATEGORY):
        raise _malformed(f"column {source!r} has missing values {missing!r}")
    if not isinstance(levels, list) or (kind == ORDERED) != bool(levels):
        raise _malformed(f"column {source!r} has levels that do not fit its kind")
    if not all(isinstance(level, str | bool | int | float) for level in levels):
        raise _malformed(f"column {source!r} has levels that are neither text nor numbers")
    return Column(source, kind, category, missing, tuple(levels))


def _classes_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind not in _FIXED_TYPES | {"str"}:
        kind = "object"
    return {"type": kind, "labels": [label_to_json(label) for label in classes.tolist()]}


def _classes_from_json(value: Any) -> NDArray[Any]:
    if not isinstance(value, dict) or set(value) != {"type", "labels"} or not isinstance(value["type"], str):
        raise _malformed("'classes' needs type and labels")
    labels = [_label_from_json(entry) for entry in _list(value["labels"], "labels")]
    if value["type"] in ("object", "str"):
        made = np.fromiter(labels, dtype=object, count=len(labels))
        if value["type"] == "str":
            made = made.astype(str) if all(isinstance(label, str) for label in labels) else made[:0]
    elif value["type"] in _FIXED_TYPES and all(isinstance(x, bool | int | float) for x in labels):
        try:
            made = np.array(labels, dtype=value["type"])
        except OverflowError:
            made = np.empty(0)
    else:
        made = np.empty(0)
    if made.tolist() != labels:
        raise _malformed(f"the labels are not of type {value['type']!r}")
    if len(set(labels)) < len(labels):
        raise _malformed("labels repeat")
    return made


def _label_from_json(value: Any) -> Any:
    try:
        return label_from_json(value)
    except (ValueError, TypeError) as error:
        raise _malformed(str(error)) from None


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise _malformed(f"{what!r} has to be a list with at least 1 entry")
    return value


def _malformed(cause: str) -> CertificateError:
    return CertificateError(
        "the model is not a valid decision graph", cause=cause, fix="write it again with graph.save"
    )
