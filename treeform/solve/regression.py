"""Regression problems: what is asked of the native search, and what its answer proves.

Values of models are fractions. The search discards by doubles that are rounded safely and compares near-ties exactly;
what it finds is evaluated again here, so that no figure of it is copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.catalogue.formulations import find_formulation
from treeform.catalogue.solvers import find_solver
from treeform.engines import Engine, EngineRun, RegressionSearch, RegressionTask
from treeform.engines.regression import BOUND_UNIT
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.limits import Limits
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.objectives import AbsoluteError, SquaredError
from treeform.shape import UNIVARIATE, Tree
from treeform.solve.budget import Budget
from treeform.solve.engines import recheck_of
from treeform.solve.ledger import Ledger
from treeform.solve.options import SolveOptions
from treeform.solve.result import Limit
from treeform.solve.verification import Verified

if TYPE_CHECKING:
    from treeform.shape import Shape

Loss = SquaredError | AbsoluteError


def loss_of(objective: Objective) -> tuple[Fraction, Loss]:
    """The loss of a regression problem, and its coefficient."""
    return next((weight, term) for weight, term in objective.terms if isinstance(term, Loss))


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
                fix="leave it out; MinSupport, Stability, MaxNodes, FeatureBudget and NoTestOn bound regression models",
            )


def regression_engine(question: Question, options: SolveOptions) -> RegressionSearch:
    """The engine for a regression problem.

    Raises
    ------
    SpecError
        If a solver, formulation, shape or requirement is named that cannot take it.
    """
    objective, fix = question.objective, "leave out solver and formulation, or use tf.RegressionSearch()"
    _, loss = loss_of(objective)
    solver = None if options.solver is None else find_solver(options.solver)
    if options.formulation is not None:
        name = find_formulation(options.formulation).name
        raise SpecError(f"{name} cannot state {objective}", cause=loss.why_not_stated, fix=fix)
    if solver is not None and not isinstance(solver, RegressionSearch):
        cause = "it solves for classes" if isinstance(solver, Engine) else loss.why_not_stated
        raise SpecError(f"{solver.name} cannot minimise {objective}", cause=cause, fix=fix)
    _refuse_warm_start(options.warm_start)
    _refuse_shape(question.shape, objective)
    task_of(question)
    return RegressionSearch() if solver is None else solver


def _refuse_warm_start(given: Any) -> None:
    if (
        given in (None, False, "auto", "none")
        if not isinstance(given, DecisionGraph)
        else given.is_regression
    ):
        return
    raise SpecError(
        "the warm start is none for a regression problem",
        cause="it predicts classes, or it is an engine for classes",
        fix="give a regression model, or leave it out: the search begins with a tree grown from the top",
    )


def _refuse_shape(shape: Shape, objective: Objective) -> None:
    if isinstance(shape, Tree) and shape.splits == UNIVARIATE:
        return
    what = "hyperplanes" if isinstance(shape, Tree) else "diagrams"
    raise SpecError(
        f"{objective} cannot be minimised over {what}",
        cause="the search for regression models is over trees with tests of one column",
        fix="use shape=tf.Tree(depth)",
    )


def task_of(question: Question) -> RegressionTask:
    """What the engine is asked.

    Raises
    ------
    SpecError
        If a requirement is beyond what it honours.
    """
    limits, forbidden = Limits(), np.zeros(question.data.n_features, dtype=bool)
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        stated_limits = requirement.limits(question.data)
        sets = requirement.allowed_features(question.data)
        if sets is not None and len(sets) == 1:
            forbidden[[f for f in range(len(forbidden)) if f not in sets[0]]] = True
        elif stated_limits is not None and stated_limits.names <= RegressionSearch.understands:
            limits = limits.tighten(stated_limits)
        else:
            raise SpecError(
                f"{RegressionSearch.name} cannot honour {label}",
                cause="it bounds weights of leaves and tests, numbers of tests and columns, and leaves out columns",
                fix="use MinSupport, Stability, MaxNodes, FeatureBudget or NoTestOn",
            )
    weight, loss = loss_of(question.objective)
    price = sum((w for w, term in question.objective.terms if not term.of_values), Fraction(0))
    data = question.data
    return RegressionTask(
        depth=question.shape.depth
        if limits.max_depth is None
        else min(question.shape.depth, limits.max_depth),
        min_flow=limits.min_flow,
        max_features=limits.max_features,
        min_support=limits.min_support,
        max_nodes=limits.max_nodes,
        loss=loss.kind,
        price=price / (weight * loss.per_unit(data)),
        best_value=lambda rows: loss.best_value(data, rows),
        best_loss=lambda rows: loss.of_best(data, rows),
        columns=np.flatnonzero(~forbidden),
    )


def _scaled(question: Question, lower: int) -> Fraction:
    """A bound of the engine as the ledger counts; each leaf beyond the tests of a tree costs its price."""
    weight, loss = loss_of(question.objective)
    leaves = sum((w for w, term in question.objective.terms if term.name == "leaves"), Fraction(0))
    return (lower * BOUND_UNIT * weight * loss.per_unit(question.data) + leaves) * question.scale


def best_constant(question: Question) -> DecisionGraph:
    """The best model without a test."""
    _, loss = loss_of(question.objective)
    return DecisionGraph.constant(
        loss.best_value(question.data, np.arange(question.data.n_samples)), question.data
    )


def run_regression(
    question: Question, engine: RegressionSearch, ledger: Ledger, budget: Budget
) -> Limit | None:
    """Run the engine, and enter its trees and bounds in the ledger."""
    ledger.set_phase(engine.name)
    judged: dict[int, tuple[DecisionGraph, Verified]] = {}  # with the graph, so that no other has its id

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None:
            judged[id(graph)] = graph, ledger.submit(graph, engine.name)
        ledger.prove_lower(_scaled(question, lower), engine.name)

    run = EngineRun(
        time_limit=budget.remaining,
        stop=lambda: budget.stop() or ledger.closed,
        on_incumbent=on_incumbent,
    )
    ledger.runners.append(engine.name)
    outcome = engine.run(question.data, task_of(question), run)
    recheck = recheck_of(engine)
    lower: int | Fraction = _scaled(question, outcome.lower)
    if outcome.graph is not None:
        # Judged alone: a better model from elsewhere would contradict the claim, and must not be taken for it.
        _, verified = judged.get(id(outcome.graph)) or (None, ledger.submit(outcome.graph, engine.name))
        if outcome.proved:
            lower = verified.value
    elif outcome.proved:
        ledger.prove_infeasible(engine.name, (), recheck)
        return None
    ledger.prove_lower(lower, engine.name, (), recheck, outcome.counters)
    return budget.reason or (Limit.MEMORY if outcome.reason == "memory" else None)


def refuse_regression(question: Question, what: str) -> None:
    """Raise where ``what`` is asked of a regression problem.

    Raises
    ------
    SpecError
    """
    if question.objective.is_regression:
        raise SpecError(
            f"{what} cannot be had under {question.objective}",
            cause="it is made from counts of misclassified samples",
            fix="solve for single prices or bounds, such as squared_error + 2*nodes, or tf.MaxNodes(5)",
        )
