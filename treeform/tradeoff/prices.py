"""What each requirement costs: the optimum without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from treeform.certify.answer import CertifiedResult, solve_certified
from treeform.language.question import Question
from treeform.notebook import Printed
from treeform.solve import schedule
from treeform.solve.budget import Budget, interruptible
from treeform.solve.choice import refuse_restriction
from treeform.solve.options import SolveOptions
from treeform.solve.result import Limit, Number, Progress, Status

ALL = "all requirements"


@dataclass(frozen=True)
class Price:
    """What one requirement costs.

    Attributes
    ----------
    requirement : str
        Its label; ``"all requirements"`` in the last row.
    within : CertifiedResult
        The answer with all requirements.
    without : CertifiedResult
        The answer without this one.
    """

    requirement: str
    within: CertifiedResult
    without: CertifiedResult

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
            return _text(self.least)
        return f"{_text(self.least)} to {_text(self.most)} (open)"


@dataclass(frozen=True, repr=False)
class Prices(Printed):
    """The optimum without each requirement, and without all of them.

    Attributes
    ----------
    rows : tuple of Price
        In the order of the requirements; the last row is without any.
    seconds : float
    limit : Limit or None
        What ended the work early.
    """

    rows: tuple[Price, ...]
    seconds: float
    limit: Limit | None = None

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
            f"{row.requirement:<{width}}  {_text(row.without.objective):>10}  {row}" for row in self.rows
        ]
        return "\n".join(lines)


def price_requirements(
    result: CertifiedResult,
    solver: Any = None,
    formulation: Any = None,
    time_limit: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Prices:
    """The optimum without each requirement of an answered question; see `treeform.Result.prices`."""
    question = result.question
    options = SolveOptions(solver, formulation, time_limit=time_limit, on_progress=on_progress)
    assert question is not None
    refuse_restriction(question, options, "the price of a requirement")
    budget = Budget(options.time_limit)
    if not question.requirements:
        return Prices((), budget.seconds)
    with interruptible(budget):
        count = len(question.requirements)
        free = _answer(question.with_(requirements=()), options, budget, count + (count > 1), ALL)
        if count == 1:
            rows = [Price(question.labels[0], result, free)]
        else:
            rows = []
            for index, label in enumerate(question.labels):
                if budget.interrupted:
                    break
                rows.append(Price(label, result, _without(question, index, options, budget)))
        rows.append(Price(ALL, result, free))
    return Prices(tuple(rows), budget.seconds, budget.reason)


def _without(question: Question, index: int, options: SolveOptions, budget: Budget) -> CertifiedResult:
    """The answer without one requirement."""
    kept = tuple(r for i, r in enumerate(question.requirements) if i != index)
    stated = question.with_(requirements=kept)
    turns = len(question.requirements) - index
    return _answer(stated, options, budget, turns, question.labels[index])


def _answer(
    question: Question, options: SolveOptions, budget: Budget, turns: int, without: str
) -> CertifiedResult:
    """One solve in an equal part of the time that is left."""
    seconds = schedule.equal_part(budget.remaining, turns)
    report = options.on_progress
    forward = None if report is None else lambda p: report(budget.progress_of(p, f"without {without}"))
    return solve_certified(question, replace(options, time_limit=seconds, on_progress=forward))


def _text(value: Number | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{float(value):.6g}"


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
