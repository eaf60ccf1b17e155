"""What a caller chooses for one solve, and what it returns: the model, how much of it is proved, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.utils.budget import Budget, Limit, Step
from treeform.utils.notebook import table_html, text_html
from treeform.utils.text import count_of, value_text

if TYPE_CHECKING:
    import os

    from treeform.distribute import Distribution

Number = int | Fraction
T = TypeVar("T")


class Status(Enum):
    """Whether the answer is proved; derived from the claims, never copied from a solver."""

    OPTIMAL = "optimal"  #: there is a model, and the bound proves that none is better
    FEASIBLE = "feasible"  #: there is a model that satisfies every requirement; a gap remains
    INFEASIBLE = "infeasible"  #: it is proved that no model of this shape satisfies the requirements
    UNKNOWN = "unknown"  #: stopped with neither a model nor a proof

    def __str__(self) -> str:
        return self.value


def as_number(value: Fraction | int) -> Number:
    """Whole values as ``int``, all others as the exact ``Fraction``."""
    value = Fraction(value)
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class Progress:
    """The state of a run at one moment, in the user's units."""

    seconds: float
    """Since the run began."""
    upper: Number | None
    lower: Number | None
    """int or Fraction or None: the objective of the incumbent, and the proved bound."""
    phase: str
    """What is going on: a stage of the solve, as `treeform.Problem.explain` names it, then who works in it, such as
    ``"contree"`` or ``"building odd"``."""
    limit: float | None = None
    """The time limit of the run in seconds."""
    step: Step | None = None
    """How far the phase has come, such as the nodes that a search has opened."""
    rate: float | None = None
    """Units of the step per second, over the last second or so."""
    parts: tuple[int, int] | None = None
    """(int, int) or None: of work in parts, such as the depths of a Pareto curve: how many are done, and how many
    there are."""

    def within(self, whole: Budget, phase: str, parts: tuple[int, int] | None = None) -> Progress:
        """The progress of all that a budget is for, of which this is the part that goes on."""
        phase = f"{phase}: {self.phase}" if self.phase else phase
        return replace(self, seconds=whole.seconds, limit=whole.limit, phase=phase, parts=parts or self.parts)

    @property
    def gap(self) -> float | None:
        """Relative distance of the bound from the incumbent, 0 when proved, None when unknown."""
        return relative_gap(self.upper, self.lower)

    def __str__(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.1%}"
        known = f"incumbent {value_text(self.upper)}, bound {value_text(self.lower)}{gap}"
        return f"{self.seconds:.1f} s: {known}, {self.doing}"

    @property
    def doing(self) -> str:
        """The phase, and how far it and the whole have come."""
        parts = "" if self.parts is None else f" ({self.parts[0]} of {count_of(self.parts[1], 'part')} done)"
        return f"{self.phase}{parts}" + ("" if self.step is None else f", {self.step}")


def relative_gap(upper: Number | None, lower: Number | None) -> float | None:
    """``(upper - lower) / |upper|``; 0 when they meet; None when one is missing."""
    if upper is None or lower is None:
        return None
    if lower >= upper:
        return 0.0
    return float(Fraction(upper - lower) / abs(Fraction(upper))) if upper != 0 else float("inf")


@dataclass(frozen=True)
class PlannedStage:
    """A stage that a solve would have, as far as it gets there."""

    name: str
    by: str = ""
    """The engine, formulation or solver that does the work; empty where treeform counts."""
    without: tuple[str, ...] = ()
    """What of the problem it leaves out: its answer is a bound, and its model a candidate."""

    def __str__(self) -> str:
        who = f" by {self.by}" if self.by else ""
        return f"{self.name}{who}" + (f", without {', '.join(self.without)}" if self.without else "")


@dataclass(frozen=True)
class StageRun:
    """A stage of a solve that ran."""

    name: str
    seconds: float
    """Of wall-clock time."""
    by: tuple[str, ...] = ()
    """The engines and solvers that were started."""
    step: str = ""
    """The question that it belongs to, such as a part of the objective or a smaller shape; empty for the problem."""

    def __str__(self) -> str:
        who = f" by {', '.join(self.by)}" if self.by else ""
        return f"{f'{self.step}: ' if self.step else ''}{self.name}{who}, {self.seconds:.2f} s"


CLAIMED = {"upper": "a model of value", "lower": "no model is below", "infeasible": "no model exists"}
"""What each kind of claim says, before its value."""


@dataclass(frozen=True)
class Claim:
    """One statement about the optimum."""

    kind: str
    """{"upper", "lower", "infeasible"}"""
    value: Fraction | None
    """In the user's units."""
    by: str
    """Who makes the claim, with version where known."""
    seconds: float
    relaxation: tuple[str, ...] = ()
    """Requirements (and objective terms) that the prover ignored; empty for the problem itself."""
    recheck: dict[str, Any] | None = None
    """How `treeform.check` can prove the claim again: ``kind`` is "engine", "lagrangian" or "proof", and the rest is
    the witness; None without one. See `treeform.certify.schema`."""
    counters: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        what = CLAIMED[self.kind]
        number = "" if self.value is None else f" {as_number(self.value)}"
        without = f" (even without {', '.join(self.relaxation)})" if self.relaxation else ""
        return f"{what}{number}{without}, by {self.by} after {self.seconds:.2f} s"


def known_bound(value: Number, by: str) -> Claim:
    """A lower bound that was proved before a solve began, and by whom."""
    return Claim("lower", Fraction(value), by, 0.0)


