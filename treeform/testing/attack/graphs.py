"""From a listed model to a graph of treeform, and back: routing and normal form, from the arrays alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import treeform as tf
from treeform.testing.attack.models import Facts, Node
from treeform.testing.attack.plain import Plain


def key_of(column: Any) -> tuple[str, str | None, str]:
    """What an encoded column of treeform is called here."""
    level = None if column.kind != "category" else ("" if column.category is None else str(column.category))
    return column.source, level, column.missing


def keys(plain: Plain) -> list[tuple[str, str | None, str]]:
    """The features of a table, by the same names."""
    return [(f.column, f.level, f.gaps) for f in plain.features]


def build(m: Facts, plain: Plain, data: Any) -> Any:
    """A `DecisionGraph` of a model that predicts classes."""
    known, own = [key_of(c) for c in data.columns], keys(plain)
    nodes: list[dict[str, Any]] = []
    number = {node: i for i, node in enumerate(m.nodes)}
    for node in m.nodes:
        parts = [node.reached & ~node.right, node.right] if node.feature >= 0 else [node.reached]
        heads = [_head(m, node, part, number, nodes) for part in parts]
        if node.feature < 0:
            nodes.append({"pass": heads[0]})
            continue
        cut = _cut(plain.features[node.feature].values, node)
        feature = known.index(own[node.feature])
        nodes.append({"feature": feature, "threshold": cut, "left": heads[0], "right": heads[1]})
    labels = [{"label": code} for code in range(max(m.predicted) + 1)]
    described = dict(enumerate(nodes)) | {f"={k}": leaf for k, leaf in enumerate(labels)}
    reached = _reached(described, 0 if nodes else f"={m.predicted[0]}")
    return tf.DecisionGraph.build({k: described[k] for k in reached}, data)


def _head(m: Facts, node: Node, part: int, number: dict[Node, int], nodes: Any) -> Any:
    """The test that a part of the points comes to next, or the leaf."""
    point = (part & -part).bit_length() - 1
    after = [n for n in m.paths[point] if n.layer == node.layer + 1]
    return number[after[0]] if after else f"={m.predicted[point]}"


def _reached(described: dict[Any, dict[str, Any]], root: Any) -> list[Any]:
    order: list[Any] = []
    waiting = [root]
    while waiting:
        at = waiting.pop(0)
        if at not in order:
            order.append(at)
            waiting += [described[at][k] for k in ("pass", "left", "right") if k in described[at]]
    return order


def _cut(values: tuple[float, ...], node: Node) -> float:
    """A threshold that parts the points as the test does: the greatest value on the left."""
    low = node.reached & ~node.right
    cut = max(v for p, v in enumerate(values) if low >> p & 1)
    if abs(cut) == float("inf"):
        return -(2.0**1010)
    high = min(v for p, v in enumerate(values) if node.right >> p & 1)
    return 2.0**1010 if high == float("inf") else cut


def read(graph: Any, plain: Plain, sharing: bool) -> tuple[Facts, str | None, tuple[Fraction, ...]]:
    """What a graph does to the points, why it is no layered model, and the values of its leaves (of regression).

    A test through which all points go one way is a pass-through; in a diagram (``sharing``) one whose arcs lead to one
    head, too.
    """
    own = keys(plain)
    features = [own.index(key_of(c)) if key_of(c) in own else -2 for c in graph.columns]
    arriving: dict[int, int] = {0: plain.everything}
    layer: dict[int, int] = {0: 0}
    nodes, predicted, wrong = [], [0] * len(plain.points), None
    of_values = bool(graph.values)
    parents: dict[int, int] = {}
    leaves = 0
    values: list[Fraction] = []
    for v in range(len(graph.feature)):
        mask = arriving.get(v, 0)
        if not mask:
            continue
        if graph.feature[v] < 0:
            code = leaves if of_values else _code(graph, v, plain)
            leaves += 1
            if of_values:
                values.append(Fraction(graph.values[int(graph.label[v])]))
            for p in range(len(predicted)):
                if mask >> p & 1:
                    predicted[p] = code
            continue
        f, heads = int(graph.feature[v]), (int(graph.left[v]), int(graph.right[v]))
        right = 0
        if f < len(features):
            if features[f] < 0:
                return Facts((), tuple(predicted)), f"a test reads {graph.columns[f].source}", ()
            cut = float(graph.threshold[v])
            right = sum(1 << p for p, x in enumerate(plain.features[features[f]].values) if x > cut) & mask
        elif any(True for _ in graph.forms[f - len(features)].features):
            return Facts((), tuple(predicted)), "a weighted sum", ()
        parts: tuple[tuple[int, int], ...] = ((heads[0], mask & ~right), (heads[1], right))
        passes = right in (0, mask) or _one_head(graph, heads, sharing)
        if passes:
            parts = ((heads[1] if right == mask else heads[0], mask),)
        nodes.append(Node(layer[v], -1 if passes else features[f], mask, 0 if passes else right))
        for head, part in parts:
            arriving[head] = arriving.get(head, 0) | part
            if graph.feature[head] >= 0:
                parents[head] = parents.get(head, 0) + 1
                if layer.setdefault(head, layer[v] + 1) != layer[v] + 1:
                    wrong = f"the test {head} is reached at two depths"
    if not sharing and any(count > 1 for count in parents.values()):
        wrong = "two arcs lead to one test of a tree"
    return Facts(tuple(nodes), tuple(predicted)), wrong, tuple(values)


def _one_head(graph: Any, heads: tuple[int, int], sharing: bool) -> bool:
    left, right = heads
    if graph.feature[left] >= 0 or graph.feature[right] >= 0:
        return left == right
    return sharing and int(graph.label[left]) == int(graph.label[right])


def _code(graph: Any, node: int, plain: Plain) -> int:
    label = graph.classes[int(graph.label[node])]
    label = label.item() if hasattr(label, "item") else label
    return plain.classes.index(label) if label in plain.classes else len(plain.classes)


def misfit(m: Facts, widths: tuple[int, ...] | None, depth: int) -> str | None:
    """Why a model is too large for a shape."""
    if m.depth > depth:
        return f"depth {m.depth}"
    for at in range(m.depth if widths is not None else 0):
        if sum(n.layer == at for n in m.nodes) > widths[at]:  # type: ignore[index]
            return f"layer {at} is too wide"
    return None
