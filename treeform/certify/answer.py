"""Results that can certify themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeform.language.question import Question
from treeform.solve import solve
from treeform.solve.result import SolveOptions, SolveResult

if TYPE_CHECKING:
    from treeform.certify.certificate import Certificate


@dataclass(frozen=True, repr=False)
class CertifiedResult(SolveResult):
    """A `SolveResult` with its certificate."""

    def certificate(self) -> Certificate:
        """The certificate: all that a check needs, as plain JSON values; ``.save(path)`` writes it.

        See Also
        --------
        treeform.check : verify a certificate against data.
        """
        from treeform.certify.certificate import make_certificate

        return make_certificate(self)


def solve_certified(question: Question, options: SolveOptions) -> CertifiedResult:
    """Solve a question; see `treeform.Problem.solve`."""
    return CertifiedResult.of(solve(question, options))
