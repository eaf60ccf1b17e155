"""Claims of native engines, which solve a question or give bounds and warm starts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from treeform.engines import Engine, EngineOutcome, EngineRun
from treeform.engines.relaxation import Relaxation
from treeform.graph import DecisionGraph
from treeform.solve.budget import Budget
from treeform.solve.ledger import Ledger
from treeform.solve.repair import narrowed, relabel
from treeform.solve.simple_bounds import ceiling

NOTHING_FITS = "the proof that nothing fits"
MOST_ROWS = 6
"""Rows that a note names."""


def run_engine(engine: Engine, relaxation: Relaxation, ledger: Ledger, budget: Budget) -> EngineOutcome:
    """Run the engine on its part of the question and enter its claims in the ledger."""

    most = ceiling(ledger.question)
    last: tuple[DecisionGraph, Fraction] | None = None

    def submit(graph: DecisionGraph) -> None:
        nonlocal last
        if relaxation.exact:
            # Judged alone: a better model from elsewhere would contradict a proof that this one is the best.
            last = graph, Fraction(ledger.submit(graph, engine.name).value)
        else:
            submit_repaired(ledger, graph, engine.name, budget)

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None:
            submit(graph)
        value = relaxation.claim(lower)
        if value <= most:  # beyond, there is no model: that is said at the end, with the rows that show it
            ledger.prove_lower(value, engine.name, relaxation.dropped)

    # With nothing left out, the incumbent bounds the search; otherwise the engine's own optimum is the bound.
    upper = None
    cutoff = ledger.cutoff
    if relaxation.exact and cutoff is not None:
        upper = relaxation.upper(cutoff) + 1
    run = EngineRun(
        time_limit=budget.elapsed_limit,
        stop=lambda: budget.stop() or ledger.closed,
        upper=upper,
        start=ledger.graph,
        on_incumbent=on_incumbent,
    )
    ledger.runners.append(engine.name)
    outcome = engine.answer(ledger.question.data, relaxation.task, run)
    ledger.notes += outcome.notes
    if outcome.graph is not None and (last is None or outcome.graph != last[0]):  # it is mostly the last one
        submit(outcome.graph)
    if outcome.nothing:
        ledger.prove_infeasible(engine.name, relaxation.dropped, recheck_of(engine))
        return outcome
    lower, without = relaxation.claim(outcome.lower), relaxation.dropped
    if (
        outcome.proved and outcome.graph is not None and outcome.upper is None
    ):  # which is left to be evaluated here
        lower = relaxation.value(outcome.graph) if last is None else last[1]
    if lower > most:
        used = outcome.rows_used
        without += tuple(name for name in relaxation.idle(used) if name in ledger.question.labels)
        ledger.notes += _refuting(relaxation.taking_part(used))
    ledger.prove_lower(
        lower,
        engine.name,
        without,
        recheck_of(engine)
        | ({} if outcome.witness is None else {"witness": outcome.witness})
        | outcome.details,
        outcome.counters,
    )
    return outcome


def _refuting(rows: list[tuple[str, str]]) -> list[str]:
    """A note on the rows that a proof of infeasibility used: those with a multiplier, and those found violated."""
    if not rows:
        return []
    described = [f"{label} ({what})" for label, what in rows[:MOST_ROWS]]
    more = f" and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return [f"{NOTHING_FITS} rests on the rows: {'; '.join(described)}{more}"]


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
