"""Proving a native engine's bound again, from what its certificate says about it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from treeform.catalogue.engines import find_engine
from treeform.engines import EngineRun, TreeTask
from treeform.errors import CertificateError
from treeform.language.question import Question
from treeform.shape import Tree
from treeform.solve.budget import Budget
from treeform.solve.depth import is_depth
from treeform.solve.depth_engine import refute_again
from treeform.solve.lagrangian import Lagrangian, rows_of
from treeform.solve.relaxation import Relaxation, relax


def prove_again(
    recheck: dict[str, Any], relaxation: list[str], question: Question, time_limit: float | None
) -> tuple[Fraction, bool]:
    """The bound that the engine proves now (in the user's units), and whether it ran to the end.

    Raises
    ------
    CertificateError
        If the task stated is no relaxation of the problem, so that its bound would prove nothing, or if it
        leaves out less than the claim's ``relaxation`` says.
    """
    budget = Budget(time_limit)
    if "refuted_depth" in recheck:
        return _depth_again(recheck, relaxation, question, budget)
    engine = find_engine(str(recheck["engine"]))
    own = relax(question, engine)
    told = _relaxation(recheck, own)
    if own is None or not _is_weaker(told, own):
        raise CertificateError(
            "the task stated for the bound is not a relaxation of the problem",
            cause=f"stated {told.task}, the problem gives {own.task if own else None}",
            fix="write the certificate again with result.certificate()",
        )
    priced = {str(label) for label, _ in recheck.get("multipliers", ())}
    if not set(relaxation) <= set(own.dropped) - priced:
        raise CertificateError("the claim names requirements that its proof does not leave out")
    if "multipliers" in recheck:
        rows = [row for row in rows_of(question, question.labels) if row.label in priced]
        point = tuple(Fraction(text) for _, text in recheck["multipliers"])
        if not point or len(rows) != len(point) or min(point) < 0:
            raise CertificateError("the multipliers do not fit the requirements")
        dual = Lagrangian(question, engine, told, rows)
        if not dual.within_range(list(point)):
            raise CertificateError("the multipliers are too large for exact arithmetic")
        bound, _, proved = dual.solve(point, budget)
        return question.to_units(math.ceil(bound)), proved
    run = EngineRun(time_limit=time_limit, stop=budget.stop, upper=None, start=None, on_incumbent=None)
    outcome = engine.run(question.data, told.task, run)
    return question.to_units(told.lower(outcome.lower)), outcome.proved


def _depth_again(
    recheck: dict[str, Any], relaxation: list[str], question: Question, budget: Budget
) -> tuple[Fraction, bool]:
    """What the depth is at least, once the engine refutes the depth that the claim is about."""
    if not is_depth(question.objective) or not isinstance(question.shape, Tree):
        raise CertificateError("a refuted depth bounds the depth only, and that is not the objective")
    rung, finished = refute_again(recheck, question, budget)
    if not rung.impossible:
        return Fraction(0), finished
    if not set(relaxation) <= set(rung.claims[-1].relaxation):
        raise CertificateError("the claim names requirements that its proof does not leave out")
    return question.objective.terms[0][0] * (int(recheck["refuted_depth"]) + 1), True


def _relaxation(recheck: dict[str, Any], own: Relaxation | None) -> Relaxation:
    """The task that a certificate states; totals are those of the problem, when they are named alike."""
    names = recheck.get("totals")
    totals = None if own is None or names is None else own.task.totals
    if names is not None and (totals is None or list(totals.names) != names):
        raise CertificateError("the totals stated for the bound are not those of the problem")
    features = recheck.get("max_features")
    cost = None if recheck["cost"] is None else np.asarray(recheck["cost"], dtype=np.int64)
    task = TreeTask(
        depth=recheck["depth"],
        cost=cost,
        node_penalty=recheck["node_penalty"],
        min_support=recheck["min_support"],
        max_nodes=recheck["max_nodes"],
        widths=None if recheck.get("widths") is None else tuple(map(int, recheck["widths"])),
        min_flow=int(recheck.get("min_flow", 0)),
        max_features=None if features is None else int(features),
        totals=totals,
    )
    return Relaxation(task, Fraction(recheck["factor"]), Fraction(recheck["offset"]), ())


def _is_weaker(told: Relaxation, own: Relaxation) -> bool:
    """Whether the stated task leaves out no more freedom, and charges no more, than the problem itself."""
    a, b = told.task, own.task
    if a.cost is None or b.cost is None:
        same_cost = a.cost is b.cost
    else:
        same_cost = np.array_equal(a.cost, b.cost)
    nodes = b.max_nodes is not None and a.max_nodes is not None and a.max_nodes >= b.max_nodes
    features = b.max_features is not None and a.max_features is not None and a.max_features >= b.max_features
    return bool(
        same_cost
        and told.factor == own.factor
        and told.offset == own.offset
        and a.depth >= b.depth
        and a.widths == b.widths
        and a.min_flow <= b.min_flow
        and 0 <= a.node_penalty <= b.node_penalty
        and a.min_support <= b.min_support
        and (a.max_nodes is None or nodes)
        and (a.max_features is None or features)
    )
