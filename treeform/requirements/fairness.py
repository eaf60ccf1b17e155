"""Fairness between groups of samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.errors import SpecError
from treeform.language.objective import LARGEST, as_fraction
from treeform.language.requirement import Requirement
from treeform.requirements.amount import decimal_text
from treeform.requirements.groups import Groups, class_code

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Model


@dataclass(frozen=True)
class GroupRate:
    """One group in a report: exact figures in the user's weight units."""

    group: Any
    weight: Fraction
    favourable: Fraction
    """Weight predicted the favourable class."""

    @property
    def rate(self) -> Fraction:
        """Share of the group predicted favourable."""
        return self.favourable / self.weight


class StatisticalParity(Requirement):
    """Every group is predicted the favourable class at a similar rate.

    With rate(g) the weighted share of group g that is predicted favourable, for every ordered pair of groups:
    ``rate(a) >= ratio * rate(b)``, or ``rate(a) - rate(b) <= difference``. ``ratio=0.8`` is the four-fifths
    rule. A constant model always satisfies it.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        The name of a column, or one entry per row of the table as passed; the columns of a frame are crossed.
        None: the ``sensitive_features`` given to the problem or to an estimator's ``fit``.
    ratio : float, str or Fraction, optional
        Within (0, 1]; taken as the decimal that it is written as.
    difference : float, str or Fraction, optional
        Within [0, 1). Exactly one of ``ratio`` and ``difference`` is given.
    favourable : label, optional
        The favourable class. With two classes it may be left out: the greater label then (the second of the
        sorted labels, scikit-learn's positive class); with more it has to be given.

    Raises
    ------
    SpecError
        If ratio or difference is out of range, both or none are given, or the favourable class is unknown.
    DataError
        When bound to data: one group only, missing values, wrong length, unknown column.

    Notes
    -----
    Florio et al. (AAAI 2023), equation (19), with rates in place of counts so that groups of unequal size
    compare, and rows scaled to whole coefficients.
    """

    name: ClassVar[str] = "statistical_parity"
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"predicted"})

    def __init__(
        self,
        groups: Any = None,
        ratio: Fraction | float | str | None = None,
        difference: Fraction | float | str | None = None,
        favourable: Any = None,
    ) -> None:
        if (ratio is None) == (difference is None):
            raise SpecError(
                "statistical parity takes exactly one of ratio and difference",
                cause="neither of them is given" if ratio is None else "both of them are given",
                fix="write for example StatisticalParity(groups='sex', ratio=0.8)",
            )
        self.groups = groups
        self.ratio = None if ratio is None else as_fraction(ratio, "the ratio of statistical parity")
        self.difference = None if difference is None else as_fraction(difference, "the difference of parity")
        self.favourable = favourable
        if self.ratio is not None and not 0 < self.ratio <= 1:
            raise SpecError(
                f"statistical parity with ratio {decimal_or_plain(self.ratio)} is not possible",
                cause="the ratio compares the smaller rate with the larger one: it is within (0, 1]",
                fix=f"use ratio={decimal_or_plain(1 / self.ratio)}"
                if self.ratio > 1
                else "use for example ratio=0.8",
            )
        if self.difference is not None and not 0 <= self.difference < 1:
            raise SpecError(
                f"statistical parity with difference {decimal_or_plain(self.difference)} is not possible",
                cause="rates differ by something within [0, 1)",
                fix="use for example difference=0.05",
            )
        self._bound: tuple[Dataset, Groups, int] | None = None

    # -- binding ----------------------------------------------------------------------------------

    def bind(self, data: Dataset, **context: Any) -> StatisticalParity:
        groups = self.groups
        if groups is None:
            groups = context.get("sensitive_features")
        if groups is None:
            raise SpecError(
                f"{self} has no groups",
                cause="neither the requirement nor the problem names a sensitive attribute",
                fix="write StatisticalParity(groups='sex', ...), or pass sensitive_features=...",
            )
        code = self._favourable_code(data)
        resolved = Groups.of(groups, data)
        # A column's name is kept (short in files, and right for other rows); arrays are kept as codes.
        kept = groups if isinstance(groups, str) else resolved
        label = data.classes[code]
        label = label.item() if isinstance(label, np.generic) else label
        bound = self._copy(groups=kept, favourable=label, _bound=(data, resolved, code))
        bound._rows(data)  # refuses weights too fine for exact rows
        return bound

    def _favourable_code(self, data: Dataset) -> int:
        if self.favourable is not None:
            return class_code(self.favourable, data)
        if data.n_classes > 2:
            raise SpecError(
                f"{self} does not say which class is favourable",
                cause=f"there are {data.n_classes} classes: {', '.join(map(str, data.classes))}",
                fix=f"add favourable={data.classes[-1]!r}",
            )
        return data.n_classes - 1

    def _resolved(self, data: Dataset) -> tuple[Groups, int]:
        if self._bound is None or self._bound[0] is not data:
            bound = self.bind(data)
            assert bound._bound is not None
            return bound._bound[1:]
        return self._bound[1:]

    # -- the symbolic face ------------------------------------------------------------------------

    def _rows(self, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (pairs, n) of "i is predicted favourable" per unit of weight; right-hand sides."""
        groups, _ = self._resolved(data)
        weight = groups.weights(data)
        rows, sides = [], []
        for a, b in permutations(range(len(weight)), 2):
            on_a, on_b, side = self._pair(weight[a], weight[b])
            if max(abs(on_a) * weight[a], abs(on_b) * weight[b]) > LARGEST:
                raise SpecError(
                    f"{self} cannot be stated exactly on these weights",
                    cause=f"whole coefficients reach {max(abs(on_a), abs(on_b)):.3g} on a total weight of "
                    f"{data.total_weight:.3g} units",
                    fix="round the sample weights, or the ratio, to fewer digits",
                )
            of_group = np.zeros(len(weight), dtype=np.int64)
            of_group[a], of_group[b] = on_a, on_b
            rows.append(of_group[groups.codes])
            sides.append(side)
        return np.array(rows), np.array(sides, dtype=np.int64)

    def _pair(self, weight_a: int, weight_b: int) -> tuple[int, int, int]:
        """The pair (a, b) as ``on_a * S_a + on_b * S_b <= side``; S: weight predicted favourable."""
        if self.ratio is not None:
            # (19): S_a / W_a >= p/q * S_b / W_b   <=>   p W_a S_b - q W_b S_a <= 0
            p, q = self.ratio.numerator, self.ratio.denominator
            on_a, on_b, side = -q * weight_b, p * weight_a, 0
        else:
            # S_a / W_a - S_b / W_b <= p/q   <=>   q W_b S_a - q W_a S_b <= p W_a W_b
            assert self.difference is not None
            p, q = self.difference.numerator, self.difference.denominator
            on_a, on_b, side = q * weight_b, -q * weight_a, p * weight_a * weight_b
        step = math.gcd(
            on_a, on_b
        )  # the left-hand side is a multiple of it, so the right-hand side rounds down
        return on_a // step, on_b // step, side // step

    def build(self, m: Model, t: Ports) -> None:
        coef, side = self._rows(t.data)
        _, code = self._resolved(t.data)
        m.add((coef * t.weights) @ t.predicted[:, code] <= side, str(self))

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        _, code = self._resolved(data)
        out = []
        for coef, side in zip(*self._rows(data), strict=True):
            full = np.zeros((data.n_samples, data.n_classes), dtype=np.int64)
            full[:, code] = coef
            out.append((full, int(side)))
        return out

    # -- the semantic face ------------------------------------------------------------------------

    def report(self, graph: DecisionGraph, data: Dataset) -> list[GroupRate]:
        """The rate of every group under ``graph``, exactly."""
        groups, code = self._resolved(data)
        favourable = np.zeros(len(groups.labels), dtype=np.int64)
        np.add.at(favourable, groups.codes, np.asarray(data.weights) * (graph.predict_codes(data.X) == code))
        totals = groups.weights(data)
        return [
            GroupRate(label, total * data.weight_unit, int(part) * data.weight_unit)
            for label, total, part in zip(groups.labels, totals, favourable, strict=True)
        ]

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """Over all pairs, the largest ``ratio * rate(b) - rate(a)``, or the excess over ``difference``."""
        rates = [row.rate for row in self.report(graph, data)]
        low, high = min(rates), max(rates)
        if self.ratio is not None:
            return max(Fraction(0), self.ratio * high - low)
        assert self.difference is not None
        return max(Fraction(0), high - low - self.difference)

    # -- text and files ---------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "groups": self.groups.to_json() if isinstance(self.groups, Groups) else self.groups
        }
        for key in ("ratio", "difference"):
            if getattr(self, key) is not None:
                parameters[key] = decimal_or_plain(getattr(self, key))
        if self.favourable is not None:
            plain = isinstance(self.favourable, bool | int | float | str)
            parameters["favourable"] = self.favourable if plain else str(self.favourable)
        return {"name": self.name, "parameters": parameters}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> StatisticalParity:
        given = dict(parameters)
        if isinstance(given.get("groups"), Mapping):
            given["groups"] = Groups.from_json(given["groups"])
        return cls(**given)

    def __str__(self) -> str:
        groups = self.groups if isinstance(self.groups, str) else getattr(self.groups, "name", None)
        parts = [] if self.groups is None else [f"groups={groups if groups is not None else '<array>'}"]
        for key in ("ratio", "difference"):
            if getattr(self, key) is not None:
                parts.append(f"{key}={decimal_or_plain(getattr(self, key))}")
        if self.favourable is not None:
            parts.append(f"favourable={self.favourable}")
        return f"{self.name}:{','.join(parts)}"


def decimal_or_plain(value: Fraction) -> str:
    """Decimal text where it is finite, else p/q."""
    return decimal_text(value) if value >= 0 else str(value)
