"""The searches over all tests of a table on more tests than they are chosen for: first models, and often the proof."""

from __future__ import annotations

from treeform.engines import Engine, PathSearch, TotalsSearch, totals
from treeform.engines.paths import engine as paths
from treeform.graph import DecisionGraph, structure
from treeform.language.question import Question
from treeform.requirements import Fix
from treeform.shape import Tree
from treeform.solve import schedule
from treeform.solve.relaxation import relax

COUNTED_DEPTH = 2
"""Trees of this depth are counted from all pairs of tests at once."""


def search_over_tests(question: Question) -> Engine | None:
    """The search over all tests of a table that supports all of a question on trees; None where neither does."""
    if not isinstance(question.shape, Tree) or not question.objective.is_sum:
        return None
    judges = {TotalsSearch(): totals.reason_against, PathSearch(): paths.reason_against}
    for engine, reason_against in judges.items():
        relaxation = relax(question, engine)
        if (
            relaxation is not None
            and relaxation.exact
            and reason_against(question.data, relaxation.task) is None
        ):
            return engine
    return None


def its_share(question: Question) -> schedule.Share:
    """The time that it has before a solver starts."""
    counted = _free_depth(question) <= COUNTED_DEPTH
    return schedule.COUNTED_PAIRS if counted else schedule.SEARCH_OVER_TESTS


def _free_depth(question: Question) -> int:
    """Layers below the upper part that is given, at its least deep leaf."""
    given = [_least_deep_leaf(r.graph) for r in question.requirements if isinstance(r, Fix)]
    return len(question.shape.widths) - max(given, default=0)


def _least_deep_leaf(graph: DecisionGraph) -> int:
    return int(structure.levels(graph.feature, graph.left, graph.right)[graph.feature < 0].min())
