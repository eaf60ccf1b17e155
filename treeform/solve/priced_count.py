"""A price on what is counted, in place of steps that are paid for.

A model with t tests pays ``w max(0, t - k)``. For every price p from 0 to w that is at least ``p (t - k)``:
the optimum of the rest of the objective plus p for each test, less ``p k``, is a bound. At p = w it is exact where the
optimum has k tests or more. Otherwise the price is moved between that and 0, as for the multiplier of a Lagrangian
relaxation, to the slope of the line through the models on both sides of k.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from treeform.graph import DecisionGraph
from treeform.language.composed import cases_of, others_of, sums_of
from treeform.language.objective import Objective, Term
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.ledger import Ledger
from treeform.solve.part_ledger import Part, PartLedger, Search, Whole, part_at

MOST_PRICES = 12
PRICE = "price"
"""The entry of a claim that names the price at which it was proved."""


def soft_count(question: Question) -> tuple[Fraction, Term, int] | None:
    """The weight of the one soft count, the sum that counts, and what is free of it; None where there is none."""
    with_cases = cases_of(question.objective)
    if len(with_cases) != 1 or len(others_of(question.objective)) > 1 or len(question.objective.terms) == 1:
        return None
    weight, term = with_cases[0]
    counted = term.counted(question.data)
    return None if counted is None else (weight, *counted)


def priced_part(question: Question, price: Fraction, value: Fraction | None) -> Part | None:
    """The question with that price in place of its soft count; None where it has none, or the price does not fit.

    ``price``: from 0 to the weight of the soft count. ``value``: no model of the whole is below if none of the part is
    below its target; None: there is no model.
    """
    stated = soft_count(question)
    if stated is None or not 0 <= price <= stated[0]:
        return None
    _, size, free = stated
    plus = -price * free
    part = question.with_(objective=Objective((*sums_of(question.objective), (price, size))))
    return part_at(question, part, value, plus)


def parts_at_price(question: Question, value: Fraction | None, details: Any) -> list[Part] | None:
    """What has to be shown for a claim that names a price; None where it names none that fits."""
    try:
        price = Fraction(str(details.get(PRICE)))
    except (ValueError, ZeroDivisionError):
        return None
    part = priced_part(question, price, value)
    return None if part is None else [part]


class PricedCount(Whole):
    """Prices from the whole weight downwards, until one proves the best model or no price proves more."""

    def __init__(self, question: Question, ledger: Ledger, search: Search) -> None:
        super().__init__(question, ledger, search)
        self.stated = soft_count(question)

    def run(self) -> None:
        """Enter the bounds; the ledger is closed where they suffice."""
        if self.stated is None:
            return
        price, _, free = self.stated
        best = self.value()
        if best is not None and best <= price:
            return  # no better model has more than is free
        few = many = None
        for _ in range(MOST_PRICES):
            found = self._at(price)
            if found is None:
                return
            if found[0] < free:
                few = found
            else:
                many = found
            if few is None or (many is None and price == 0):
                return
            slope = Fraction(0) if many is None else (few[1] - many[1]) / (many[0] - few[0])
            if many is not None and slope == price:
                return
            price = slope

    def _at(self, price: Fraction) -> tuple[Fraction, Fraction] | None:
        """The count of the best model at a price, and the rest of its objective; None where the search is over."""
        part = priced_part(self.question, price, self.value())
        assert part is not None
        inner = PartLedger(part, self.ledger, f"price {price}")
        inner.budget = self.ledger.budget.share(schedule.equal_part(self.ledger.budget.remaining, 2))
        self.searched(inner)
        if inner.bound is None:
            return None  # the search bound by bound says that there is no model
        self.at_least(max(Fraction(0), inner.bound + part.plus), [inner], {PRICE: str(price)})
        if self.ledger.closed or not inner.closed or inner.graph is None:
            return None
        return self._counted(inner.graph)

    def _counted(self, graph: DecisionGraph) -> tuple[Fraction, Fraction]:
        assert self.stated is not None
        data = self.question.data
        rest = Objective(sums_of(self.question.objective)).evaluate(graph, data)
        return Fraction(self.stated[1].evaluate(graph, data)), rest
