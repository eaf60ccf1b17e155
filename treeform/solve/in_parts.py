"""Objectives that are no sums, minimised through questions whose objectives are sums.

**A ratio** N / D (`RatioTerm`), by Dinkelbach's iterations: with the ratio p/q of the best model known, ``q N - p D``
is a sum. Where its minimum is 0, no model has a smaller ratio; where it is negative, its model has one, and the next
round begins there. All numbers are rationals, so the last round is a proof. A round that is stopped leaves a bound as
well: with ``q N - p D >= b`` for all models, ``N / D >= p/q + b / (q D)``.

**A loss of two counts** (`TwoCountTerm`): `treeform.solve.two_counts`.

**The largest of several sums** (`LargestTerm`), one part for each: the least value of that sum over the models in which
no other one is larger. The least of the parts is the optimum. A part is over as soon as it has nothing below the best
value known.

**Steps** (`SteppedTerm`): a price on what is counted first (`treeform.solve.priced_count`); where that leaves something
open, one part for each step: the rest of the objective under its requirement, and what is paid there. What is proved
for a step bounds all tighter ones; these are searched only where that leaves room.

Every model of a part is admissible in the whole, and worth no more there than in the part. A part is searched like any
question, with its own claims.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, cast

from treeform.graph import DecisionGraph
from treeform.language.composed import CasesTerm, RatioTerm, cases_of, sums_of
from treeform.language.objective import Objective, Term
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.objectives.soft import unpaid
from treeform.solve import schedule
from treeform.solve.ledger import Ledger
from treeform.solve.part_ledger import (
    InnerLedger,
    Part,
    PartLedger,
    Reduction,
    Search,
    part_at,
    reduction_of,
)
from treeform.solve.priced_count import PRICE, PricedCount, parts_at_price
from treeform.solve.two_counts import TwoCounts as TwoCounts  # entered where it is imported
from treeform.utils.budget import Budget, Limit, Share

UNPAID = "unpaid"
"""The entry of a claim that was proved of the question without what is paid for."""
RELAXED = frozenset({PRICE, UNPAID})
"""The entries of claims on a part whose models cost at most what they do in the whole."""
MOST_PARTS = 100


def parts_of(question: Question, value: Fraction | None) -> list[Part]:
    """What has to be shown for "no model has a value below ``value``"; None: for "there is no model".

    ``question``: its objective is no sum. Of a loss of two counts, only that there is no model is shown so. ``value``:
    in the user's units.
    """
    return reduction_of(question).parts(question, value)


def parts_of_claim(question: Question, value: Fraction | None, details: dict[str, Any]) -> list[Part] | None:
    """The same by what a claim of a certificate names; None where what it names does not show it."""
    return reduction_of(question).parts_of_claim(question, value, details)


class _Choice(NamedTuple):
    """One of the cases of a term, by its number."""

    weight: Fraction
    term: Term | None
    rule: Requirement | None
    paid: Fraction
    number: int
    nested: bool

    def includes(self, other: _Choice) -> bool:
        """Whether every model of the other one is one of this, of the same objective."""
        return self.number == other.number or (self.nested and self.number < other.number)


def _choices(question: Question) -> list[list[_Choice]]:
    """For each term that is no sum, what it can be in a part."""
    return [
        [
            _Choice(weight, case.term, case.rule, weight * case.amount, i, term.nested)
            for i, case in enumerate(term.cases(question.data, question.shape))
        ]
        for weight, term in cases_of(question.objective)
    ]


def _paid(chosen: Sequence[_Choice]) -> Fraction:
    """What is paid beside the sums."""
    return sum((one.paid for one in chosen), Fraction(0))


def _part(question: Question, chosen: Sequence[_Choice], value: Fraction | None) -> Part:
    priced = ((one.weight, one.term) for one in chosen if one.term is not None)
    rules = (one.rule for one in chosen if one.rule is not None)
    part = question.with_(
        objective=Objective((*priced, *sums_of(question.objective))),
        requirements=(*question.requirements, *rules),
    )
    return part_at(question, part, value, _paid(chosen))


def first_part(question: Question) -> Question:
    """A part in place of the whole: what engines and formulations can do for it, they can do for all."""
    return reduction_of(question).first_part(question)


def stated_whole(question: Question) -> bool:
    """Whether solvers can state the whole as it is, with a variable for what is no sum."""
    return bool(cases_of(question.objective))


def is_largest(question: Question) -> bool:
    """Whether some term is the largest of several sums, which only solvers with linear rows can state."""
    return any(not term.nested for _, term in cases_of(question.objective))


def too_many_parts(question: Question) -> bool:
    """Whether there are more parts than are searched one after the other; of the steps of one term, few are."""
    numbers = [len(of_term) for of_term in _choices(question)]
    steps = [len(of_term) for of_term in _choices(question) if of_term[0].nested]
    return math.prod(numbers) > MOST_PARTS * max(steps, default=1)


def search_in_parts(question: Question, ledger: Ledger, search: Search) -> Limit | None:
    """Answer ``question`` in ``ledger`` through its parts."""
    return reduction_of(question)(question, ledger, search).run()


class Dinkelbach(Reduction, of=RatioTerm):
    """Dinkelbach's iterations."""

    @staticmethod
    def _term(question: Question) -> tuple[Fraction, RatioTerm]:
        weight, term = question.objective.terms[0]
        return weight, cast(RatioTerm, term)

    @classmethod
    def parts(cls, question: Question, value: Fraction | None) -> list[Part]:
        weight, term = cls._term(question)
        cost, target = term.at(question.data, Fraction(1, 2) if value is None else value / weight)
        part = question.with_(objective=Objective.of(cost))
        return [Part(part, None if value is None else target)]

    def run(self) -> Limit | None:
        """Round after round, until one finds nothing smaller."""
        weight, term = self._term(self.question)
        least = term.least_denominator(self.question.data) * self.question.data.weight_unit
        limit = None
        is_last = not self.is_seldom_proved
        for turn in range(1, 1000):
            best = self.ledger.upper
            ratio = Fraction(1) if best is None else self.question.to_units(best) / weight
            (part,) = parts_of(self.question, weight * ratio)
            assert part.target is not None
            inner = PartLedger(
                part if best is not None else Part(part.question, None), self.ledger, f"round {turn}"
            )
            if not is_last:
                share = schedule.FIRST_DIRECTION if turn == 1 else schedule.DIRECTION
                inner.budget = share.of(self.ledger.budget)
            limit = self.searched(inner)
            if inner.impossible and best is None:
                self.none_at_all([inner])
                return None
            if inner.bound is not None:
                short = min(Fraction(0), inner.bound - part.target) / (ratio.denominator * least)
                self.at_least(max(Fraction(0), weight * (ratio + short)), [inner])
            else:
                self.at_least(weight * ratio, [inner])
            is_over = not self.better(best) and (is_last or limit is not Limit.TIME)
            if self.ledger.stop() or is_over:
                return limit
            is_last = is_last or not self.better(best)
        return limit


