"""Rows of a size table from the tree search at one price per test, which bounds all rows at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from treeform.engines import ConTree, DeepTreeSearch, EngineRun
from treeform.engines.pruning import prunings
from treeform.engines.relaxation import relax
from treeform.graph import DecisionGraph
from treeform.language.size_terms import Nodes
from treeform.solve import schedule
from treeform.tradeoff.size_table import SizeBounds, best_at
from treeform.utils.budget import Budget


def close_price(
    bounds: SizeBounds, each: Fraction, free: int, budget: Budget, report: Callable[[str], None]
) -> None:
    """Solve trees at falling prices per test while rows that the price ``each`` needs are open.

    Trees have tests of one feature. The price is in scaled units of the question, and the first ``free`` tests have
    none. ``report`` is told what comes next.
    """
    last: Fraction | None = None
    while not budget.stop() and any(target is not None for target in bounds.targets(each, free)):
        asked = price_to_solve(bounds, each, free)
        if last is not None and asked >= last:
            return
        last = asked
        report(f"trees at price {float(asked / bounds.question.scale):.6g}")
        solve_trees_at_price(bounds, asked, schedule.TREES_AT_PRICE.of(budget))


def price_to_solve(bounds: SizeBounds, each: Fraction, free: int) -> Fraction:
    """The price at which the tree search proves what is open at the price ``each`` with ``free`` tests for nothing.

    With the optimum v(q) at a price q, ``e(k) >= v(q) - q k``. With p for ``each`` and U for the best known value,
    row k asks for ``e(k) >= t(k) = U - p max(0, k - free)``. Beyond the smallest open row j these fall by p with every
    test, so for any q <= p it is enough that ``v(q) >= t(j) + q j``. A model of i < j tests must not cost less than
    that: ``q <= (e(i) - t(j)) / (j - i)``. Where no test is free, that is p itself. With a free root the constant
    model, which saves no test, would hide all others at the price p.
    """
    first = next((m for m, target in enumerate(bounds.targets(each, free)) if target is not None), None)
    best = bounds.best(each, free)
    if first is None or best is None:
        return each
    target = best - each * max(0, first - free)
    below = [(lower, first - i) for i, lower in enumerate(bounds.lower[:first]) if lower is not None]
    price = min([each, *(Fraction(lower - target, tests) for lower, tests in below)])
    # A multiple of the unit of p: finer prices make larger costs, and slower scans.
    return Fraction(max(0, math.floor(price * each.denominator)), each.denominator)


def solve_trees_at_price(bounds: SizeBounds, each: Fraction, budget: Budget) -> None:
    """Solve "objective + each * tests" over trees and enter what follows for every number of tests.

    With the optimum v at this price, in scaled units, ``e(m) >= v - each * m``, where e(m) is the least value with at
    most m tests; v itself is the value of a known model, so that nothing more is needed for this price.
    """
    question, engine = bounds.question, ConTree()
    price = each / question.scale
    at_price = question.with_(objective=question.objective + price * Nodes()) if price else question
    relaxation = relax(at_price, engine)
    if relaxation is None:
        return
    best = best_at(bounds.rows, price, 0) if relaxation.exact else None
    run = EngineRun(budget, start=None if best is None else best[1])
    outcome = engine.answer(question.data, relaxation.task, run)
    if outcome.graph is not None:
        bounds.submit(outcome.graph)
    by = relaxation.named(engine.name)
    proved = at_price.to_units(relaxation.lower(outcome.lower)) * question.scale
    for m in range(bounds.most + 1):
        bounds.raise_lower(m, math.ceil(proved - each * m), by)


def enter_trees_of_each_depth(bounds: SizeBounds, budget: Budget) -> None:
    """Enter first trees of each depth, the best tree of any size and their prunings, before each size is searched."""
    question, engine = bounds.question, DeepTreeSearch.first_trees()
    for depth in range(1, question.shape.depth):
        relaxation = relax(question.with_(shape=question.shape.at_depth(depth)), engine)
        if relaxation is not None:
            part = budget.share(schedule.equal_part(budget.remaining, question.shape.depth - depth + 1))
            _enter_prunings(bounds, engine.run(question.data, relaxation.task, EngineRun(part)).graph)
    solve_trees_at_price(bounds, Fraction(0), budget)
    _enter_prunings(bounds, bounds.rows[-1].graph)


def _enter_prunings(bounds: SizeBounds, graph: DecisionGraph | None) -> None:
    for pruned in () if graph is None else prunings(bounds.question, graph):
        bounds.submit(pruned.make())
