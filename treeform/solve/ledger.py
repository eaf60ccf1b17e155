"""Claims and the ledger that merges them.

An *upper* claim carries a model and counts only after exact verification. A *lower* claim names who
proved it and which requirements were left out of what was solved: a bound without side constraints is
valid with them. Status, bound and gap are derived from the claims. Claims that contradict each other
raise: then a solver, a formulation or treeform is wrong, and no answer can be given.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

from treeform.errors import ContradictionError
from treeform.graph import DecisionGraph
from treeform.language.question import Question, ceiling
from treeform.objectives.regression import SquaredError
from treeform.solve.result import Claim, Progress, Status, as_number
from treeform.solve.verification import Verified, judge_candidate
from treeform.utils.budget import Budget, Pace, Step


class Ledger:
    """Merges claims as they arrive; thread-safe, since solvers call back from their threads."""

    def __init__(
        self, question: Question, budget: Budget, on_progress: Callable[[Progress], None] | None = None
    ) -> None:
        self.question = question
        self.budget = budget
        self.claims: list[Claim] = []
        self.graph: DecisionGraph | None = None
        self.judged: Verified | None = None
        """What the judgement of `graph` was."""
        self.upper: int | Fraction | None = None
        self.lower: int | Fraction | None = None
        self.impossible = False
        self.most: int | None = None
        """No model of a larger scaled value is wanted; None where all are."""
        self.phase = ""
        self.notes: list[str] = []
        self.runners: list[str] = []
        """The solvers and engines that were started, in order."""
        self.did = Counter[str]()
        """What searches for deep trees under requirements did for this question, and for the steps on its way."""
        self.outer: Ledger | None = None
        """That of the question which this one is a step of."""
        self.trace: list[tuple[float, Any, Any]] = []
        self._on_progress = on_progress
        self._pace = Pace()
        self._lock = threading.RLock()

    # -- claims ---------------------------------------------------------------------------------

    def submit(self, graph: DecisionGraph, by: str, *, is_point: bool = False) -> Verified:
        """Verify a candidate; keep it when it is the best that satisfies everything.

        ``is_point``: see `judge_candidate`.
        """
        graph, judged = judge_candidate(self.question, graph, is_point=is_point)
        with self._lock:
            if judged.ok and (self.upper is None or judged.value < self.upper):
                self.graph, self.judged, self.upper = graph, judged, judged.value
                self._record(Claim("upper", self.question.to_units(judged.value), by, self.budget.seconds))
        return judged

    def replace(self, graph: DecisionGraph) -> None:
        """Keep another model of the same value in place of the incumbent."""
        graph, judged = judge_candidate(self.question, graph)
        with self._lock:
            if judged.ok and judged.value == self.upper:
                self.graph, self.judged = graph, judged

    def prove_lower(
        self,
        value: int | Fraction,
        by: str,
        relaxation: tuple[str, ...] = (),
        recheck: dict[str, Any] | None = None,
        counters: dict[str, int] | None = None,
    ) -> None:
        """No model that satisfies the requirements has a scaled value below ``value``."""
        with self._lock:
            if self.lower is not None and (value < self.lower or (value == self.lower and recheck is None)):
                return
            met = self.upper is not None and value <= self.upper
            beyond = not (met or self.impossible) and value > self._ceiling
            if beyond:  # the least bound that no model can have: what is above it says no more
                value = min(value, math.floor(self._ceiling) + 1)
            self.lower = value
            units = self.question.to_units(value)
            seconds = self.budget.seconds
            self._record(Claim("lower", units, by, seconds, relaxation, recheck, counters or {}))
            if beyond:
                self.prove_infeasible(by, relaxation, recheck)

    @cached_property
    def _ceiling(self) -> int | Fraction:
        """No admissible model is above it. Most bounds are below a model in hand, and need no look at all rows."""
        return ceiling(self.question)

    def prove_lower_float(self, value: float, by: str, recheck: dict[str, Any] | None = None) -> None:
        """As `prove_lower`, from a floating-point bound, as far as `safe_bound` takes it."""
        if math.isfinite(value):
            self.prove_lower(safe_bound(self.question, value, self.upper), by, recheck=recheck)

    def prove_infeasible(
        self, by: str, relaxation: tuple[str, ...] = (), recheck: dict[str, Any] | None = None
    ) -> None:
        """No model of the shape satisfies the requirements."""
        with self._lock:
            self.impossible = True
            self._record(Claim("infeasible", None, by, self.budget.seconds, relaxation, recheck))

    # -- what follows from them -----------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether nothing is left to prove."""
        met = self.upper is not None and self.lower is not None and self.lower >= self.upper
        beyond = self.most is not None and self.lower is not None and self.lower > self.most
        return met or beyond or self.impossible

    @property
    def has_model(self) -> bool:
        """Whether a model is known that must not be lost, here or in the question that this is a step of."""
        return self.graph is not None or (self.outer is not None and self.outer.has_model)

    @property
    def status(self) -> Status:
        """The status that the claims imply."""
        if self.upper is not None:
            return Status.OPTIMAL if self.closed else Status.FEASIBLE
        return Status.INFEASIBLE if self.impossible else Status.UNKNOWN

    @property
    def cutoff(self) -> int | None:
        """The largest scaled value of a model that is still wanted; None when any is."""
        return self._wanted(None if self.upper is None else math.floor(self.upper))

    @property
    def better(self) -> int | None:
        """The largest scaled value of a model better than the incumbent; None where any model would be."""
        return self._wanted(None if self.upper is None else math.ceil(self.upper) - 1)

    def _wanted(self, value: int | None) -> int | None:
        """The smaller of a value and the largest that is wanted, where there are any."""
        return min((v for v in (value, self.most) if v is not None), default=None)

    @property
    def asked(self) -> Ledger:
        """The claims on the question that models are for: this one, or one that it is searched for."""
        return self

    def stop(self) -> bool:
        """Whether the run should stop: the proof is complete, or the budget is spent."""
        return self.closed or self.budget.stop()

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def count(self, **done: int) -> None:
        """Add to what searches for deep trees under requirements did."""
        self.did.update(done)
        if self.outer is not None:
            self.outer.count(**done)

    def set_phase(self, phase: str) -> None:
        """Set the phase of the work, and report it."""
        self.phase = phase
        self._pace = Pace()
        self._report()

    def on_step(self, step: Step) -> None:
        """Take note of how far the phase has come, and report it once a second."""
        if self._pace.advance(step, self.budget.seconds):
            self._report()

    # -- inside ---------------------------------------------------------------------------------

    def _record(self, claim: Claim) -> None:
        # One claim per prover and kind: its latest is its strongest; the history is in the trace.
        key = (claim.kind, claim.by, claim.relaxation)
        self.claims = [c for c in self.claims if (c.kind, c.by, c.relaxation) != key]
        self.claims.append(claim)
        self._check(claim)
        self.trace.append((claim.seconds, self._units(self.upper), self._units(self.lower)))
        self._report()

    def _check(self, claim: Claim) -> None:
        contradiction = self.upper is not None and (
            self.impossible or (self.lower is not None and self.lower > self.upper)
        )
        if contradiction:
            model = next(c for c in reversed(self.claims) if c.kind == "upper")
            proof = next(c for c in reversed(self.claims) if c.kind != "upper")
            raise ContradictionError(
                "two claims contradict each other, so no answer is given",
                cause=f"{proof}; yet {model}, and treeform re-evaluated that model exactly",
                fix="report this with the data: a solver, a formulation or a requirement is wrong; "
                "solving with another solver shows which",
            )

    def _units(self, value: int | Fraction | None) -> Any:
        return None if value is None else as_number(self.question.to_units(value))

    def _report(self) -> None:
        if self._on_progress is not None:
            self._on_progress(
                Progress(
                    self.budget.seconds,
                    self._units(self.upper),
                    self._units(self.lower),
                    self.phase,
                    self.budget.limit,
                    self._pace.step,
                    self._pace.rate,
                )
            )


