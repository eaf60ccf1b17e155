"""What each requirement costs: the optimum without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from treeform.certify.answer import CertifiedResult
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.choice import refuse_restriction
from treeform.solve.result import Number, SolveOptions, Status
from treeform.tradeoff.asking import Asking
from treeform.utils.budget import Limit, interruptible
from treeform.utils.notebook import Printed
from treeform.utils.text import value_text

ALL = "all requirements"


@dataclass(frozen=True)
class Price:
    """What one requirement costs."""

    requirement: str
    """Its label; ``"all requirements"`` in the last row."""
    within: CertifiedResult
    """The answer with all requirements."""
    without: CertifiedResult
    """The answer without this one."""

    @property
    def proved(self) -> bool:
        """Whether `least` and `most` meet, or it is proved that only this requirement makes the problem infeasible."""
        decided = {Status.OPTIMAL, Status.INFEASIBLE}
        return self.within.status in decided and self.without.status in decided

    @property
    def least(self) -> Number | None:
        """The price is at least this, in units of the objective; None when nothing is known."""
        with_, without = self.within.bound, self.without.objective
        if self.within.status is Status.INFEASIBLE or with_ is None or without is None:
            return None
        return max(0, with_ - without)

    @property
    def most(self) -> Number | None:
        """The price is at most this; None when nothing is known, or no model satisfies all requirements."""
        with_, without = self.within.objective, self.without.bound
        return None if with_ is None or without is None else max(0, with_ - without)

    def __str__(self) -> str:
        if self.within.status is Status.INFEASIBLE:
            return {
                Status.INFEASIBLE: "infeasible without it as well",
                Status.UNKNOWN: "not known",
            }.get(self.without.status, "nothing satisfies all; without it there is a model")
        if self.least is not None and self.least == self.most:
            return value_text(self.least)
        return f"{value_text(self.least)} to {value_text(self.most)} (open)"


@dataclass(frozen=True, repr=False)
class Prices(Printed):
    """The optimum without each requirement, and without all of them."""

    rows: tuple[Price, ...]
    """In the order of the requirements; the last row is without any."""
    seconds: float
    limit: Limit | None = None
    """What ended the work early."""
    notes: tuple[str, ...] = ()
    """Messages of solves that failed."""

    def to_frame(self) -> pd.DataFrame:
        """One row for each requirement: objective and proved bound without it, its price, and whether that is proved.

        The price is missing where it is not proved.
        """
        rows = [
            {
                "requirement": row.requirement,
                "without": _float(row.without.objective),
                "lower": _float(row.without.bound),
                "price": _float(row.least) if row.least == row.most else None,
                "proved": row.proved,
            }
            for row in self.rows
        ]
        return pd.DataFrame(rows, columns=["requirement", "without", "lower", "price", "proved"])

    def __str__(self) -> str:
        if not self.rows:
            return "the problem has no requirements, so that there is nothing to price"
        width = max([len("requirement"), *(len(row.requirement) for row in self.rows)])
        lines = [f"{'requirement':<{width}}  {'without it':>10}  price"]
        lines += [
            f"{row.requirement:<{width}}  {value_text(row.without.objective):>10}  {row}" for row in self.rows
        ]
        return "\n".join(lines)


def price_requirements(result: CertifiedResult, options: SolveOptions) -> Prices:
    """The optimum without each requirement of an answered question; see `treeform.Result.prices`."""
    question = result.question
    assert question is not None
    refuse_restriction(question, options, "the price of a requirement")
    search = _Search(result, question, options)
    with interruptible(search.budget):
        search.run()
    return search.prices()


class _Search(Asking):
    """The answers without each requirement; what is open is asked again while time is left."""

    def __init__(self, result: CertifiedResult, question: Question, options: SolveOptions) -> None:
        super().__init__(options)
        self.result, self.question = result, question
        several = len(question.labels) > 1
        self.asked = (ALL, *(question.labels if several else ())) if question.labels else ()
        self.without: dict[str, CertifiedResult] = {}

    def run(self) -> None:
        """Ask without all requirements, then without each; then again about what is open."""
        self.rounds(self._open, self._ask, once=True)

    def _open(self) -> list[str]:
        decided = (Status.OPTIMAL, Status.INFEASIBLE)
        return [
            label
            for label in self.asked
            if label not in self.without or self.without[label].status not in decided
        ]

    def _ask(self, label: str, turns: int) -> None:
        """One solve; a model under all requirements is one under fewer."""
        kept = () if label == ALL else set(self.question.labels) - {label}
        known = (self.result, self.without.get(label))
        answer = self.ask(
            self.question.only(kept),
            schedule.equal_part(self.budget.remaining, turns),
            self.told(f"without {label}"),
            models=tuple(one.graph for one in known if one is not None and one.graph is not None),
        )
        if answer is not None:
            self.without[label] = answer

    def prices(self) -> Prices:
        """One row for each requirement, and one for all of them."""
        free = self.without.get(ALL)
        rows = [Price(one, self.result, self.without[one]) for one in self.asked[1:] if one in self.without]
        if free is not None:
            if len(self.question.labels) == 1:
                rows.append(Price(self.question.labels[0], self.result, free))
            rows.append(Price(ALL, self.result, free))
        limits = [one.limit for one in self.without.values() if one.limit is not None]
        limit = self.budget.reason or next(iter(limits), None)
        return Prices(tuple(rows), self.budget.seconds, limit, tuple(self.notes))


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
