"""A model as a program over the user's columns: conditions in place of tests on encoded features."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Literal

from treeform.data.columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    DATETIME,
    LARGEST_PRESENT,
    MISSING_ABOVE,
    ORDERED,
    Column,
    Level,
)
from treeform.errors import SpecError
from treeform.graph.export.sums import Sum
from treeform.graph.graph import FlatGraph

OnnxNodes = Literal["auto", "tree", "shared"]
"""How `onnx_model` writes nodes; named here, where onnx need not be installed."""


class Kind(Enum):
    """What a condition asks about a value; of a missing one, the answer is no."""

    AT_MOST = "at most"  #: a number is at most `value`
    BEFORE = (
        "before"  #: a date is before the day `value`, counted from 1970-01-01; the time of day is no matter
    )
    UNTIL = "until"  #: a date with its time of day is at most `value`, in days since 1970-01-01
    IS_TRUE = "is true"  #: a truth value is true
    IS_LEVEL = "is level"  #: a level is `value`
    AMONG = "among"  #: a level is one of the tuple `value`
    IS_MISSING = "is missing"  #: there is no value


@dataclass(frozen=True)
class Condition:
    """A question about one column of the user's table."""

    kind: Kind
    source: str
    """Name of the column."""
    value: float | Level | tuple[Level, ...] = None
    or_missing: bool = False
    """Whether the answer is yes for a missing value as well."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The column, as `Sum` lists its columns."""
        return (self.source,)

    def finds_value(self, yes: bool) -> bool:
        """Whether this answer tells that the value is not missing."""
        return (self.kind is Kind.IS_MISSING or self.or_missing) != yes

    def to_json(self) -> dict[str, Any]:
        """Its JSON in lists of rules and in reports."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"column": self.source, "is": self.kind.value, "value": value, "or_missing": self.or_missing}


@dataclass(frozen=True)
class Branch:
    """A node that asks: where to go on yes, and where on no."""

    condition: Condition | Sum
    yes: int
    no: int


@dataclass(frozen=True)
class Program:
    """Conditions and class codes by node."""

    nodes: dict[int, Branch | int]
    """Only nodes that can be reached; a pass-through is replaced by its child. An int is a class code."""
    root: int
    classes: tuple[object, ...]
    """Labels by class code; empty where leaves predict values."""
    values: tuple[float, ...]
    """Predicted values by code, as doubles; empty where leaves predict classes."""
    columns: dict[str, Column]
    """The tested columns of the user's table, with the meaning of one of their features."""
    refusing: tuple[str, ...]
    """Tested columns that had no missing value in training: a row without a value there has no prediction."""
    levels: dict[str, tuple[Level, ...]]
    """Of tested columns that have some."""

    @classmethod
    def of(cls, graph: FlatGraph) -> Program:
        """Read a model. Raises SpecError if a hyperplane reads a column with missing values."""
        nodes: dict[int, Branch | int] = {}
        columns: dict[str, Column] = {}
        waiting = [root := _asking(graph, 0)]
        while waiting:
            node = waiting.pop()
            if node in nodes:
                continue
            if graph.feature[node] < 0:
                nodes[node] = int(graph.label[node])
                continue
            left, right = (_asking(graph, int(side[node])) for side in (graph.left, graph.right))
            condition, yes_is_left, read = _asked(graph, node)
            for column in read:
                columns.setdefault(column.source, column)
            nodes[node] = Branch(condition, *((left, right) if yes_is_left else (right, left)))
            waiting += [left, right]
        refusing = tuple(
            name for name, column in columns.items() if column.kind != CATEGORY and not column.missing
        )
        levels = {
            name: _levels(graph, column)
            for name, column in columns.items()
            if column.kind in (CATEGORY, ORDERED)
        }
        values = tuple(map(float, graph.values))
        classes = () if values else tuple(graph.classes.tolist())
        return cls(nodes, root, classes, values, columns, refusing, levels)

    @property
    def labels(self) -> tuple[object, ...]:
        """What leaves predict, by code."""
        return self.values or self.classes

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """The tests of hyperplanes, each once."""
        asked = [node.condition for node in self.nodes.values() if isinstance(node, Branch)]
        return tuple(dict.fromkeys(condition for condition in asked if isinstance(condition, Sum)))

    @cached_property
    def shared(self) -> set[int]:
        """Branches that several others lead to."""
        arrivals: dict[int, int] = {}
        for node in self.nodes.values():
            if isinstance(node, Branch):
                for child in (node.yes, node.no):
                    arrivals[child] = arrivals.get(child, 0) + 1
        return {
            node for node, times in arrivals.items() if times > 1 and isinstance(self.nodes[node], Branch)
        }

    def present(self) -> dict[int, frozenset[str]]:
        """For each node the columns that have a value there, as tests on every way to it have found."""
        present = {self.root: frozenset[str]()}
        for node in reversed([*self.bottom_up()]):
            entry = self.nodes[node]
            if isinstance(entry, Branch):
                for child, yes in ((entry.yes, True), (entry.no, False)):
                    asked = entry.condition
                    found = not isinstance(asked, Sum) and asked.finds_value(yes)
                    here = present[node].union(asked.sources if found else ())
                    present[child] = present.get(child, here) & here
        return present

    def tested_from(self, node: int) -> list[str]:
        """Columns that are tested from a node on, up to shared nodes."""
        tested: set[str] = set()
        waiting = [node]
        while waiting:
            at = waiting.pop()
            entry = self.nodes[at]
            if isinstance(entry, Branch) and (at == node or at not in self.shared):
                tested.update(entry.condition.sources)
                waiting += [entry.yes, entry.no]
        return [name for name in self.columns if name in tested]

    def bottom_up(self) -> Iterator[int]:
        """Nodes, children before their parents."""
        done: set[int] = set()
        waiting = [(self.root, False)]
        while waiting:
            node, ready = waiting.pop()
            if node in done:
                continue
            entry = self.nodes[node]
            if ready or not isinstance(entry, Branch):
                done.add(node)
                yield node
            else:
                waiting += [(node, True), (entry.no, False), (entry.yes, False)]


