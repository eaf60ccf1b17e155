"""Input and output of a solver: capabilities, a run, a verdict, an outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treeform.model import Form, Kind
from treeform.utils.budget import Budget

if TYPE_CHECKING:  # a solver in a process of its own knows models, not problems: it starts without pandas
    from treeform.language.objective import Objective

Reason = Literal["time", "memory", "interrupted", "solver"]

LINEAR = Form(Kind.LINEAR, False)
CLAUSE = Form(Kind.CLAUSE, False)
CARDINALITY = Form(Kind.CARDINALITY, False)
ALL_FORMS = frozenset(Form(kind, enforced) for kind in Kind for enforced in (False, True))


class Verdict(Enum):
    """What a run established."""

    OPTIMAL = "optimal"
    """``x`` is feasible, and nothing is better; without an objective, every feasible point is optimal."""
    FEASIBLE = "feasible"
    """``x`` is feasible; something may be better."""
    INFEASIBLE = "infeasible"
    """Nothing satisfies the rows *together with this run's cutoff and assumptions*."""
    UNKNOWN = "unknown"
    """Nothing was found and nothing was proved."""


IN_FLOATS = 2.0**40
"""The largest value of an objective that tolerances of 1e-6 on rows of float64 leave whole."""


@dataclass(frozen=True)
class Capabilities:
    """What a solver accepts as it is; the router rewrites the rest."""

    forms: frozenset[Form]
    """Kinds of rows, plain or enforced."""
    continuous: bool = False
    integer: bool = False
    """Whether columns may be continuous, or integer beyond 0/1."""
    objective: bool = False
    """Whether it optimises; otherwise the layer above adds bounds and solves again."""
    assumptions: bool = True
    """Whether a run may fix literals for itself alone."""
    cores: bool = False
    """Whether a refutation names a subset of these that cannot hold together: positions in ``info["core"]``."""
    squares: bool = False
    """Whether the objective may hold positive multiples of squares of columns."""
    largest: float = math.inf
    """Values of an objective beyond this lose units in its arithmetic. Where no solver is named, another goes first."""

    def takes(self, objective: Objective) -> bool:
        """Whether it can be given such an objective, as it is or bound by bound."""
        return self.squares or not objective.is_squared


@dataclass
class Run:
    """One question to a session."""

    budget: Budget = field(default_factory=Budget)
    """Its time. It is asked about twenty times a second, in the calling thread, whether the run is interrupted."""
    hint: np.ndarray | None = None
    """ndarray of float64, shape (n_cols,), or None: A point to start from, NaN where unknown; it may be shorter than
    the model and need not be feasible."""
    cutoff: float | None = None
    """Only points with an objective of at most this are wanted."""
    assumptions: Sequence[int] = ()
    """Signed literals ``+-(col + 1)`` that hold in this run only."""
    on_solution: Callable[[np.ndarray], None] | None = None
    """Called with each better checked point ``(n_cols,)``, in the thread that called ``solve``."""
    on_bound: Callable[[float], None] | None = None
    """Called with each better lower bound of the objective, in the same thread."""


@dataclass(frozen=True)
class Answer:
    """What a search returns, before it is checked: for authors of backends only."""

    verdict: Verdict
    x: np.ndarray | None = None
    bound: float | None = None
    reason: Reason | None = None
    info: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    verdict: Verdict
    x: np.ndarray | None
    """ndarray of float64, shape (n_cols,), or None: the best checked point; integer columns hold whole numbers."""
    bound: float | None
    """No point that satisfies the rows and the assumptions has an objective below this."""
    reason: Reason | None
    """Why the run ended early: "time", "memory", "interrupted", or "solver" (it ended without a proof, or its answer
    failed the check)."""
    seconds: float
    info: dict[str, Any] = field(default_factory=dict)
    """The solver's own counters; "rejected" counts points that failed the check."""
