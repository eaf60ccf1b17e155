"""Performance: bounds on what the model gets wrong, and rows that it has to get right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from treeform.data import Dataset, contradictions_text, contradictory_rows
from treeform.data.roles import positions_of
from treeform.errors import Infeasible, SpecError
from treeform.graph import DecisionGraph
from treeform.language.forms import Inequality, Rows
from treeform.language.linear import LinearRequirement
from treeform.requirements.amount import AtMostAmount
from treeform.shape import Limits
from treeform.utils.rows import worded
from treeform.utils.text import count_of


class MaxErrors(AtMostAmount, LinearRequirement):
    """At most this much training weight is misclassified.

    Parameters
    ----------
    at_most, count, fraction
        See `MinSupport`.
    """

    name: ClassVar[str] = "max_errors"
    words: ClassVar[str] = "the model misclassifies at most {amount.words}"
    samples: ClassVar[tuple[str, ...]] = ("max_errors:0", "max_errors:1", "max_errors:0.3")
    called: ClassVar[tuple[str, str]] = ("errors", "share of errors")
    needs = frozenset({"correct"})

    def bind(self, data: Dataset, **context: Any) -> MaxErrors:
        floor = data.points.least_errors
        if floor > self.amount.at_most(data):
            raise Infeasible(
                f"{self} is infeasible",
                cause=f"{contradictions_text(contradictory_rows(data))}, which makes at least "
                f"{count_of(floor * data.weight_unit, 'error')} unavoidable",
                fix=f"allow at least {floor * data.weight_unit}, or minimise "
                f"{worded('tf.Error()', 'error')} at a given depth",
            )
        return self

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        yield rows.errors() <= self.amount.at_most(rows.data) * rows.data.weight_unit

    def weight_of(self, graph: DecisionGraph, data: Dataset) -> int:
        wrong = graph.predict_codes(data.X) != data.y
        return int(np.asarray(data.weights)[wrong].sum())

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_errors=self.amount.at_most(data))


class MustClassifyRight(LinearRequirement):
    """These rows of the table are classified correctly.

    Parameters
    ----------
    rows : sequence of int, Index, or str
        Positions in the table as passed, counted from 0; as text with blanks between them, ``"3 17"``. An Index holds
        labels of rows, ``table.index[table.vip]``. Rows of weight 0 do not count.

    Raises
    ------
    SpecError
        If there is no such row.
    """

    name: ClassVar[str] = "must_classify_right"
    samples: ClassVar[tuple[str, ...]] = ("must_classify_right:0 2",)
    needs = frozenset({"correct"})
    names_rows: ClassVar[bool] = True

    def __init__(self, rows: Sequence[int] | pd.Index | int | str) -> None:
        self.rows: tuple[int, ...] | pd.Index
        if isinstance(rows, pd.Index):
            self.rows = rows
            return
        if isinstance(rows, str) and all(word.isdecimal() for word in rows.split()):
            rows = [int(word) for word in rows.split()]
        several: list[Any] = list(rows) if isinstance(rows, Iterable) else [rows]
        if any(isinstance(row, bool) or not isinstance(row, Integral) for row in several):
            raise SpecError(
                f"{rows!r} are no rows",
                cause="rows are named by their positions in the table, counted from 0",
                fix="write for example " + worded("MustClassifyRight([3, 17])", "must_classify_right:'3 17'"),
            )
        self.rows = tuple(sorted({int(row) for row in several}))

    def bind(self, data: Dataset, **context: Any) -> MustClassifyRight:
        if isinstance(self.rows, pd.Index):
            return MustClassifyRight(positions_of(self.rows, data.table.labels)).bind(data)
        outside = [row for row in self.rows if not 0 <= row < data.table.n_rows]
        if outside:
            raise SpecError(
                f"there is no row {outside[0]}",
                cause=f"the table has {count_of(data.table.n_rows, 'row')}, counted from 0",
                fix="name rows of this table",
            )
        return self

    def _mask(self, data: Dataset) -> np.ndarray:
        return np.isin(np.asarray(data.kept_rows), self.rows)

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        yield rows.errors(self._mask(rows.data)) <= 0

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        wrong = graph.predict_codes(data.X) != data.y
        return int((wrong & self._mask(data)).sum())

    def __str__(self) -> str:
        shown = " ".join(map(str, self.rows[:5]))
        return f"{self.name}:rows={shown}" + (f" and {len(self.rows) - 5} more" if len(self.rows) > 5 else "")

    def in_words(self) -> str:
        rows = ", ".join(map(str, self.rows))
        return f"the rows {rows} (counted from 0) are classified correctly"
