"""The base of size tables, Pareto curves and frontiers: each is a view of a family of nested problems."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treeform.certify.certificate import Certificate
from treeform.certify.family import Family, Place
from treeform.certify.family_certificate import answer_of, answers_in, certify_family, other_problem
from treeform.certify.files import read_json_file
from treeform.errors import CertificateError, SpecError
from treeform.language.question import Question
from treeform.solve.result import SolveResult
from treeform.utils.budget import Limit
from treeform.utils.notebook import Printed


@dataclass(frozen=True, repr=False, kw_only=True)
class View(Printed):
    """The problems of a family, with what was found and proved of them.

    Attributes
    ----------
    family : Family
    seconds : float
    limit : Limit or None
        Why the search stopped before everything was proved.
    notes : tuple of str
        Messages of solves that failed.
    """

    family: Family
    seconds: float
    limit: Limit | None = None
    notes: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """The widest problem; without a price on tests where their number is bounded."""
        return self.family.question

    @property
    def proved(self) -> bool:
        """Whether every optimum is proved."""
        return self.family.complete

    def answers(self) -> Iterable[tuple[Place, SolveResult]]:
        """Model and bound of each problem, as an answer to it."""
        for place, known in self.family.problems():
            proof = self.family.lower(place)
            if proof is not None:
                yield place, answer_of(self.family.at(place), known, proof)

    def certificate(self) -> Certificate:
        """The certificate of all of it: `treeform.check` verifies its answers, and that every optimum follows.

        Raises CertificateError if nothing was found or proved.
        """
        return certify_family(self.family, self.answers(), self.seconds, self.limit)

    def _facts(self) -> dict[str, Any]:
        """The common part of the JSON: the question, the certificate, and the time."""
        try:
            certificate: Certificate | None = self.certificate()
        except CertificateError:
            certificate = None
        return {
            "objective": str(self.question.objective),
            "requirements": list(self.question.labels),
            "certificate": certificate,
            "digest": self.question.data.digest,
            "seconds": round(self.seconds, 3),
            "limit": None if self.limit is None else str(self.limit),
        }


def known_from(start: Any, kind: type[View], family: Family) -> Iterable[tuple[Place, SolveResult]]:
    """The answers of an earlier view of a family: itself, its certificate, or the file of that; none for None.

    Raises SpecError or CertificateError if it is of another problem, or nothing of the kind.
    """
    if start is None:
        return ()
    if isinstance(start, kind):
        # By content: different arrays of groups may have the same label.
        ours, theirs = family.question, start.question
        parts = ("shape", "objective", "requirements")
        same = all(getattr(theirs, part) == getattr(ours, part) for part in parts)
        if not same or theirs.data.digest != ours.data.digest or start.family.axis != family.axis:
            raise other_problem()
        return start.answers()
    if isinstance(start, str | os.PathLike):
        start = read_json_file(start)
    if not isinstance(start, Mapping):
        raise SpecError(
            f"start={start!r} is no {kind.__name__}",
            cause="it begins with the models and bounds of an earlier one",
            fix="give an earlier result of the same call, or its certificate, or leave it out",
        )
    return answers_in(start, family)
