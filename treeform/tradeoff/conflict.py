"""Requirements that cannot hold together: a smallest set of them, and how far each bound would have to move."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from treeform.certify.answer import CertifiedResult
from treeform.language.bounded import Bounded, Value
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.solve.result import Status
from treeform.utils.budget import Limit
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
                "no bound suffices while the others stay"
                if self.proved
                else "no sufficient bound was found"
            )
            return f"{self.requirement}: {what}"
        best = "is the best possible" if self.proved else "suffices, a tighter one perhaps, too"
        asked = rounded(Fraction(self.axis.bound or 0), looser_is_up=not self.axis.is_upper)
        return f"{self.requirement}: {name} {_loose(self.axis, self.bound)} {best} (asked for: {asked})"


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
    """What broke down on the way."""

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
                    "bound": None if one.bound is None else str(Fraction(one.bound)),
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
            lines += ["relax one of them and keep the others:", *(f"  {one}" for one in self.relaxations)]
        return "\n".join(lines)


def _loose(axis: Bounded, bound: Value) -> str:
    return rounded(Fraction(bound), looser_is_up=axis.is_upper)


def rounded(value: Fraction, *, looser_is_up: bool) -> str:
    """A bound in a few digits, rounded up or down; whole numbers as they are."""
    if value.denominator == 1:
        return str(value.numerator)
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if looser_is_up else ROUND_FLOOR)
    decimal = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return format(decimal.normalize(), "f")


def subset(question: Question, labels: tuple[str, ...]) -> Question:
    """The question with only these requirements."""
    kept: tuple[Requirement, ...] = tuple(
        one for label, one in zip(question.labels, question.requirements, strict=True) if label in labels
    )
    return question.with_(requirements=kept)
