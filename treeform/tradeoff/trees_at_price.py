"""Rows of a size table from the tree search at one price per test, which bounds all rows at once."""

from __future__ import annotations

import math
from fractions import Fraction

from treeform.engines import ConTree, EngineRun
from treeform.language.objective import Nodes
from treeform.solve.budget import Budget
from treeform.solve.relaxation import relax
from treeform.tradeoff.size_table import SizeBounds


def solve_trees_at_price(bounds: SizeBounds, each: Fraction, budget: Budget) -> None:
    """Solve "objective + each * tests" over trees and enter what follows for every number of tests.

    With the optimum v at this price, ``e(m) >= v - each * m``, where e(m) is the least value with at most m
    tests; v itself is the value of a known model, so that nothing more is needed for this price.

    Parameters
    ----------
    bounds : SizeBounds
        Of a question over trees with tests of one feature.
    each : Fraction
        In scaled units of its question.
    """
    question, engine = bounds.question, ConTree()
    price = each / question.scale
    at_price = question.with_(objective=question.objective + price * Nodes())
    relaxation = relax(at_price, engine)
    if relaxation is None:
        return
    best = bounds.best(each, 0)
    start = next(
        (g for u, g in zip(bounds.upper, bounds.graph, strict=True) if _value_at(u, g, each) == best), None
    )
    run = EngineRun(time_limit=budget.remaining, stop=budget.stop, start=start if relaxation.exact else None)
    outcome = engine.answer(question.data, relaxation.task, run)
    if outcome.graph is not None:
        bounds.submit(outcome.graph)
    by = engine.name
    if not relaxation.exact:
        by += f" (even without {', '.join(relaxation.dropped)})"
    proved = at_price.to_units(relaxation.lower(outcome.lower)) * question.scale
    for m in range(bounds.most + 1):
        bounds.raise_lower(m, math.ceil(proved - each * m), by)


def _value_at(upper: int | None, graph: object, each: Fraction) -> Fraction | None:
    tests = getattr(graph, "n_nodes", None)
    return None if upper is None or tests is None else upper + each * tests
