"""Graphs as text: one rule for each leaf, and an indented outline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from treeform.data.columns import CATEGORY, LARGEST_PRESENT, NUMERIC, Column, number_text
from treeform.graph.graph import FlatGraph
from treeform.graph.values import value_text
from treeform.utils.text import one_line, rounded_text

MAX_PATHS = 32  # paths to one terminal of a diagram that a rule spells out
Step = tuple[int, float, bool]  # feature, threshold, went right


def rules(graph: FlatGraph) -> list[str]:
    """See `DecisionGraph.rules`. Paths that no sample can take are left out."""
    known = counts_known(graph)
    lines = []
    for leaf in leaves_in_order(graph):
        paths = list(islice(_conditions(graph, leaf), MAX_PATHS + 1))
        outcome = f"then {class_text(graph, leaf)}"
        if known:
            outcome += f"  ({support_text(graph, leaf)})"
        if not paths:
            lines.append(f"never {outcome[5:]}")
        elif paths == [""]:
            lines.append(f"always {outcome[5:]}")
        else:
            parts = paths[:MAX_PATHS] if len(paths) == 1 else [f"({path})" for path in paths[:MAX_PATHS]]
            more = " or ..." if len(paths) > MAX_PATHS else ""
            lines.append(f"if {' or '.join(parts)}{more} {outcome}")
    return [one_line(line) for line in lines]


def outline(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_text`. A shared node is written out once and referred to afterwards."""
    shared = _shared(graph)
    known = counts_known(graph)
    width = max(map(len, answers(graph))) + 2
    written: set[int] = set()
    lines: list[str] = []
    waiting: list[tuple[int, int, str]] = [(0, 0, "")]
    while waiting:
        node, indent, arc = waiting.pop()
        lead = "    " * indent + arc
        mark = f"[{node}] " if node in shared else ""
        if node in written:
            lines.append(f"{lead}see [{node}]")
            continue
        written.add(node)
        support = f"  ({support_text(graph, node)})" if known else ""
        if graph.feature[node] < 0:
            lines.append(one_line(f"{lead}{mark}{class_text(graph, node)}{support}"))
            continue
        lines.append(one_line(f"{lead}{mark}{question_text(graph, node)}{support}"))
        waiting += [
            (child, indent + 1, f"{arc}: ".ljust(width)) for arc, child in branches(graph, node)[::-1]
        ]
    return "\n".join(lines)


_ANSWERS = (("yes", "no"), ("true", "false"), ("holds", "fails"))


def answers(graph: FlatGraph) -> tuple[str, str]:
    """What arcs say where the question of a test holds, and where not; never the name of a class."""
    if graph.values:
        return _ANSWERS[0]
    classes = {str(label).lower() for label in graph.classes}
    return next((pair for pair in _ANSWERS if classes.isdisjoint(pair)), _ANSWERS[-1])


def branches(graph: FlatGraph, node: int) -> tuple[tuple[str, int], ...]:
    """The arcs out of a test, ``(answer, child)``: both answers to its question, or the one arc of a pass-through."""
    left, right = int(graph.left[node]), int(graph.right[node])
    if graph.passes[node]:
        return (("always", left),)
    yes_is_left = _question(graph, node)[1]
    first, second = (left, right) if yes_is_left else (right, left)
    holds, fails = answers(graph)
    return (holds, first), (fails, second)


def question_text(graph: FlatGraph, node: int) -> str:
    """``age <= 37.5?``, and ``pass`` for a pass-through, which asks nothing."""
    return "pass" if graph.passes[node] else f"{_question(graph, node)[0]}?"


def _question(graph: FlatGraph, node: int) -> tuple[str, bool]:
    return graph.tested_columns[int(graph.feature[node])].question(float(graph.threshold[node]))


def class_text(graph: FlatGraph, node: int) -> str:
    """Label or value of a leaf as text."""
    if graph.values:
        return value_text(graph.values[graph.label[node]])
    return str(graph.classes[graph.label[node]])


def counts_known(graph: FlatGraph) -> bool:
    """Whether training counts were recorded."""
    return bool(graph.counts[0].sum() > 0)


def support_text(graph: FlatGraph, node: int) -> str:
    """``support 120, errors 7`` at a leaf, ``support 120`` at a test; in the user's units of weight.

    In regression, mean and standard deviation of the targets in place of errors.
    """
    total = graph.counts[node].sum()
    if graph.values:
        mean, deviation = graph.moments[node]
        around = (
            ""
            if np.isnan(mean)
            else f", mean {rounded_text(mean, 6)}, deviation {rounded_text(deviation, 4)}"
        )
        return f"support {amount_text(total)}{around}"
    if graph.feature[node] >= 0:
        return f"support {amount_text(total)}"
    wrong = total - graph.counts[node, graph.label[node]]
    return f"support {amount_text(total)}, errors {amount_text(wrong)}"


def amount_text(value: Any) -> str:
    """A weight for display: whole numbers in full, others to six digits."""
    return str(int(value)) if float(value).is_integer() else rounded_text(float(value))


def leaves_in_order(graph: FlatGraph) -> list[int]:
    """Leaves by the first path to them, yes before no."""
    order: dict[int, None] = {}
    seen: set[int] = set()
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if graph.feature[node] < 0:
            order[node] = None
        else:
            waiting += [child for _, child in branches(graph, node)[::-1]]
    return list(order)


