"""What a caller chooses for one solve, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.solve.result import Claim, Progress
from treeform.solve.schedule import Budget

if TYPE_CHECKING:
    import os

    from treeform.distribute import Distribution


@dataclass(frozen=True)
class Written:
    """A proof on disk."""

    recheck: dict[str, Any]
    """The entry for a certificate."""
    counters: dict[str, int]
    """Sizes and times: clauses and literals, bytes, milliseconds."""


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


@dataclass(frozen=True)
class SolveOptions:
    """Solver, formulation, start, time limit and callbacks of one solve; see `treeform.Problem.solve`.

    Raises
    ------
    SpecError
        If ``on_progress`` cannot be called.
    """

    solver: Any = None
    """Backend, Engine, class, str or None"""
    formulation: Any = None
    """Formulation, class, str or None"""
    warm_start: Any = "auto"
    """"auto", None, Engine, str or DecisionGraph"""
    time_limit: float | None = None
    """Seconds for everything together."""
    on_progress: Callable[[Progress], None] | None = None
    """Called with a `Progress` at each improvement."""
    proofs: ProofWriter | None = None
    """Where proofs of what is refuted go."""
    isolate: bool = False
    """Whether a solver runs in a process of its own; see `treeform.Isolated`."""
    distribution: Distribution | None = None
    """Who shares the work of a native engine, and where its parts are kept; None: this process does it all."""
    bounds: tuple[Claim, ...] = ()
    """Lower bounds that were proved before; a check of the certificate proves them again."""
    models: tuple[DecisionGraph, ...] = ()
    """Models that are known before."""

    def __post_init__(self) -> None:
        if self.on_progress is not None and not callable(self.on_progress):
            raise SpecError(
                f"on_progress={self.on_progress!r} cannot be called",
                cause="it is a function that takes a Progress",
                fix="use for example on_progress=print, or leave it out",
            )


USUAL = SolveOptions()
"""Everything left open."""


def distribution_of(
    executor: Any, workers: int | None, journal: str | os.PathLike[str] | None
) -> Distribution | None:
    """Who shares the work of a solve; None for this process without a journal.

    Raises SpecError if there is no such executor, or the number of workers is not possible.
    """
    if executor is None and workers is None and journal is None:
        return None
    from treeform.distribute import Distribution

    return Distribution(executor, workers, journal)
