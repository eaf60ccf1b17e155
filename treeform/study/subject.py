"""What a study runs: a problem or an estimator, with the settings of one run."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.roles import in_row_order, row_labels
from treeform.errors import SpecError, TreeformError, did_you_mean
from treeform.graph import DecisionGraph
from treeform.language.component import parameters_of
from treeform.language.losses import leaf_loss
from treeform.language.named import held_or_paid, named, with_parameters
from treeform.language.numbers import as_fraction
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.language.size_terms import Nodes
from treeform.objectives.regression import SquaredError
from treeform.problem import Problem
from treeform.requirements.groups import Groups
from treeform.result import Result
from treeform.solve import solve
from treeform.solve.choice import choose, refuse_restriction
from treeform.solve.result import SolveOptions
from treeform.solve.verification import verify
from treeform.study.neighbours import Neighbour, best_models, bounds_from
from treeform.study.runs import Fold
from treeform.tradeoff.size_table import price_of_alpha
from treeform.utils.arrays import Ints

OF_PROBLEM = ("shape", "minimize", "price", "alpha", "rows", "solver", "formulation", "requirements")
"""Settings of a problem; others are ``REQUIREMENT__PARAMETER``."""


@dataclass(frozen=True)
class Answer:
    """One run's result, with what its model does on the rows held out."""

    result: Result
    test_error: float | None
    violations: dict[str, float | None]
    neighbour: Neighbour | None = None
    """What other runs on the same rows can learn from it."""


@dataclass(frozen=True)
class Run:
    """One combination of settings on one fold."""

    number: int
    settings: Mapping[str, Any]
    fold: Fold
    key: str


class Subject(ABC):
    """What is run with each combination of settings."""

    @property
    @abstractmethod
    def labels(self) -> NDArray[Any]:
        """(n,) the labels of all rows, for drawing folds; quantities where it is a regression problem."""

    @property
    @abstractmethod
    def has_classes(self) -> bool:
        """Whether the labels are classes: folds have a share of each, and errors are shares of the rows."""

    @abstractmethod
    def check(self, settings: Mapping[str, Any], fold: Fold) -> None:
        """Refuse settings that have no meaning, before anything long begins."""

    @abstractmethod
    def run(self, one: Run, known: Sequence[Neighbour], time_limit: float | None) -> Answer:
        """Solve a run; ``known`` are neighbours on the same rows that have ended."""

    @abstractmethod
    def identity(self) -> str:
        """Text that differs where answers may differ."""

    def chain(self, settings: Mapping[str, Any]) -> tuple[Any, ...]:
        """Runs with equal values are solved one after the other, and learn from each other."""
        return tuple(str(settings.get(name)) for name in ("rows", "solver", "formulation", "minimize"))