def _asked(graph: FlatGraph, node: int) -> tuple[Condition | Sum, bool, tuple[Column, ...]]:
    """What a node asks, whether yes leads to the left, and the encoded features that it reads."""
    feature, threshold = int(graph.feature[node]), float(graph.threshold[node])
    if feature >= len(graph.columns):
        index = feature - len(graph.columns)
        asked = Sum.of(index, graph.forms[index], graph.columns, threshold)
        return asked, True, tuple(term.column for term in asked.terms)
    column = graph.columns[feature]
    return *condition_of(column, threshold), (column,)


def condition_of(column: Column, threshold: float) -> tuple[Condition, bool]:
    """The test ``x <= threshold`` as a condition, and whether yes leads to the left."""
    if _side_of_present(column, threshold) is not None:  # asks only whether a value is missing; see _asking
        return Condition(Kind.IS_MISSING, column.source), column.missing == "below"
    left, right = (column.missing == side for side in ("below", "above"))  # where missing values go
    if column.kind == BOOLEAN and 0 <= threshold < 1:
        return Condition(Kind.IS_TRUE, column.source, None, right), False
    if column.kind == CATEGORY and 0 <= threshold < 1:
        if column.category is None:
            return Condition(Kind.IS_MISSING, column.source), False
        return Condition(Kind.IS_LEVEL, column.source, column.category), False
    if column.kind == ORDERED:
        above = column.levels[max(0, math.floor(threshold) + 1) :]
        return Condition(Kind.AMONG, column.source, above, right), False
    if column.kind in (DATE, DATETIME):
        if column.kind == DATE:  # whole days: x <= t is x < floor(t) + 1
            return Condition(Kind.BEFORE, column.source, float(math.floor(threshold) + 1), left), True
        return Condition(Kind.UNTIL, column.source, threshold, left), True
    return Condition(Kind.AT_MOST, column.source, threshold, left), True


def _levels(graph: FlatGraph, column: Column) -> tuple[Level, ...]:
    if column.kind == ORDERED:
        return column.levels
    return tuple(c.category for c in graph.columns if c.source == column.source and c.category is not None)


def _side_of_present(column: Column, threshold: float) -> bool | None:
    """Whether all values that can be present go left (True) or right (False); None if they part."""
    if column.kind in (BOOLEAN, CATEGORY):
        low, high = 0.0, 1.0
    elif column.kind == ORDERED:
        low, high = -1.0, len(column.levels) - 1.0  # -1 is a level that training did not have
    elif column.missing:
        low, high = -LARGEST_PRESENT, LARGEST_PRESENT
    else:
        return None
    return False if threshold < low else True if threshold >= high else None


def _asking(graph: FlatGraph, node: int) -> int:
    """The first node from here on that is a leaf or separates values: no pass-through, no threshold beyond them all."""
    while graph.feature[node] >= 0:
        if graph.passes[node]:
            node = int(graph.left[node])
            continue
        if graph.feature[node] >= len(graph.columns):
            break  # a hyperplane
        column, threshold = graph.columns[int(graph.feature[node])], float(graph.threshold[node])
        side = _side_of_present(column, threshold)
        missing_side = {"": side, "below": True, "above": threshold >= MISSING_ABOVE}[column.missing]
        if side is None or side != missing_side:
            break
        node = int((graph.left if side else graph.right)[node])
    return node


def unrolled_size(program: Program, asks: Callable[[Branch], int] = lambda _: 1) -> int:
    """Nodes of the tree, shared ones counted once for each way to them; ``asks``: tests that lead to one yes."""
    size: dict[int, int] = {}
    for node in program.bottom_up():
        entry = program.nodes[node]
        size[node] = asks(entry) * (1 + size[entry.yes]) + size[entry.no] if isinstance(entry, Branch) else 1
    return size[program.root]


def check_size(program: Program, what: str, most: int) -> int:
    """The nodes of the tree as which ``what`` is written, such as "a PMML tree"; SpecError beyond ``most``."""
    size = unrolled_size(program)
    if size > most:
        raise SpecError(
            f"the model becomes {what} of {size} nodes",
            cause=f"it has no shared nodes, so each way to one is written out; at most {most} are",
            fix="export it to Python, C or JavaScript",
        )
    return size


@contextmanager
def needing(package: str, written: str) -> Iterator[None]:
    """Around the import of a package without which a model cannot be ``written``, such as "as SQL"."""
    try:
        yield
    except ImportError as error:
        raise SpecError(
            f"the model cannot be written {written}",
            cause=f"the package {package} cannot be loaded: {error}",
            fix="pip install 'treeform[export]'",
        ) from None
