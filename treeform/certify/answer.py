"""Results that can certify themselves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from treeform.certify.certificate import Certificate, make_certificate
from treeform.language.question import Question
from treeform.solve import solve
from treeform.solve.options import SolveOptions
from treeform.solve.result import SolveResult


@dataclass(frozen=True, repr=False)
class CertifiedResult(SolveResult):
    """A `SolveResult` with its certificate."""

    @classmethod
    def of(cls, result: SolveResult) -> Self:
        """The same answer."""
        made = object.__new__(cls)  # its fields are those of an answer that was made
        vars(made).update({field.name: getattr(result, field.name) for field in fields(SolveResult)})
        return made

    def certificate(self) -> Certificate:
        """Everything needed to re-verify this answer from scratch, as plain JSON values; ``.save(path)`` writes it.

        See Also
        --------
        treeform.check : verify a certificate against data.
        """
        return make_certificate(self)


def solve_certified(question: Question, options: SolveOptions) -> CertifiedResult:
    """Solve a question; see `treeform.Problem.solve`."""
    return CertifiedResult.of(solve(question, options))
