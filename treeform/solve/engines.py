"""Native engines as makers of claims: outright solvers, or bounds and warm starts for the others."""

from __future__ import annotations

from typing import Any

from treeform.engines import Engine, EngineOutcome, EngineRun
from treeform.graph import DecisionGraph
from treeform.solve.budget import Budget
from treeform.solve.ledger import Ledger
from treeform.solve.relaxation import Relaxation
from treeform.solve.repair import narrowed, relabel


def run_engine(engine: Engine, relaxation: Relaxation, ledger: Ledger, budget: Budget) -> EngineOutcome:
    """Run the engine on its part of the question and enter its claims in the ledger."""

    def submit(graph: DecisionGraph) -> None:
        if relaxation.exact:
            ledger.submit(graph, engine.name)
        else:
            submit_repaired(ledger, graph, engine.name, budget)

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None:
            submit(graph)
        ledger.prove_lower(relaxation.lower(lower), engine.name, relaxation.dropped)

    # With nothing left out, a model in hand cuts the search off; otherwise the engine's own optimum is the bound.
    upper = None
    cutoff = ledger.cutoff
    if relaxation.exact and cutoff is not None:
        upper = relaxation.upper(cutoff) + 1
    run = EngineRun(
        time_limit=budget.remaining,
        stop=lambda: budget.stop() or ledger.closed,
        upper=upper,
        start=ledger.graph if relaxation.exact else None,
        on_incumbent=on_incumbent,
    )
    ledger.runners.append(engine.name)
    outcome = engine.run(ledger.question.data, relaxation.task, run)
    ledger.notes += outcome.notes
    if outcome.graph is not None:
        submit(outcome.graph)
    ledger.prove_lower(
        relaxation.lower(outcome.lower),
        engine.name,
        relaxation.dropped,
        recheck_of(engine) | ({} if outcome.witness is None else {"witness": outcome.witness}),
        outcome.counters,
    )
    return outcome


def submit_repaired(ledger: Ledger, graph: DecisionGraph, by: str, budget: Budget) -> None:
    """Submit a tree; where it violates a requirement that the engine does not know, submit it with other leaves.

    They are relabelled at the least cost that satisfies all requirements. A tree for a diagram is pruned to its widths.
    """
    graph = narrowed(graph, ledger.question)
    if ledger.submit(graph, by).ok:
        return
    repaired = relabel(ledger.question, graph, budget, better_than=ledger.graph)
    if repaired is not None:
        ledger.submit(repaired, f"{by}, leaves relabelled")


def recheck_of(engine: Engine) -> dict[str, Any]:
    """How a check can prove the engine's bound again: it makes the task from the problem, and chooses the settings."""
    return {"kind": "engine", "engine": engine.name}
