"""Rungs of the ladder from trees with priced tests: the tree search proves all rungs for one price at once."""

from __future__ import annotations

import math
from fractions import Fraction

from treeform.engines import ConTree, EngineRun
from treeform.language.objective import Nodes
from treeform.solve.budget import Budget
from treeform.solve.relaxation import relax
from treeform.tradeoff.sizes import Table


def price_trees(table: Table, each: Fraction, budget: Budget) -> None:
    """Solve "objective + each * tests" over trees and enter what follows for every number of tests.

    With the optimum v of the priced problem, ``e(m) >= v - each * m``, where e(m) is the least value with at most m
    tests; v itself is the value of a model in hand, so that nothing more is needed for this price.

    Parameters
    ----------
    table : Table
        Of a question over trees with tests of one feature.
    each : Fraction
        In scaled units of the table's question.
    """
    question, engine = table.question, ConTree()
    price = each / question.scale
    priced = question.with_(objective=question.objective + price * Nodes())
    relaxation = relax(priced, engine)
    if relaxation is None:
        return
    best = table.best(each, 0)
    start = next(
        (g for u, g in zip(table.upper, table.graph, strict=True) if _worth(u, g, each) == best), None
    )
    run = EngineRun(time_limit=budget.remaining, stop=budget.stop, start=start if relaxation.exact else None)
    outcome = engine.run(question.data, relaxation.task, run)
    if outcome.graph is not None:
        table.offer(outcome.graph)
    by = engine.name
    if not relaxation.exact:
        by += f" (even without {', '.join(relaxation.dropped)})"
    proved = priced.to_units(relaxation.lower(outcome.lower)) * question.scale
    for m in range(table.most + 1):
        table.raise_lower(m, math.ceil(proved - each * m), by)


def _worth(upper: int | None, graph: object, each: Fraction) -> Fraction | None:
    tests = getattr(graph, "n_nodes", None)
    return None if upper is None or tests is None else upper + each * tests
