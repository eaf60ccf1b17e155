"""How a conflict is found: a deletion filter over proofs, then the tightest bound that each requirement allows.

A requirement whose removal leaves the rest unsatisfiable is not needed for the conflict and is left out; one whose
removal makes the rest satisfiable stays (Chinneck and Dravnieks, Locating minimal infeasible constraint sets in linear
programs, ORSA Journal on Computing 1991). The tightest possible bound is found by halving the range between a bound
that is refuted and the measure of a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from treeform.certify.answer import CertifiedResult, solve_certified
from treeform.language.bounded import Bounded, Value
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.budget import Budget, interruptible
from treeform.solve.choice import refuse_restriction
from treeform.solve.options import USUAL, SolveOptions
from treeform.solve.result import Progress, Status
from treeform.tradeoff.axis import with_axis
from treeform.tradeoff.conflict import BoundNeeded, Conflict, subset


def explain_conflict(
    question: Question, options: SolveOptions = USUAL, answer: CertifiedResult | None = None
) -> Conflict | None:
    """Why no model satisfies all requirements; None when one does. See `treeform.Problem.conflict`.

    Parameters
    ----------
    question : Question
    options : SolveOptions
    answer : CertifiedResult, optional
        What is known of the question already.
    """
    refuse_restriction(question, options, "a conflict")
    search = _Search(question, options)
    with interruptible(search.budget):
        search.whole = answer if answer is not None else search.ask(question, "all requirements")
        if search.whole.graph is not None:
            return None
        labels, proof, witnesses = search.filtered()
        relaxations = []
        if proof.status is Status.INFEASIBLE:
            relaxations = [one for label in labels if (one := search.needed(label)) is not None]
    limit = search.budget.reason
    return Conflict(question, labels, proof, witnesses, tuple(relaxations), search.budget.seconds, limit)


def conflict_of(
    result: CertifiedResult,
    solver: Any = None,
    formulation: Any = None,
    time_limit: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Conflict | None:
    """The conflict behind a result; see `treeform.Result.conflict`."""
    assert result.question is not None
    options = SolveOptions(solver, formulation, time_limit=time_limit, on_progress=on_progress)
    return explain_conflict(result.question, options, result)


class _Search:
    """The question, and the solver and time for each part."""

    whole: CertifiedResult
    """The answer to the question with all requirements."""

    def __init__(self, question: Question, options: SolveOptions) -> None:
        self.question, self.options = question, options
        self.budget = Budget(options.time_limit)

    def ask(self, question: Question, what: str, objective: bool = False) -> CertifiedResult:
        """Whether some model satisfies the requirements; with the objective, the best one. Progress says ``what``."""
        kept = objective or question.objective.is_regression  # which says that leaves hold values
        stated = question if kept else question.with_(objective=Objective(()))
        part = schedule.CONFLICT_STEP.of(self.budget).remaining
        seconds = None if part is None else max(part, 1e-3)
        forward = self._told(what)
        return solve_certified(stated, replace(self.options, time_limit=seconds, on_progress=forward))

    def _told(self, what: str) -> Callable[[Progress], None] | None:
        """What shows the work on one question, in the time of all of them."""
        report = self.options.on_progress
        return None if report is None else lambda p: report(self.budget.progress_of(p, what))

    def filtered(self) -> tuple[tuple[str, ...], CertifiedResult, dict[str, CertifiedResult]]:
        """A minimal conflicting set, its proof, and for each member a model of the others."""
        labels, proof = self.question.labels, self.whole
        witnesses: dict[str, CertifiedResult] = {}
        for label in self.question.labels:
            others = tuple(one for one in labels if one != label)
            if self.budget.stop() or proof.status is not Status.INFEASIBLE:
                break
            tried = self.ask(subset(self.question, others), f"without {label}")
            if tried.status is Status.INFEASIBLE:
                labels, proof = others, tried
            elif tried.graph is not None:
                witnesses[label] = tried
        return labels, proof, {label: one for label, one in witnesses.items() if label in labels}

    def needed(self, label: str) -> BoundNeeded | None:
        """The tightest bound of one requirement with which all others can be satisfied; None if it has no bound."""
        index = self.question.labels.index(label)
        axis = self.question.requirements[index]
        if not isinstance(axis, Bounded) or axis.bound is None or self.budget.stop():
            return None
        others = self.question.with_(
            requirements=tuple(r for i, r in enumerate(self.question.requirements) if i != index)
        )
        refuted = self.ask(others, f"without {label}")
        if refuted.graph is None:
            return BoundNeeded(label, axis, None, None, refuted, refuted.status is Status.INFEASIBLE)
        value = axis.measured(refuted.graph, self.question.data)
        return self._tightest(label, axis, others, value)

    def _tightest(self, label: str, axis: Bounded, others: Question, value: Value) -> BoundNeeded:
        """Halve the range between the required bound, which is refuted, and the measure of a model."""
        data = self.question.data
        assert axis.bound is not None
        too_tight, refuted, proved, halve = axis.bound, self.whole, False, True
        while not self.budget.stop():
            following = axis.beyond(value, data)
            if following is None or not axis.is_tighter(too_tight, following):
                proved = refuted.status is Status.INFEASIBLE
                break
            # Every second question asks for anything tighter than the best model, which ends the search when
            # that model is the tightest.
            bound = _middle(axis, too_tight, following) if halve else following
            tried = self.ask(
                with_axis(others, axis, bound), f"{label} with {axis.bound_name} {float(bound):.6g}"
            )
            if tried.graph is not None:
                value = axis.measured(tried.graph, data)
            elif tried.status is Status.INFEASIBLE:
                too_tight, refuted = bound, tried
            else:
                break
            halve = not halve
        best = None
        if not self.budget.interrupted:
            stated = with_axis(others, axis, value)
            best = self.ask(stated, f"the best with {axis.bound_name} {float(value):.6g}", True)
        model = best if best is not None and best.graph is not None else None
        return BoundNeeded(label, axis, value, model, refuted, proved)


def _middle(axis: Bounded, tight: Value, loose: Value) -> Value:
    """A bound half way, looser than ``tight`` and at most as loose as ``loose``."""
    middle = Fraction(tight + loose) / 2
    if isinstance(tight, int) and isinstance(loose, int):
        return math.ceil(middle) if axis.at_most else math.floor(middle)
    return middle
