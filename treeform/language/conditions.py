"""Conditions that name some of the rows: ``region == 'north' and age < 40``, or a mask.

The text is a comparison of a column with a value, or several joined by ``and``, ``or``, ``not`` and parentheses. It is
read as an expression of Python, and never run as one: nothing but what is described here has a meaning.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import Any

import numpy as np
import pandas as pd

from treeform.data import Dataset
from treeform.data.roles import in_row_order
from treeform.errors import DataError, SpecError, did_you_mean
from treeform.utils.arrays import Mask
from treeform.utils.text import count_of

COMPARISONS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
ISO_DATE = re.compile(r"\d{4}-\d\d(-\d\d([ T]\d\d:\d\d(:\d\d)?)?)?")
EXAMPLE = "write for example \"region == 'north' and age < 40\"; names with blanks stand in backticks: `home region`"


def rows_where(given: Any, data: Dataset) -> Mask:
    """(n,) the rows that a condition names, among those that have weight.

    A condition is text; or one truth value for each row of the table as passed, or of those that have weight. A Series
    is paired with the table by its labels. Raises SpecError if the text is no condition, or compares values that cannot
    be compared; DataError if there is no such column, or the mask does not fit the table.
    """
    return _Reader(given, data).mask() if isinstance(given, str) else _kept(given, data)


def value_meant(text: str, data: Dataset) -> str | None:
    """``did you mean ...?`` for a text in a condition that its column does not hold; None where nothing is close."""
    reader = _Reader(text, data)
    reader.mask()
    asked = ((value, set(map(str, column.dropna()))) for value, column in reader.asked)
    hints = (did_you_mean(value, sorted(known)) for value, known in asked if value not in known)
    return next(filter(None, hints), None)


def _kept(given: Any, data: Dataset) -> Mask:
    values = np.asarray(in_row_order(given, data.table.labels, "the mask", "mask"))
    if (
        values.dtype == object
        and values.ndim == 1
        and all(isinstance(v, bool | np.bool_) for v in values.tolist())
    ):
        values = values.astype(bool)
    if values.ndim != 1 or values.dtype != bool:
        raise DataError(
            f"{type(given).__name__} {str(given)[:60]!r} is no mask of rows",
            cause="a mask has one truth value for each row, and no missing ones",
            fix=EXAMPLE,
        )
    if len(values) == data.table.n_rows:
        return np.asarray(values[data.kept_rows])
    if len(values) == data.n_samples:
        return values
    raise DataError(
        f"the mask has {count_of(len(values), 'entry')} for {count_of(data.table.n_rows, 'row')}",
        cause="there is one truth value per row of the table as passed, rows of weight 0 included",
        fix="pass a mask of that length, or a condition as text",
    )


class _Reader:
    """The value of one text on one table."""

    def __init__(self, text: str, data: Dataset) -> None:
        self.text, self.data = text, data
        self.names: dict[str, str] = {}
        self.asked: list[tuple[str, pd.Series]] = []
        """Texts, each with the column that is compared with it."""

    def mask(self) -> Mask:
        readable = re.sub(r"`([^`]*)`", self._placed, self.text.strip())
        try:
            tree = ast.parse(readable, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise self._not_understood("it is no comparison") from None
        return self._truth(tree)

    def _placed(self, found: re.Match[str]) -> str:
        name = f"column_{len(self.names)}_"
        while name in self.text:
            name += "_"
        self.names[name] = found.group(1)
        return name

    def _truth(self, node: ast.expr) -> Mask:
        if isinstance(node, ast.BoolOp):
            parts = [self._truth(part) for part in node.values]
            joined = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return np.asarray(joined.reduce(parts))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self._truth(node.operand)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            pairs = [self._compared(a, op, b) for a, op, b in zip(sides, node.ops, sides[1:], strict=False)]
            return np.asarray(np.logical_and.reduce(pairs))
        if isinstance(node, ast.Name):
            return self._flag(node.id)
        raise self._not_understood(f"{ast.unparse(node)!r} is no comparison")

    def _flag(self, name: str) -> Mask:
        """A column of truth values by itself."""
        values = self._column(name)
        if values.dtype != bool and not set(values.dropna().tolist()) <= {True, False}:
            raise self._not_understood(
                f"the column {self.names.get(name, name)!r} has no truth values to stand by itself"
            )
        return np.asarray([one is True or one is np.True_ for one in values.tolist()], dtype=bool)

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Mask:
        if not isinstance(left, ast.Name) and isinstance(right, ast.Name):
            left, right, op = right, left, MIRRORED.get(type(op), type(op))()
        if not isinstance(left, ast.Name):
            raise self._not_understood(f"{ast.unparse(left)!r} is no column")
        column, value = self._column(left.id), self._value(right)
        values = value if isinstance(value, list) else [value]
        self.asked += [(one, column) for one in values if isinstance(one, str)]
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(value, list):
                raise self._not_understood("what stands after `in` is a list of values: ['north', 'east']")
            return np.asarray((column.isin(value) == isinstance(op, ast.In)) & column.notna())
        if type(op) not in COMPARISONS or isinstance(value, list):
            raise self._not_understood("a column is compared by ==, !=, <, <=, >, >= or in")
        numbers = pd.api.types.is_numeric_dtype(column)
        texts = not numbers and bool(column.map(lambda one: isinstance(one, str)).any())
        if (numbers and isinstance(value, str)) or (texts and not isinstance(value, str)):
            raise self._not_understood(
                f"the column {self.names.get(left.id, left.id)!r} holds {'numbers' if numbers else 'text'}, and "
                f"{value!r} is none"
            )
        if texts and type(op) not in (ast.Eq, ast.NotEq) and not self._are_dates([*column.dropna(), value]):
            raise self._not_understood(
                f"the column {self.names.get(left.id, left.id)!r} holds text, which has no order unless it is dates "
                "as 2024-12-31; ==, != and in compare it"
            )
        try:
            # What is missing is neither equal to anything nor different: it satisfies no comparison.
            return np.asarray(COMPARISONS[type(op)](column, value) & column.notna(), dtype=bool)
        except (TypeError, ValueError):
            raise self._not_understood(f"values of {left.id!r} cannot be compared with {value!r}") from None

    @staticmethod
    def _are_dates(values: list[Any]) -> bool:
        """Whether text is dates that are written alike, the year first, so that their texts are in their order."""
        return all(isinstance(one, str) and ISO_DATE.fullmatch(one) for one in values)

    def _column(self, name: str) -> pd.Series:
        return pd.Series(self.data.column(self.names.get(name, name))).infer_objects()

    def _value(self, node: ast.expr) -> Any:
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError):
            raise self._not_understood(f"{ast.unparse(node)!r} is no value: text stands in quotes") from None
        if isinstance(value, list | tuple | set):
            return list(value)
        if not isinstance(value, str | int | float | bool):
            raise self._not_understood(f"{value!r} is no value that a column may have")
        return value

    def _not_understood(self, cause: str) -> SpecError:
        return SpecError(f"the condition {self.text!r} is not understood", cause=cause, fix=EXAMPLE)
