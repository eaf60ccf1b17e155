"""The reference's own judgement of a model: routing, counting and admissibility, from the arrays alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.testing.differential.reference import FAR, Outcome, Reference, Watch
from treeform.testing.differential.table import Split, Table


@dataclass(frozen=True)
class Judged:
    """A model in normal form."""

    outcome: Outcome
    """All parts of it, in the terms of the reference."""
    misfit: str | None
    """Why it is no admissible model of the shape."""
    normal: bool
    """Whether the graph is in normal form: what is read off its arrays is what counts."""


@dataclass(frozen=True)
class _Test:
    """A test that samples reach: their mask, and the heads of its arcs with the masks that these carry."""

    mask: int
    arcs: tuple[tuple[int, int], ...]
    split: Split | None
    """None for a pass-through."""


def judge(graph: Any, reference: Reference) -> Judged:
    """Judge a `DecisionGraph` on the table and shape of ``reference``; its tracked directions are looked at."""
    table = reference.table
    walker = _Walker(graph, table, sharing=reference.widths is not None)
    tests, predicted = walker.tests, walker.predicted
    depth, misfit = _layout(tests, reference.widths, reference.depth)
    weight = table.weight_of
    side: Fraction | int = FAR
    flow: Fraction | int = FAR
    columns = broken = 0
    for test in tests.values():
        flow = min(flow, weight[test.mask])
        if test.split is None:
            side = 0
            continue
        low, high = test.mask & ~test.split.right, test.mask & test.split.right
        side = min(side, weight[low], weight[high])
        columns |= test.split.columns
        broken |= reference.broken(test.split, low, high, predicted)
    if misfit is None and walker.forms and reference.splits is table.univariate:
        misfit = "a weighted sum of columns in a shape of univariate tests"
    outcome = Outcome(predicted, len(tests), depth, side, flow, columns, broken)
    return Judged(outcome, misfit, walker.normal)


def _layout(
    tests: dict[int, _Test], widths: tuple[int, ...] | None, most_depth: int
) -> tuple[int, str | None]:
    """Depth of the model, and why it is no tree or no layered diagram of the shape."""
    level: dict[int, int] = {}
    parents: dict[int, int] = {}
    misfit: str | None = None
    for node in sorted(tests):
        at = level.setdefault(node, 0)
        for head, _ in tests[node].arcs:
            if head not in tests:
                continue
            parents[head] = parents.get(head, 0) + 1
            if head in level and level[head] != at + 1:
                misfit = f"test {head} is reached at two depths"
            level[head] = max(level.get(head, 0), at + 1)
    depth = max(level.values(), default=-1) + 1
    if depth > most_depth:
        return depth, f"depth {depth}"
    if widths is None:
        shared = any(count > 1 for count in parents.values())
        return depth, "two branches share a test" if shared else None
    for layer in range(depth):
        if sum(at == layer for at in level.values()) > widths[layer]:
            misfit = misfit or f"layer {layer} is too wide"
    return depth, misfit


class _Walker:
    """Sends the distinct rows through a graph, node by node, and brings its tests into normal form."""

    def __init__(self, graph: Any, table: Table, sharing: bool) -> None:
        self.table = table
        self.n_columns = len(graph.columns)
        self.forms = tuple(form for form in graph.forms if form.features)
        rows = [self._encoded(graph, point) for point in table.points]
        self.predicted = 0
        self.tests: dict[int, _Test] = {}
        self.normal = True
        arriving = {0: table.everything}
        for node in range(len(graph.feature)):
            mask = arriving.get(node, 0)
            if not mask:
                self.normal = False  # a node that no sample reaches
                continue
            if graph.feature[node] < 0:
                label = table.classes.index(_plain(graph.classes[int(graph.label[node])]))
                self.predicted |= mask << label * len(table.points)
                continue
            left, right = int(graph.left[node]), int(graph.right[node])
            split = self._split(graph, node, rows)
            high = split.right & mask if split is not None else 0
            arcs: tuple[tuple[int, int], ...]
            if split is None or self._one_head(graph, left, right, sharing):
                arcs, kept = ((left, mask),), None
            elif not high or high == mask:
                arcs, kept = ((right if high else left, mask),), None
            else:
                arcs, kept = ((left, mask & ~high), (right, high)), split
            # A pass-through is in normal form when it says so: one head for both arcs, and no column.
            self.normal &= (kept is not None) or (left == right and split is None)
            for head, part in arcs:
                arriving[head] = arriving.get(head, 0) | part
            self.tests[node] = _Test(mask, arcs, kept)

    def _one_head(self, graph: Any, left: int, right: int, sharing: bool) -> bool:
        """Whether two arcs lead to one head; each arc of a tree that ends has a leaf of its own."""
        if graph.feature[left] >= 0 or graph.feature[right] >= 0:
            return left == right
        return bool(sharing and graph.label[left] == graph.label[right])

    def _encoded(self, graph: Any, point: tuple[Any, ...]) -> list[float]:
        by_name = dict(zip(self.table.columns, point, strict=True))
        return [
            float(by_name[column.source] == column.category)
            if column.kind == "category"
            else float(by_name[column.source])
            for column in graph.columns
        ]

    def _split(self, graph: Any, node: int, rows: list[list[float]]) -> Split | None:
        """What the test of a node does to all rows; None when it reads nothing."""
        feature, threshold = int(graph.feature[node]), float(graph.threshold[node])
        names = list(self.table.columns)
        if feature < self.n_columns:
            terms = [(feature, 1.0)]
        else:
            form = graph.forms[feature - self.n_columns]
            terms = list(zip(form.features, form.weights, strict=True))
        if not terms:
            return None
        right = columns = rising = falling = 0
        for i, row in enumerate(rows):
            value = sum((Fraction(w) * Fraction(row[f]) for f, w in terms), Fraction(0))
            right |= (float(value) > threshold) << i
        for f, w in terms:
            column = names.index(graph.columns[f].source)
            columns |= 1 << column
            if graph.columns[f].kind != "category":
                rising |= (w > 0) << column
                falling |= (w < 0) << column
        return Split(right, columns, rising, falling)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


__all__ = ["Judged", "Watch", "judge"]
