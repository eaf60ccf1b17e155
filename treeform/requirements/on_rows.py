"""A requirement asked of some of the rows: of those that satisfy a condition, or of each value of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.errors import DataError, Infeasible, SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.conditions import rows_where, value_meant
from treeform.language.meetings import Meetings, all_meetings
from treeform.language.objective_text import in_quotes
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import parse
from treeform.language.totals import Totals, joined
from treeform.language.values import ValueOrder, ValueRow, ValueRule
from treeform.model import Model
from treeform.requirements.groups import Groups, by_name, groups_from_json, groups_text, groups_to_json
from treeform.shape import Shape
from treeform.utils.arrays import Ints

S = TypeVar("S", bound="OnRows")


class Part(NamedTuple):
    """Some of the rows, and the requirement on a table that has no others."""

    label: str
    positions: Ints
    data: Dataset
    requirement: Requirement


class OnRows(Requirement):
    """A requirement about rows, asked of some of the rows: what it says of a table that has no others.

    Written as ``requirement.on(rows)`` and ``requirement.each(column)``. Shares of samples are shares of these rows;
    groups are those of all rows, and one without a row here is compared with no other one.

    Raises SpecError if the requirement is about tests or paths, neither rows nor a column are given, or the condition
    is not understood; DataError when bound to data: no row satisfies the condition, a column is not there, or a mask
    has another length.

    Parameters
    ----------
    of : Requirement
        One that is stated by linear constraints over sums of samples, or says that it is about rows (`of_rows`).
    rows : str or mask, optional
        A condition such as ``"region == 'north' and age < 40"``; or one truth value for each row of the table.
    by : str, array or Series, optional
        A column: the requirement is asked of the rows of each of its values.
    """

    name: ClassVar[str] = "on_rows"

    def __new__(cls, of: Any = None, rows: Any = None, by: Any = None) -> OnRows:
        """One whose bound can be moved, where that of the requirement can."""
        of = parse(of) if isinstance(of, str) else of
        return super().__new__(BoundedOnRows if cls is OnRows and isinstance(of, Bounded) else cls)

    def __init__(self, of: Any, rows: Any = None, by: Any = None) -> None:
        self.of: Any = parse(of) if isinstance(of, str) else of
        self.rows, self.by = rows, by
        if not isinstance(self.of, Requirement) or not (self.of.of_rows or _is_sum(self.of)):
            raise SpecError(
                f"{self.of} cannot be asked of some rows only",
                cause="it is about tests or paths, and not about rows",
                fix="ask it of the whole table; rates, errors, costs, parities and Monotone can be asked of some rows",
            )
        if rows is None and by is None:
            raise SpecError(
                f"{self.of} on some rows does not say which",
                cause="neither a condition nor a column is given",
                fix="write for example .on(\"region == 'north'\"), or .each('quarter')",
            )
        self.demands_tests, self.names_rows = self.of.demands_tests, self.of.names_rows  # type: ignore[misc]
        self.needs, self.of_values = frozenset(self.of.needs), self.of.of_values  # type: ignore[misc]
        self._bound: tuple[Dataset, tuple[Part, ...]] | None = None

    def bind(self: S, data: Dataset, **context: Any) -> S:
        rows, each = self.rows, by_name(self.by, data) if self.by is not None else None
        here = np.ones(data.n_samples, dtype=bool)
        if rows is not None:
            here = rows.codes == 1 if isinstance(rows, Groups) else rows_where(rows, data)
            rows = rows if isinstance(rows, str) else Groups(here.astype(np.int64), (False, True))
        slices = [("" if rows is None else _called(rows), here)]
        if each is not None:
            values = Groups.of(each, data)
            each = each if isinstance(each, str) else values
            slices = [
                (f"{groups_text(each)} = {label}", here & (values.codes == g))
                for g, label in enumerate(values.labels)
            ]
            slices = [(label, mask) for label, mask in slices if mask.any()]
        if not slices or not slices[0][1].any():
            raise DataError(
                f"no row satisfies {rows!r}" if isinstance(rows, str) else "no row is in the mask",
                cause=f"{self.of} would say nothing",
                fix=(value_meant(rows, data) if isinstance(rows, str) else None)
                or "name other rows, or drop the requirement",
            )
        try:
            of = self.of.bind(data, **context)
        except Infeasible:  # of all rows
            of = self.of
        parts = []
        for label, mask in slices:
            positions = np.flatnonzero(mask)
            table = _table_of(positions, data)
            try:
                parts.append(
                    Part(label, positions, table, of.on_positions(positions, data).bind(table, **context))
                )
            except Infeasible as error:
                raise Infeasible(f"{error.what}, on {label}", cause=error.cause, fix=error.fix) from None
        return self._copy(of=of, rows=rows, by=each, needs=of.needs, _bound=(data, tuple(parts)))

    def parts(self, data: Dataset) -> tuple[Part, ...]:
        """The slices of the data, each with the requirement on it."""
        if self._bound is None or self._bound[0] is not data:
            bound = self.bind(data)._bound
            assert bound is not None
            return bound[1]
        return self._bound[1]

    def on_positions(self, positions: Ints, data: Dataset) -> Requirement:
        changes: dict[str, Any] = {"of": self.of.on_positions(positions, data), "_bound": None}
        for key in ("rows", "by"):
            given = getattr(self, key)
            if isinstance(given, Groups):
                changes[key] = given.taken(positions)
        return self._copy(**changes)

    def on(self, rows: Any) -> Requirement:
        if self.rows is None:
            return OnRows(self.of, rows, self.by)
        if isinstance(rows, str) and isinstance(self.rows, str):
            return OnRows(self.of, f"({self.rows}) and ({rows})", self.by)
        return super().on(rows)

    def each(self, column: Any) -> Requirement:
        return super().each(column) if self.by is not None else OnRows(self.of, self.rows, column)

    # -- what it says -------------------------------------------------------------------------------

    def build(self, model: Model, ports: Ports) -> None:
        for part in self.parts(ports.data):
            part.requirement.build(model, ports.of_rows(part.positions, part.data))

    def totals(self, data: Dataset) -> Totals | None:
        return self._joined(data, [part.requirement.totals(part.data) for part in self.parts(data)])

    def _joined(self, data: Dataset, of_parts: Sequence[Totals | None]) -> Totals | None:
        found = zip(self.parts(data), of_parts, strict=True)
        placed = [_placed(part, totals, data) for part, totals in found if totals is not None]
        return joined(placed) if len(placed) == len(of_parts) else None

    def shortfall(self, data: Dataset) -> Totals | None:
        return self._joined(data, [part.requirement.shortfall(part.data) for part in self.parts(data)])

    def prediction_rows(self, data: Dataset) -> list[tuple[Ints, int]]:
        return [
            (_spread(coef, part.positions, data), side)
            for part in self.parts(data)
            for coef, side in part.requirement.prediction_rows(part.data)
        ]

    def meetings(self, data: Dataset) -> Meetings | None:
        found = [(part, part.requirement.meetings(part.data)) for part in self.parts(data)]
        return all_meetings(
            [
                Meetings(
                    tuple(f"{name}, {part.label}" for name in marks.names),
                    _spread(marks.per_sample, part.positions, data),
                    marks.clashes,
                )
                for part, marks in found
                if marks is not None
            ]
        )

    def value_rule(self, data: Dataset) -> ValueRule | None:
        found = [(part.positions, part.requirement.value_rule(part.data)) for part in self.parts(data)]
        placed = [_rule_placed(rule, positions, data) for positions, rule in found if rule is not None]
        return ValueRule.all_of(placed) if placed else None

    def violation(self, graph: DecisionGraph, data: Dataset) -> int | Fraction:
        """The largest of those on the parts."""
        return max(part.requirement.violation(graph, part.data) for part in self.parts(data))

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        refused = (part.requirement.refusal(part.data, shape) for part in self.parts(data))
        return next((refusal for refusal in refused if refusal is not None), None)

    def remark(self, data: Dataset) -> str | None:
        stated = [(part.label, part.requirement.totals(part.data)) for part in self.parts(data)]
        idle = [label for label, totals in stated if totals is not None and not totals.rows]
        return f"{self} says nothing of {', '.join(idle)}: there is nothing to compare" if idle else None

    # -- text and files -----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"of": self.of.to_json()}
        for key, given in (("rows", self.rows), ("by", self.by)):
            if given is not None:
                named = isinstance(given, str | Groups)
                parameters[key] = groups_to_json(given) if named else np.asarray(given).tolist()
        return {"name": self.name, "parameters": parameters}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> OnRows:
        of = Requirement.from_json(parameters["of"])
        return OnRows(of, *(groups_from_json(parameters.get(key)) for key in ("rows", "by")))

    def __str__(self) -> str:
        text = str(self.of)
        parts = [] if self.rows is None else [f"on={_stated(self.rows)}"]
        parts += [] if self.by is None else [f"each={_stated(self.by)}"]
        return text + ("," if ":" in text else ":") + ",".join(parts)

    def in_words(self) -> str:
        within = "" if self.by is None else f"within each value of {groups_text(self.by)}, "
        among = "" if self.rows is None else f"among {_called(self.rows)}, "
        return f"{among}{within}{self.of.in_words()}"


class BoundedOnRows(OnRows, Bounded, listed=False):
    """One whose bound can be moved, on all parts at once."""

    name: ClassVar[str] = "on_rows"

    # Everything about the bound is as the requirement has it.
    is_upper = property(attrgetter("of.is_upper"))
    bound = property(attrgetter("of.bound"))
    is_continuous = property(attrgetter("of.is_continuous"))
    bound_name = property(attrgetter("of.bound_name"))
    measure = property(attrgetter("of.measure"))

    def with_bound(self, bound: Value) -> Requirement:
        return OnRows(self.of.with_bound(bound), self.rows, self.by)

    def measured(self, graph: DecisionGraph, data: Dataset) -> Value:
        values: list[Value] = [part.requirement.measured(graph, part.data) for part in self._movable(data)]
        return max(values) if self.is_upper else min(values)

    def beyond(self, value: Value, data: Dataset) -> Value | None:
        found = [part.requirement.beyond(value, part.data) for part in self._movable(data)]
        known: list[Value] = [one for one in found if one is not None]
        return (max(known) if self.is_upper else min(known)) if known else None

    def _movable(self, data: Dataset) -> Sequence[Any]:
        return self.parts(data)


def _is_sum(requirement: Requirement) -> bool:
    kind = type(requirement)
    stated = any(
        getattr(kind, face) is not getattr(Requirement, face) for face in ("totals", "prediction_rows")
    )
    return stated and frozenset(requirement.needs) <= {"predicted", "correct"}


def _table_of(positions: Ints, data: Dataset) -> Dataset:
    """The table that has these rows only; predicted values keep the range that all rows give them."""
    taken, quantity = data.taken(positions), data.quantity
    if quantity is None or taken.quantity is None:
        return taken
    return replace(taken, quantity=replace(taken.quantity, span=(quantity.lowest, quantity.highest)))


def _spread(values: NDArray[Any], positions: Ints, data: Dataset) -> NDArray[Any]:
    """What is stated for the rows of a part, for all rows: nothing for the others."""
    spread = np.zeros((data.n_samples, *values.shape[1:]), dtype=values.dtype)
    spread[positions] = values
    return spread


def _rule_placed(rule: ValueRule, positions: Ints, data: Dataset) -> ValueRule:
    rows = tuple(ValueRow(_spread(row.coef, positions, data), row.side) for row in rule.rows)
    orders = tuple(
        ValueOrder(one.features, _spread(one.counted, positions, data), one.increasing) for one in rule.orders
    )
    return ValueRule(rows, orders, rule.whole)


def _placed(part: Part, totals: Totals, data: Dataset) -> Totals:
    """Totals of a part as totals of all rows: those of other rows add nothing."""
    kind = np.full(data.n_samples, len(totals.added), dtype=np.int64)
    kind[part.positions] = np.arange(len(part.positions)) if totals.kind is None else totals.kind
    nothing = np.zeros((1, *totals.added.shape[1:]), dtype=np.int64)
    names = tuple(f"{name}, {part.label}" for name in totals.names)
    return replace(totals, names=names, added=np.concatenate([totals.added, nothing]), kind=kind)


def _called(rows: Any) -> str:
    return f"the rows with {rows}" if isinstance(rows, str) else "the rows given"


def _stated(given: Any) -> str:
    text = groups_text(given)
    return text if text.isidentifier() else in_quotes(text)
