"""Diagrams under rows over predictions: what the Lagrangian bound leaves open is searched through.

The multipliers of the best Lagrangian bound price the rows into the costs. A diagram that satisfies the rows and costs
less than a guess has at most a known reduced cost, and few diagrams have: the native search goes through them with
their totals. A guess that is refuted is a lower bound; the model of a completed search is optimal. The
guess begins just above the bound and its distance doubles, as in the search for trees with totals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from treeform.engines import DiagramSearch
from treeform.engines.diagram_rows import cheapest_within
from treeform.language.question import Question
from treeform.shape import Diagram
from treeform.solve.budget import Budget
from treeform.solve.lagrangian import Lagrangian
from treeform.solve.ledger import Ledger

BY = "diagram-search with totals"


def search_within_gap(
    question: Question, dual: Lagrangian, point: list[Fraction], ledger: Ledger, budget: Budget
) -> None:
    """Raise the lower bound, guess by guess, until it meets a model or the time is over.

    Parameters
    ----------
    dual : Lagrangian
        Of `DiagramSearch`. Every requirement that it leaves out has rows.
    point : list of Fraction
        A multiplier for each row.
    """
    task, shape = dual.relaxation.task, question.shape
    if (
        not isinstance(shape, Diagram)
        or task.node_penalty
        or task.min_support
        or task.min_flow
        or dual.ignored
    ):
        return
    rows = dual.priced_rows(point)
    if rows is None or not dual.relaxation.factor > 0:
        return
    relaxation = dual.relaxation
    ledger.set_phase(BY)
    step = 1
    while not (ledger.stop() or budget.stop()):
        low = relaxation.at_least(math.ceil(ledger.lower or 0))
        guess = low + step
        if ledger.cutoff is not None:
            guess = min(guess, relaxation.upper(ledger.cutoff))
        cost, graph, complete = cheapest_within(
            question.data, shape.widths, task.max_nodes, rows, guess,
            time_limit=budget.remaining, stop=lambda: budget.stop() or ledger.closed,
        )  # fmt: skip
        if graph is not None:
            ledger.submit(graph, BY)
        if not complete:
            return
        proved = relaxation.lower(guess if cost is None else cost)
        ledger.prove_lower(proved, BY, recheck=_recheck(point))
        if cost is not None:
            return
        step *= 2


def _recheck(point: list[Fraction]) -> dict[str, Any]:
    """The witness of the bound: the multipliers of the rows, and the price of a unit of cost beside them."""
    unit = math.lcm(*(m.denominator for m in point))
    witness = {"multipliers": [int(m * unit) for m in point], "unit": unit}
    return {"kind": "engine", "engine": DiagramSearch.name, "witness": witness}
