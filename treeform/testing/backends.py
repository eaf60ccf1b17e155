"""The conformance kit for backends: random tiny models of every form against enumeration."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.registry import by_name
from treeform.backends.run import Outcome, Run, Verdict
from treeform.model import Model
from treeform.testing.backend_samples import Sample, draw
from treeform.utils.budget import Budget

CLOSE = 1e-5


@dataclass(frozen=True)
class ConformanceReport:
    """What `check_backend` did."""

    backend: str
    models: int
    runs: int
    forms: dict[str, int]
    """How many blocks of each form were among the models."""
    infeasible: int
    """How many models had no solution."""
    seconds: float

    def __str__(self) -> str:
        forms = ", ".join(f"{count} {form}" for form, count in sorted(self.forms.items()))
        return (
            f"{self.backend}: {self.models} models ({self.infeasible} infeasible; blocks: {forms}), "
            f"{self.runs} runs, no disagreement with enumeration, {self.seconds:.1f} s"
        )


def check_backend(
    backend: Backend | str, models: int = 40, seed: int = 0, time_limit: float = 30.0
) -> ConformanceReport:
    """Compare a solver with enumeration on random tiny models.

    Each model mixes linear rows, clauses and counts, plain and enforced, over 0/1 columns, over integers, and with one
    continuous column as far as the solver takes them. Checked are verdicts, values, points and bounds; hints (complete,
    partial and wrong), cutoffs, assumptions, growing models, callbacks, and runs that are stopped at once.

    Parameters
    ----------
    backend : Backend or str
        The solver, or its name.
    models : int
        How many models; about ten runs each.
    seed : int
    time_limit : float
        Seconds for a run that ends in milliseconds when all is well.

    Raises
    ------
    AssertionError
        On the first disagreement, with the model written out.
    """
    if isinstance(backend, str):
        backend = by_name(backend)
    start = time.monotonic()
    forms: Counter[str] = Counter()
    runs = infeasible = 0
    for number in range(models):
        sample = draw(np.random.default_rng((seed, number)), number, backend.capabilities)
        forms.update(str(block.form) for block in sample.model.blocks)
        infeasible += sample.optimum() is None
        trial = _Trial(backend, sample, f"model {number} of seed {seed}", time_limit)
        trial.run()
        runs += trial.runs
    return ConformanceReport(backend.name, models, runs, dict(forms), infeasible, time.monotonic() - start)


@dataclass
class _Trial:
    """All checks on one model."""

    backend: Backend
    sample: Sample
    label: str
    time_limit: float
    runs: int = 0
    what: str = field(default="", init=False)

    def run(self) -> None:
        session = self.backend.open(self.sample.model)
        try:
            self._plain(session)
            self._hints(session)
            if self.backend.capabilities.objective:
                self._cutoffs(session)
            if self.backend.capabilities.assumptions:
                self._assumptions(session)
            self._stopped(session)
            self._grown(session)
        finally:
            session.close()

    # -- the checks -----------------------------------------------------------------------------

    def _plain(self, session: Session) -> None:
        points: list[np.ndarray] = []
        bounds: list[float] = []
        optimum = self.sample.optimum()
        outcome = self._solve(
            "a plain run", session, optimum, on_solution=points.append, on_bound=bounds.append
        )
        value = self.sample.model.objective.value
        for x in points:
            self._demand(
                not self._violations(x), f"on_solution got a point that violates {self._violations(x)}"
            )
        worth = [value(x) for x in points]
        self._demand(worth == sorted(worth, reverse=True), f"values of on_solution go up: {worth}")
        self._demand(bounds == sorted(bounds), f"bounds of on_bound go down: {bounds}")
        if optimum is not None:
            self._demand(
                all(b <= optimum + CLOSE for b in bounds), f"bounds {bounds} exceed the optimum {optimum}"
            )
        if outcome.x is not None and worth and self.backend.capabilities.objective:
            self._demand(
                min(worth) >= value(outcome.x) - CLOSE, "on_solution got a better point than the outcome"
            )

    def _hints(self, session: Session) -> None:
        best, optimum = self.sample.best_point(), self.sample.optimum()
        rng = self.sample.rng
        wrong = np.round(rng.uniform(self.sample.model.lb, self.sample.model.ub))
        self._solve("a random hint", session, optimum, hint=wrong)
        if best is not None:
            partial = np.where(rng.random(len(best)) < 0.5, best, np.nan)
            self._solve("the optimum as hint", session, optimum, hint=best)
            self._solve("a part of the optimum as hint", session, optimum, hint=partial)

    def _cutoffs(self, session: Session) -> None:
        optimum = self.sample.optimum()
        if optimum is None:
            self._solve("a cutoff", session, None, cutoff=5.0)
            return
        self._solve("the optimum as cutoff", session, optimum, cutoff=optimum)
        self._solve("a loose cutoff and the optimum as hint", session, optimum, cutoff=optimum + 3.0,
                    hint=self.sample.best_point())  # fmt: skip
        if len(self.sample.model.objective.cols):
            self._solve("a cutoff below the optimum", session, None, cutoff=optimum - 0.25)

    def _assumptions(self, session: Session) -> None:
        model, rng = self.sample.model, self.sample.rng
        binary = np.flatnonzero(model.is_binary)
        chosen = rng.choice(binary, size=min(2, len(binary)), replace=False)
        lits = [int(c + 1) * int(rng.choice([-1, 1])) for c in chosen]
        self._solve(f"the assumptions {lits}", session, self.sample.optimum(lits), assumptions=lits)
        self._solve("no assumptions afterwards", session, self.sample.optimum())
        both = [int(binary[0]) + 1, -int(binary[0]) - 1]
        self._solve("contradictory assumptions", session, None, assumptions=both)

    def _stopped(self, session: Session) -> None:
        optimum = self.sample.optimum()
        self._solve("a run that is stopped at once", session, optimum, early=True, budget=Budget().until(lambda: True))
        self._solve("a run without time", session, optimum, early=True, budget=Budget(1e-9))

    def _grown(self, session: Session) -> None:
        """Rows are added between runs; a solver without an objective reaches the optimum that way."""
        model, optimum = self.sample.model, self.sample.optimum()
        if optimum is not None and len(model.objective.cols) and not self.backend.capabilities.objective:
            self._descend(session)
            return
        self.sample.grow()
        session.extend()
        self._solve("a grown model", session, self.sample.optimum())

    def _descend(self, session: Session) -> None:
        model, optimum = self.sample.model, self.sample.optimum()
        while True:
            outcome = self._run(session, {})
            if outcome.verdict is Verdict.INFEASIBLE:
                break
            self._demand(outcome.x is not None, "no point, and no proof that there is none")
            worth = model.objective.value(outcome.x)
            model.add(self.sample.objective <= worth - 1)
            session.extend()
        self._demand(
            worth == optimum, f"asking for better and better points ends at {worth}, the optimum is {optimum}"
        )

    # -- one run --------------------------------------------------------------------------------

    def _solve(
        self, what: str, session: Session, optimum: float | None, early: bool = False, **run: Any
    ) -> Outcome:
        self.what = what
        outcome = self._run(session, run)
        verdict, x = outcome.verdict, outcome.x
        summary = f"{verdict.name}, bound {outcome.bound}, reason {outcome.reason}, {outcome.info}"
        self._demand(
            (x is not None) == (verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)), f"{summary} with x = {x}"
        )
        if verdict is Verdict.UNKNOWN:
            self._demand(early, f"{summary}, on a tiny model")
            return outcome
        if optimum is None:
            self._demand(verdict is Verdict.INFEASIBLE, f"{summary}, but nothing is feasible; x = {x}")
            return outcome
        self._demand(x is not None, f"{summary}, but {optimum} is attained at {self.sample.best_point()}")
        assert x is not None
        self._judge_point(x, outcome, optimum, run, early)
        return outcome

    def _judge_point(self, x: np.ndarray, outcome: Outcome, optimum: float, run: Any, early: bool) -> None:
        self._demand(not self._violations(x), f"the point {x} violates {self._violations(x)}")
        model = self.sample.model
        whole = bool((x[model.is_integer] == np.rint(x[model.is_integer])).all())
        self._demand(whole, f"integer columns are not whole in {x}")
        holds = all((x[abs(lit) - 1] > 0.5) == (lit > 0) for lit in run.get("assumptions", ()))
        self._demand(holds, f"the point {x} violates the assumptions")
        worth = model.objective.value(x)
        if outcome.bound is not None:
            self._demand(
                outcome.bound <= optimum + CLOSE, f"bound {outcome.bound} exceeds the optimum {optimum}"
            )
        if outcome.verdict is Verdict.OPTIMAL:
            self._demand(abs(worth - optimum) < CLOSE, f"OPTIMAL at {worth}, the optimum is {optimum}")
        elif self.backend.capabilities.objective:
            self._demand(early, f"only FEASIBLE on a tiny model: {outcome}")

    def _run(self, session: Session, run: dict[str, Any]) -> Outcome:
        self.runs += 1
        return session.solve(Run(**{"budget": Budget(self.time_limit), **run}))

    def _violations(self, x: np.ndarray) -> dict[str, int]:
        return {name: count for name, count in self.sample.model.check(x).items() if count}

    def _demand(self, holds: bool, complaint: str) -> None:
        if not holds:
            raise AssertionError(
                f"{self.backend!r} on {self.label}, {self.what}: {complaint}\n{written(self.sample.model)}"
            )


def written(model: Model) -> str:
    """A tiny model in full."""
    return model.show(rows_per_block=20)
