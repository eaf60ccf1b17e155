"""Rates between groups of samples: what the fairness requirements share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.data.exact import plain
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.classes import positive_code
from treeform.language.forms import Inequality, Rows, Sum
from treeform.language.linear import LinearRequirement
from treeform.language.numbers import as_fraction
from treeform.language.rational import least_above
from treeform.requirements.by_groups import ByGroups
from treeform.requirements.groups import of_groups
from treeform.utils.arguments import renamed
from treeform.utils.arrays import Bools
from treeform.utils.rows import worded
from treeform.utils.text import decimal_or_plain

P = TypeVar("P", bound="RateParity")


@dataclass(frozen=True)
class GroupRate:
    """One group in a report: exact figures in the user's weight units."""

    group: Any
    weight: Fraction
    """Weight of the group's samples that count."""
    positive: Fraction
    """Weight predicted the positive class, of these."""

    @property
    def rate(self) -> Fraction | None:
        """Share predicted positive; None where no sample of the group counts."""
        return self.positive / self.weight if self.weight else None


class _Weights(NamedTuple):
    """Of each set of samples, the label and the weight of every group; tuples are compared by the content of tables."""

    data: Dataset
    of: dict[str, list[tuple[Any, Fraction]]]


class RateParity(ByGroups, LinearRequirement, Bounded, listed=False):
    """Every group is predicted the positive class at a similar rate, among the samples that count.

    A subclass says which samples count: `among` gives one set or several, and the rates of each are compared.
    Without ratio and difference its bound is left open, as a difference, for `treeform.Problem.frontier`.
    """

    name: ClassVar[str] = "rate_parity"
    of: ClassVar[str] = ""
    wording: ClassVar[str] = "predicted {positive}"
    """What is compared, and among which rows, in the words of a report."""
    needs = frozenset({"predicted"})

    alternatives: ClassVar[tuple[str, ...]] = ("ratio", "difference")
    told: ClassVar[tuple[str, ...]] = ("ratio", "difference", "positive")

    @renamed(favourable="positive")
    def __init__(
        self,
        groups: Any = None,
        ratio: Fraction | float | str | None = None,
        difference: Fraction | float | str | None = None,
        positive: Any = None,
    ) -> None:
        self.groups = groups
        self.ratio, self.difference = self._checked(ratio, difference)
        self.positive = positive
        self._weights: _Weights | None = None

    @classmethod
    def _checked(cls, ratio: Any, difference: Any) -> tuple[Fraction | None, Fraction | None]:
        """Both bounds as fractions, in range."""
        title, name = cls.name.replace("_", " "), cls.__name__
        if ratio is not None and difference is not None:
            raise SpecError(
                f"{title} takes exactly one of ratio and difference",
                cause="both of them are given",
                fix="write for example "
                + worded(f"{name}(groups='sex', ratio=0.8)", f"{cls.name}:groups=sex,ratio=0.8"),
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

    def among(self, data: Dataset, positive: int) -> Sequence[tuple[str, Bools]]:
        """Sets of samples that count, each as (what they are, (n,) mask): all, unless it is overridden.

        ``positive`` is a class code.
        """
        return [("samples", np.ones(data.n_samples, dtype=bool))]

    def counted(self, rows: Rows, label: str, *where: Any) -> Sum:
        """The weight of some rows that the rate counts."""
        positive = plain(rows.data.classes[self._positive_code(rows.data)])
        counted: Sum = rows.weight(*where, predicted=positive, name=f"{label}: predicted {positive}")
        return counted

    # -- binding ----------------------------------------------------------------------------------

    def bind(self: P, data: Dataset, **context: Any) -> P:
        kept, _ = self._resolved_groups(data, context)
        code = self._positive_code(data)
        bound = self._copy(groups=kept, positive=plain(data.classes[code]))
        shares = bound.shares(Rows(data)).items()
        bound._weights = _Weights(data, {what: [(label, all_) for label, _, all_ in of] for what, of in shares})
        if bound.bound is not None:
            bound.totals(data)  # refuses weights too fine for exact rows
        return bound

    def _positive_code(self, data: Dataset) -> int:
        return positive_code(self.positive, data, self)

    def _on(self: P, data: Dataset) -> tuple[P, dict[str, list[tuple[Any, Fraction]]]]:
        """The requirement bound to these data, and the weights of the groups there."""
        bound = self if self._weights is not None and self._weights.data is data else self.bind(data)
        assert bound._weights is not None
        return bound, bound._weights.of

    # -- the inequalities -------------------------------------------------------------------------

    def shares(self, rows: Rows) -> dict[str, list[tuple[Any, Sum, Fraction]]]:
        """Of each set of samples, for every group: its label, the weight that the rate counts, and that of all."""
        _, groups = self._resolved_groups(rows.data, {})
        return {
            what: [
                (label, self.counted(rows, f"{what} of group {label}", *own), rows.weight(*own))
                for g, label in enumerate(groups.labels)
                for own in [(among, (groups.codes, g))]
            ]
            for what, among in self.among(rows.data, self._positive_code(rows.data))
        }

    def _tallied(self, rows: Rows) -> list[Sum]:
        return [counted for each in self.shares(rows).values() for _, counted, _ in each]

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        for each in self.shares(rows).values():
            share = [counted / weight for _, counted, weight in each if weight]  # nothing has no rate
            for pair in combinations(share, 2):
                for a, b in (pair, pair[::-1]):
                    if self.ratio is not None:  # (19)
                        yield a >= self.ratio * b
                    else:
                        yield a - b <= self.difference

    # -- the semantic face ------------------------------------------------------------------------

    def reports(self, graph: DecisionGraph, data: Dataset) -> dict[str, list[GroupRate]]:
        """The rate of every group under ``graph``, exactly, for each set of samples that counts."""
        bound, weights = self._on(data)
        counted = iter(bound._counted(graph, data))
        return {
            what: [GroupRate(label, weight, next(counted)) for label, weight in of]
            for what, of in weights.items()
        }

    def report(self, graph: DecisionGraph, data: Dataset) -> list[GroupRate]:
        """The rates of all sets of samples, one after the other."""
        return [row for rows in self.reports(graph, data).values() for row in rows]

    def _extremes(self, graph: DecisionGraph, data: Dataset) -> list[tuple[Fraction, Fraction]]:
        """The smallest and the largest rate of a group, for each set of samples that counts."""
        sets = self.reports(graph, data).values()
        rates = [[row.rate for row in rows if row.rate is not None] for rows in sets]
        return [(min(each), max(each)) for each in rates if each]

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """Over all pairs, the largest ``ratio * rate(b) - rate(a)``, or the excess over ``difference``."""
        if self.ratio is None:
            assert self.difference is not None
            return max(Fraction(0), self.measured(graph, data) - self.difference)
        return max([Fraction(0), *(self.ratio * high - low for low, high in self._extremes(graph, data))])

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def is_upper(self) -> bool:
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
        extremes = self._extremes(graph, data)
        if self.ratio is None:
            return max([Fraction(0), *(high - low for low, high in extremes)])
        return min([Fraction(1), *(low / high for low, high in extremes if high)])

    def beyond(self, value: Value, data: Dataset) -> Fraction | None:
        _, sets = self._on(data)
        whole = ([int(weight / data.weight_unit) for _, weight in of if weight] for of in sets.values())
        pairs = [pair for weights in whole for pair in permutations(weights, 2)]
        if not pairs or value == (0 if self.ratio is None else 1):
            return None
        if self.ratio is None:
            # S_a / W_a - S_b / W_b is a multiple of 1 / lcm(W_a, W_b).
            steps = [math.lcm(a, b) for a, b in pairs]
            return max(Fraction(math.ceil(value * step) - 1, step) for step in steps)
        # S_a / W_a over S_b / W_b, where S_b is at most W_b
        return min(least_above(Fraction(value) * a / b, b) * b / a for a, b in pairs)

    # -- text and files ---------------------------------------------------------------------------

    def in_words(self) -> str:
        positive = "the positive class" if self.positive is None else str(self.positive)
        of, counted = (text.format(positive=positive) for text in (self.of, self.wording))
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
