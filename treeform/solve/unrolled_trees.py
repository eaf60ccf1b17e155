"""Bounds and models of a diagram from trees: it unrolls to a tree of its depth, which costs no less than the best one.

The search for diagrams bounds them by trees as well, set by set. On a large table the tree search finds the bound of
the whole table long before; what is left between the best tree and the best diagram is the price of the widths.
"""

from __future__ import annotations

from treeform.engines import ConTree, Engine
from treeform.shape import UNIVARIATE, Diagram
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.engines import run_engine
from treeform.solve.ledger import Ledger
from treeform.solve.relaxation import Relaxation, relax

MOST_LAYERS = 4
"""A tree of more levels is rarely proved in the time that a bound is worth."""

LARGE = 10**6
"""Points times tests, from which on the bound is worth its time; smaller tables are searched within seconds."""


def bound_by_trees(engine: Engine, exact: Relaxation, ledger: Ledger, budget: Budget) -> None:
    """Let `engine` try first; what it leaves open gets the bound of the best tree, and models that fit the widths.

    Parameters
    ----------
    exact : Relaxation
        All of the ledger's question, for `engine`.
    """
    question = ledger.question
    shape = question.shape
    if not isinstance(shape, Diagram) or shape.splits != UNIVARIATE or shape.depth > MOST_LAYERS:
        return
    if question.data.points.n_points * question.data.n_tests < LARGE:
        return
    trees = relax(question, ConTree())
    if trees is None:
        return
    ledger.set_phase(engine.name)
    run_engine(engine, exact, ledger, schedule.BEFORE_TREES.of(budget))
    if not ledger.stop():
        ledger.set_phase(f"trees: {ConTree.name}")
        run_engine(ConTree(), trees, ledger, schedule.UNROLLED_TREES.of(budget))
