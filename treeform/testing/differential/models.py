"""Models to start from: admissible ones, and those that a warm start has to refuse or to bring into normal form."""

from __future__ import annotations

import random
from typing import Any

from treeform.testing.differential.table import Table

KINDS = (
    "plain",
    "plain",
    "shared leaves",
    "pass",
    "pass",
    "one head",
    "skips",
    "wide",
    "deep",
    "shared tests",
)
OUTSIDE = 1e300


def encoded_tests(table: Table) -> list[list[float]]:
    """Thresholds by encoded feature: columns in order, a categorical one as one feature per level."""
    out: list[list[float]] = []
    for c in range(len(table.columns)):
        values = sorted({p[c] for p in table.points})
        if isinstance(values[0], str):
            out += [[0.5] for _ in values]
        else:
            # The lower of two neighbours parts them whatever the distance.
            out.append([float(v) for v in values[:-1]])
    return out


def draw_model(
    rng: random.Random, table: Table, depth: int, widths: tuple[int, ...] | None
) -> list[dict[str, Any]]:
    """Nodes for `DecisionGraph.build`, most of them a model of the shape, some of them not.

    A pass-through is written as a test that every value passes, or as one whose two arcs lead to one head: what
    treeform has to bring into normal form.
    """
    kind = rng.choice(KINDS)
    layers = depth + (kind == "deep")
    tests = encoded_tests(table)
    n_classes = len(table.classes)
    nodes: list[dict[str, Any]] = []
    above: list[tuple[int, str]] = []
    skipping: list[tuple[int, str]] = []
    for layer in range(layers):
        room = _room(widths, layer) + (kind == "wide")
        made: list[int] = []
        if layer == 0:
            made = [_test(rng, nodes, tests, kind)]
        else:
            sharing = widths is not None or kind == "shared tests"
            for arc in [*above, *skipping]:
                if rng.random() < 0.35:
                    continue  # this arc ends in a leaf
                if sharing and made and (rng.random() < 0.4 or len(made) >= room):
                    target = rng.choice(made)
                elif len(made) < room:
                    target = _test(rng, nodes, tests, kind)
                    made.append(target)
                else:
                    continue
                nodes[arc[0]][arc[1]] = target
        skipping = [arc for arc in above if nodes[arc[0]][arc[1]] is None] if kind == "skips" else []
        above = [(u, side) for u in made for side in ("left", "right")]
        if not made:
            break
    _close(
        rng, nodes, n_classes, shared=kind == "shared leaves" or (widths is not None and rng.random() < 0.5)
    )
    if kind == "one head" and nodes:
        u = rng.choice([i for i, node in enumerate(nodes) if "left" in node])
        side = rng.choice(("left", "right"))
        nodes[u]["left"] = nodes[u]["right"] = nodes[u][side]
    return _reached(nodes)


def _room(widths: tuple[int, ...] | None, layer: int) -> int:
    if widths is None:
        return 1 << layer
    return widths[layer] if layer < len(widths) else 1


def _test(rng: random.Random, nodes: list[dict[str, Any]], tests: list[list[float]], kind: str) -> int:
    feature = rng.choice([f for f, cuts in enumerate(tests) if cuts] or [0])
    cuts = tests[feature] or [0.5]
    threshold = rng.choice(cuts)
    if kind == "pass" and rng.random() < 0.5:
        threshold = rng.choice((-OUTSIDE, OUTSIDE))
    nodes.append({"feature": feature, "threshold": threshold, "left": None, "right": None})
    return len(nodes) - 1


def _close(rng: random.Random, nodes: list[dict[str, Any]], n_classes: int, shared: bool) -> None:
    """Give every open arc a leaf: one of its own, or one for each class."""
    leaf: dict[int, int] = {}
    for node in list(nodes):
        for side in ("left", "right"):
            if node[side] is not None:
                continue
            label = rng.randrange(n_classes)
            if not shared or label not in leaf:
                nodes.append({"label": label})
                leaf[label] = len(nodes) - 1
            node[side] = leaf[label] if shared else len(nodes) - 1


def _reached(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Only the nodes that the root leads to, parents before children."""
    depth = {0: 0}
    waiting = [0]
    while waiting:
        u = waiting.pop()
        for side in ("left", "right"):
            if side in nodes[u]:
                v = nodes[u][side]
                if depth.get(v, -1) < depth[u] + 1:
                    depth[v] = depth[u] + 1
                    waiting.append(v)
    order = sorted(depth, key=lambda u: (depth[u], u))
    position = {u: i for i, u in enumerate(order)}
    return [
        {key: position[value] if key in ("left", "right") else value for key, value in nodes[u].items()}
        for u in order
    ]
