"""The answers to the problems of a family: each that is open is asked, the widest first, and again while time is left.

Each passes on what it has found: the best model that fits as a start, the bound of a wider problem as a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from treeform.certify.answer import CertifiedResult
from treeform.certify.family import IMPOSSIBLE, Family, Place
from treeform.certify.family_certificate import enter_answer
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.result import Progress, SolveOptions, Status, known_bound
from treeform.tradeoff.asking import Asking
from treeform.utils.budget import Budget, Share
from treeform.utils.text import count_of


class Answers(Asking):
    """The answers so far; ``by_place`` has the one that proves the most at each problem that was asked.

    A problem that is asked first gets the share ``first`` of the time; without it, an equal part for each that is open.
    """

    def __init__(
        self, family: Family, options: SolveOptions, first: Share | None = None, budget: Budget | None = None
    ) -> None:
        super().__init__(options, budget)
        self.family, self.first = family, first
        self.by_place: dict[Place, CertifiedResult] = {}
        self._spent: dict[Place, float] = {}
        """Seconds that a problem has had; infinite where more of them are of no use."""

    def open(self) -> list[Place]:
        """The problems that are left, the widest first."""
        return [place for place, _ in self.family.problems() if self.family.is_open(place)]

    def stated(self, place: Place) -> Question:
        """The problem at a place, as it is asked."""
        return self.family.at(place)

    def run(self) -> None:
        """Ask until nothing is open, or more time is of no use."""
        while not self.budget.stop():
            left = [place for place in self.open() if self._spent.get(place, 0.0) < math.inf]
            if not left:
                return
            place = next((one for one in left if one not in self._spent), None)
            if place is not None and self.first is not None:
                self._answer(place, self.first.of(self.budget).remaining)
                continue
            part = schedule.equal_part(self.budget.remaining, len(left))
            if place is None:
                place = min(left, key=lambda one: self._spent[one])
                part = None if part is None else max(part, 2 * self._spent[place])
            self._answer(place, part)

    def _answer(self, place: Place, seconds: float | None) -> None:
        """Solve at a place, and enter model and bound."""
        best, proof, known = self.family.best(place), self.family.lower(place), dict[str, Any]()
        if best is not None:
            known["models"] = (best.graph,)
        if proof is not None and proof.lower != IMPOSSIBLE:
            known["bounds"] = (known_bound(Fraction(proof.lower), proof.by),)
        began = self.budget.seconds
        result = self.ask(self.stated(place), seconds, self.progress(place), **known)
        taken = self.budget.seconds - began
        self._spent[place] = self._spent.get(place, 0.0) + taken if self.goes_on else math.inf
        if result is not None:
            self.enter(place, result)

    def enter(self, place: Place, result: CertifiedResult) -> None:
        """Model and bound of an answer."""
        enter_answer(self.family, place, result)
        self.by_place[place] = _stronger(self.by_place.get(place), result)

    def progress(self, place: Place) -> Callable[[Progress], None] | None:
        """What shows the work on one problem, in the time of the whole family."""
        what = "row" if self.family.axis is None else "bound"
        return self.told(f"{count_of(len(self.by_place), what)} answered, {self.family.name(place)}")

    def at(self, place: Place) -> list[CertifiedResult]:
        """The answers that hold at a place: its own and those of wider problems, the widest first."""
        around = [one for one in self.by_place if self.family.contains(one, place)]
        return [self.by_place[one] for one in sorted(around, key=self.family.width)]


def _stronger(known: CertifiedResult | None, result: CertifiedResult) -> CertifiedResult:
    """Of two answers to one question, the one that proves more."""
    if known is None or known.bound is None or result.status is Status.INFEASIBLE:
        return result
    return result if result.bound is not None and result.bound >= known.bound else known
