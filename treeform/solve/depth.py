"""Minimum depth: is there a model of depth 1, 2, 3, ...?

Each refuted depth is a lower claim, the first depth with a model is the optimum (Avellaneda,
AAAI 2020, DT_depth; here for any formulation and any requirements).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeform.backends import Backend
from treeform.engines import Engine, EngineRun, TreeTask
from treeform.engines.relaxation import Relaxation, relax
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.costs import LARGEST_COST
from treeform.language.formulation import Formulation
from treeform.language.objective import Error, Nodes, Objective
from treeform.language.question import Question, allowed_errors
from treeform.solve import schedule
from treeform.solve.engines import recheck_of
from treeform.solve.ledger import Ledger
from treeform.solve.result import as_number
from treeform.solve.search import CompiledSearch
from treeform.utils.budget import Budget, Limit

if TYPE_CHECKING:
    from treeform.solve.result import ProofWriter


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
        part.until(lambda: ledger.graph is not None),
        upper=allowed + 1,
        on_incumbent=on_incumbent,
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

    run = EngineRun(
        part.until(lambda: ledger.closed),
        start=ledger.graph,
        on_incumbent=on_incumbent,
    )
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


def minimize_depth(
    question: Question,
    formulation: Formulation,
    backend: Backend,
    ledger: Ledger,
    budget: Budget,
    proofs: ProofWriter | None = None,
    engine: Engine | None = None,
) -> Limit | None:
    """Solve "is there a model of depth k?" for k = 0, 1, 2, ... up to the shape's depth.

    ``engine`` tries each depth before the formulation. With ``proofs``, the refutation of each depth is
    written there before the next is tried; then no engine runs, since its refutations have no such proof.
    """
    if not question.shape.own_leaves:
        raise SpecError(
            f"the depth cannot be minimised over {question.shape}",
            cause="the search goes over trees of depth 1, 2, 3, ...",
            fix="use shape=tf.Tree(depth=k), where k is the largest depth allowed",
        )
    unit = int(question.scale * question.objective.terms[0][0])
    # The driver has submitted the constant models, whose value is 0; the incumbent may be a deeper one.
    if not ledger.closed and ledger.upper != 0:
        ledger.prove_lower(unit, "constant models")
    if engine is not None and proofs is not None:
        ledger.notes.append(f"{engine.name} took no part: proofs are of what the solver refutes")
        engine = None
    gave_up = False
    first = 1 if proofs is not None or ledger.closed else _skip(question, formulation, ledger, unit)
    for depth in range(first, question.shape.depth + 1):
        if ledger.stop():
            break
        at_depth = question.with_(shape=question.shape.at_depth(depth), objective=Objective(()))
        own_ledger = Ledger(at_depth, ledger.budget)
        own_ledger.runners, own_ledger.outer = ledger.runners, ledger
        if engine is not None and not gave_up:
            ledger.set_phase(f"{engine.name}, depth {depth}")
            gave_up = try_depth(engine, own_ledger, schedule.EACH_DEPTH.of(budget))
            if own_ledger.impossible:
                _refuse(ledger, own_ledger, question, depth, unit)
                continue
        if own_ledger.graph is None and not ledger.stop():
            reason = formulation.supports(at_depth.shape, at_depth.data, at_depth.objective)
            if reason is not None:
                ledger.notes.append(f"{formulation.name} stopped before depth {depth}: {reason}")
                return Limit.MEMORY
            search = _search(at_depth, formulation, backend, own_ledger, ledger, proofs)
            if own_ledger.impossible:
                search.claim(ledger, unit * (depth + 1) if depth < question.shape.depth else None)
                continue
            if own_ledger.graph is None:
                return search.limit
        if own_ledger.graph is not None:
            ledger.submit(own_ledger.graph, own_ledger.claims[-1].by)
            return _break_tie(question, depth, formulation, backend, ledger, budget, engine)
    return None


def _search(
    at_depth: Question,
    formulation: Formulation,
    backend: Backend,
    own_ledger: Ledger,
    ledger: Ledger,
    proofs: ProofWriter | None,
) -> CompiledSearch:
    """Solve one depth."""
    assert at_depth.shape.own_leaves
    ledger.set_phase(f"{formulation.name} on {backend.name}, depth {at_depth.shape.depth}")
    search = CompiledSearch(at_depth, formulation, backend, own_ledger, ledger.budget, proofs)
    search.run()
    ledger.notes += own_ledger.notes
    return search


def _skip(question: Question, formulation: Formulation, ledger: Ledger, unit: int) -> int:
    """The first depth that the formulation does not rule out without a call."""
    ledger.set_phase(f"bounds of {formulation.name}")
    first = formulation.least_depth(question.data, question.requirements, question.shape.depth)
    by = f"bounds of {formulation.name}"
    if first > question.shape.depth:
        ledger.prove_infeasible(by)
    elif first > 1:
        ledger.prove_lower(unit * first, by)
    return first


def _refuse(ledger: Ledger, own_ledger: Ledger, question: Question, depth: int, unit: int) -> None:
    """Enter what the engine refuted at ``depth``."""
    claim = own_ledger.claims[-1]
    if depth < question.shape.depth:
        ledger.prove_lower(unit * (depth + 1), claim.by, claim.relaxation, claim.recheck)
    else:
        ledger.prove_infeasible(claim.by, claim.relaxation, claim.recheck)


def _break_tie(
    question: Question,
    depth: int,
    formulation: Formulation,
    backend: Backend,
    ledger: Ledger,
    budget: Budget,
    engine: Engine | None,
) -> Limit | None:
    """Among the models of least depth, the best by what the formulation minimises next (DT_size)."""
    next_goal = formulation.tie_break(question.objective)
    if next_goal is None or ledger.graph is None:
        return None
    at_depth = question.with_(shape=question.shape.at_depth(depth), objective=next_goal)
    own_ledger = Ledger(at_depth, ledger.budget)
    own_ledger.runners = ledger.runners
    own_ledger.submit(ledger.graph, "the search over depths")
    ledger.set_phase(f"{formulation.name} on {backend.name}, depth {depth}: {next_goal}")
    if engine is not None:
        fewest_tests(engine, own_ledger, schedule.EACH_DEPTH.of(budget))
    limit = None
    if not own_ledger.stop():
        search = CompiledSearch(at_depth, formulation, backend, own_ledger, budget)
        search.run()
        limit = search.limit
    assert own_ledger.graph is not None
    assert own_ledger.upper is not None
    ledger.replace(own_ledger.graph)
    lower = "" if own_ledger.closed else f", at least {as_number(at_depth.to_units(own_ledger.lower or 0))}"
    ledger.notes.append(
        f"{next_goal} at depth {depth}: {as_number(at_depth.to_units(own_ledger.upper))}{lower}"
    )
    return None if own_ledger.closed else limit
