"""From settings to a problem, and from names to a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from treeform.catalogue.solvers import find_solver
from treeform.cli.foreign import names_model
from treeform.cli.spec import Settings, merge, read_spec, relocate
from treeform.cli.stored import read_model
from treeform.cli.table import split
from treeform.data import Dataset
from treeform.data.roles import TableOptions
from treeform.data.table_files import CsvForm, csv_form, read_table
from treeform.errors import SpecError, TreeformError
from treeform.language.losses import leaf_loss
from treeform.language.objective import Objective
from treeform.language.requirement_text import read
from treeform.problem import Problem
from treeform.shape import Shape
from treeform.solve import Budget
from treeform.solve.choice import alone, choose, on_threads
from treeform.solve.result import SolveOptions, distribution_of

DEFAULT_SHAPE = "tree:3"


def gather(spec: Path | None, given: Settings, require: Sequence[str]) -> Settings:
    """The settings of the spec file with those of the command line on top."""
    stored = Settings() if spec is None else read_spec(spec)  # first: it may import what --require names
    parsed = tuple((f"--require {text}", read(text)) for text in require)
    settings = merge(stored, given.model_copy(update={"requirements": parsed}))
    Budget(settings.time_limit)  # refuses limits that leave no time
    csv_form_of(settings)
    if settings.weight_grid is not None and settings.weight is None:
        raise SpecError(
            "--weight-grid has no effect without weights",
            cause="it is what the weights of --weight are rounded to",
            fix="add --weight COLUMN, or leave out --weight-grid",
        )
    for name, how in (("data", "as an argument"), ("target", "with --target")):
        if getattr(settings, name) is None:
            raise SpecError(
                f"no {name} is given",
                cause="there is nothing to learn from"
                if name == "data"
                else "no column is named as what is to be predicted",
                fix=f"give it {how}, or as `{name}` in a --spec file",
            )
    return settings


def csv_form_of(settings: Settings) -> CsvForm:
    """How the table is written, if it is CSV; see `CsvForm.of`."""
    return CsvForm.of(settings.sep, settings.decimal, settings.encoding)


def load_rows(settings: Settings, read: frozenset[str] | None = None, *, learnt: bool = False) -> Dataset:
    """Read the table, with the target, weights and choices about columns that the settings name.

    Where they exclude no column and ``read`` is given, the columns that it does not hold are excluded; ``learnt`` as
    for `split`.
    """
    X, y, weight = load_table(settings, learnt=learnt)
    options = TableOptions.of(
        settings.categorical,
        settings.missing or "value",
        settings.dates,
        settings.abstain,
        settings.weight_grid,
    )
    others = () if read is None else tuple(name for name in X.columns if name not in read)
    exclude = others if settings.exclude is None else settings.exclude
    return Dataset.from_user(X, y, weight, exclude=exclude, options=options, allow_quantities=True)


def load_table(
    settings: Settings, *, learnt: bool = False
) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    """Features, target and weights of the table that the settings name; ``learnt`` as for `split`."""
    assert settings.data is not None
    assert settings.target is not None
    with csv_form(csv_form_of(settings)):
        frame = read_table(settings.data)
    regression = settings.minimize is not None and leaf_loss(Objective.parse(settings.minimize)) is not None
    return split(
        frame,
        target=settings.target,
        weight=settings.weight,
        exclude=settings.exclude or (),
        source=settings.data,
        regression=regression,
        learnt=learnt,
    )


def load_problem(settings: Settings) -> Problem:
    """Read the data and state the problem; see `state`."""
    return state(load_rows(settings), settings)


def state(rows: Dataset, settings: Settings, shape: Shape | str | None = None) -> Problem:
    """The problem of the settings on these rows, with the shape that they name, or else with this one.

    An error of a requirement that does not fit the data has the place where it was written.
    """
    problem = Problem(rows, None, shape=settings.shape or shape or DEFAULT_SHAPE)
    if settings.minimize is not None:
        problem.minimize(settings.minimize)
    if settings.ccp_alpha is not None:
        from treeform.estimators.complexity import with_penalty  # loads scikit-learn

        problem.minimize(with_penalty(problem.question.objective, settings.ccp_alpha, problem.data))
    for place, requirement in settings.requirements:
        try:
            problem += requirement
        except TreeformError as error:
            if place.removeprefix("--require ") in error.what:  # it names the requirement already
                raise
            raise relocate(error, place) from error
    return problem


@dataclass(frozen=True)
class How:
    """Solver, formulation and warm start as `Problem.solve` takes them."""

    solver: Any
    formulation: Any
    warm_start: Any


def choose_how(problem: Problem, settings: Settings) -> How:
    """Turn names into what solves the problem, before anything long begins.

    Raises SpecError or SolverNotAvailable if a name is unknown, the solver is not installed, or the parts do not fit
    together.
    """
    solver = None if settings.solver is None else find_solver(settings.solver)
    warm = _warm_start(settings.warm_start, problem.data)
    distribution = distribution_of(settings.executor, settings.workers, settings.journal)
    options = SolveOptions(solver, settings.formulation, warm, distribution=distribution)
    choose(problem.question, options)
    if settings.threads is not None:
        options = on_threads(problem.question, options, settings.threads)
    solver = alone(problem.question, options) if settings.isolate else options.solver
    return How(solver, settings.formulation, warm)


def _warm_start(text: str | None, rows: Dataset) -> Any:
    if text is None:
        return "auto"
    if names_model(text):
        return read_model(Path(text), rows)
    return None if text == "none" else find_solver(text)
