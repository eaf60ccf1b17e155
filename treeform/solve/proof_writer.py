"""What a search expects of the folder that proofs of its refutations go to; `treeform.certify.proofs` has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.solve.budget import Budget
from treeform.solve.result import Claim


@dataclass(frozen=True)
class Written:
    """A proof on disk.

    Attributes
    ----------
    recheck : dict
        The entry for a certificate.
    counters : dict of str to int
        Sizes and times: clauses and literals, bytes, milliseconds.
    """

    recheck: dict[str, Any]
    counters: dict[str, int]


class ProofWriter(Protocol):
    """Writes down why something is impossible; see `treeform.certify.proofs.Proofs`."""

    def refute(
        self,
        question: Question,
        formulation: Formulation,
        at_most: int | None,
        examples: np.ndarray | None,
        budget: Budget,
    ) -> Written | str:
        """Prove again what a search has refuted, and write the proof; or return why there is none."""

    def tidy(self, claims: Iterable[Claim]) -> None:
        """Remove the proofs of this writer that no claim needs."""
