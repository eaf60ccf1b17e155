"""Requirements that are inequalities between sums over rows: everything that follows from these is derived here, once.

The excess of an inequality, in its own units, is what a model lacks and what softness pays. Cleared of denominators and
of a common divisor it is a row for engines and solvers, whose right-hand side is rounded down, since totals are whole.
"""

from __future__ import annotations

import hashlib
import math
import operator
import pickle
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import Infeasible, SpecError
from treeform.graph import DecisionGraph
from treeform.language.forms import Inequality, Rows, Sum, Tally, Total, by_kind
from treeform.language.numbers import LARGEST
from treeform.language.ports import Ports
from treeform.language.rational import least_at_least
from treeform.language.requirement import Requirement
from treeform.language.totals import TotalRow, Totals
from treeform.model import Model
from treeform.utils.arrays import Ints

L = TypeVar("L", bound="LinearRequirement")


class LinearRequirement(Requirement, listed=False):
    """A requirement of inequalities between sums over rows, which a subclass states in `forms`.

    Rows for engines and solvers, bounds, and what softness pays are derived from `forms`, and so is `violation`
    unless the class has one of its own.

    Attributes
    ----------
    needs : frozenset of str
        ``{"predicted"}``; ``{"correct"}`` where it counts errors only, so that every formulation can state it; with
        ``"feature"`` where it counts tests.

    Examples
    --------
    >>> import treeform as tf
    >>> class MostApproved(tf.LinearRequirement):
    ...     def __init__(self, share): self.share = share
    ...     def forms(self, rows):
    ...         yield rows.weight(predicted="yes") / rows.weight() <= self.share
    """

    name: ClassVar[str] = ""
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"predicted"})

    @abstractmethod
    def forms(self, rows: Rows) -> Iterable[Inequality]:
        """The inequalities, as comparisons of sums: ``yield rows.weight(predicted="yes") <= 20``.

        Parameters
        ----------
        rows : Rows
            The training rows, of which sums are taken.
        """

    def bind(self: L, data: Dataset, **context: Any) -> L:
        """Refuse what cannot be stated on these data; override it to resolve what depends on them.

        See `Requirement.bind`. A bound that is left open states nothing yet.
        """
        if not self.is_open:
            self.totals(data)
        return self

    def violation(self, graph: DecisionGraph, data: Dataset) -> int | Fraction:
        """The largest excess of an inequality, exactly; 0 when all hold."""
        return max([Fraction(0), *self._counted(graph, data)])

    def _tallied(self, rows: Rows) -> Iterable[Any]:
        """The sums that `violation` follows from: the excesses, where a class has no simpler ones."""
        return (one.excess for one in self.forms(rows))

    def _counted(self, graph: DecisionGraph, data: Dataset) -> list[Fraction]:
        """These on a model, exactly."""
        known, key, state = _TALLIES.setdefault(data, {}), id(self), [*vars(self), *vars(self).values()]
        told = [*map(id, state), *map(_content, state)]
        kept = known.get(key)
        if kept is None or kept.owner() is not self or kept.told != told:
            owner = weakref.ref(self, partial(_forgotten, weakref.ref(data), key))
            kept = known[key] = _Kept(owner, state, told, Tally(self._tallied(Rows(data)), data))
            for oldest in list(known)[:-MOST_TALLIES]:
                known.pop(oldest, None)
        return kept.tally.values(graph, data)

    def totals(self, data: Dataset) -> Totals:
        return self._derived(data).rows()

    def shortfall(self, data: Dataset) -> Totals:
        return self._derived(data).shortfall()

    def reach(self, side: Sum, data: Dataset) -> tuple[Fraction, Fraction]:
        """The least and the largest value of a sum, if each total could take its own extremes.

        Parameters
        ----------
        side : Sum
        data : Dataset
        """
        if not side.terms:
            return side.constant, side.constant
        derived = Derived([Inequality(side)], data, self)
        ends: list[tuple[Any, Any]] = []
        for t, c in side.terms.items():
            most = derived.most[t] if t.per_test is None else math.inf  # there can be any number of tests
            ends.append((c * derived.least[t], c * most))
        return sum(map(min, ends), side.constant), sum(map(max, ends), side.constant)

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        totals = self.totals(data)
        return [] if totals.of_nodes else list(_over_predictions(totals))

    def build(self, model: Model, ports: Ports) -> None:
        totals = self.totals(ports.data)
        if not totals.rows:
            return
        rows = list(_over_predictions(totals))
        # sum_i weight_i coef[i, predicted_i] + sum over tests <= side, one row for each inequality
        each = np.stack([coef for coef, _ in rows]) * np.asarray(ports.weights)[:, None]
        parts = self._predicted(each, ports) if each.any() else []
        if totals.per_test is not None:
            coefs = np.array(
                [sign * c for row in totals.rows for sign in _signs(row) for c in row.coef], dtype=np.int64
            )
            on_tests = coefs.reshape(len(rows), -1) @ totals.per_test.T
            parts.append(on_tests @ ports.feature.sum(axis=0))
        if parts:
            sides = np.array([side for _, side in rows], dtype=np.int64)
            model.add(reduce(operator.add, parts) <= sides, str(self))

    def _predicted(self, each: Ints, ports: Ports) -> list[Any]:
        """Expressions whose sum is ``each`` (R, n, K) times what is predicted."""
        if "predicted" in self.needs:
            return [each[:, :, k] @ ports.predicted[:, k] for k in np.flatnonzero(each.any(axis=(0, 1)))]
        n, truth = each.shape[1], np.asarray(ports.data.y)
        right, wrong = each[:, np.arange(n), truth], each[:, np.arange(n), (truth + 1) % each.shape[2]]
        return [(right - wrong) @ ports.correct + wrong.sum(axis=1)]

    def _derived(self, data: Dataset) -> Derived:
        return Derived(list(self.forms(Rows(data))), data, self)


