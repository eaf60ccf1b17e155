"""Minimum depth: is there a model of depth 1, 2, 3, ...?

Each refuted depth is a lower claim, the first depth with a model is the optimum (Avellaneda,
AAAI 2020, DT_depth; here for any formulation and any requirements).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treeform.engines import Engine, EngineRun, TreeTask
from treeform.engines.relaxation import Relaxation, relax
from treeform.graph import DecisionGraph
from treeform.language.costs import LARGEST_COST
from treeform.language.objective import Error, Objective
from treeform.language.question import Question, allowed_errors
from treeform.language.size_terms import Nodes
from treeform.solve import schedule
from treeform.solve.engines import recheck_of
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.result import Claim, ProofWriter, as_number
from treeform.solve.search import CompiledSearch
from treeform.utils.budget import Budget, Limit


def try_depth(engine: Engine, ledger: Ledger, part: Budget) -> bool:
    """Enter a model of the depth of the ledger's shape, or that there is none; True where the engine did not finish."""
    errors = _errors_alone(ledger.question, engine)
    if errors is None:
        return False
    relaxation, allowed = errors

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None and upper <= allowed:
            ledger.submit(graph, engine.name)

    run = EngineRun(
        part.until(lambda: ledger.graph is not None), upper=allowed + 1, on_incumbent=on_incumbent
    )
    ledger.runners.append(engine.name)
    outcome = engine.answer(ledger.question.data, relaxation.task, run)
    if outcome.graph is not None:
        ledger.submit(outcome.graph, engine.name)
    if outcome.lower > allowed:
        ledger.prove_infeasible(engine.name, relaxation.dropped, recheck_of(engine))
    return outcome.reason is not None and ledger.graph is None


def fewest_tests(engine: Engine, ledger: Ledger, part: Budget) -> None:
    """Bounds and models for the fewest tests without training errors, at the depth of the ledger's shape.

    With ``M = 2^k``, more than a tree of depth ``k`` has tests, the least of ``M errors + tests`` is the fewest tests,
    since a tree without errors exists.
    """
    question = ledger.question
    errors = _errors_alone(question, engine)
    if errors is None or errors[1] != 0 or str(question.objective) != str(Objective.of(Nodes())):
        return
    relaxation, _ = errors
    task = _with_price(question, relaxation.task)
    if task is None or not {"cost", "node_penalty"} <= engine.understands:
        return

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None:
            ledger.submit(graph, engine.name)
        ledger.prove_lower(lower * question.scale, engine.name, relaxation.dropped)

    run = EngineRun(part.until(lambda: ledger.closed), start=ledger.graph, on_incumbent=on_incumbent)
    outcome = engine.answer(question.data, task, run)
    if outcome.graph is not None:
        ledger.submit(outcome.graph, engine.name)
    ledger.prove_lower(outcome.lower * question.scale, engine.name, relaxation.dropped)


def _errors_alone(question: Question, engine: Engine) -> tuple[Relaxation, int] | None:
    """The task of the engine, and how many errors (in weight units) are allowed; None if any number is."""
    errors = question.with_(objective=Objective.of(Error()))
    allowed, relaxation = allowed_errors(errors), relax(errors, engine)
    return None if allowed is None or relaxation is None else (relaxation, allowed)


def _with_price(question: Question, task: TreeTask) -> TreeTask | None:
    each = 1 << task.depth
    if each * (question.data.total_weight + 1) >= LARGEST_COST:
        return None
    cost = each * (1 - np.eye(question.data.n_classes, dtype=np.int64))
    return replace(task, cost=cost, node_penalty=1)


