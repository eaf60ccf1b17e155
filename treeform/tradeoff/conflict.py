"""Requirements that cannot hold together: a smallest set of them, and how far each bound would have to move.

A deletion filter over proofs finds the set: a requirement whose removal leaves the rest unsatisfiable is not needed for
the conflict and is left out; one whose removal makes the rest satisfiable stays (Chinneck and Dravnieks, Locating
minimal infeasible constraint sets in linear programs, ORSA Journal on Computing 1991). The tightest possible bound of
each is found by halving the range between a bound that is refuted and the measure of a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from treeform.certify.answer import CertifiedResult
from treeform.certify.certificate import number_in_file
from treeform.certify.family import with_axis
from treeform.language.bounded import Bounded, Value
from treeform.language.losses import goal_of_any_model
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.choice import refuse_restriction
from treeform.solve.result import USUAL, SolveOptions, Status
from treeform.tradeoff.asking import Asking
from treeform.utils.budget import Budget, Limit, interruptible
from treeform.utils.notebook import Printed

DIGITS = 4
"""Of bounds in messages; they are rounded towards the looser side, so that they would do."""


@dataclass(frozen=True)
class BoundNeeded:
    """How far one requirement would have to be relaxed while all others stay as they are."""

    requirement: str
    """Its label."""
    axis: Bounded
    bound: Value | None
    """The tightest bound under which a model was found; None where none was found, however loose it is."""
    result: CertifiedResult | None
    """The best model under that bound."""
    refuted: CertifiedResult
    """The answer under a tighter bound, or without the requirement where ``bound`` is None."""
    proved: bool
    """Whether no tighter bound would do (or, where ``bound`` is None, that relaxing this requirement never does)."""

    def __str__(self) -> str:
        name = self.axis.bound_name
        if self.bound is None:
            what = (
                "no bound suffices while the others stay" if self.proved else "no sufficient bound was found"
            )
            return f"{self.requirement}: {what}"
        best = "is the best possible" if self.proved else "suffices, a tighter one perhaps, too"
        asked = rounded(Fraction(self.axis.bound or 0), looser_is_up=not self.axis.is_upper)
        bound = rounded(Fraction(self.bound), looser_is_up=self.axis.is_upper)
        return f"{self.requirement}: {name} {bound} {best} (asked for: {asked})"


@dataclass(frozen=True, repr=False)
class Conflict(Printed):
    """Why no model satisfies all requirements."""

    question: Question
    requirements: tuple[str, ...]
    """Labels of requirements that cannot hold together."""
    result: CertifiedResult
    """The proof: the answer to the question with these requirements alone."""
    witnesses: dict[str, CertifiedResult]
    """For each of them, a model that satisfies the others of this set."""
    relaxations: tuple[BoundNeeded, ...]
    """For each of them that has a numeric bound: how far it would have to move."""
    seconds: float
    limit: Limit | None = None
    """What ended the work early."""
    notes: tuple[str, ...] = ()
    """Messages of solves that failed."""

    @property
    def proved(self) -> bool:
        """Whether these requirements conflict, by proof."""
        return self.result.status is Status.INFEASIBLE

    @property
    def minimal(self) -> bool:
        """Whether every one of them is needed for the conflict, by a model that satisfies all others."""
        return self.proved and all(
            label in self.witnesses and self.witnesses[label].graph is not None for label in self.requirements
        )

    def certificates(self) -> dict[str, dict[str, Any]]:
        """The proof of the conflict, and for each requirement the model without it."""
        by_name: dict[str, dict[str, Any]] = {"conflict": self.result.certificate()}
        return by_name | {f"without {label}": one.certificate() for label, one in self.witnesses.items()}

    def to_json(self) -> dict[str, Any]:
        """Plain values; bounds exact, as text."""
        return {
            "requirements": list(self.requirements),
            "shape": str(self.question.shape),
            "proved": self.proved,
            "minimal": self.minimal,
            "relaxations": [
                {
                    "requirement": one.requirement,
                    "measure": one.axis.bound_name,
                    "bound": number_in_file(one.bound),
                    "proved": one.proved,
                    "certificate": None if one.result is None else one.result.certificate(),
                    "refuted": one.refuted.certificate() if one.refuted.claims else None,
                }
                for one in self.relaxations
            ],
            "certificates": self.certificates(),
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        names = " conflicts with ".join([", ".join(self.requirements[:1]), ", ".join(self.requirements[1:])])
        if len(self.requirements) == 1:
            names = f"{self.requirements[0]} cannot be satisfied"
        if not self.proved:
            names = f"it is not proved that {', '.join(self.requirements)} conflict"
        lines = [f"{names} on {self.question.shape}"]
        if self.proved and not self.minimal:
            lines[0] += " (perhaps not all of them are needed for that)"
        if self.relaxations:
            them = "it" if len(self.requirements) == 1 else "one of them and keep the others"
            lines += [f"relax {them}:", *(f"  {one}" for one in self.relaxations)]
        return "\n".join(lines)


def rounded(value: Fraction, *, looser_is_up: bool) -> str:
    """A bound in a few digits, rounded up or down; whole numbers as they are."""
    if value.denominator == 1:
        return str(value.numerator)
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if looser_is_up else ROUND_FLOOR)
    decimal = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return format(decimal.normalize(), "f")


Ask = Callable[[Question, str, bool], "CertifiedResult | None"]
"""The answer to a question; what progress says of it; whether the objective counts."""


class Narrowing:
    """The range between a bound that is too tight and one that suffices; it is halved until it is decided.

    ``axis`` has the bound that is too tight, ``others`` is the question without it, ``refuted`` the answer with it.
    """

    def __init__(self, label: str, axis: Bounded, others: Question, refuted: CertifiedResult) -> None:
        self.label, self.axis, self.others = label, axis, others
        assert axis.bound is not None
        self._too_tight: Value = axis.bound
        self._refuted = refuted
        self._value: Value | None = None
        self._model: CertifiedResult | None = None
        self._without: CertifiedResult | None = None
        self._halve = True
        self._proved = False

    @property
    def decided(self) -> bool:
        """Whether the tightest bound is proved and its best model was asked for, or no bound would do."""
        if self._value is None:
            return self._without is not None and self._without.status is Status.INFEASIBLE
        return self._proved and self._model is not None and self._model.status is Status.OPTIMAL

    def run(self, ask: Ask, budget: Budget) -> None:
        """Go on until it is decided, or a question is left open."""
        if self._value is None and not self._loosest(ask):
            return
        while not self._proved and not budget.stop():
            if not self._step(ask):
                break
        if not budget.interrupted and self._value is not None:
            stated = with_axis(self.others, self.axis, self._value)
            best = ask(stated, f"the best with {self.axis.bound_name} {float(self._value):.6g}", True)
            if best is not None and best.graph is not None:
                self._model = best

    def _loosest(self, ask: Ask) -> bool:
        """Whether a model satisfies the others, whatever its measure."""
        self._without = ask(self.others, f"without {self.label}", False) or self._without
        if self._without is None or self._without.graph is None:
            return False
        self._value = self.axis.measured(self._without.graph, self.others.data)
        return True

    def _step(self, ask: Ask) -> bool:
        """Ask for a bound within the range; False if that is not decided."""
        axis = self.axis
        assert self._value is not None
        following = axis.beyond(self._value, self.others.data)
        if following is None or not axis.is_tighter(self._too_tight, following):
            self._proved = self._refuted.status is Status.INFEASIBLE
            return False
        # Every second question asks for any model that is tighter than the best one: if there is none, the search ends.
        bound = _middle(axis, self._too_tight, following) if self._halve else following
        tried = ask(
            with_axis(self.others, axis, bound),
            f"{self.label} with {axis.bound_name} {float(bound):.6g}",
            False,
        )
        self._halve = not self._halve
        if tried is not None and tried.graph is not None:
            self._value, self._model = axis.measured(tried.graph, self.others.data), None
        elif tried is not None and tried.status is Status.INFEASIBLE:
            self._too_tight, self._refuted = bound, tried
        else:
            return False
        return True

    def needed(self) -> BoundNeeded | None:
        """The answer; None where nothing was asked."""
        if self._value is not None:
            return BoundNeeded(self.label, self.axis, self._value, self._model, self._refuted, self._proved)
        if self._without is None:
            return None
        return BoundNeeded(self.label, self.axis, None, None, self._without, self.decided)


def _middle(axis: Bounded, tight: Value, loose: Value) -> Value:
    """A bound half way, looser than ``tight`` and at most as loose as ``loose``."""
    middle = Fraction(tight + loose) / 2
    if isinstance(tight, int) and isinstance(loose, int):
        return math.ceil(middle) if axis.is_upper else math.floor(middle)
    return middle


def explain_conflict(
    question: Question, options: SolveOptions = USUAL, answer: CertifiedResult | None = None
) -> Conflict | None:
    """Why no model satisfies all requirements; None when one does. ``answer``: an earlier one. See
    `treeform.Problem.conflict`.
    """
    refuse_restriction(question, options, "a conflict")
    search = _Search(question, options)
    with interruptible(search.budget):
        if not search.is_proved(answer):
            return None
        search.run()
    return search.conflict()


class _Search(Asking):
    """The question, the bounds of the conflict, and the time for each part."""

    whole: CertifiedResult
    """The answer to the question with all requirements."""
    proof: CertifiedResult
    """That of the smallest set that is known to conflict."""

    def __init__(self, question: Question, options: SolveOptions) -> None:
        super().__init__(options)
        self.question = question
        self.labels = question.labels
        self.witnesses: dict[str, CertifiedResult] = {}
        self.ranges: dict[str, Narrowing | None] = {}
        """How far each requirement was moved; None for one without a bound."""

    def is_proved(self, answer: CertifiedResult | None) -> bool:
        """Whether the requirements conflict or may conflict; False if a known model satisfies all of them.

        Everything else rests on this proof, so it may have all of the time.
        """
        if answer is not None:
            self.whole = self.proof = answer
        known = answer
        while known is None or (known.status is Status.UNKNOWN and self.goes_on and not self.budget.stop()):
            known = self.decide(self.question, "all requirements", turns=1) or known
            assert known is not None  # a first question that fails raises
            self.whole = self.proof = known
        return self.whole.graph is None

    def run(self) -> None:
        """Find a smallest set and sufficient bounds; then use the remaining time for what is open."""
        if self.proof.status is not Status.INFEASIBLE:
            return
        for label in self.question.labels:
            self.filter(label)
        for label in self.labels:
            self.move(label)
        self.rounds(
            lambda: (
                *((self.filter, label) for label in self.labels if label not in self.witnesses),
                *((self.move, label) for label in self.labels if self.is_moving(label)),
            ),
            lambda one, turns: one[0](one[1], turns),
        )

    def decide(
        self, question: Question, what: str, objective: bool = False, turns: int | None = None
    ) -> CertifiedResult | None:
        """Whether some model satisfies the requirements; with the objective, the best one. Progress says ``what``.

        With ``turns`` it has its part of what is left for so many questions, else that of one of many.
        """
        stated = question if objective else question.with_(objective=goal_of_any_model(question.objective))
        left = self.budget.remaining
        seconds = schedule.CONFLICT_STEP.seconds(left) if turns is None else schedule.equal_part(left, turns)
        return self.ask(stated, seconds, self.told(what))

    def filter(self, label: str, turns: int | None = None) -> None:
        """Leave a requirement out of the conflict if the others conflict without it."""
        others = tuple(one for one in self.labels if one != label)
        if self.budget.stop():
            return
        tried = self.decide(self.question.only(others), f"without {label}", turns=turns)
        if tried is not None and tried.status is Status.INFEASIBLE:
            self.labels, self.proof = others, tried
        elif tried is not None and tried.graph is not None:
            self.witnesses[label] = tried

    def is_moving(self, label: str) -> bool:
        """Whether the relaxation that a requirement needs is still open."""
        known = self.ranges.get(label)
        return label not in self.ranges or (known is not None and not known.decided)

    def move(self, label: str, turns: int | None = None) -> None:
        """Find the tightest bound of one requirement with which all others can be satisfied."""
        if self.budget.stop():
            return
        if label not in self.ranges:
            axis = self.question.requirements[self.question.labels.index(label)]
            if not isinstance(axis, Bounded) or axis.bound is None:
                self.ranges[label] = None
                return
            others = self.question.only(set(self.question.labels) - {label})
            self.ranges[label] = Narrowing(label, axis, others, self.whole)
        known = self.ranges[label]
        if known is not None and not known.decided:
            known.run(
                lambda question, what, objective: self.decide(question, what, objective, turns), self.budget
            )

    def conflict(self) -> Conflict:
        """The explanation, with what is proved so far."""
        found = [known.needed() for label in self.labels if (known := self.ranges.get(label)) is not None]
        witnesses = {label: one for label, one in self.witnesses.items() if label in self.labels}
        conflict = Conflict(
            self.question,
            self.labels,
            self.proof,
            witnesses,
            tuple(one for one in found if one is not None),
            self.budget.seconds,
            self.budget.reason or self.limit,
            tuple(self.notes),
        )
        settled = conflict.minimal and all(one.proved for one in conflict.relaxations)
        return replace(conflict, limit=None) if settled and not self.budget.interrupted else conflict
