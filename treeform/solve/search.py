"""A formulation compiled to a backend: optimise, or descend where the solver has no objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treeform.backends import Backend, Outcome, Run, Session, Verdict
from treeform.backends.cores import raise_bound, terms_of
from treeform.backends.watch import build_beside
from treeform.errors import BREAKDOWNS, ContradictionError, broke_down, is_breakdown, is_refusal, one_line
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.solve import schedule
from treeform.solve.ledger import Ledger
from treeform.solve.result import ProofWriter
from treeform.utils.budget import Budget, Limit, limit_of, observe_steps, why_stopped
from treeform.utils.text import Caution

REASONS = {
    "time": Limit.TIME,
    "memory": Limit.MEMORY,
    "interrupted": Limit.INTERRUPTED,
    "solver": Limit.SOLVER,
}


@dataclass(frozen=True)
class StatedPart:
    """A formulation that does not state all models."""

    below: int
    """It states all models of a scaled value below it: no bound beyond it is claimed, and where there is no such
    model, it is the bound."""
    recheck: dict[str, Any]
    """What a check needs to see that nothing else was left out."""
    kept: frozenset[str] = frozenset()
    """Labels of requirements that every model of the formulation satisfies without rows."""


def without(question: Question, kept: Collection[str]) -> tuple[Requirement, ...]:
    """The requirements of a question but those of some labels."""
    pairs = zip(question.labels, question.requirements, strict=True)
    return tuple(requirement for label, requirement in pairs if label not in kept)


class CompiledSearch:
    """One formulation on one solver, entering claims in a ledger.

    ``formulation``: what states the ledger's question. ``ledger``: where claims go; its incumbent is the MIP start and
    the cutoff. ``proofs``: where a proof of what the solver refuted goes. ``more``: adds rows that every admissible
    model satisfies, or every better one than the incumbent. ``part``: what of all models the formulation states; None:
    all.
    """

    def __init__(
        self,
        formulation: Formulation,
        backend: Backend,
        ledger: Ledger,
        budget: Budget,
        proofs: ProofWriter | None = None,
        more: Callable[[Compiled], None] | None = None,
        part: StatedPart | None = None,
    ) -> None:
        self.more = more
        self.below = None if part is None else part.below
        self.recheck = None if part is None else part.recheck
        self.kept = frozenset[str]() if part is None else part.kept
        self.question = ledger.question
        self.has_squares = ledger.question.objective.is_squared
        self.formulation = formulation
        self.backend = backend
        self.ledger = ledger
        self.budget = budget
        self.by = f"{formulation.title} on {backend.name}"
        self.limit: Limit | None = None
        self.broken: BaseException | None = None
        """What the search broke down with, where there was a model already."""
        self.info: dict[str, Any] = {}
        self.proofs = proofs
        self.sizes: dict[str, int] = {}
        """Of the proof that was written."""
        self._refuted: tuple[int | None] | None = None

    def run(self) -> None:
        """Compile, solve to the end or to the budget, and enter what follows.

        A solver that breaks down, or a model that cannot be built, ends this search only, where there is a model
        already.

        Raises SolverFailed or DataError if that happens and nothing was found before, and SpecError or PortError if
        the formulation or a requirement cannot be stated.
        """
        try:
            self._run()
        except BREAKDOWNS as error:
            if not self.ledger.has_model or is_refusal(error) or not is_breakdown(error):
                raise
            self._caution(broke_down(error))
            self.broken = error
            self.limit = self.budget.reason or limit_of(error)

    def _note(self, text: str) -> None:
        self.ledger.note(f"{self.by}: {text}")

    def _caution(self, text: str) -> None:
        self.ledger.note(Caution(f"{self.by}: {text}"))

    def _run(self) -> None:
        self.ledger.set_phase(f"building {self.formulation.name}")
        session = build_beside(self._open, self.budget.stop)
        if session is None:
            self.limit = self.budget.reason
            self._note(f"{why_stopped(self.limit)} while the model was built")
            return
        try:
            self.ledger.set_phase(self.by)
            self.ledger.runners.append(self.backend.name)
            if self.backend.capabilities.objective:
                self._optimise(session)
            else:
                self._descend(session)
        finally:
            session.close()
        if self.proofs is not None and self._refuted is not None:
            self._write_proof(self.proofs, self._refuted[0])

    def _open(self) -> Session:
        q = self.question
        stated = without(q, self.kept)
        self.compiled = self.formulation.compile(q.data, q.shape, q.objective, stated)
        if self.more is not None:
            self.more(self.compiled)
        return self.backend.open(self.compiled.model)

    # -- with an objective ----------------------------------------------------------------------

    def _optimise(self, session: Any) -> None:
        strict = False
        while not self.ledger.stop():
            # Squared errors are no whole numbers, as the ledger's cutoff is: then the starting model is the cutoff.
            cutoff = None if self.has_squares else self._cutoff(strict)
            outcome = session.solve(self._ask(cutoff, on_bound=True))
            self.limit = self._limit(outcome)
            if outcome.verdict is Verdict.INFEASIBLE:
                self._nothing_within(cutoff)
                return
            refined = self._take(outcome.x, final=outcome.verdict is Verdict.OPTIMAL)
            if refined:
                if outcome.verdict is Verdict.OPTIMAL:  # of a relaxation
                    self._prove(self._value(outcome))
                session.extend()
                continue
            if outcome.verdict is Verdict.OPTIMAL:
                self._prove(self._value(outcome))
                if self._within_tolerance() and cutoff != self._cutoff(strict=True):
                    strict = True
                    continue
            elif outcome.bound is not None:
                self._prove(outcome.bound)
            return

    def _within_tolerance(self) -> bool:
        """Whether a bound may stay below the best model by the tolerances only, so that a cutoff can settle it.

        Tolerances make a solver accept more points, so that its refutation of all that is strictly better holds.
        """
        upper = self.ledger.upper
        if self.ledger.closed or upper is None or self.has_squares:
            return False
        return self.below is None or upper <= self.below

    def _cutoff(self, strict: bool = False) -> int | None:
        """The largest value that is asked for; ``strict``: below that of the best model."""
        values = [
            self.ledger.better if strict else self.ledger.cutoff,
            None if self.below is None else self.below - 1,
        ]
        return min((v for v in values if v is not None), default=None)

    def _prove(self, value: float) -> None:
        """Claim a solver's bound, as far as the model states all that is below it."""
        if self.below is None or value <= self.below:
            self.ledger.prove_lower_float(value, self.by, self.recheck)
        else:
            self.ledger.prove_lower(self.below, self.by, recheck=self.recheck)

    def _value(self, outcome: Outcome) -> float:
        """The proved value of an optimal outcome: its bound, at most the value of its point."""
        assert outcome.x is not None
        worth = self._worth(outcome.x)
        return worth if outcome.bound is None else min(worth, outcome.bound)

    # -- without ----------------------------------------------------------------------------------

    def _descend(self, session: Any) -> None:
        """Search for strictly better models until there are none.

        Linear search from above with rows; dichotomic search where the formulation has literals for bounds.
        """
        model, objective = self.compiled.model, self.compiled.linear_objective
        asked: int | None = None
        self._from_below(session)
        while not self.ledger.stop():
            upper = self.ledger.upper
            target = self._cutoff() if upper is None else min(math.ceil(upper) - 1, self._cutoff() or 0)
            middle = literal = None
            if target is not None:  # a value between the bounds, and the literal that bounds the objective by it
                middle = (max(0, self.ledger.lower or 0) + target) // 2
                literal = self.formulation.at_most(self.compiled, middle)
            if target is not None and literal is None and target != asked:
                model.add(objective <= target, f"objective at most {target}")
                session.extend()
                asked = target
            outcome = session.solve(self._ask(None, on_bound=False, literal=literal))
            self.limit = self._limit(outcome)
            if outcome.verdict is Verdict.INFEASIBLE:
                self._nothing_within(asked if literal is None else middle)
                if literal is not None:
                    continue
                return
            if outcome.x is None:
                return
            before = self.ledger.upper
            if self._take(outcome.x, final=True):
                session.extend()
            elif self.ledger.upper == before:
                return

    def _from_below(self, session: Any) -> None:
        """A lower bound from cores, in a share of the time; see `treeform.backends.cores`."""
        terms = terms_of(self.compiled.model)
        if not self.backend.capabilities.cores or terms is None or self.ledger.stop():
            return
        part = schedule.CORES.of(self.budget).until(lambda: self.ledger.closed)

        def ask(literals: Sequence[int]) -> Outcome:
            run = self._ask(None, on_bound=False)
            outcome: Outcome = session.solve(replace(run, budget=part, assumptions=literals))
            return outcome

        x = raise_bound(
            terms,
            ask,
            lambda bound: self.ledger.prove_lower(
                bound if self.below is None else min(bound, self.below), self.by, recheck=self.recheck
            ),
            part.stop,
        )
        if x is not None and self._take(x, final=True):
            session.extend()

    # -- shared -------------------------------------------------------------------------------------

    def _ask(self, cutoff: int | None, on_bound: bool, literal: int | None = None) -> Run:
        hint, graph = None, self.ledger.graph
        wanted = cutoff is None or self.ledger.upper is None or self.ledger.upper <= cutoff
        if graph is not None and wanted:
            hint = self.formulation.encode(self.compiled, graph)
        return Run(
            self.budget.until(lambda: self.ledger.closed),
            hint=hint,
            cutoff=None if cutoff is None else float(cutoff),
            assumptions=() if literal is None else (literal,),
            on_solution=self._offer,
            on_bound=self._prove if on_bound else None,
        )

    def _offer(self, x: np.ndarray) -> None:
        self.ledger.submit(self.formulation.decode(self.compiled, x), self.by, is_point=True)

    def _take(self, x: np.ndarray | None, final: bool) -> bool:
        """Enter a solver's point; True when a lazy formulation refuted it with new rows."""
        if x is None:
            return False
        graph = self.formulation.decode(self.compiled, x)
        judged = self.ledger.submit(graph, self.by, is_point=True)
        if self.formulation.refine(self.compiled, graph):
            return True
        worth = self._worth(x)
        if final and (not judged.ok or judged.value > worth + self._allowance(worth)):
            raise ContradictionError(
                f"{self.by} returned a model that exact evaluation refuses",
                cause=judged.misfit
                or f"violations { ({k: v for k, v in judged.violations.items() if v}) }, exact value {judged.value} "
                f"against {worth} in the solver's model (scaled by {self.question.scale})",
                fix="when the requirement is your own, its build() and violation() disagree: "
                "tf.testing.check_requirement shows a small case",
            )
        return False

    def _allowance(self, worth: float) -> float:
        """By how much an exact value may exceed that of a solver's point: whole numbers have no doubt about them."""
        if not self.has_squares:
            return 0.5
        greatest = (
            self.question.objective.largest(self.question.data, self.question.shape) * self.question.scale
        )
        return 1e-4 * max(float(greatest), worth)

    def _worth(self, x: np.ndarray) -> float:
        return float(np.asarray(self.compiled.objective_expr.value(x)))

    def _nothing_within(self, cutoff: int | None) -> None:
        self._refuted = (cutoff,)
        self.claim(self.ledger, None if cutoff is None else cutoff + 1)

    def claim(self, ledger: Ledger, value: int | None) -> None:
        """Enter that nothing is below ``value``, or that there is no model (None); with the proof, if on file."""
        if value is None:
            ledger.prove_infeasible(self.by, recheck=self.recheck)
        else:
            counters = {f"proof {what}": number for what, number in self.sizes.items()}
            ledger.prove_lower(value, self.by, recheck=self.recheck, counters=counters)

    def _write_proof(self, proofs: ProofWriter, cutoff: int | None) -> None:
        """Refute once more, with a proof, what the search has refuted last."""
        self.ledger.set_phase(f"{self.by}: writing a proof")
        examples = self.formulation.examples(self.compiled)
        written = proofs.refute(self.question, self.formulation, cutoff, examples, self.budget)
        if isinstance(written, str):
            self.ledger.notes.append(f"no proof was written for {self.question.shape}: {written}")
            return
        self.recheck, self.sizes = written
        self.claim(self.ledger, None if cutoff is None else cutoff + 1)

    def _limit(self, outcome: Outcome) -> Limit | None:
        self.info = dict(outcome.info)
        for fault in faults(self.info):
            self._caution(fault)
        if "settled by" in self.info:
            self._note(f"settled by {self.info['settled by']}")
        if outcome.verdict in (Verdict.OPTIMAL, Verdict.INFEASIBLE) or outcome.reason is None:
            return None
        # A stopped solver returns "interrupted"; the budget holds whether that was Ctrl-C or the time limit.
        return self.budget.reason or REASONS.get(outcome.reason, Limit.SOLVER)


