"""Stages that answer a question through other questions, each of which goes through the stages itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from treeform.engines import Engine
from treeform.engines.relaxation import relax
from treeform.errors import BREAKDOWNS, broke_down, is_breakdown
from treeform.language.question import Question
from treeform.objectives.soft import demanded
from treeform.shape import smaller_shapes
from treeform.solve import schedule
from treeform.solve.depth import DepthSearch
from treeform.solve.engines import usual_engine
from treeform.solve.in_parts import LEAST_DEPTH, search_in_parts
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node, Worker
from treeform.solve.part_ledger import InnerLedger, PartLedger
from treeform.utils.budget import Budget, Limit

Search = Callable[[Node], None]
"""All stages, for a step."""


def in_parts(search: Search) -> Callable[[Node, Budget], Limit | None]:
    """Minimise an objective that is no sum, through questions whose objectives are sums."""

    def run(node: Node, budget: Budget) -> Limit | None:
        def of_part(part: Question, claims: Ledger) -> Limit | None:
            assert isinstance(claims, PartLedger)
            engine = None if node.plan.engine is None else _able(node, node.plan.engine, part)
            plan = replace(node.plan, engine=engine, start=None, in_parts=False)
            step = node.step(claims, plan, claims.title)
            search(step)
            return claims.budget.reason or step.limit

        return budget.reason or search_in_parts(node.question, node.ledger, of_part)

    return run


def _able(node: Node, engine: Engine, part: Question) -> Engine:
    """The usual engine of the part, if it supports all of it; one that was named stays where it can."""
    relaxation = relax(part, engine)
    is_kept = node.options.solver is not None or node.plan.distribution is not None
    other = None if relaxation is None or (relaxation.exact and is_kept) else usual_engine(part)
    supported = None if other is None else relax(part, other)
    return engine if other is None or supported is None or not supported.exact else other


def is_paid_for(node: Node) -> bool:
    """Whether deep models that lack nothing of what they may pay for can be searched for, before a solver."""
    asked = demanded(node.question)
    return asked is not None and asked.objective.is_sum and asked.shape.depth >= LEAST_DEPTH


def as_demanded(search: Search) -> Callable[[Node, Budget], None]:
    """Models that lack nothing of what they may pay for, as where it is demanded; without a solver."""

    def run(node: Node, budget: Budget) -> None:
        asked, warm = demanded(node.question), node.plan.warm_engine
        assert asked is not None and warm is not None
        claims = InnerLedger(asked, node.ledger)
        claims.budget = budget
        engine = _able(node, warm, asked)
        part = relax(asked, engine)
        able = engine if part is not None and part.exact else None
        plan = replace(
            node.plan, engine=able, backend=None, formulation=None, warm_engine=None if able else warm, start=None
        )
        search(node.step(claims, plan, "all of it demanded", node.brief))

    return run


def by_demanded(node: Node) -> Worker | None:
    """Who does."""
    asked, warm = demanded(node.question), node.plan.warm_engine
    return None if asked is None or warm is None else (_able(node, warm, asked).name, ())


def depths(node: Node, budget: Budget) -> Limit | None:
    """The least depth: a question for each depth."""
    limit = DepthSearch(node, budget).run()
    return budget.reason or limit


def by_parts(node: Node) -> Worker | None:
    """Who answers the questions in between."""
    plan = node.plan
    names = [one.name for one in (plan.engine, plan.warm_engine, plan.backend) if one is not None]
    return ", then ".join(names), ()


def takes_smaller_shapes(node: Node) -> bool:
    """Under requirements and a time limit, where no engine supports all: such an engine tries smaller depths itself.

    Without a limit the solver goes on to the optimum, which no smaller shape beats. A restriction has other rows for
    another shape.
    """
    return (
        not node.brief
        and node.plan.engine is None
        and bool(node.question.requirements)
        and node.budget.remaining is not None
        and node.question.restriction is None
    )


def smaller(search: Search) -> Callable[[Node, Budget], None]:
    """The best models of the shapes of fewer layers, each from the one before."""

    def run(node: Node, budget: Budget) -> None:
        ledger = node.ledger
        best = ledger.graph
        for shape in smaller_shapes(node.question.shape):
            ledger.set_phase(f"{shape} first")
            claims = Ledger(node.question.with_(shape=shape), schedule.SMALLER_SHAPE.of(budget))
            claims.outer = ledger
            if best is not None:
                claims.submit(best, "the best model so far")
            try:
                search(node.step(claims, replace(node.plan, start=None), str(shape), brief=True))
            except BREAKDOWNS as error:
                if not is_breakdown(error):
                    raise
                ledger.note(f"the search of {shape} {broke_down(error)}")
            if claims.graph is not None:
                best = claims.graph
                ledger.submit(best, f"the best model of {shape}")
            if ledger.stop():
                return

    return run
