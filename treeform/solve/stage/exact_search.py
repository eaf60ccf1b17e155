"""The search by an engine that supports all of the question."""

from __future__ import annotations

from treeform.engines.relaxation import relax
from treeform.errors import SolverFailed
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.engines import run_engine
from treeform.solve.faults import broke_down, limit_of
from treeform.solve.node import Node, Relaxed, Worker
from treeform.solve.result import Limit
from treeform.solve.stage.deep_trees import has_many_tests, is_proved_beside
from treeform.solve.stage.leaf_values import without_values


def exact_search(node: Node, budget: Budget) -> Limit | None:
    """Run the plan's engine to the end of its time; where a model is known, its breakdown is a note."""
    engine, ledger = node.plan.engine, node.ledger
    assert engine is not None
    relaxation = relax(node.question, engine)
    if (
        relaxation is None
    ):  # a part whose prices leave the engine's integers; other parts may settle the whole
        ledger.notes.append(
            f"{engine.name} did not search {node.question.objective}: it leaves exact arithmetic"
        )
        return Limit.SOLVER
    distribution = node.plan.distribution
    worker = engine if distribution is None else distribution.of(engine)
    ledger.set_phase(engine.name)
    try:
        outcome = run_engine(worker, relaxation, ledger, without_values(node, budget))
    except (SolverFailed, MemoryError) as error:
        if not ledger.has_model:
            raise
        ledger.note(f"{engine.name} {broke_down(error)}")
        return budget.reason or limit_of(error)
    node.relaxed = Relaxed(engine, relaxation, outcome, budget)
    return budget.reason or (Limit.MEMORY if outcome.reason == "memory" else None)


def by_engine(node: Node) -> Worker | None:
    """Who answers the question alone."""
    return None if node.plan.engine is None else (node.plan.engine.name, ())


def its_share(node: Node) -> schedule.Share | None:
    """All of the time, but for deep trees, which have another search beside the proof."""
    if not is_proved_beside(node):
        return None
    if not has_many_tests(node):  # the proof finds good trees at once
        return schedule.PROOF_OF_FEW_TESTS
    return schedule.PROOF_OF_DEPTH_FOUR if node.question.shape.depth == 4 else schedule.PROOF_OF_DEEPER_TREES