MOST_TALLIES = 64
"""Of a data set. A frontier asks of many requirements that differ in a bound: memory is kept for the last ones."""


class _Kept(NamedTuple):
    """The tally of a requirement, and what tells that the requirement is still the one that was counted."""

    owner: weakref.ref[LinearRequirement]
    state: list[Any]
    """Names and values of its attributes: while they are held, no others have their identity."""
    told: list[Any]
    """Their identity and content."""
    tally: Tally


_TALLIES: weakref.WeakKeyDictionary[Dataset, dict[int, _Kept]] = weakref.WeakKeyDictionary()
"""On each data set those of requirements, by identity: many models are judged on it."""


def _content(value: Any) -> Any:
    """A digest of what can be changed in place: lists, tuples, mappings, sets, arrays, columns; else None.

    The content itself is not kept: it may be as large as the data, for each of many requirements.
    """
    may_change = isinstance(value, list | dict | set | bytearray) or type(value) is tuple or hasattr(value, "__array__")
    if not may_change:  # a named tuple may hold the data, which do not change
        return None
    try:
        return hashlib.blake2b(pickle.dumps(value), digest_size=16).digest()
    except Exception:
        return object()  # as nothing else is: no tally is kept


def _forgotten(of: weakref.ref[Dataset], key: int, _: Any) -> None:
    """A requirement is gone, and its tally goes with it."""
    data = of()
    if data is not None:
        _TALLIES.get(data, {}).pop(key, None)


@dataclass(frozen=True)
class _Row:
    """``sum of coef * total <= side`` in whole numbers; ``unit`` is what 1 of it is where it was written."""

    coef: dict[Total, int]
    side: int
    unit: Fraction