BOUND_TOLERANCE = 1e-6
"""Share of a bound that is given up for the solver's tolerances."""


def safe_bound(question: Question, value: float, upper: int | Fraction | None) -> int | Fraction:
    """What a float bound proves of scaled values, a millionth given up for the solver's tolerances.

    Whole values are rounded up to the next one. Squared errors are no whole numbers: there the millionth is also one
    of the loss of the best constant, since solvers hold squares to a share of the largest. What is left below the best
    known value ``upper`` is closed where it is less than two models can differ by.
    """
    loss = next((term for _, term in question.objective.terms if isinstance(term, SquaredError)), None)
    if loss is None:
        return math.ceil(value - BOUND_TOLERANCE * max(1.0, abs(value)))
    greatest = float(loss.largest(question.data, question.shape) * question.scale)
    bound = Fraction(value - BOUND_TOLERANCE * max(abs(value), greatest))
    if upper is not None and bound < upper < bound + least_difference(question, loss):
        return upper
    return bound


def least_difference(question: Question, loss: SquaredError) -> Fraction:
    """Two models with other scaled values than each other differ by at least this.

    A leaf of weight n has the loss ``Q - s^2 / n`` with whole Q, s and n, in units of the loss. The weights of leaves
    add up to W. So the values of models are multiples of 1 / lcm(1, ..., W); and those of two models differ by a
    multiple of 1 / (N N'), where N and N' are the products of their leaves' weights, each at most (W / k)^k for k
    leaves. Prices of tests have a common unit with the loss.
    """
    data = question.data
    weight = int(data.weights.sum())
    leaves = min(2 * sum(question.shape.widths), data.points.n_points)
    product = max((weight**k) // k**k for k in range(1, leaves + 1)) ** 2
    multiple = math.lcm(*range(1, weight + 1)) if weight < product.bit_length() else product
    units = [
        w * (loss.per_unit(data) if term is loss else term.unit(data)) for w, term in question.objective.terms
    ]
    common = math.lcm(*(unit.denominator for unit in units))
    shared = math.gcd(*(int(unit * common) for unit in units))
    return Fraction(shared, common * min(multiple, product)) * question.scale
