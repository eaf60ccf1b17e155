"""Deep trees beside a proof under requirements that the search for deep trees does not support."""

from __future__ import annotations

from treeform.engines import DeepTreeSearch
from treeform.engines.relaxation import relax
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.deep_trees import LEAST_DEPTH, DeepTrees
from treeform.solve.engines import FEW_TESTS
from treeform.solve.node import Node, Worker


def is_proved_beside(node: Node) -> bool:
    """Whether the plan's engine proves, and another search finds deep trees for it."""
    engine, question = node.plan.engine, node.question
    deep = question.shape.own_leaves and question.shape.depth >= LEAST_DEPTH
    if engine is None or node.plan.distribution is not None or not deep:
        return False
    relaxation = relax(question, DeepTreeSearch())
    return relaxation is not None and not relaxation.exact  # else the engine's own search may be this one


def has_many_tests(node: Node) -> bool:
    """Whether the proof on this table has no good trees soon."""
    return node.question.data.has_more_tests_than(FEW_TESTS)


def first_deep_trees(node: Node, budget: Budget) -> None:
    """Trees at several prices of what is required, before the proof."""
    _search_of(node).first(budget)


def longer_search(node: Node, budget: Budget) -> None:
    """What the proof left of a limited run: longer and longer searches, and small subtrees by the engine."""
    assert node.plan.engine is not None
    search = _search_of(node)
    search.first(schedule.FIRST_DEEP_TREES.of(budget))
    search.improve(node.plan.engine, budget)


def by_deep_trees(node: Node) -> Worker | None:
    """Who searches for deep trees."""
    relaxation = relax(node.question, DeepTreeSearch())
    return None if relaxation is None else (DeepTreeSearch.name, relaxation.dropped)


def _search_of(node: Node) -> DeepTrees:
    if node.deep is None:
        relaxation = relax(node.question, DeepTreeSearch())
        assert relaxation is not None
        node.deep = DeepTrees(node.question, relaxation, node.ledger)
    return node.deep
