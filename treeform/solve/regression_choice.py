"""Regression problems: which of them the native search solves, and which are stated to a solver."""

from __future__ import annotations

from typing import Any

from treeform.backends import Backend
from treeform.catalogue.formulations import find_formulation
from treeform.catalogue.solvers import find_solver
from treeform.engines import Engine, RegressionSearch
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.shape import UNIVARIATE, Tree
from treeform.solve.leaf_values.run import value_part
from treeform.solve.options import SolveOptions
from treeform.solve.regression_part import loss_of, part_of


def regression_engine(question: Question, options: SolveOptions) -> RegressionSearch | None:
    """The engine that solves a regression problem outright; None where a formulation is to be stated to a solver.

    Raises
    ------
    SpecError
        If what is named, the shape or a requirement cannot be taken.
    """
    objective = question.objective
    solver = None if options.solver is None else find_solver(options.solver)
    _refuse_warm_start(options.warm_start)
    _refuse_hyperplanes(question)
    if isinstance(solver, Engine) and not isinstance(solver, RegressionSearch):
        raise SpecError(
            f"{solver.name} cannot minimise {objective}",
            cause="it solves for classes",
            fix="leave out solver, or use tf.RegressionSearch()",
        )
    if isinstance(solver, RegressionSearch) and options.formulation is not None:
        _refuse_both(solver, options.formulation)
    native = isinstance(solver, RegressionSearch) or (solver is None and options.formulation is None)
    dropped = _not_supported(question) if native else ()
    if native and not dropped and (solver is not None or not _left_to_solvers(question)):
        return solver if isinstance(solver, RegressionSearch) else RegressionSearch()
    _refuse_rows(question, solver)
    if isinstance(solver, RegressionSearch):
        raise SpecError(
            f"{solver.name} cannot support {', '.join(dropped)}",
            cause="it searches trees, and bounds weights of leaves and tests, numbers of tests and columns, and leaves "
            "out columns",
            fix=f"leave out solver, or solve with tf.CPSAT() and warm_start={solver!r} for its bound and models",
        )
    return None


def _not_supported(question: Question) -> tuple[str, ...]:
    """What the native search does not see; it fits the values of trees to what is required of them."""
    values = value_part(question)
    return part_of(question).dropped if values is None else values[0].dropped


def _left_to_solvers(question: Question) -> bool:
    """Whether a solver goes on where the native search under requirements on values has not ended."""
    values = value_part(question)
    _, loss = loss_of(question.objective)
    return values is not None and not loss.is_squared and (values[1].whole or not values[1].rows)


def _refuse_rows(question: Question, solver: Backend | Engine | None) -> None:
    """Refuse a loss that the solver does not take, or values that no formulation states."""
    if not question.objective.is_squared:
        _refuse_free_values(question)
        return
    of_values = [str(one) for one in question.requirements if "value" in one.needs]
    if of_values:
        native = isinstance(question.shape, Tree)
        raise SpecError(
            f"{', '.join(of_values)} cannot be stated to a solver under {question.objective}",
            cause="the exact values of leaves are read back as means, and these are not means where values are bounded",
            fix="leave out solver and formulation, which solves it natively"
            if native
            else "minimise tf.AbsoluteError(), or use shape=tf.Tree(depth)",
        )
    if isinstance(solver, Backend) and not solver.capabilities.squares:
        raise SpecError(
            f"{solver.name} cannot minimise {question.objective}",
            cause="the value of a leaf is a mean, squares of distances from it are no linear rows, and this solver "
            "takes a linear objective",
            fix="use solver='scip' (--solver scip), which takes squares; or leave out solver and formulation: "
            "tf.RegressionSearch() solves trees natively; or minimise tf.AbsoluteError()",
        )


def _refuse_free_values(question: Question) -> None:
    values = value_part(question)
    if values is None or values[1].whole or not values[1].rows:
        return
    raise SpecError(
        "requirements on values cannot be stated to a solver here",
        cause="formulations have whole values at leaves, and whole=False allows all fractions",
        fix="leave out solver and formulation, or use whole=True, as in tf.MeanParity('sex', 5, whole=True)",
    )


def _refuse_both(solver: RegressionSearch, formulation: Any) -> None:
    name = find_formulation(formulation).name
    raise SpecError(
        f"{solver.name} takes no formulation",
        cause=f"it searches trees directly, and {name} is stated to a solver",
        fix=f"leave out formulation, or use {name} with tf.CPSAT() and warm_start={solver!r}",
    )


def _refuse_warm_start(given: Any) -> None:
    named = None if given in _NO_ENGINE or isinstance(given, DecisionGraph) else find_solver(given)
    fits = given.is_regression if isinstance(given, DecisionGraph) else True
    if fits and (named is None or isinstance(named, RegressionSearch)):
        return
    raise SpecError(
        "the warm start is none for a regression problem",
        cause="it predicts classes, or it is an engine for classes",
        fix="give a regression model or tf.RegressionSearch(), or leave it out",
    )


_NO_ENGINE = (None, False, "auto", "none")


def _refuse_hyperplanes(question: Question) -> None:
    if question.shape.splits == UNIVARIATE:
        return
    what = "trees" if isinstance(question.shape, Tree) else "diagrams"
    raise SpecError(
        f"{question.objective} cannot be minimised over {what} of hyperplanes",
        cause="the searches and rows for regression models are over tests of one column",
        fix="use splits='univariate'",
    )