class Derived:
    """Linear constraints over sums that follow from inequalities.

    Where an inequality stands alone its sum is one total; where totals are fewer than rows, as those of groups are
    fewer than pairs of them, they stay apart.
    """

    def __init__(self, forms: Sequence[Inequality], data: Dataset, owner: Requirement) -> None:
        self.data, self.owner = data, owner
        kept = [one.excess for one in forms if one.excess.terms]
        for one in forms:
            if not one.excess.terms and one.excess.constant > 0:
                raise Infeasible(
                    f"{owner} is infeasible",
                    cause=f"no prediction counts, and {one.excess.constant} is lacking whatever is predicted",
                    fix="relax it, or leave it out",
                )
        self.used = list(dict.fromkeys(total for excess in kept for total in excess.terms))
        self.kind, self.kinds, self.added = by_kind(self.used, data)
        weight = data.weight_by_code(self.kind, self.kinds).astype(object)
        self.least = {t: int((weight * a.min(axis=1)).sum()) for t, a in self.added.items()}
        self.most = {t: int((weight * a.max(axis=1)).sum()) for t, a in self.added.items()}
        self.exact = [self._within_reach(_exact(excess)) for excess in kept]
        self._tight: dict[tuple[tuple[Total, int], ...], list[int | None]] = {}
        for row in self.exact:
            self._enter(self._tightened(row))

    def rows(self) -> Totals:
        """The rows as engines read them: whole, with sides rounded inwards; two sides of the same sum are one row."""
        return self._assembled([(dict(coef), lo, hi) for coef, (lo, hi) in self._tight.items()])

    def shortfall(self) -> Totals:
        """The excesses in the units in which they were written; sides are not rounded."""
        totals = self._assembled([(row.coef, None, row.side) for row in self.exact])
        made = zip(totals.rows, self.exact, strict=True)
        return replace(totals, rows=tuple(replace(row, unit=exact.unit) for row, exact in made))

    # -- one row ------------------------------------------------------------------------------------------

    def _within_reach(self, row: _Row) -> _Row:
        """A side beyond what any model reaches is that: numbers stay small."""
        if any(total.per_test is not None for total in row.coef):
            return row
        most = sum(c * (self.most[t] if c > 0 else self.least[t]) for t, c in row.coef.items())
        return replace(row, side=min(row.side, most))

    def _enter(self, row: _Row) -> None:
        coef = tuple(sorted(row.coef.items(), key=lambda item: self.used.index(item[0])))
        opposite = tuple((total, -c) for total, c in coef)
        if opposite in self._tight and coef not in self._tight:
            lo = self._tight[opposite][0]
            self._tight[opposite][0] = -row.side if lo is None else max(lo, -row.side)
            return
        hi = self._tight.setdefault(coef, [None, None])[1]
        self._tight[coef][1] = row.side if hi is None else min(hi, row.side)

    def _tightened(self, row: _Row) -> _Row:
        """The same row as far as whole totals can tell, with small coefficients."""
        coef, side = row.coef, row.side
        falling = [t for t, c in coef.items() if c < 0]
        rising = [t for t, c in coef.items() if c > 0]
        if (
            side == 0
            and len(falling) == len(rising) == 1
            and self._counts(falling[0])
            and self._counts(rising[0])
        ):
            # b D <= a N  <=>  N / D >= b / a, a fraction whose denominator is at most the largest D
            (few,), (many,) = falling, rising
            if self.most[many]:
                least = least_at_least(Fraction(coef[many], -coef[few]), self.most[many])
                coef = {t: least.numerator if t is many else -least.denominator for t in coef}
        step = math.gcd(*coef.values())
        coef = {t: c // step for t, c in coef.items()}
        side = side // step
        largest = max(abs(c) * max(abs(self.most[t]), abs(self.least[t])) for t, c in coef.items())
        if largest > LARGEST:
            raise self._too_fine(max(map(abs, coef.values())))
        return _Row(coef, side, row.unit)

    def _counts(self, total: Total) -> bool:
        """Whether it is a weight, and so at least 0."""
        return total.per_test is None and self.least[total] >= 0

    # -- all rows -----------------------------------------------------------------------------------------

    def _assembled(self, rows: Sequence[tuple[dict[Total, int], int | None, int | None]]) -> Totals:
        sides = sum((lo is not None) + (hi is not None) for lo, hi in self._tight.values())
        if len(self.used) > sides:
            return self._one_total_each(rows)
        added = [self.added[total] for total in self.used]
        per_test = self._per_test([total.per_test for total in self.used])
        made = tuple(TotalRow(tuple(coef.get(t, 0) for t in self.used), lo, hi) for coef, lo, hi in rows)
        names = tuple(total.name for total in self.used)
        return Totals(names, self._stacked(added), made, per_test, self.kind)

    def _one_total_each(self, rows: Sequence[tuple[dict[Total, int], int | None, int | None]]) -> Totals:
        added, tests, steps = [], [], []
        for coef, _, _ in rows:
            each = np.add.reduce([c * self.added[t].astype(object) for t, c in coef.items()])
            on_test = [c * t.per_test.astype(object) for t, c in coef.items() if t.per_test is not None]
            steps.append(math.gcd(*map(int, each.ravel()), *(int(v) for one in on_test for v in one)) or 1)
            largest = max((abs(int(v)) for v in each.ravel()), default=0) // steps[-1]
            if largest * self.data.total_weight >= 2**62:
                raise self._too_fine(largest)
            added.append((each // steps[-1]).astype(np.int64))
            tests.append((np.add.reduce(on_test) // steps[-1]).astype(np.int64) if on_test else None)
        made = []
        for r, (_, lo, hi) in enumerate(rows):
            unit = [0] * len(rows)
            unit[r] = steps[r]
            made.append(TotalRow(tuple(unit), lo, hi))
        label = str(self.owner)
        names = (label,) if len(rows) == 1 else tuple(f"{label}, row {r + 1}" for r in range(len(rows)))
        return Totals(names, self._stacked(added), tuple(made), self._per_test(tests), self.kind)

    def _stacked(self, added: Sequence[Ints]) -> Ints:
        shape = (self.kinds, self.data.n_classes, len(added))
        return np.stack(added, axis=2) if added else np.zeros(shape, dtype=np.int64)

    def _too_fine(self, largest: int) -> SpecError:
        return SpecError(
            f"{self.owner} cannot be stated exactly on these weights",
            cause=f"whole coefficients reach {largest:.3g} on a total weight of {self.data.total_weight:.3g} units",
            fix="round the sample weights (weight_grid=...), or the bound, to fewer digits",
        )

    def _per_test(self, parts: Sequence[Ints | None]) -> Ints | None:
        if all(part is None for part in parts):
            return None
        nothing = np.zeros(self.data.n_features, dtype=np.int64)
        return np.stack([nothing if part is None else part for part in parts], axis=1)


def _exact(excess: Any) -> _Row:
    """An excess in the largest unit in which it is whole."""
    scale = math.lcm(excess.constant.denominator, *(c.denominator for c in excess.terms.values()))
    whole = {t: int(c * scale) for t, c in excess.terms.items()}
    side = -int(excess.constant * scale)
    step = math.gcd(side, *whole.values())
    return _Row({t: c // step for t, c in whole.items()}, side // step, Fraction(step, scale))


def _signs(row: TotalRow) -> list[int]:
    """1 for an upper side of a row, -1 for a lower one, in the order of `_over_predictions`."""
    return [1] * (row.hi is not None) + [-1] * (row.lo is not None)


def _over_predictions(totals: Totals) -> Iterable[tuple[Ints, int]]:
    """Rows as coefficients (n, K) of predictions, at most a side; a row with two sides gives two."""
    for row in totals.rows:
        each = totals.weighted(np.array(row.coef, dtype=np.int64))
        for sign in _signs(row):
            side = row.hi if sign > 0 else row.lo
            assert side is not None
            yield sign * each, sign * side
