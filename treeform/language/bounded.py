"""Requirements that bound one number of a model, so that the bound can be moved.

`treeform.Problem.frontier` moves it to draw the trade-off, and `treeform.Problem.conflict` to find the smallest
relaxation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import ClassVar

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.component import parameters_of
from treeform.language.forms import Rows, Sum, values_of
from treeform.language.linear import LinearRequirement
from treeform.language.numbers import as_fraction
from treeform.language.rational import common_divisor
from treeform.language.requirement import Requirement
from treeform.utils.rows import worded
from treeform.utils.text import exact_text

Value = int | Fraction
NAME_THE_BOUND = 'name the parameter that is the bound, as in moves = "at_most", or define bound and with_bound'


class Bounded(Requirement, listed=False):
    """A requirement that bounds one number of a model, and states how the bound is moved.

    Attributes
    ----------
    moves : str
        The parameter that is the bound, if it is kept in an attribute of the same name; None leaves it open. A class
        with ``forms`` needs nothing else if each inequality contains the bound and is linear in it, and none multiplies
        a sum by it. That is verified exactly at every bound that is measured or tried. Other classes define `measured`,
        and `beyond` if what is measured is no whole number of at least 0.

    Examples
    --------
    >>> import treeform as tf
    >>> class AtMostFeatures(tf.Bounded):
    ...     needs, moves = frozenset({"feature"}), "k"
    ...     def __init__(self, k): self.k = int(k)
    ...     def build(self, model, ports): ...
    ...     def violation(self, graph, data): return max(0, len(graph.features_used()) - self.k)
    ...     def measured(self, graph, data): return len(graph.features_used())
    >>> class MostApproved(tf.LinearRequirement, tf.Bounded):
    ...     moves = "share"
    ...     def __init__(self, share): self.share = share
    ...     def forms(self, rows):
    ...         yield rows.weight(predicted="yes") / rows.weight() <= self.share
    """

    moves: ClassVar[str] = ""

    @property
    def is_upper(self) -> bool:
        """Whether the bound is an upper one, so that a smaller number is stricter; False: a greater number is."""
        return True

    @property
    def bound(self) -> Value | None:
        """The bound; None when it is left open, which only a frontier takes."""
        if not self.moves:
            raise self._unmovable("the class does not name the parameter that is the bound", NAME_THE_BOUND)
        if not hasattr(self, self.moves):
            raise self._unmovable(f"it has no attribute {self.moves}", NAME_THE_BOUND)
        value = getattr(self, self.moves)
        known = value is None or isinstance(value, int)
        return value if known else as_fraction(value, f"the bound of {self.name}")

    @property
    def is_open(self) -> bool:
        return self.bound is None

    @property
    def is_continuous(self) -> bool:
        """Whether measures of models can be arbitrarily close, so that there is no next one."""
        return False

    @property
    def bound_name(self) -> str:
        """What the number is called in tables."""
        return self.moves.replace("_", " ") or "bound"

    @property
    def measure(self) -> str:
        """The measure of a model, as a clause with a place for the number: "rates differ by {}"."""
        return f"{self.bound_name} {{}}"

    def with_bound(self, bound: Value) -> Requirement:
        """The same requirement with another bound.

        Parameters
        ----------
        bound : int or Fraction

        Raises
        ------
        SpecError
            If the bound is not possible.
        """
        return type(self)(**{**parameters_of(self), self.moves: bound})

    def measured(self, graph: DecisionGraph, data: Dataset) -> Value:
        """The tightest bound that ``graph`` satisfies on ``data``, exactly.

        Parameters
        ----------
        graph : DecisionGraph
        data : Dataset
        """
        lines = self._lines(data)
        bounds = values_of((one / -slope for one, slope in lines if slope), graph, data)
        return self._on_lines(lines, self._tightest(bounds), data)

    def beyond(self, value: Value, data: Dataset) -> Value | None:
        """The loosest bound that excludes a model of measure ``value``; None if nothing is tighter than ``value``.

        No model's measure is strictly between the two. Without ``forms`` the default is for whole numbers that are not
        negative.

        Parameters
        ----------
        value : int or Fraction
            What `measured` gave.
        data : Dataset
        """
        if not isinstance(self, LinearRequirement):
            if value < 0 or value != int(value):
                what = f"a model measures {value}, and the class does not say which measure is next"
                raise self._unmovable(what, "define beyond in the class")
            step = int(value) - 1 if self.is_upper else int(value) + 1
            return step if step >= 0 else None
        following, lines = [], self._lines(data)
        for side in (one / -slope for one, slope in lines if slope):
            low, high = self.reach(side, data)
            # A constant, and a multiple of the common divisor of the coefficients.
            unit = common_divisor(side.terms.values()) or Fraction(1)
            steps = (Fraction(value) - side.constant) / unit
            other = side.constant + unit * (math.ceil(steps) - 1 if self.is_upper else math.floor(steps) + 1)
            if other < low if self.is_upper else other > high:
                return None  # no model has less, or more
            following.append(min(other, high) if self.is_upper else max(other, low))
        return self._on_lines(lines, self._tightest(following), data)

    def is_tighter(self, a: Value, b: Value) -> bool:
        """Whether the bound ``a`` is stricter than the bound ``b``."""
        return a < b if self.is_upper else a > b

    def _tightest(self, bounds: Iterable[Fraction]) -> Fraction:
        return max(bounds) if self.is_upper else min(bounds)

    def _lines(self, data: Dataset) -> list[tuple[Sum, Fraction]]:
        """The excess of each inequality at the bound 0, and what a bound greater by 1 adds to it.

        They are read off the own bound, rounded down as some classes do, and the next one. They may be
        wrong at others: see `_on_lines`.
        """
        if not isinstance(self, LinearRequirement):
            what = "the class does not say what the bound is compared with"
            raise self._unmovable(what, "define measured in the class")
        first = Fraction(math.floor(self.bound or 0))
        # On no grid, and beside the looser whole number, so that rounding to the nearest shows, to decimals, too.
        aside = Fraction(1, 10**6 + 3)
        between = first + (1 - aside if self.is_upper else aside)
        at = [self._excesses(bound, data) for bound in (first, first + 1, between)]
        if len(set(map(len, at))) > 1:
            raise self._unmovable(f"how many inequalities there are depends on {self.moves}")
        lines = []
        for without, plus, middle in zip(*at, strict=True):
            if not without.is_like(plus) or not without.is_like(middle):
                raise self._unmovable(f"{self.moves} multiplies a sum that depends on what is predicted")
            slope = plus.constant - without.constant
            if slope and (slope < 0) != self.is_upper:
                strict = "stricter" if self.is_upper else "looser"
                raise self._unmovable(
                    f"is_upper is {self.is_upper}, and a greater {self.moves} is the {strict} one",
                    f"set is_upper = {not self.is_upper} in the class",
                )
            meant = first + (middle.constant - without.constant) / slope if slope else between
            if self.is_tighter(between, meant):
                raise self._unmovable(
                    f"the inequalities at {self.moves} = {between} are those of {exact_text(meant)}, a looser bound",
                    "round it where the class is given it, or to the stricter side",
                )
            if not slope and self.reach(without, data)[1] > 0:
                raise self._unmovable(
                    f"an inequality without {self.moves} has to be another requirement",
                    "state it in a class of its own",
                )
            lines.append((without - slope * first, slope))
        if not any(slope for _, slope in lines):
            raise self._unmovable(f"no inequality has {self.moves} in it", NAME_THE_BOUND)
        return lines

    def _on_lines(self, lines: Sequence[tuple[Sum, Fraction]], bound: Fraction, data: Dataset) -> Fraction:
        """``bound``, if the inequalities at it are those of the lines; a solve at it is then exact."""
        stated = self._excesses(bound, data)
        if len(stated) != len(lines) or not all(
            one.is_like(at_0) and one.constant == at_0.constant + slope * bound
            for one, (at_0, slope) in zip(stated, lines, strict=True)
        ):
            raise self._unmovable(f"the inequalities are not linear in {self.moves}, as {exact_text(bound)} shows")
        return bound

    def _excesses(self, bound: Fraction, data: Dataset) -> list[Sum]:
        """The excess of each inequality with another bound, even one that the requirement refuses."""
        assert isinstance(self, LinearRequirement)
        at: LinearRequirement = self._copy(**{self.moves: bound})
        return [one.excess for one in at.forms(Rows(data))]

    def _unmovable(self, cause: str, fix: str = "define measured and beyond in the class") -> SpecError:
        return SpecError(f"the bound of {self} cannot be moved", cause=cause, fix=fix)


def closed(requirement: Requirement) -> Requirement:
    """The requirement, if its bound is not left open."""
    if not isinstance(requirement, Bounded) or not requirement.is_open:
        return requirement
    written, bound = f"{type(requirement).__name__}(..., {requirement.bound_name}=0.05)", requirement.bound_name
    raise SpecError(
        f"{requirement} has no bound",
        cause=f"its number is left open, which only {worded('problem.frontier(over=...)', 'treeform frontier')} takes",
        fix=f"give the number, such as {worded(written, f'{requirement.name}:...,{bound}=0.05')}",
    )
