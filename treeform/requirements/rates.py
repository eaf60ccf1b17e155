"""Rates between groups of samples: what the fairness requirements share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeform.errors import SpecError
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction
from treeform.language.objective_size import LARGEST
from treeform.language.shortfall import Shortfall
from treeform.language.totals import TotalRow, Totals
from treeform.requirements.amount import decimal_text
from treeform.requirements.by_groups import ByGroups
from treeform.requirements.groups import Groups, favourable_code, groups_to_json, of_groups
from treeform.requirements.rate_cells import RateCells
from treeform.requirements.rational import least_above, least_at_least

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Model

P = TypeVar("P", bound="RateParity")


@dataclass(frozen=True)
class GroupRate:
    """One group in a report: exact figures in the user's weight units."""

    group: Any
    weight: Fraction
    """Weight of the group's samples that count."""
    favourable: Fraction
    """Weight predicted the favourable class, of these."""

    @property
    def rate(self) -> Fraction | None:
        """Share predicted favourable; None where no sample of the group counts."""
        return self.favourable / self.weight if self.weight else None


class RateParity(ByGroups, Bounded):
    """Every group is predicted the favourable class at a similar rate, among the samples that count.

    A subclass defines which samples count: `among` gives one set or several, and the rates of each are compared.
    Without ratio and difference its bound is left open, as a difference, for `treeform.Problem.frontier`.
    """

    name: ClassVar[str] = "rate_parity"
    title: ClassVar[str]
    """What the requirement is called in messages."""
    of: ClassVar[str] = ""
    wording: ClassVar[str] = "predicted {favourable}"
    """What is compared, and among which rows, in the words of a report."""
    needs = frozenset({"predicted"})

    def __init__(
        self,
        groups: Any = None,
        ratio: Fraction | float | str | None = None,
        difference: Fraction | float | str | None = None,
        favourable: Any = None,
    ) -> None:
        self.groups = groups
        self.ratio, self.difference = self._checked(ratio, difference)
        self.favourable = favourable
        self._bound: tuple[Dataset, Groups, int, RateCells] | None = None

    @classmethod
    def _checked(cls, ratio: Any, difference: Any) -> tuple[Fraction | None, Fraction | None]:
        """Both bounds as fractions, in range."""
        title, name = cls.title, cls.__name__
        if ratio is not None and difference is not None:
            raise SpecError(
                f"{title} takes exactly one of ratio and difference",
                cause="both of them are given",
                fix=f"write for example {name}(groups='sex', ratio=0.8)",
            )
        least = None if ratio is None else as_fraction(ratio, f"the ratio of {title}")
        most = None if difference is None else as_fraction(difference, f"the difference of {title}")
        if least is not None and not 0 < least <= 1:
            raise SpecError(
                f"{title} with ratio {decimal_or_plain(least)} is not possible",
                cause="the ratio compares the smaller rate with the larger one: it is within (0, 1]",
                fix=f"use ratio={decimal_or_plain(1 / least)}" if least > 1 else "use for example ratio=0.8",
            )
        if most is not None and not 0 <= most < 1:
            raise SpecError(
                f"{title} with difference {decimal_or_plain(most)} is not possible",
                cause="rates differ by something within [0, 1)",
                fix="use for example difference=0.05",
            )
        return least, most

    @abstractmethod
    def among(self, data: Dataset, favourable: int) -> Sequence[tuple[str, NDArray[np.bool_]]]:
        """Sets of samples that count, each as (what they are, (n,) mask); ``favourable`` is a class code."""

    def events(self, data: Dataset, favourable: int) -> NDArray[np.int64]:
        """(K, K) of 0 and 1: whether predicting class k for a sample of class c is what the rate counts."""
        events = np.zeros((data.n_classes, data.n_classes), dtype=np.int64)
        events[:, favourable] = 1
        return events

    def event(self, ports: Ports, favourable: int) -> Any:
        """(n,) expressions: whether a sample's prediction counts."""
        return ports.predicted[:, favourable]

    def counted(self, data: Dataset, favourable: int) -> str:
        """What is counted, in words."""
        return f"predicted {data.classes[favourable]}"

    # -- binding ----------------------------------------------------------------------------------

    def bind(self: P, data: Dataset, **context: Any) -> P:
        kept, resolved = self._resolved_groups(data, context)
        code = self._favourable_code(data)
        label = data.classes[code]
        label = label.item() if isinstance(label, np.generic) else label
        cells = RateCells.of(resolved, self.among(data, code), data)
        bound = self._copy(groups=kept, favourable=label, _bound=(data, resolved, code, cells))
        if bound.bound is not None:
            bound._pairs(data)  # refuses weights too fine for exact rows
        return bound

    def _favourable_code(self, data: Dataset) -> int:
        return favourable_code(self.favourable, data, self)

    def _resolved(self, data: Dataset) -> tuple[Groups, int, RateCells]:
        if self._bound is None or self._bound[0] is not data:
            bound = self.bind(data)
            assert bound._bound is not None
            return bound._bound[1:]
        return self._bound[1:]

    # -- the symbolic face ------------------------------------------------------------------------

    def _weights_of_sets(self, data: Dataset) -> list[list[int]]:
        """Weight that counts of every group, for each set of samples."""
        *_, cells = self._resolved(data)
        return [cells.weights(chosen) for _, chosen in cells.sets]

    def _pairs(self, data: Dataset) -> list[tuple[NDArray[np.int64], int]]:
        """Rows as the coefficient of "is predicted favourable" per unit of weight of each cell, and the side.

        A group without a sample that counts has no rate, and is compared with no other one.
        """
        *_, cells = self._resolved(data)
        rows = []
        for (_, chosen), weight in zip(cells.sets, self._weights_of_sets(data), strict=True):
            for a, b in permutations([g for g, w in enumerate(weight) if w], 2):
                on_a, on_b, side = self._pair(weight[a], weight[b])
                if max(abs(on_a) * weight[a], abs(on_b) * weight[b]) > LARGEST:
                    raise SpecError(
                        f"{self} cannot be stated exactly on these weights",
                        cause=f"whole coefficients reach {max(abs(on_a), abs(on_b)):.3g} on a total weight of "
                        f"{data.total_weight:.3g} units",
                        fix="round the sample weights (weight_grid=...), or the ratio, to fewer digits",
                    )
                of_group = np.zeros(len(weight), dtype=np.int64)
                of_group[a], of_group[b] = on_a, on_b
                rows.append((np.where(chosen, of_group[cells.group], 0), side))
        return rows

    def _rows(self, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (rows, n) of "i is predicted favourable" per unit of weight; right-hand sides."""
        *_, cells = self._resolved(data)
        pairs = self._pairs(data)
        rows = [coef[cells.cell] for coef, _ in pairs]
        shaped = np.array(rows, dtype=np.int64).reshape(len(rows), data.n_samples)
        return shaped, np.array([side for _, side in pairs], dtype=np.int64)

    def _pair(self, weight_a: int, weight_b: int) -> tuple[int, int, int]:
        """The pair (a, b) as ``on_a * S_a + on_b * S_b <= side``; S: weight predicted favourable."""
        if self.ratio is not None:
            # (19): S_a / W_a >= p/q * S_b / W_b   <=>   p W_a S_b - q W_b S_a <= 0
            # S_a / S_b has a denominator of at most W_b, so that p W_a / (q W_b) may be rounded up to such a fraction.
            least = least_at_least(self.ratio * weight_a / weight_b, weight_b)
            on_a, on_b, side = -least.denominator, least.numerator, 0
        else:
            # S_a / W_a - S_b / W_b <= p/q   <=>   q W_b S_a - q W_a S_b <= p W_a W_b
            assert self.difference is not None
            p, q = self.difference.numerator, self.difference.denominator
            on_a, on_b, side = q * weight_b, -q * weight_a, p * weight_a * weight_b
        step = math.gcd(
            on_a, on_b
        )  # the left-hand side is a multiple of it, so the right-hand side rounds down
        return on_a // step, on_b // step, side // step

    def build(self, model: Model, ports: Ports) -> None:
        coef, side = self._rows(ports.data)
        _, code, _ = self._resolved(ports.data)
        if len(coef):
            model.add((coef * ports.weights) @ self.event(ports, code) <= side, str(self))

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        _, code, _ = self._resolved(data)
        events = self.events(data, code)[np.asarray(data.y)]
        return [(coef[:, None] * events, int(side)) for coef, side in zip(*self._rows(data), strict=True)]

    def totals(self, data: Dataset) -> Totals:
        """One total for each group and set of samples: the weight predicted favourable. Rows are pairs of groups."""
        groups, code, cells = self._resolved(data)
        events, what_counts = self.events(data, code), self.counted(data, code)
        width = len(cells.sets) * len(groups.labels)
        added = np.zeros((len(cells.group), data.n_classes, width), dtype=np.int64)
        names, rows = [], []
        for index, (what, chosen) in enumerate(cells.sets):
            first = index * len(groups.labels)
            at = np.flatnonzero(chosen)
            added[at, :, first + cells.group[at]] = events[cells.truth[at]]
            names += [f"{what} of group {label}: {what_counts}" for label in groups.labels]
            weight = cells.weights(chosen)
            for a, b in combinations([g for g, w in enumerate(weight) if w], 2):
                rows += [self._row(width, first, pair, weight) for pair in ((a, b), (b, a))[: self._sides]]
        return Totals(tuple(names), added, tuple(rows), kind=cells.cell)

    def shortfall(self, data: Dataset) -> Shortfall:
        """`violation`: by how much rates differ more than allowed, or the smaller one lacks to the ratio asked for."""
        totals = self.totals(data)
        rows, units = [], []
        for index, weight in enumerate(self._weights_of_sets(data)):
            for a, b in permutations([g for g, w in enumerate(weight) if w], 2):
                row, unit = self._exact_row(totals.n_totals, index * len(weight), (a, b), weight)
                rows.append(row)
                units.append(unit)
        return Shortfall(replace(totals, rows=tuple(rows)), tuple(units))

    def _exact_row(
        self, width: int, first: int, pair: tuple[int, int], weight: list[int]
    ) -> tuple[TotalRow, Fraction]:
        """What the pair lacks, as ``unit * (coef @ totals - side)``."""
        a, b = pair
        if self.ratio is not None:
            # p/q S_b / W_b - S_a / W_a  =  (p W_a S_b - q W_b S_a) / (q W_a W_b)
            p, q = self.ratio.numerator, self.ratio.denominator
            on_a, on_b, side = -q * weight[b], p * weight[a], 0
        else:
            # S_a / W_a - S_b / W_b - p/q  =  (q W_b S_a - q W_a S_b - p W_a W_b) / (q W_a W_b)
            assert self.difference is not None
            p, q = self.difference.numerator, self.difference.denominator
            on_a, on_b, side = q * weight[b], -q * weight[a], p * weight[a] * weight[b]
        step = math.gcd(on_a, on_b, side)
        coef = [0] * width
        coef[first + a], coef[first + b] = on_a // step, on_b // step
        unit = Fraction(step, q * weight[a] * weight[b])
        return TotalRow(tuple(coef), hi=side // step), unit

    @property
    def _sides(self) -> int:
        """A difference is one row with two sides, a ratio two rows."""
        return 1 if self.ratio is None else 2

    def _row(self, width: int, first: int, pair: tuple[int, int], weight: list[int]) -> TotalRow:
        a, b = pair
        on_a, on_b, side = self._pair(weight[a], weight[b])
        coef = [0] * width
        coef[first + a], coef[first + b] = on_a, on_b
        return TotalRow(tuple(coef), lo=None if self.difference is None else -side, hi=side)

    # -- the semantic face ------------------------------------------------------------------------

    def reports(self, graph: DecisionGraph, data: Dataset) -> dict[str, list[GroupRate]]:
        """The rate of every group under ``graph``, exactly, for each set of samples that counts."""
        groups, code, cells = self._resolved(data)
        counted = (cells.predicted(graph) * self.events(data, code)[cells.truth]).sum(axis=1)
        rows = {}
        for what, chosen in cells.sets:
            parts = zip(groups.labels, cells.weights(chosen), cells.of_groups(chosen, counted), strict=True)
            rows[what] = [
                GroupRate(label, total * data.weight_unit, part * data.weight_unit)
                for label, total, part in parts
            ]
        return rows

    def report(self, graph: DecisionGraph, data: Dataset) -> list[GroupRate]:
        """The rates of all sets of samples, one after the other."""
        return [row for rows in self.reports(graph, data).values() for row in rows]

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """Over all pairs, the largest ``ratio * rate(b) - rate(a)``, or the excess over ``difference``."""
        worst = Fraction(0)
        for rows in self.reports(graph, data).values():
            rates = [row.rate for row in rows if row.rate is not None]
            if not rates:
                continue
            low, high = min(rates), max(rates)
            if self.ratio is not None:
                worst = max(worst, self.ratio * high - low)
            else:
                assert self.difference is not None
                worst = max(worst, high - low - self.difference)
        return worst

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def at_most(self) -> bool:
        """A difference is an upper bound, a ratio a lower one."""
        return self.ratio is None

    @property
    def bound(self) -> Fraction | None:
        return self.difference if self.ratio is None else self.ratio

    @property
    def bound_name(self) -> str:
        return "difference" if self.ratio is None else "ratio"

    @property
    def measure(self) -> str:
        return "rates differ by {}" if self.ratio is None else "the smallest ratio of two rates is {}"

    def with_bound(self: P, bound: Value) -> P:
        ratio, difference = self._checked(**{"ratio": None, "difference": None, self.bound_name: bound})
        return self._copy(ratio=ratio, difference=difference)

    def measured(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """The largest difference of two rates, or the smallest ratio (1 where all rates are 0)."""
        differences, ratios = [Fraction(0)], [Fraction(1)]
        for rows in self.reports(graph, data).values():
            rates = [row.rate for row in rows if row.rate is not None]
            if rates:
                low, high = min(rates), max(rates)
                differences.append(high - low)
                ratios.append(low / high if high else Fraction(1))
        return max(differences) if self.ratio is None else min(ratios)

    def beyond(self, value: Value, data: Dataset) -> Fraction | None:
        pairs = [
            (weight[a], weight[b])
            for weight in self._weights_of_sets(data)
            for a, b in permutations([g for g, w in enumerate(weight) if w], 2)
        ]
        if not pairs or value == (0 if self.ratio is None else 1):
            return None
        if self.ratio is None:
            # S_a / W_a - S_b / W_b is a multiple of 1 / lcm(W_a, W_b).
            steps = [math.lcm(a, b) for a, b in pairs]
            return max(Fraction(math.ceil(value * step) - 1, step) for step in steps)
        # S_a / W_a over S_b / W_b: as in _pair.
        return min(least_above(Fraction(value) * a / b, b) * b / a for a, b in pairs)

    # -- text and files ---------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"groups": groups_to_json(self.groups)}
        for key in ("ratio", "difference"):
            if getattr(self, key) is not None:
                parameters[key] = decimal_or_plain(getattr(self, key))
        if self.favourable is not None:
            plain = isinstance(self.favourable, bool | int | float | str)
            parameters["favourable"] = self.favourable if plain else str(self.favourable)
        return {"name": self.name, "parameters": parameters}

    def __str__(self) -> str:
        parts = self._groups_part()
        for key in ("ratio", "difference"):
            if getattr(self, key) is not None:
                parts.append(f"{key}={decimal_or_plain(getattr(self, key))}")
        if self.favourable is not None:
            parts.append(f"favourable={self.favourable}")
        return f"{self.name}:{','.join(parts)}"

    def in_words(self) -> str:
        favourable = "the favourable class" if self.favourable is None else str(self.favourable)
        of, counted = (text.format(favourable=favourable) for text in (self.of, self.wording))
        groups = of_groups(self.groups)
        if self.ratio is not None:
            ratio = decimal_or_plain(self.ratio)
            return (
                f"{of}the share {counted} is in every group{groups} at least {ratio} times that in any other"
            )
        if not self.difference:
            return f"{of}the share {counted} is the same in every group{groups}"
        bound = decimal_or_plain(self.difference)
        return f"{of}the shares {counted} differ by at most {bound} between the groups{groups}"


def decimal_or_plain(value: Fraction) -> str:
    """Decimal text where it is finite, else p/q."""
    return decimal_text(value) if value >= 0 else str(value)
