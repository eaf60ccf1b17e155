"""The sign of a weighted sum in double precision, without rounding: single steps for formats that have no integers.

The product of two doubles is the sum of two doubles, and so is their sum (Dekker 1971, Knuth 1969). Growing such sums
one number at a time (Shewchuk 1997, GROW-EXPANSION) gives doubles that do not overlap, so that the sign of the last one
that is not 0 is the sign of all together. It takes additions and multiplications that round to nearest, and numbers
that neither overflow nor underflow: see `RANGE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from treeform.errors import SpecError
from treeform.graph.export.sums import Sum

RANGE = 2.0**300
"""Values are exact up to this size, and down to its inverse; larger ones are taken for it."""

_SPLITTER = 2.0**27 + 1.0

Operand = str | float


@dataclass(frozen=True)
class Step:
    """One assignment."""

    name: str
    """What the result is called."""
    operator: str
    """{"+", "-", "*", "min", "max", "first"}: "first" is the left operand, or the right one where that is 0."""
    left: Operand
    right: Operand
    """str or float: the name of an input or of an earlier step, or a constant."""


@dataclass
class Steps:
    """Steps that are written one after the other."""

    prefix: str
    """What names of steps begin with."""
    made: list[Step] = field(default_factory=list)

    def add(self, operator: str, left: Operand, right: Operand) -> str:
        """One more step; its name."""
        name = f"{self.prefix}_{len(self.made)}"
        self.made.append(Step(name, operator, left, right))
        return name

    def product(self, weight: float, value: Operand) -> list[Operand]:
        """The parts whose sum is the product, small one first."""
        if abs(weight) == 1.0:
            return [value if weight > 0 else self.add("-", 0.0, value)]
        product = self.add("*", weight, value)
        high_weight = _SPLITTER * weight - (_SPLITTER * weight - weight)
        low_weight = weight - high_weight
        spread = self.add("*", _SPLITTER, value)
        high = self.add("-", spread, self.add("-", spread, value))
        low = self.add("-", value, high)
        error = self.add("-", self.add("*", high_weight, high), product)
        for factor, part in ((high_weight, low), (low_weight, high), (low_weight, low)):
            if factor:
                error = self.add("+", error, self.add("*", factor, part))
        return [error, product]

    def sum(self, a: Operand, b: Operand) -> tuple[str, str]:
        """The rounded sum of two numbers, and what it lacks."""
        rounded = self.add("+", a, b)
        of_b = self.add("-", rounded, a)
        of_a = self.add("-", rounded, of_b)
        return rounded, self.add("+", self.add("-", a, of_a), self.add("-", b, of_b))

    def grown(self, parts: Sequence[Operand], number: Operand) -> list[Operand]:
        """The parts and one more number, as parts that do not overlap."""
        made: list[Operand] = []
        for part in parts:
            number, error = self.sum(number, part)
            made.append(error)
        return [*made, number]


def sign_steps(asked: Sum, inputs: Sequence[str], prefix: str) -> list[Step]:
    """Steps called ``prefix``, of which the last one has the sign of the sum minus its limit.

    ``inputs`` hold the values of its terms. Raises SpecError if a weight or the threshold is out of `RANGE`.
    """
    for number in (asked.threshold, *(term.weight for term in asked.terms)):
        if number and not 1.0 / RANGE <= abs(number) <= RANGE:
            raise SpecError(
                f"a hyperplane has the number {number!r}, for which the format has no exact sums",
                cause="it adds in double precision, where products of very small or large numbers are lost",
                fix="export to Python, C or JavaScript, which add up whole numbers",
            )
    steps = Steps(prefix)
    parts: list[Operand] = [-a * b for a, b in reversed(asked.limit)] if asked.threshold else [0.0]
    for term, value in zip(asked.terms, inputs, strict=True):
        within = value
        if not term.is_small_whole:
            within = steps.add("max", steps.add("min", value, RANGE), -RANGE)
        for part in steps.product(term.weight, within):
            parts = steps.grown(parts, part)
    sign = parts[0]
    for part in parts[1:]:
        sign = steps.add("first", part, sign)
    return steps.made
