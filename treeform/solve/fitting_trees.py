"""First models for a diagram under requirements: the best of the trees that fit its widths whatever their form."""

from __future__ import annotations

from dataclasses import replace

from treeform.engines import Engine, EngineRun
from treeform.engines.relaxation import Relaxation
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.shape import Shape
from treeform.solve.budget import Budget
from treeform.solve.engines import submit_repaired
from treeform.solve.ledger import Ledger


def most_that_fit(shape: Shape) -> int:
    """The most tests with which every tree of the depth fits the widths.

    A tree that does not has ``width + 1`` tests in a layer, half as many, rounded up, in the one above, and so on.
    """
    most = sum(shape.widths)
    for layer, width in enumerate(shape.widths):
        beyond = width + 1
        if beyond <= 2**layer:
            most = min(most, sum(-(-beyond // 2 ** (layer - level)) for level in range(layer + 1)) - 1)
    return most


def submit_fitting_trees(
    question: Question, engine: Engine, relaxation: Relaxation, ledger: Ledger, budget: Budget
) -> None:
    """Submit the best tree of so few tests that it fits the widths, and the trees found on the way to it.

    Parameters
    ----------
    engine, relaxation
        A search for trees, and what of the question it supports without the widths. Its bound is one for these trees
        only, and is not used.
    """
    most = most_that_fit(question.shape)
    allowed = relaxation.task.max_nodes
    if most >= 2**question.shape.depth - 1 or "max_nodes" not in engine.understands:
        return  # every tree of the depth fits, and the best of them is known; or tests cannot be counted
    task = replace(relaxation.task, max_nodes=most if allowed is None else min(most, allowed))

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None:
            submit_repaired(ledger, graph, by, budget)

    by = f"{engine.name}, trees that fit the widths"
    run = EngineRun(
        time_limit=budget.remaining,
        stop=lambda: budget.stop() or ledger.closed,
        on_incumbent=on_incumbent,
    )
    outcome = engine.run(question.data, task, run)
    if outcome.graph is not None:
        submit_repaired(ledger, outcome.graph, by, budget)
