"""Values of leaves under what is required of them, after the search without these requirements."""

from __future__ import annotations

from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.leaf_values import value_part, value_run
from treeform.solve.node import Node, Worker
from treeform.solve.result import Limit


def asks_for_values(node: Node) -> bool:
    """Whether something is required of the values of leaves, and an engine searches the trees without it."""
    engine = node.plan.engine or node.plan.warm_engine
    return (
        engine is not None
        and node.question.restriction is None
        and value_part(node.question, engine) is not None
    )


def without_values(node: Node, budget: Budget) -> Budget:
    """The part of the time of that search."""
    return schedule.WITHOUT_VALUES.of(budget) if asks_for_values(node) else budget


def fitted_values(node: Node, budget: Budget) -> Limit | None:
    """Trees with the best values that satisfy the requirements, and bounds under these, in the rest of its time."""
    found = node.relaxed
    assert found is not None
    run = value_run(node.question, found.engine, node.ledger, found.budget)
    assert run is not None
    run.run(found.outcome)
    return found.budget.reason


def by_engine(node: Node) -> Worker | None:
    """The engine whose trees are given values."""
    engine = node.plan.engine or node.plan.warm_engine
    part = None if engine is None else value_part(node.question, engine)
    return None if engine is None or part is None else (engine.name, part[0].dropped)
