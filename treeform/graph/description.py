"""Models that people write down: a dictionary with the columns, levels and labels of the user's own table.

A test is ``{"column", QUESTION, "yes", "no"}``, a leaf ``{"predict": label}`` or, in regression, ``{"value": number}``.
A child is another node, or a text that names an entry of ``nodes`` beside ``root``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from treeform.data.columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    DATETIME,
    LARGEST_PRESENT,
    MISSING_BELOW,
    ORDERED,
    ORIGIN,
    Column,
    level_text,
)
from treeform.data.dataset import Dataset
from treeform.errors import SpecError, did_you_mean, listing
from treeform.graph.export.program import Branch, Condition, Kind, Program
from treeform.graph.graph import FlatGraph
from treeform.graph.structure import arrays_from_nodes

QUESTIONS = ("at_most", "below", "is", "among", "is_missing")
"""What a test may ask of its column; one of them each."""
MOST_NODES = 100_000
_FRACTION = re.compile("-?[0-9]{1,400}(/[1-9][0-9]{0,399})?")


def arrays_of(description: Any, data: Dataset) -> dict[str, Any]:
    """The arrays of a described model; see `DecisionGraph.from_dict`.

    Raises SpecError with the place in the description, if it is none or does not fit the data.
    """
    reader = _Reader(data)
    if isinstance(description, Mapping) and "nodes" in description:
        if set(description) != {"root", "nodes"} or not isinstance(description["nodes"], Mapping):
            raise _wrong(
                "the top", "beside 'nodes', a mapping of names to nodes, stands 'root' and nothing else"
            )
        reader.named = description["nodes"]
        description = description["root"]
    root = reader.child(description, "the root")
    reader.read_all()
    nodes: dict[Hashable, Any] = {root: reader.made.pop(root)}  # the first one is the root
    nodes.update(reader.made)
    values = {} if data.quantity is None else {"values": tuple(reader.values)}
    return {**arrays_from_nodes(nodes), **values}


def describe(graph: FlatGraph) -> dict[str, Any]:
    """See `DecisionGraph.to_dict`."""
    if not graph.is_univariate:
        raise SpecError(
            "the model cannot be described by questions about single columns",
            cause="it has hyperplanes",
            fix="graph.to_json() holds every model",
        )
    program = Program.of(graph)
    nested = graph.is_tree
    nodes: dict[int, dict[str, Any]] = {}
    for node in program.bottom_up():
        entry = program.nodes[node]
        if not isinstance(entry, Branch):
            nodes[node] = _leaf(graph, entry)
            continue
        assert isinstance(entry.condition, Condition)
        question, same = _question(entry.condition, program.columns[entry.condition.source])
        yes, no = (nodes[child] if nested else str(child) for child in (entry.yes, entry.no))
        sides = {"yes": yes, "no": no} if same else {"yes": no, "no": yes}
        nodes[node] = {"column": entry.condition.source, **question, **sides}
    if nested:
        return nodes[program.root]
    return {"root": str(program.root), "nodes": {str(node): nodes[node] for node in sorted(nodes)}}


def _leaf(graph: FlatGraph, code: int) -> dict[str, Any]:
    """A label, or a value as a number where its decimal text is exact, and as a fraction otherwise."""
    if not graph.values:
        return {"predict": graph.classes.tolist()[code]}
    value = graph.values[code]
    number = int(value) if value.denominator == 1 else float(value)
    return {"value": number if Fraction(str(number)) == value else str(value)}


def _question(asked: Condition, column: Column) -> tuple[dict[str, Any], bool]:
    """The question of a condition, and whether their answers are the same; if not, they are opposite."""
    if asked.kind is Kind.IS_MISSING:
        return {"is_missing": True}, True
    if asked.kind is Kind.IS_LEVEL:
        return {"is": asked.value}, True
    same, made = True, {"at_most": asked.value}
    if asked.kind is Kind.IS_TRUE:
        made = {"is": True}
    elif asked.kind is Kind.AMONG:  # the levels above some position
        assert isinstance(asked.value, tuple)
        below = len(column.levels) - len(asked.value)
        same, made = False, {"at_most": column.levels[below - 1]} if below else {"below": column.levels[0]}
    elif asked.kind is Kind.BEFORE:
        assert isinstance(asked.value, float)
        made = {"at_most": _day(asked.value - 1)}  # values are whole days
    if column.missing:
        made["or_missing"] = asked.or_missing == same
    return made, same


def _day(days: float) -> str | float:
    """A day as text, or its number where it has no date."""
    try:
        return (ORIGIN + timedelta(days=days)).date().isoformat()
    except OverflowError:
        return days


@dataclass
class _Reader:
    """Nodes by number, as `build.arrays_from_nodes` takes them, and what still has to be read."""

    data: Dataset
    named: Mapping[Any, Any] = field(default_factory=dict)
    made: dict[Hashable, dict[str, Any]] = field(default_factory=dict)
    values: list[Fraction] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _waiting: list[tuple[int, Any, str]] = field(default_factory=list)
    _fresh: int = 0

    def child(self, node: Any, place: str) -> int:
        """The number of a node, which is read later; one that is named has one number."""
        if isinstance(node, str):
            if node not in self.named:
                known = listing(list(map(str, self.named))) if self.named else "there is no 'nodes'"
                raise _wrong(place, f"{node!r} names no node ({known})")
            if node in self._number:
                return self._number[node]
            self._number[node] = self._fresh
            place, node = f"the node {node!r}", self.named[node]
        number = self._fresh
        self._fresh += 1
        if number > MOST_NODES:
            raise _wrong(place, f"there are more than {MOST_NODES} nodes; name what is shared")
        self._waiting.append((number, node, place))
        return number

    def read_all(self) -> None:
        """Read what is waiting, and what comes up on the way."""
        leaves = []
        while self._waiting:
            number, node, place = self._waiting.pop()
            if not isinstance(node, Mapping):
                raise _wrong(place, f"{node!r} is neither a node nor the name of one")
            if "column" in node:
                self._test(number, node, place)
            elif set(node) == {"predict"} and self.data.quantity is None:
                self.made[number] = {"label": self._class(node["predict"], place)}
            elif set(node) == {"value"} and self.data.quantity is not None:
                leaves.append((number, _number(node["value"], place, Fraction)))
            else:
                key = "predict" if self.data.quantity is None else "value"
                raise _wrong(
                    place,
                    f"it has the keys {listing(list(map(str, node)))}; a leaf has {key!r} alone, a test 'column', "
                    "a question, 'yes' and 'no'",
                )
        self.values = sorted({value for _, value in leaves})
        for number, value in leaves:
            self.made[number] = {"label": self.values.index(value)}

    def _class(self, label: Any, place: str) -> int:
        classes = self.data.classes.tolist()
        for code, known in enumerate(classes):
            if type(known) is type(label) and known == label:
                return code
        texts = [str(known) for known in classes]
        if texts.count(str(label)) == 1:  # JSON has no dates, and no integers as names
            return texts.index(str(label))
        raise _wrong(
            place, f"{label!r} is no class of the data ({listing(texts)})", did_you_mean(str(label), texts)
        )

    def _test(self, number: int, node: Mapping[str, Any], place: str) -> None:
        asked = [name for name in QUESTIONS if name in node]
        more = set(node) - {"column", "yes", "no", "or_missing", *QUESTIONS}
        if len(asked) != 1 or more or not {"yes", "no"} <= set(node):
            raise _wrong(
                place,
                f"it has the keys {listing(list(map(str, node)))}; a test has 'column', 'yes', 'no', one of "
                f"{listing(list(QUESTIONS))}, and perhaps 'or_missing'",
            )
        name, question = node["column"], asked[0]
        here = f"the test on {name!r} ({place})"
        features = {i: column for i, column in enumerate(self.data.columns) if column.source == name}
        if not features:
            sources = list(dict.fromkeys(column.source for column in self.data.columns))
            excluded = name in self.data.exclude
            cause = "the column is excluded" if excluded else f"the data have {listing(sources)}"
            raise _wrong(here, f"there is no such column; {cause}", did_you_mean(str(name), sources))
        if not isinstance(node.get("or_missing", False), bool):
            raise _wrong(here, "'or_missing' is true or false")
        found = _Question(features, bool(node.get("or_missing", False)), here)
        tests = _ASK[question](found, node[question])
        for position, (feature, threshold, yes_is_left) in enumerate(tests):
            yes = self.child(node["yes"], f"yes of {here}")
            last = position == len(tests) - 1
            no = self.child(node["no"], f"no of {here}") if last else self._place()
            left, right = (yes, no) if yes_is_left else (no, yes)
            self.made[number] = {"feature": feature, "threshold": threshold, "left": left, "right": right}
            number = no

    def _place(self) -> int:
        """The number of the next test of a list of levels."""
        self._fresh += 1
        return self._fresh - 1


Test = tuple[int, float, bool]
"""An encoded feature, the threshold, and whether samples for which the question holds go left."""


@dataclass
class _Question:
    """One question about a column as tests on its encoded features; a sample passes if it passes one of them."""

    features: dict[int, Column]
    or_missing: bool
    place: str

    def at_most(self, value: Any) -> list[Test]:
        """``x <= value``"""
        return [self._threshold(self._value(value))]

    def below(self, value: Any) -> list[Test]:
        """``x < value``"""
        return [self._threshold(np.nextafter(self._value(value), -np.inf))]

    def is_(self, value: Any) -> list[Test]:
        """The level is this one; a boolean is true or false."""
        return self.among([value])

    def among(self, values: Any) -> list[Test]:
        """The level is one of these."""
        if not isinstance(values, list | tuple) or not values:
            raise _wrong(self.place, "'among' has a list of levels")
        kind = next(iter(self.features.values())).kind
        if kind == BOOLEAN:
            if len(values) != 1 or not isinstance(values[0], bool):
                raise _wrong(self.place, "the column holds true and false: {'is': true} or {'is': false}")
            return [self._split(0.5, yes_is_left=values[0] is False)]
        if kind != CATEGORY:
            raise _wrong(
                self.place, f"the column is {kind}, and has no levels to name", "use at_most or below"
            )
        tests = [self._level(value) for value in values]
        return [*tests, *self.is_missing(True)] if self.or_missing and None not in values else tests

    def is_missing(self, value: Any) -> list[Test]:
        """The value is missing."""
        if value is not True:
            raise _wrong(self.place, "'is_missing' is true; 'yes' and 'no' say where the others go")
        for feature, column in self.features.items():
            if column.kind == CATEGORY and column.category is None:
                return [(feature, 0.5, False)]
            if column.missing == "below":
                return [(feature, MISSING_BELOW, True)]
        raise _wrong(self.place, "no value is missing in the column")

    def _level(self, value: Any) -> Test:
        for feature, column in self.features.items():
            if type(column.category) is type(value) and column.category == value:
                return feature, 0.5, False
        levels = [level_text(column.category) for column in self.features.values()]
        raise _wrong(
            self.place,
            f"{value!r} is no level of the column ({listing(levels)})",
            did_you_mean(str(value), levels),
        )

    def _threshold(self, value: float) -> Test:
        kind = next(iter(self.features.values())).kind
        if kind in (CATEGORY, BOOLEAN):
            raise _wrong(self.place, f"the column is {kind}", "ask with is or among")
        if any(column.missing for column in self.features.values()) and abs(value) > LARGEST_PRESENT:
            raise _wrong(self.place, "the value is beyond what a column with missing values may hold")
        return self._split(value, yes_is_left=True)

    def _split(self, threshold: float, *, yes_is_left: bool) -> Test:
        """The feature whose missing values go where ``or_missing`` sends them."""
        wanted = "below" if yes_is_left == self.or_missing else "above"
        for feature, column in self.features.items():
            if column.missing in ("", wanted):
                if self.or_missing and not column.missing:
                    raise _wrong(self.place, "no value is missing in the column", "leave 'or_missing' out")
                return feature, float(threshold), yes_is_left
        raise AssertionError("a column with gaps has two features")

    def _value(self, value: Any) -> float:
        column = next(iter(self.features.values()))
        if column.kind == ORDERED:
            for position, level in enumerate(column.levels):
                if type(level) is type(value) and level == value:
                    return float(position)
            levels = list(map(level_text, column.levels))
            raise _wrong(
                self.place,
                f"{value!r} is no level of the column ({listing(levels)})",
                did_you_mean(str(value), levels),
            )
        if column.kind in (DATE, DATETIME) and isinstance(value, str | date):
            return _days(value, self.place)
        return float(_number(value, self.place, float))


_ASK: dict[str, Callable[[_Question, Any], list[Test]]] = {
    name: getattr(_Question, "is_" if name == "is" else name) for name in QUESTIONS
}


def _number(value: Any, place: str, kind: Callable[[Any], Any]) -> Any:
    """A finite number as a float, or exactly as it is written: in decimal, or as text with a fraction such as "1/3"."""
    if kind is Fraction and isinstance(value, str) and _FRACTION.fullmatch(value):
        value = Fraction(value)
    if isinstance(value, int | float | Fraction | np.number) and not isinstance(value, bool):
        try:
            if math.isfinite(float(value)):
                return kind(str(value)) if kind is Fraction else kind(value)
        except OverflowError:
            pass
    raise _wrong(place, f"{value!r} is no finite number")


def _days(value: str | date, place: str) -> float:
    """Days since 1970-01-01."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise _wrong(place, f"{value!r} is no date such as '2024-02-29'") from None
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is not None:
        raise _wrong(place, f"{value!r} has a time zone, and the column has none")
    return (moment - ORIGIN) / timedelta(days=1)


def _wrong(place: str, cause: str, hint: str | None = None) -> SpecError:
    return SpecError(
        "the description is no model of these data",
        cause=f"{place}: {cause}",
        fix=hint or "see DecisionGraph.from_dict for the form of nodes",
    )
