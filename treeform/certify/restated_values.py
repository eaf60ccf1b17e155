"""What requirements say of directions and of the values of leaves, written again for the check; see `restated`."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform import requirements as known
from treeform.data import Dataset
from treeform.language.classes import class_code
from treeform.language.meetings import Clash, Meetings, all_meetings
from treeform.language.values import ValueOrder, ValueRow, ValueRule
from treeform.requirements.groups import Groups
from treeform.requirements.on_rows import BoundedOnRows
from treeform.utils.arrays import Mask


def _has_value(column: str, data: Dataset) -> tuple[list[int], Mask]:
    """The features of a column, and the samples that have a value in it."""
    own = [f for f, one in enumerate(data.columns) if one.source == column]
    return own, np.asarray(~data.columns[own[0]].missing_values(data.X[:, own[0]]))


def _marks(one: known.Monotone, data: Dataset) -> Meetings:
    features, counted = _has_value(one.column, data)
    favoured = np.asarray(np.arange(data.n_classes) == class_code(one.positive, data))
    carried = np.stack([favoured, ~favoured], axis=1)[None] & counted[:, None, None]
    # Where greater values are for the positive class, it is not found below while another one is found above.
    below, above = ((0,), (1,)) if one.direction == "increasing" else ((1,), (0,))
    return Meetings(("positive", "not positive"), carried, tuple(Clash(f, below, above) for f in features))


def _order(one: known.Monotone, data: Dataset) -> ValueRule:
    features, counted = _has_value(one.column, data)
    return ValueRule(orders=(ValueOrder(frozenset(features), counted, one.direction == "increasing"),))


def _in_parts(one: known.OnRows, data: Dataset, state: Callable[[Any, Dataset], Any]) -> list[tuple[Any, Any]]:
    return [(part.positions, state(part.requirement, part.data)) for part in one.parts(data)]


def _marks_on_rows(one: known.OnRows, data: Dataset) -> Meetings | None:
    """Marks of each slice, which only its own rows carry."""
    if type(one.of) is not known.Monotone:
        return None
    found = []
    for positions, marks in _in_parts(one, data, _marks):
        carried = np.zeros((data.n_samples, data.n_classes, 2), dtype=bool)
        carried[positions] = marks.per_sample
        found.append(Meetings(marks.names, carried, marks.clashes))
    return all_meetings(found)


def _values_on_rows(one: known.OnRows, data: Dataset) -> ValueRule | None:
    """Rows and orders of each slice, in which the values of other rows do not count."""
    state = VALUES.get(type(one.of))
    if state is None:
        return None
    rules = []
    for positions, rule in _in_parts(one, data, state):

        def whole(values: NDArray[Any], at: Any = positions) -> NDArray[Any]:
            every = np.zeros(data.n_samples, dtype=values.dtype)
            every[at] = values
            return every

        rows = tuple(ValueRow(whole(row.coef), row.side) for row in rule.rows)
        orders = tuple(ValueOrder(o.features, whole(o.counted), o.increasing) for o in rule.orders)
        rules.append(ValueRule(rows, orders, rule.whole))
    return ValueRule.all_of(rules)


def _means(one: known.MeanParity, data: Dataset) -> ValueRule:
    """Means of deviations in units: the difference of two is that of the means, in units."""
    assert data.quantity is not None
    groups, weights = Groups.of(one.groups, data), data.weights
    rows = []
    for a, b in permutations(range(len(groups.labels)), 2):
        heavy = [int(weights[groups.codes == g].sum()) for g in (a, b)]
        if not all(heavy):
            continue
        # sum_{i in a} w_i d_i / W_a - sum_{i in b} w_i d_i / W_b <= difference / unit;   times W_a W_b / gcd
        common = math.gcd(*heavy)
        coef = np.where(
            groups.codes == a, heavy[1] // common, np.where(groups.codes == b, -heavy[0] // common, 0)
        )
        side = one.difference / data.quantity.unit * heavy[0] * heavy[1] / common
        rows.append(ValueRow(coef * weights, side))
    return ValueRule(tuple(rows), whole=one.whole is not False)


MARKS: dict[type, Callable[[Any, Dataset], Meetings | None]] = {
    known.Monotone: _marks,
    known.OnRows: _marks_on_rows,
}
VALUES: dict[type, Callable[[Any, Dataset], ValueRule | None]] = {
    known.MeanParity: _means,
    known.Monotone: _order,
    known.OnRows: _values_on_rows,
    BoundedOnRows: _values_on_rows,
}
