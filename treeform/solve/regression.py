"""Regression problems: what is asked of the native search, and what its answer proves.

Values of models are fractions. The search discards by doubles that are rounded safely and compares near-ties exactly;
what it finds is evaluated again here, so that no figure of it is copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from treeform.engines import EngineRun, RegressionSearch
from treeform.engines.regression import BOUND_UNIT
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.shape import Tree
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.engines import recheck_of
from treeform.solve.fitting_trees import most_that_fit
from treeform.solve.leaf_values.run import ValueRun, value_part
from treeform.solve.ledger import Ledger
from treeform.solve.regression_part import RegressionPart, loss_of, part_of
from treeform.solve.result import Limit
from treeform.solve.verification import Verified


def check_regression(objective: Objective, requirements: Iterable[Requirement]) -> None:
    """Refuse requirements that read classes where the model predicts values.

    Raises
    ------
    SpecError
        Naming the requirement.
    """
    if not objective.is_regression:
        return
    for requirement in requirements:
        if not requirement.of_values:
            raise SpecError(
                f"{requirement} cannot be required under {objective}",
                cause="it speaks of predicted classes, and the leaves of a regression model hold values",
                fix="leave it out; MinSupport, Stability, MaxNodes, FeatureBudget and NoTestOn bound regression "
                "models, Monotone and MeanParity their values",
            )


def whole_values(objective: Objective) -> bool:
    """Whether the best values of leaves are whole multiples of the target's unit."""
    return any(term.has_whole_values for _, term in objective.terms)


def best_constant(question: Question) -> DecisionGraph:
    """The best model without a test."""
    _, loss = loss_of(question.objective)
    return DecisionGraph.constant(
        loss.best_value(question.data, np.arange(question.data.n_samples)), question.data
    )


def run_regression(
    question: Question, engine: RegressionSearch, ledger: Ledger, budget: Budget
) -> Limit | None:
    """Run the engine on its part of the question, and enter its trees and bounds in the ledger."""
    ledger.set_phase(engine.name)
    part = part_of(question)
    judged: dict[int, tuple[DecisionGraph, Verified]] = {}  # with the graph, so that no other has its id

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None:
            judged[id(graph)] = graph, ledger.submit(graph, engine.name)
        ledger.prove_lower(_scaled(part, lower), engine.name, part.dropped)

    values = _values(question, engine, ledger, budget)
    own = budget if values is None else schedule.WITHOUT_VALUES.of(budget)
    run = EngineRun(
        time_limit=own.remaining,
        stop=lambda: own.stop() or ledger.closed,
        start=ledger.graph,
        on_incumbent=on_incumbent,
    )
    ledger.runners.append(engine.name)
    outcome = engine.run(question.data, part.task, run)
    ledger.notes += outcome.notes
    recheck = recheck_of(engine)
    lower: int | Fraction = _scaled(part, outcome.lower)
    if outcome.graph is not None:
        # Judged alone: a better model from elsewhere would contradict the claim, and must not be taken for it.
        _, verified = judged.get(id(outcome.graph)) or (None, ledger.submit(outcome.graph, engine.name))
        if outcome.proved and not part.dropped:
            lower = verified.value
        elif outcome.proved:
            lower = part.question.objective.evaluate(outcome.graph, question.data) * question.scale
    elif outcome.proved:
        ledger.prove_infeasible(engine.name, part.dropped, recheck)
        return None
    ledger.prove_lower(lower, engine.name, part.dropped, recheck, outcome.counters)
    if not isinstance(question.shape, Tree) and not ledger.stop():
        _submit_fitting_tree(question, part, engine, ledger, own)
    if values is not None:
        values.repaired(best_constant(question))
        if outcome.graph is not None:
            values.repaired(outcome.graph)
        values.search(recheck)
    return budget.reason or (Limit.MEMORY if outcome.reason == "memory" else None)


def _submit_fitting_tree(
    question: Question, part: RegressionPart, engine: RegressionSearch, ledger: Ledger, budget: Budget
) -> None:
    """A first model for a diagram: the best tree of so few tests that it fits the widths whatever its form.

    Its bound is one for these trees only, and is not used.
    """
    most, allowed = most_that_fit(question.shape), part.task.max_nodes
    if most >= 2**question.shape.depth - 1:
        return  # every tree of the depth fits, and the best of them is known
    task = replace(part.task, max_nodes=most if allowed is None else min(most, allowed))
    run = EngineRun(time_limit=budget.remaining, stop=lambda: budget.stop() or ledger.closed)
    outcome = engine.run(question.data, task, run)
    if outcome.graph is not None:
        ledger.submit(outcome.graph, f"{engine.name}, trees that fit the widths")


def _values(question: Question, engine: RegressionSearch, ledger: Ledger, budget: Budget) -> ValueRun | None:
    """What is done about requirements on values, where there are any."""
    found = None if question.restriction is not None else value_part(question)
    return None if found is None else ValueRun(question, *found, engine, ledger, budget)


def _scaled(part: RegressionPart, lower: int) -> Fraction:
    """A bound of the engine as the ledger counts."""
    unit, constant = part.worth
    return lower * BOUND_UNIT * unit + constant


def refuse_regression(question: Question, what: str) -> None:
    """Raise where ``what`` is asked of a regression problem.

    Raises
    ------
    SpecError
    """
    if question.objective.is_regression:
        raise SpecError(
            f"{what} cannot be had under {question.objective}",
            cause="models are listed by counts of misclassified samples",
            fix="problem.pareto(), problem.frontier(over=...) and result.prices() take regression problems",
        )