class DepthSearch:
    """The question "is there a model of depth k?" for k = 0, 1, 2, ... up to the shape's depth.

    The plan's warm engine tries each depth before the formulation. Where proofs are written, the refutation of each
    depth is on file before the next is tried; then no engine runs, since its refutations have no such proof.
    """

    def __init__(self, node: Node, budget: Budget) -> None:
        plan = node.plan
        assert plan.backend is not None and plan.formulation is not None
        self.question, self.ledger, self.budget = node.question, node.ledger, budget
        self.formulation, self.backend, self.engine = plan.formulation, plan.backend, plan.warm_engine
        self.proofs = node.options.proofs
        self.unit = int(self.question.scale * self.question.objective.terms[0][0])

    def run(self) -> Limit | None:
        """Depth by depth, until one has a model; why it stopped early."""
        ledger, last = self.ledger, self.question.shape.depth
        # The driver has submitted the constant models, whose value is 0; the incumbent may be a deeper one.
        if not ledger.closed and ledger.upper != 0:
            ledger.prove_lower(self.unit, "constant models")
        if self.engine is not None and self.proofs is not None:
            ledger.notes.append(f"{self.engine.name} took no part: proofs are of what the solver refutes")
            self.engine = None
        gave_up = False
        for depth in range(1 if self.proofs is not None or ledger.closed else self._first(), last + 1):
            if ledger.stop():
                break
            below = self.unit * (depth + 1) if depth < last else None
            own = self._at(depth, Objective(()))
            if self.engine is not None and not gave_up:
                ledger.set_phase(f"{self.engine.name}, depth {depth}")
                gave_up = try_depth(self.engine, own, schedule.EACH_DEPTH.of(self.budget))
                if own.impossible:
                    self._refuse(below, own.claims[-1])
                    continue
            if own.graph is None and not ledger.stop():
                reason = self.formulation.supports(own.question.shape, own.question.data, own.question.objective)
                if reason is not None:
                    ledger.notes.append(f"{self.formulation.name} stopped before depth {depth}: {reason}")
                    return Limit.MEMORY
                ledger.set_phase(f"{self.formulation.name} on {self.backend.name}, depth {depth}")
                search = self._searched(own, ledger.budget, self.proofs)
                ledger.notes += own.notes
                if own.impossible:
                    search.claim(ledger, below)
                    continue
                if own.graph is None:
                    return search.limit
            if own.graph is not None:
                ledger.submit(own.graph, own.claims[-1].by)
                return self._break_tie(depth)
        return None

    def _at(self, depth: int, objective: Objective) -> Ledger:
        """The claims on one depth."""
        shape = self.question.shape.at_depth(depth)
        own = Ledger(self.question.with_(shape=shape, objective=objective), self.ledger.budget)
        own.runners, own.outer = self.ledger.runners, self.ledger
        return own

    def _searched(self, own: Ledger, budget: Budget, proofs: ProofWriter | None = None) -> CompiledSearch:
        search = CompiledSearch(self.formulation, self.backend, own, budget, proofs)
        search.run()
        return search

    def _first(self) -> int:
        """The first depth that the formulation does not rule out without a call."""
        question, by = self.question, f"bounds of {self.formulation.name}"
        self.ledger.set_phase(by)
        first = self.formulation.least_depth(question.data, question.requirements, question.shape.depth)
        if first > question.shape.depth:
            self.ledger.prove_infeasible(by)
        elif first > 1:
            self.ledger.prove_lower(self.unit * first, by)
        return first

    def _refuse(self, below: int | None, claim: Claim) -> None:
        """Enter what the engine refuted at one depth."""
        if below is None:
            self.ledger.prove_infeasible(claim.by, claim.relaxation, claim.recheck)
        else:
            self.ledger.prove_lower(below, claim.by, claim.relaxation, claim.recheck)

    def _break_tie(self, depth: int) -> Limit | None:
        """Among the models of least depth, the best by what the formulation minimises next (DT_size)."""
        next_goal = self.formulation.tie_break(self.question.objective)
        if next_goal is None or self.ledger.graph is None:
            return None
        own = self._at(depth, next_goal)
        own.submit(self.ledger.graph, "the search over depths")
        self.ledger.set_phase(f"{self.formulation.name} on {self.backend.name}, depth {depth}: {next_goal}")
        if self.engine is not None:
            fewest_tests(self.engine, own, schedule.EACH_DEPTH.of(self.budget))
        limit = None if own.stop() else self._searched(own, self.budget).limit
        assert own.graph is not None and own.upper is not None
        self.ledger.replace(own.graph)
        to_units = own.question.to_units
        lower = "" if own.closed else f", at least {as_number(to_units(own.lower or 0))}"
        self.ledger.notes.append(f"{next_goal} at depth {depth}: {as_number(to_units(own.upper))}{lower}")
        return None if own.closed else limit