class CaseByCase(Reduction, of=CasesTerm):
    """One part for each combination of sums and steps."""

    def __init__(self, question: Question, ledger: Ledger, search: Search) -> None:
        super().__init__(question, ledger, search)
        self._done: dict[int, InnerLedger] = {}
        """By the part's number: the claims that its bound rests on; a part that needed no search has none."""
        self._bounds: dict[int, Fraction | None] = {}
        self._limits: dict[int, Limit] = {}
        """What ended the search of a part that is not answered."""
        self._asked_of: DecisionGraph | None = None
        self._is_other: dict[int, bool] = {}
        """Whether that model is none of a part, by the part's number."""

    @cached_property
    def _combinations(self) -> list[tuple[_Choice, ...]]:
        return list(product(*_choices(self.question)))

    @classmethod
    def parts(cls, question: Question, value: Fraction | None) -> list[Part]:
        return [_part(question, chosen, value) for chosen in product(*_choices(question))]

    @classmethod
    def parts_of_claim(
        cls, question: Question, value: Fraction | None, details: dict[str, Any]
    ) -> list[Part] | None:
        if UNPAID in details:  # it has the same models, and none costs more
            free = unpaid(question)
            return None if free is None else [part_at(question, free, value, Fraction(0))]
        return parts_at_price(question, value, details) if PRICE in details else cls.parts(question, value)

    @classmethod
    def first_part(cls, question: Question) -> Question:
        # The tightest of the steps, which has a requirement.
        chosen = [of_term[-1] if of_term[-1].nested else of_term[0] for of_term in _choices(question)]
        return _part(question, chosen, None).question

    def run(self) -> Limit | None:
        """One part after the other; the least of them is the optimum. A price on what is counted may do for all."""
        is_begun = bool(self._bounds)
        if not is_begun:
            PricedCount(self.question, self.ledger, self.search).run()
            if self.ledger.closed:
                return None
        budget = self.ledger.budget
        left = self._left()
        while left and not budget.stop():
            index = self._next(left)
            left.remove(index)
            turns = len(left) + 1 if self._bounds else min(2, len(self._combinations))
            self._answer(index, budget.share(schedule.equal_part(budget.remaining, turns)))
            if len(self._bounds) == 1 and not is_begun:
                self._without_what_is_paid()
            if not left and budget.remaining is not None:
                left = self._left()  # what others left of the time is for those that had too little
        return self._entered()

    def take(self, claims: InnerLedger) -> None:
        """The answer to the part in which nothing is lacking, if that is what was asked."""
        index = max(range(len(self._combinations)), key=self._first)
        part = _part(self.question, self._combinations[index], None).question
        if part.objective == claims.question.objective and part.requirements == claims.question.requirements:
            self._done[index], self._bounds[index] = claims, claims.bound
            self._limits.pop(index, None)

    def bounded_by(self, free: InnerLedger) -> None:
        """Enter what is proved of the question without what is paid for."""
        if free.bound:
            self.at_least(free.bound, [free], {UNPAID: True})

    def is_nearly_proved(self, but_for: Fraction) -> bool:
        """Whether no model is better than the best one known by more than a part."""
        lower, upper = self.ledger.lower, self.ledger.upper
        if lower is None or upper is None:
            return False
        return self.question.to_units(lower) >= self.question.to_units(upper) * (1 - but_for)

    @property
    def has_answers(self) -> bool:
        """Whether any part is answered."""
        return len(self._bounds) > len(self._limits)

    def first_parts(self, share: Share) -> Limit | None:
        """One part after the other, each in this share of the time, for as long as they are answered in it.

        What they found and proved is kept for `run`.
        """
        left = self._left()
        while left and not self._limits and not self.ledger.stop():
            index = self._next(left)
            left.remove(index)
            self._answer(index, share.of(self.ledger.budget), brief=True)
        return self._entered()

    def _left(self) -> set[int]:
        """The parts that are not answered, but those that more time is no help for."""
        every = range(len(self._combinations))
        return {i for i in every if i not in self._bounds or self._limits.get(i) is Limit.TIME}

    def _answer(self, index: int, budget: Budget, brief: bool = False) -> None:
        """Search a part, if the bounds of others leave it room; ``brief``: for a proof alone."""
        chosen = self._combinations[index]
        self._limits.pop(index, None)
        part = _part(self.question, chosen, self.value())
        looser = [bound for other, bound in self._bounds.items() if _includes(self._combinations[other], chosen)]
        at_least = max((bound for bound in looser if bound is not None), default=Fraction(0))
        if looser and self._no_room(looser, part):
            self._bounds[index] = None if None in looser else at_least
            return
        inner = PartLedger(part, self.ledger, f"part {index + 1} of {len(self._combinations)}", brief)
        inner.budget = budget
        before = self._done.get(index)
        known = [] if before is None or before.graph is None else [before.graph]
        if (limit := self.searched(inner, known)) is not None:
            self._limits[index] = limit
        if inner.bound is None or inner.bound >= at_least or before is None:
            self._done[index] = inner
        self._bounds[index] = None if inner.bound is None else max(inner.bound, at_least)

    def _entered(self) -> Limit | None:
        """Enter what all parts prove together; why one of them is not answered."""
        first = next(iter(self._limits.values()), None)
        if len(self._bounds) < len(self._combinations):
            return first
        done = [self._done.get(index) for index in range(len(self._combinations))]
        values = [bound + _paid(self._combinations[i]) for i, bound in self._bounds.items() if bound is not None]
        if values:
            self.at_least(min(values), done)
        elif self.ledger.upper is None:
            self.none_at_all(done)
        else:
            self.at_least(self.question.to_units(self.ledger.upper), done)
        return first

    def _without_what_is_paid(self) -> None:
        """Deep models that lack what they like, in a limited run: the parts have no time for as good ones.

        Of what is paid in steps alone the first part pays for all, so it has such models.
        """
        free, budget = unpaid(self.question), self.ledger.budget
        if free is not None and self.is_seldom_proved and is_largest(self.question):
            inner = PartLedger(part_at(self.question, free, self.value(), Fraction(0)), self.ledger, "unpaid")
            inner.budget = schedule.UNPAID.of(budget)
            self.searched(inner)

    def _next(self, left: Collection[int]) -> int:
        """At first the whole without a bound on what is paid in steps, and with nothing lacking of all else; half of
        the time is for it, as all its models count. Then parts that ask for other models than the best one known."""
        best = self.ledger.graph
        if not self._bounds:
            return max(left, key=self._first)
        if best is None:
            return min(left)
        if best is not self._asked_of:
            self._asked_of, self._is_other = best, {}
        for index in sorted(left):
            if index not in self._is_other:
                rules = (one.rule for one in self._combinations[index] if one.rule is not None)
                self._is_other[index] = any(rule.violation(best, self.question.data) for rule in rules)
            if self._is_other[index]:
                return index
        return min(left)

    def _first(self, index: int) -> list[int]:
        """Greatest for the part that is first."""
        return [-one.number if one.nested else one.number for one in self._combinations[index]]

    def _no_room(self, looser: list[Fraction | None], part: Part) -> bool:
        """Whether the bounds of parts that include this one show that it has nothing below the best value known."""
        if None in looser:
            return True
        return part.target is not None and max(bound for bound in looser if bound is not None) >= part.target


def _includes(looser: Sequence[_Choice], tighter: Sequence[_Choice]) -> bool:
    return all(one.includes(other) for one, other in zip(looser, tighter, strict=True))