@dataclass(frozen=True, repr=False)
class SolveResult:
    """The answer to one problem, re-evaluated by treeform in exact integers."""

    graph: DecisionGraph | None
    """The best model found that satisfies every requirement."""
    status: Status
    """OPTIMAL, FEASIBLE, INFEASIBLE or UNKNOWN."""
    limit: Limit | None
    """Why the search stopped early, if it did."""
    objective: Number | None
    bound: Number | None
    """int or Fraction or None: value of ``graph`` and the proved lower bound, in the user's units."""
    errors: int | None
    """Misclassified training rows (unweighted), recounted; None in regression."""
    violations: dict[str, Number]
    """dict of str to int or Fraction: by how much each requirement is violated on ``graph``: 0 is satisfied."""
    claims: tuple[Claim, ...]
    """Who proved what, relative to which relaxation."""
    trace: tuple[tuple[float, Number | None, Number | None], ...]
    """tuple of (seconds, upper, lower): every improvement of either side."""
    seconds: float
    """Wall-clock time of the whole solve."""
    notes: tuple[str, ...] = ()
    """What was chosen for the user, and what was treated in the data."""
    solver: str = ""
    """The solver or native engine that ran; the engines alone where they settled all before the solver was started,
    and "none" where counting did."""
    formulation: str | None = None
    """How the problem was stated to the solver; None where no solver was started."""
    counters: dict[str, int] = field(default_factory=dict)
    question: Question | None = field(default=None, repr=False)
    plan: tuple[StageRun, ...] = ()
    """The stages that ran, in order, with who worked in them and the seconds of each; see `treeform.Problem.explain`.
    """

    @classmethod
    def of(cls, result: SolveResult) -> Self:
        """The same answer as a result of this class."""
        made = object.__new__(cls)  # its fields are those of an answer that was made
        vars(made).update({field.name: getattr(result, field.name) for field in fields(SolveResult)})
        return made

    @property
    def gap(self) -> float | None:
        """Relative gap between objective and bound; 0.0 exactly when optimal."""
        return relative_gap(self.objective, self.bound)

    @property
    def accuracy(self) -> float | None:
        """Share of the training rows that the model classifies correctly (unweighted)."""
        if self.errors is None or self.question is None:
            return None
        return 1.0 - self.errors / self.question.data.n_samples

    def __getstate__(self) -> dict[str, Any]:
        """Statuses by name: not every library that stores models knows how to make an Enum."""
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            **state,
            "status": self.status.value,
            "limit": None if self.limit is None else self.limit.value,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        limit = None if state["limit"] is None else Limit(state["limit"])
        for name, value in {**state, "status": Status(state["status"]), "limit": limit}.items():
            object.__setattr__(self, name, value)

    def without_data(self) -> Self:
        """The same answer without the training rows; it cannot make a certificate."""
        return replace(self, question=None)

    def __repr__(self) -> str:
        return f"<Result: {self}>"

    def _repr_html_(self) -> str:
        drawing = "" if self.graph is None else self.graph.to_svg()
        kept = [
            (label, "satisfied" if not lacks else f"lacks {value_text(lacks)}")
            for label, lacks in self.violations.items()
        ]
        return text_html(str(self)) + (table_html(("requirement", ""), kept) if kept else "") + drawing

    def __str__(self) -> str:
        if self.graph is None:
            return f"{self.status}" + (f" (stopped: {self.limit})" if self.limit else "")
        stopped = f", stopped: {self.limit}" if self.limit else ""
        errors = "" if self.errors is None else f"{count_of(self.errors, 'error')}, "
        return (
            f"{self.status}: objective {value_text(self.objective)}, bound {value_text(self.bound)}, "
            f"{errors}{count_of(self.graph.n_nodes, 'test')}, {self.seconds:.2f} s{stopped}"
        )


class ProofWriter(Protocol):
    """Writes down why something is impossible; see `treeform.certify.proofs.Proofs`."""

    def refute(
        self,
        question: Question,
        formulation: Formulation,
        at_most: int | None,
        examples: np.ndarray | None,
        budget: Budget,
    ) -> tuple[dict[str, Any], dict[str, int]] | str:
        """Prove again what a search has refuted, and write the proof: `Claim.recheck` and sizes; or why there is none.
        """

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
    over: Callable[[], bool] | None = None
    """Asked with every stop; true ends the work as Ctrl-C does."""

    def budget(self) -> Budget:
        """What limits the work."""
        return Budget(self.time_limit, over=self.over)

    def __post_init__(self) -> None:
        if self.on_progress is not None and not callable(self.on_progress):
            raise SpecError(
                f"on_progress={self.on_progress!r} cannot be called",
                cause="it is a function that takes a Progress",
                fix="use for example on_progress=print, or leave it out",
            )


USUAL = SolveOptions()
"""Everything left open."""


def with_answer(options: SolveOptions, work: Callable[[SolveOptions], T]) -> T:
    """The answer of some work. An error of its callback ends it as Ctrl-C does, and carries that answer."""
    call = options.on_progress
    if call is None:
        return work(options)
    errors: list[Exception] = []

    def report(progress: Progress) -> None:
        if not errors:
            try:
                call(progress)
            except Exception as error:
                errors.append(error)

    answer = work(replace(options, on_progress=report, over=lambda: bool(errors)))
    for error in errors:
        error.result = answer  # type: ignore[attr-defined]
        error.add_note("the run ended there; what it had found is this exception's attribute `result`")
        raise error
    return answer


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
