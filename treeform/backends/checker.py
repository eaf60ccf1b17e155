"""Points of solvers: rounded, checked exactly, the best one kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from treeform.bridges import Lowered
from treeform.model import Model

#: Bounds carry a solver's numerical tolerance; this relative amount is subtracted.
TOLERANCE = 1e-6
#: A bound that exceeds the value of a checked point by more than this relative amount is wrong, and not only rounded:
#: rounding a point to whole numbers may improve it a little beyond what its solver proved.
WRONG = 1e-3
#: The complaint about a point that holds NaN, or has another length than the model has columns.
NO_NUMBERS = "values that are no numbers"


def source_point(lowered: Lowered, x: Any) -> np.ndarray:
    """A solver's point over the columns of the source model; NaN throughout if it has a wrong length."""
    point = np.asarray(x, dtype=np.float64)
    return lowered.to_source(point if point.shape == (lowered.n_cols,) else np.full(lowered.n_cols, np.nan))


class SolutionChecker:
    """Lets through points that satisfy the model after rounding, and remembers the best.

    The rows are those that the user stated, not as they were routed. Points beyond the cutoff are no answers.
    """

    def __init__(self, model: Model, cutoff: float | None) -> None:
        self.model = model
        self.cutoff = cutoff
        self.integral = integral_objective(model)
        self.best: np.ndarray | None = None
        self.best_value = math.inf
        self.rejected = 0
        self._complaint: dict[str, int] = {}

    def start_from(self, hint: np.ndarray | None, assumptions: Sequence[int]) -> None:
        """Keep a complete and feasible hint as the first point; any other hint is ignored.

        The hint is NaN where a column is unknown; assumptions are signed literals ``+-(col + 1)`` that it has to
        satisfy.
        """
        if hint is None or bool(np.isnan(hint).any()):
            return
        lits = np.asarray(assumptions, dtype=np.int64)
        if bool(((hint[np.abs(lits) - 1] > 0.5) == (lits > 0)).all()) and not self._violations(hint):
            self._keep(hint)

    def take(self, raw: np.ndarray) -> np.ndarray | None:
        """The rounded point if it is feasible, within the cutoff and better than all before; else None."""
        model = self.model
        x = np.array(raw[: model.n_cols], dtype=np.float64)
        whole = model.is_integer
        x[whole] = np.rint(x[whole])
        # Negative zero would show up in reports.
        x = np.clip(x, model.lb, model.ub) + 0.0
        if not bool(np.isfinite(x).all()):
            self.rejected += 1
            self._complaint = {NO_NUMBERS: int((~np.isfinite(x)).sum())}
            return None
        if model.objective.value(x) >= self.best_value:
            return None
        violations = self._violations(x)
        if violations:
            self.rejected += 1
            self._complaint = violations
            return None
        return x if self._keep(x) else None

    def clip_bound(self, bound: float | None) -> float | None:
        """A solver's bound as one of the model: beyond the cutoff it only proves that nothing is within."""
        bound = self._rounded(bound)
        if self.cutoff is not None:
            bound = min(bound, self.cutoff)
        return bound if math.isfinite(bound) else None

    def excluded(self, bound: float | None) -> bool:
        """Whether a solver's bound leaves nothing within the cutoff."""
        return self.cutoff is not None and self._rounded(bound) > self.cutoff + self._slack(self.cutoff)

    def contradicts(self, bound: float | None) -> bool:
        """Whether a solver's bound is refuted by the best point."""
        if self.best is None or bound is None or math.isnan(bound):
            return False
        return bound > self.best_value + WRONG * max(1.0, abs(self.best_value))

    def _rounded(self, bound: float | None) -> float:
        if bound is None or math.isnan(bound):
            return -math.inf
        if self.integral and math.isfinite(bound):
            return float(math.ceil(bound - self._slack(bound)))
        return bound

    @staticmethod
    def _slack(value: float) -> float:
        return TOLERANCE * max(1.0, abs(value))

    def proved(self, bound: float | None) -> bool:
        """Whether the best point meets a bound."""
        if self.best is None or bound is None:
            return False
        return self.best_value <= bound + self._slack(bound)

    def count_refused(self, points: int, violated: dict[str, int]) -> None:
        """Count points that were refused elsewhere, with the violated rows of the last one by name of the block."""
        self.rejected += points
        self._complaint = violated or self._complaint

    def info(self) -> dict[str, Any]:
        """What was refused, for `Outcome.info`."""
        out: dict[str, Any] = {"rejected": self.rejected}
        if self._complaint:
            out["violated"] = self._complaint
        return out

    def _violations(self, x: np.ndarray) -> dict[str, int]:
        return {name: count for name, count in self.model.check(x).items() if count}

    def _keep(self, x: np.ndarray) -> bool:
        value = self.model.objective.value(x)
        beyond = self.cutoff is not None and value > self.cutoff + self._slack(self.cutoff)
        if beyond or value >= self.best_value:
            return False
        self.best, self.best_value = x, value
        return True


def integral_objective(model: Model) -> bool:
    """Whether the objective takes whole numbers only (and is not constant)."""
    objective = model.objective
    whole = bool((objective.vals == np.rint(objective.vals)).all()) and float(objective.const).is_integer()
    return (
        whole
        and not len(objective.squares)
        and len(objective.cols) > 0
        and bool(model.is_integer[objective.cols].all())
    )