def _conditions(graph: FlatGraph, leaf: int) -> Iterator[str]:
    """Conditions of the paths to a leaf, those that contradict themselves left out."""
    for path in _paths(graph, leaf):
        text = _merged(graph.tested_columns, path)
        if text is not None:
            yield text


def _paths(graph: FlatGraph, leaf: int) -> Iterator[list[Step]]:
    leads = _ancestors(graph, leaf)
    waiting: list[tuple[int, list[Step]]] = [(0, [])]
    while waiting:
        node, path = waiting.pop()
        if node == leaf:
            yield path
            continue
        f, t = int(graph.feature[node]), float(graph.threshold[node])
        heads = [child for _, child in branches(graph, node)]
        if len(set(heads)) == 1:  # a pass-through, or both sides lead there: no condition
            waiting.append((heads[0], path))
            continue
        for child in heads[::-1]:
            if child in leads:
                waiting.append((child, [*path, (f, t, child == graph.right[node])]))


def _ancestors(graph: FlatGraph, leaf: int) -> set[int]:
    leads = {leaf}
    for node in range(leaf - 1, -1, -1):
        if graph.feature[node] >= 0 and (int(graph.left[node]) in leads or int(graph.right[node]) in leads):
            leads.add(node)
    return leads


def _merged(columns: tuple[Column, ...], path: list[Step]) -> str | None:
    """Conjunction of a path with each feature mentioned once; None when it cannot hold."""
    bounds: dict[int, tuple[float, float]] = {}
    for f, t, right in path:
        lo, hi = bounds.get(f, (-math.inf, math.inf))
        bounds[f] = (max(lo, t), hi) if right else (lo, min(hi, t))
    if any(lo >= hi or _never(columns[f], lo, hi) for f, (lo, hi) in bounds.items()):
        return None
    is_level = {
        columns[f].source: f for f, (lo, _) in bounds.items() if columns[f].kind == CATEGORY and lo >= 0
    }
    parts: list[str | list[tuple[Column, float, float]]] = []
    gaps: dict[str, list[tuple[Column, float, float]]] = {}
    for f, (lo, hi) in bounds.items():
        column = columns[f]
        if column.missing:  # both features of a column with gaps are told together, where the first one is
            if column.source not in gaps:
                parts.append(gaps.setdefault(column.source, []))
            gaps[column.source].append((column, lo, hi))
            continue
        chosen = is_level.get(column.source)
        if column.kind == CATEGORY and chosen is not None and chosen != f:
            if lo >= 0:  # two levels at once
                return None
            continue  # "job = skilled" implies "job != other"
        parts.append(_bounds_text(column, lo, hi))
    texts = [part if isinstance(part, str) else _gaps_text(part) for part in parts]
    if None in texts:
        return None
    conditions = [text for text in texts if text]
    return " and ".join(
        f"({text})" if len(conditions) > 1 and text.endswith(" or missing") else text for text in conditions
    )


def _never(column: Column, lo: float, hi: float) -> bool:
    return column.is_indicator and (lo >= 1 or hi < 0)


def _bounds_text(column: Column, lo: float, hi: float) -> str:
    if column.is_indicator:  # 0 or 1: bounds outside are redundant
        if 0 <= hi < 1:
            return column.test(hi)
        return column.test(lo, negate=True) if 0 <= lo < 1 else ""
    return _range_text(column, lo, hi)


def _range_text(column: Column, low: float, high: float) -> str:
    """``low < x <= high``; an infinite bound is none."""
    if column.kind == NUMERIC and math.isfinite(low) and math.isfinite(high):
        return f"{number_text(low)} < {column.name} <= {number_text(high)}"
    parts = [column.test(low, negate=True)] if low != -math.inf else []
    return " and ".join([*parts, column.test(high)] if high != math.inf else parts)


def _gaps_text(bounds: Sequence[tuple[Column, float, float]]) -> str | None:
    """Conditions ``lo < x <= hi`` on the two features of a column, as one condition on the column.

    For example ``20 < age <= 37.5 or missing``; None where nothing satisfies all of them. Missing values stand below or
    above all others.
    """
    low, high, missing, present = -math.inf, math.inf, True, True
    for column, lo, hi in bounds:
        below = column.missing == "below"
        missing = missing and (lo == -math.inf if below else hi == math.inf)
        present = present and (hi >= -LARGEST_PRESENT if below else lo <= LARGEST_PRESENT)
        low = max(low, lo) if abs(lo) <= LARGEST_PRESENT else low
        high = min(high, hi) if abs(hi) <= LARGEST_PRESENT else high
    plain = replace(bounds[0][0], missing="")
    if not present or low >= high:
        return f"{plain.source} is missing" if missing else None
    text = _range_text(plain, low, high)
    if missing:
        return f"{text} or missing" if text else ""
    return text or f"{plain.source} is not missing"


def _shared(graph: FlatGraph) -> set[int]:
    arrivals: dict[int, int] = {}
    for node in range(len(graph.feature)):
        if graph.feature[node] >= 0:
            for _, child in branches(graph, node):
                arrivals[child] = arrivals.get(child, 0) + 1
    return {node for node, times in arrivals.items() if times > 1}