def searched(formulation: Formulation, backend: Backend, ledger: Ledger, budget: Budget) -> CompiledSearch:
    """A search that has run with a ledger of its own. Its error is kept, unless it is a refusal.

    Raises ContradictionError as `CompiledSearch.run`.
    """
    search = CompiledSearch(formulation, backend, ledger, budget)
    try:
        with observe_steps(ledger.on_step):
            search.run()
    except BREAKDOWNS as error:
        if is_refusal(error) or not is_breakdown(error):
            raise
        search.broken = error
    return search


def finite(value: float | None) -> bool:
    """Whether a solver's bound is a finite number."""
    return value is not None and math.isfinite(value)


def faults(info: Mapping[str, Any]) -> Iterator[str]:
    """The faults that a run's information names, each as the end of a sentence about the solver."""
    for failure in info.get("failed", ()):
        yield f"failed: {one_line(failure)}"
    if "killed" in info:
        yield f"was killed: {info['killed']}"
    if info.get("abandoned"):
        yield "did not respond to the stop, and was detached"
    if "refuted" in info:
        yield f"made a claim that a checked point refutes: {info['refuted']}"
    if info.get("rejected"):
        rows = ", ".join(info.get("violated", {}))
        yield f"gave {info['rejected']} points that violate rows" + (f" ({rows})" if rows else "")
