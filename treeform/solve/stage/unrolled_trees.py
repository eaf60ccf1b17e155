"""Bounds and models of a diagram from trees: it unrolls to a tree of its depth, which costs no less than the best one.

The search for diagrams bounds them by trees as well, set by set. On a large table the tree search finds the bound of
the whole table long before; what is left between the best tree and the best diagram is the price of the widths.
"""

from __future__ import annotations

from dataclasses import replace

from treeform.engines import ConTree, DeepTreeSearch, Engine, EngineRun
from treeform.engines.diagram_core import has_room
from treeform.engines.relaxation import Relaxation, relax
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.shape import Shape, Tree
from treeform.solve import schedule
from treeform.solve.engines import run_engine, submit_repaired, usual_engine
from treeform.solve.lagrangian import rows_of, tighten
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node, Worker
from treeform.utils.budget import Budget

MOST_LAYERS = 4
"""A tree of more levels is rarely proved in the time that is spared for a bound."""

LARGE = 10**6
"""Points times tests, from which on the bound is sought; smaller tables are searched within seconds."""

MANY_SETS = 3000
"""Tests for each column, from which on they take longer to list as sets of rows than first trees take."""


def is_large(node: Node) -> bool:
    """Whether an engine searches diagrams of a table so large that trees bound them sooner."""
    question, engine = node.question, node.plan.engine
    if engine is None or question.shape.depth > MOST_LAYERS:
        return False
    if not question.data.has_more_tests_than(LARGE // question.data.points.n_points) or not has_room(question.data):
        return False
    return relax(question, engine) is not None and relax(question, ConTree()) is not None


def begins_with_trees(node: Node) -> bool:
    """Whether the search for diagrams has no model soon, as it lists all tests, or some at a time, as sets of rows."""
    question, data = node.question, node.question.data
    lists_few = has_room(data) and not data.has_more_tests_than(MANY_SETS * data.n_features)
    if node.plan.engine is None or lists_few:
        return False
    return relax(question, node.plan.engine) is not None and relax(question, DeepTreeSearch()) is not None


def deep_trees(node: Node, budget: Budget) -> None:
    """Models from the search for deep trees: trees that fit the widths, and others pruned to them.

    The first of those pruned alone where all diagrams are searched next, which may soon be proved.
    """
    is_brief = has_room(node.question.data)
    engine = DeepTreeSearch.first_trees() if is_brief else DeepTreeSearch()
    trees = relax(node.question, engine)
    assert trees is not None
    node.ledger.set_phase(f"trees: {engine.name}")
    if not is_brief:
        submit_fitting_trees(node.question, engine, trees, node.ledger, schedule.TREES_THAT_FIT.of(budget))
    run_engine(engine, trees, node.ledger, budget)


def by_deep_trees(node: Node) -> Worker | None:
    """Who searches for trees before diagrams."""
    trees = relax(node.question, DeepTreeSearch())
    return None if trees is None else (DeepTreeSearch.name, trees.dropped)


def tried_first(node: Node, budget: Budget) -> None:
    """The search for diagrams, which mostly ends at once."""
    engine = node.plan.engine
    assert engine is not None
    exact = relax(node.question, engine)
    assert exact is not None
    node.ledger.set_phase(engine.name)
    run_engine(engine, exact, node.ledger, budget)


def bound_by_trees(node: Node, budget: Budget) -> None:
    """The best tree of the depth bounds all diagrams; where it fits the widths it is one."""
    trees = relax(node.question, ConTree())
    assert trees is not None
    node.ledger.set_phase(f"trees: {ConTree.name}")
    run_engine(ConTree(), trees, node.ledger, budget)


def by_trees(node: Node) -> Worker | None:
    """Who bounds diagrams by trees."""
    trees = relax(node.question, ConTree())
    return None if trees is None else (ConTree.name, trees.dropped)


def is_diagram_with_rest(node: Node) -> bool:
    """Whether an engine starts a solver on diagrams, and leaves a requirement out."""
    question, relaxation = node.question, node.warm_part
    if relaxation is None or not relaxation.dropped:
        return False
    trees = relax(question, _for_trees(node))
    return trees is not None and (trees.task.totals is not None or bool(rows_of(question, trees.dropped)))


def first_trees(node: Node, budget: Budget) -> None:
    """Models and bounds for a diagram from trees of its depth, where requirements are rows over predictions.

    A diagram unrolls to a tree, so trees bound it; and a tree that fits the widths, or is pruned to them, is a diagram.
    The best tree under these rows where a search for totals takes them; else their prices in the costs.
    """
    question, ledger, engine = node.question, node.ledger, _for_trees(node)
    relaxation = relax(question, engine)
    if relaxation is None:
        return
    ledger.set_phase(f"trees: {engine.name}")
    outcome = run_engine(engine, relaxation, ledger, budget)
    tighten(question, engine, relaxation, outcome, ledger, budget)
    if relaxation.task.totals is not None and not ledger.stop():
        submit_fitting_trees(question, engine, relaxation, ledger, budget)


def by_first_trees(node: Node) -> Worker | None:
    """Who searches the trees, and what it leaves out."""
    relaxation = relax(node.question, _for_trees(node))
    return None if relaxation is None else (_for_trees(node).name, relaxation.dropped)


def _for_trees(node: Node) -> Engine:
    return usual_engine(node.question, Tree(node.question.shape.depth)) or ConTree()


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

    ``engine`` and ``relaxation``: a search for trees, and what of the question it supports without the widths. Its
    bound is one for these trees only, and is not used.
    """
    most = most_that_fit(question.shape)
    allowed = relaxation.task.max_nodes
    if most >= 2**question.shape.depth - 1 or not relaxation.counts_tests:
        return  # every tree of the depth fits, and the best of them is known; or tests cannot be counted
    task = replace(relaxation.task, max_nodes=most if allowed is None else min(most, allowed))

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None:
            submit_repaired(ledger, graph, by, budget)

    by = f"{engine.name}, trees that fit the widths"
    run = EngineRun(budget.until(lambda: ledger.closed), on_incumbent=on_incumbent)
    outcome = engine.run(question.data, task, run)
    if outcome.graph is not None:
        submit_repaired(ledger, outcome.graph, by, budget)
