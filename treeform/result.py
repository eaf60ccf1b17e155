"""What the user gets from a solve: the answer, its certificate, the prices of its requirements, and their conflict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treeform.certify.answer import CertifiedResult
from treeform.solve.result import Progress, SolveResult
from treeform.tradeoff.conflict import Conflict
from treeform.tradeoff.explain_conflict import conflict_of
from treeform.tradeoff.prices import Prices, price_requirements


@dataclass(frozen=True, repr=False)
class Result(CertifiedResult):
    __doc__ = SolveResult.__doc__

    def prices(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        time_limit: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Prices:
        """What each requirement costs: the optimum without it, and without all of them.

        Parameters
        ----------
        solver, formulation, on_progress
            As in `treeform.Problem.solve`.
        time_limit : float, optional
            Seconds for all of it, shared evenly.

        Returns
        -------
        Prices
            Each price is proved, or given as a range.
        """
        return price_requirements(self, solver, formulation, time_limit, on_progress)

    def conflict(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        time_limit: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Conflict | None:
        """Why no model satisfies all requirements; None when one does. See `treeform.Problem.conflict`."""
        return conflict_of(self, solver, formulation, time_limit, on_progress)
