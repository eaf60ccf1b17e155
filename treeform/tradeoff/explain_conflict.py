"""How a conflict is found: a deletion filter over proofs, then the tightest bound that each requirement allows.

A requirement whose removal leaves the rest unsatisfiable is not needed for the conflict and is left out; one whose
removal makes the rest satisfiable stays (Chinneck and Dravnieks, Locating minimal infeasible constraint sets in linear
programs, ORSA Journal on Computing 1991). The tightest possible bound is found by halving the range between a bound
that is refuted and the measure of a model.
"""

from __future__ import annotations

from dataclasses import replace

from treeform.certify.answer import CertifiedResult
from treeform.language.bounded import Bounded
from treeform.language.losses import goal_of_any_model
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.choice import refuse_restriction
from treeform.solve.result import USUAL, SolveOptions, Status
from treeform.tradeoff.asking import Asking
from treeform.tradeoff.conflict import Conflict, subset
from treeform.tradeoff.narrowing import Narrowing
from treeform.utils.budget import interruptible


def explain_conflict(
    question: Question, options: SolveOptions = USUAL, answer: CertifiedResult | None = None
) -> Conflict | None:
    """Why no model satisfies all requirements; None when one does. See `treeform.Problem.conflict`.

    Parameters
    ----------
    question : Question
    options : SolveOptions
    answer : CertifiedResult, optional
        Earlier answers to the question.
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
        """Whether the requirements conflict, or may do so for all that is known: False where a model satisfies them.

        Everything else rests on this proof, so it may have all of the time.
        """
        if answer is not None:
            self.whole = self.proof = answer
        known = answer
        while known is None or (known.status is Status.UNKNOWN and self.goes_on and not self.budget.stop()):
            known = self.decide(self.question, "all requirements", turns=1) or known
            assert known is not None  # a first question that breaks down raises
            self.whole = self.proof = known
        return self.whole.graph is None

    def run(self) -> None:
        """Find a smallest set and the bounds that would do; then decide what is open with the time that is left."""
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
        tried = self.decide(subset(self.question, others), f"without {label}", turns=turns)
        if tried is not None and tried.status is Status.INFEASIBLE:
            self.labels, self.proof = others, tried
        elif tried is not None and tried.graph is not None:
            self.witnesses[label] = tried

    def is_moving(self, label: str) -> bool:
        """Whether it is open how far a requirement has to be moved."""
        known = self.ranges.get(label)
        return label not in self.ranges or (known is not None and not known.decided)

    def move(self, label: str, turns: int | None = None) -> None:
        """Find the tightest bound of one requirement with which all others can be satisfied."""
        if self.budget.stop():
            return
        if label not in self.ranges:
            index = self.question.labels.index(label)
            axis = self.question.requirements[index]
            if not isinstance(axis, Bounded) or axis.bound is None:
                self.ranges[label] = None
                return
            kept = tuple(r for i, r in enumerate(self.question.requirements) if i != index)
            self.ranges[label] = Narrowing(label, axis, self.question.with_(requirements=kept), self.whole)
        known = self.ranges[label]
        if known is not None and not known.decided:
            known.run(
                lambda question, what, objective: self.decide(question, what, objective, turns), self.budget
            )

    def conflict(self) -> Conflict:
        """The explanation as far as it is proved."""
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