class ProblemSubject(Subject):
    """A problem; requirements and objectives are bound anew to the rows of each fold."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._last: tuple[Fold, Dataset] | None = None  # the rows of the last run are often those of the next

    @property
    def labels(self) -> NDArray[Any]:
        return _targets(self.problem.data)

    @property
    def has_classes(self) -> bool:
        return self.problem.data.quantity is None

    def identity(self) -> str:
        stated = [requirement.to_json() for requirement in self.problem.requirements]
        what = [self.problem.data.digest, str(self.problem.shape), str(self.problem.objective), stated]
        return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()

    def check(self, settings: Mapping[str, Any], fold: Fold) -> None:
        known = [f"{name}__{key}" for name, r in self._named(settings).items() for key in parameters_of(r)]
        for name in settings:
            if name not in OF_PROBLEM and name not in known:
                raise SpecError(
                    f"the grid has the unknown setting {name!r}",
                    cause=f"settings are {', '.join((*OF_PROBLEM, *known))}",
                    fix=did_you_mean(name, (*OF_PROBLEM, *known)) or "use one of these",
                )
        if "price" in settings and "alpha" in settings:
            raise SpecError(
                "the grid has both price and alpha",
                cause="alpha is another way to state the price of a test: the price is alpha * weight / (tests - 1)",
                fix="give one of them",
            )
        stated = self.stated(settings, self.problem.data)
        if fold.train is not None or "rows" in settings:
            _refuse_arrays(stated.requirements)
        options = SolveOptions(settings.get("solver"), settings.get("formulation"))
        refuse_restriction(stated.question, options, "a sweep")
        choose(stated.question, options)

    def stated(self, settings: Mapping[str, Any], data: Dataset) -> Problem:
        """The problem with the settings of one run, on these rows."""
        problem = Problem(data, None, shape=settings.get("shape", self.problem.shape))
        objective = settings.get("minimize", str(self.problem.objective))
        if data is self.problem.data and "minimize" not in settings:
            objective = self.problem.objective
        problem.minimize(objective)  # of a classifier until then, which refuses rows with quantities
        if price := self._price(settings, problem.question):
            problem.minimize(Objective.of(objective) + price * Nodes())
        changes = {name: value for name, value in settings.items() if name not in OF_PROBLEM}
        try:
            requirements = with_parameters(self._named(settings), changes)
        except ValueError as error:
            raise SpecError(str(error)) from error
        return problem.add(list(requirements.values()))

    def run(self, one: Run, known: Sequence[Neighbour], time_limit: float | None) -> Answer:
        number, settings, fold = one.number, one.settings, one.fold
        problem = self.stated(settings, self._train(fold))
        question, base = problem.question, str(settings.get("minimize", self.problem.objective))
        price = self._price(settings, question)
        bounds = bounds_from(known, question, base, price)[-1:]
        options = SolveOptions(
            settings.get("solver"), settings.get("formulation"), time_limit=time_limit, bounds=tuple(bounds)
        )
        start = _start(question, options, best_models(known, base, price))
        result = Result.of(solve(question, replace(options, warm_start=start)))
        objective, bound = (
            None if value is None else Fraction(value) for value in (result.objective, result.bound)
        )
        neighbour = Neighbour(number, question, base, price, result.graph, objective, bound)
        if fold.test is None or result.graph is None:
            return Answer(result, None, {}, neighbour)
        return replace(_held_out(problem, result, self.problem.data, fold.test), neighbour=neighbour)

    def _price(self, settings: Mapping[str, Any], question: Question) -> Fraction:
        """Of a test, in units of the objective."""
        if settings.get("alpha"):
            return price_of_alpha(question, str(settings["alpha"]))
        return as_fraction(settings.get("price") or 0, "the price of a test")

    def _train(self, fold: Fold) -> Dataset:
        if fold.train is None:
            return self.problem.data
        if self._last is None or self._last[0] is not fold:
            self._last = (fold, _rows(self.problem.data, fold.train))
        return self._last[1]

    def _named(self, settings: Mapping[str, Any]) -> dict[str, Requirement]:
        """The problem's requirements and those of the run.

        Raises SpecError if one of the run has a price: what other runs prove is about the objective without it.
        """
        more = held_or_paid(settings.get("requirements") or ())
        for one in more:
            if not isinstance(one, Requirement):
                raise SpecError(f"{one} stands in the objective", fix="put it into the setting 'minimize'")
        return named([*self.problem.requirements, *more])


def _refuse_arrays(requirements: Iterable[Requirement]) -> None:
    for requirement in requirements:
        for key, value in parameters_of(requirement).items():
            if isinstance(value, Groups | np.ndarray):
                raise SpecError(
                    f"{requirement.name} names its {key} by an array",
                    cause="a fold has some of the rows only",
                    fix="name a column of the table; exclude it, so that no test reads it",
                )


class EstimatorSubject(Subject):
    """An estimator of treeform's; settings are those of ``set_params``."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        if X is None or y is None:
            raise SpecError("an estimator needs X and y", fix="use tf.sweep(estimator, grid, X, y)")
        self.estimator, self.X = estimator, X
        self.y = np.asarray(in_row_order(y, row_labels(X), "the target", "y"))

    @property
    def labels(self) -> NDArray[Any]:
        return self.y

    @property
    def has_classes(self) -> bool:
        from sklearn.base import is_regressor

        return not is_regressor(self.estimator)

    def identity(self) -> str:
        from joblib import hash as joblib_hash

        return f"{self.estimator!r} {joblib_hash((self.X, self.y))}"

    def chain(self, settings: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(map(str, settings.items()))

    def check(self, settings: Mapping[str, Any], fold: Fold) -> None:
        from sklearn.base import clone

        try:
            clone(self.estimator).set_params(**settings)
        except ValueError as error:
            raise SpecError(f"the grid does not fit the estimator: {str(error).splitlines()[0]}") from error

    def run(self, one: Run, known: Sequence[Neighbour], time_limit: float | None) -> Answer:
        from sklearn.base import clone
        from sklearn.utils import _safe_indexing

        fold, estimator = one.fold, clone(self.estimator).set_params(**one.settings)
        if time_limit is not None:
            estimator.set_params(time_limit=time_limit)
        train = np.arange(len(self.y)) if fold.train is None else fold.train
        estimator.fit(_safe_indexing(self.X, train), self.y[train])
        result = estimator.result_
        if fold.test is None:
            return Answer(result, None, {})
        predicted, targets = estimator.predict(_safe_indexing(self.X, fold.test)), self.y[fold.test]
        if self.has_classes:
            return Answer(result, float(np.mean(predicted != targets)), {})
        distance = np.abs(predicted - targets)
        squared = estimator.loss == SquaredError.name
        return Answer(result, float(np.mean(distance**2 if squared else distance)), {})


def subject_of(what: Any, X: Any, y: Any) -> Subject:
    """A problem or an estimator. Raises SpecError if it is neither, or rows are given twice."""
    if isinstance(what, Problem):
        if X is not None or y is not None:
            raise SpecError("a problem has its rows already", fix="leave X and y out")
        return ProblemSubject(what)
    if hasattr(what, "fit") and hasattr(what, "set_params"):
        return EstimatorSubject(what, X, y)
    raise SpecError(
        f"{type(what).__name__} cannot be swept",
        cause="a study runs a problem or an estimator",
        fix="use tf.sweep(problem, grid), or tf.sweep(tf.OptimalTreeClassifier(), grid, X, y)",
    )


def _rows(data: Dataset, rows: Ints) -> Dataset:
    """Some of the rows as a data set of its own, read as the whole was."""
    X, y, weights = _table(data, rows)
    names = None if data.frame is not None else data.table.names
    return Dataset.from_user(
        X,
        y,
        weights,
        feature_names=names,
        exclude=data.exclude,
        options=data.options,
        allow_quantities=data.quantity is not None,
    )


def _table(data: Dataset, rows: Ints) -> tuple[Any, NDArray[Any], Any]:
    """Columns, labels and weights of some rows."""
    if data.frame is not None:
        X: Any = data.frame.iloc[data.kept_rows[rows]]
    else:
        X = np.column_stack([data.column(name)[rows] for name in data.table.names])
    weights: Any = data.weights[rows]
    if data.weight_unit != 1:
        weights = np.array([int(w) * data.weight_unit for w in weights], dtype=object)
    return X, _targets(data)[rows], weights


def _targets(data: Dataset) -> NDArray[Any]:
    """(n,) labels, or quantities as the nearest doubles."""
    return data.classes[data.y] if data.quantity is None else data.quantity.values


def error_of(objective: Objective, graph: DecisionGraph, data: Dataset) -> Fraction:
    """The share of the weight that a model gets wrong; under losses of regression, the mean loss."""
    loss = leaf_loss(objective)
    if loss is not None:
        return loss[1].evaluate(graph, data) / (data.total_weight * data.weight_unit)
    wrong = graph.predict_codes(data.X) != data.y
    return Fraction(int(data.weights[wrong].sum()), data.total_weight)


def _held_out(problem: Problem, result: Result, data: Dataset, rows: Ints) -> Answer:
    """The error on the rows held out, and what each requirement lacks there."""
    graph = result.graph
    assert graph is not None
    assert graph.encoder is not None
    X, y, weights = _table(data, rows)
    classes = None if graph.values else graph.classes
    test = Dataset.for_model(graph.encoder, classes, X, y, weights)
    error = error_of(problem.objective, graph, test)
    violations: dict[str, float | None] = {}
    for name, requirement in named(problem.requirements).items():
        try:
            violations[name] = float(requirement.bind(test).violation(graph, test))
        except TreeformError:  # a group that is not among these rows, for example
            violations[name] = None
    return Answer(result, float(error), violations)


def _start(question: Question, options: SolveOptions, models: Sequence[DecisionGraph]) -> Any:
    """The first of the models that the question admits, where a native engine answers it; else "auto".

    A solver takes bounds and models from a native engine, which help more than one model, unless a known bound
    proves this one.
    """
    for graph in models:
        judged = verify(question, graph)
        if judged.ok:
            value = question.to_units(judged.value)
            proved = any(bound.value is not None and bound.value >= value for bound in options.bounds)
            return graph if proved or choose(question, options).engine is not None else "auto"
    return "auto"
