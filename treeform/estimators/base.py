"""What the estimators share: parameters, reading tables, solving, and where rows go in the graph."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from treeform.data import Dataset
from treeform.data.exact import AUTO
from treeform.data.labels import refuse_missing
from treeform.data.roles import MISSING, TableOptions, in_row_order, one_of, row_labels
from treeform.data.table import as_pandas, refuse_repeated_names
from treeform.data.unseen import Unseen
from treeform.errors import DataError, SpecError, warn_caller
from treeform.estimators.complexity import with_penalty
from treeform.estimators.parameters import ELSEWHERE, PREFIX, nested_parameters
from treeform.estimators.refusals import in_our_words
from treeform.graph import DecisionGraph
from treeform.language.named import listed, with_parameters
from treeform.language.objective import Objective
from treeform.problem import Problem
from treeform.requirements import MinSupport
from treeform.result import Result
from treeform.shape import Shape
from treeform.solve import Limit, Status
from treeform.utils.arguments import unknown_parameter
from treeform.utils.arrays import Floats, Ints
from treeform.utils.text import value_text

AS_GIVEN = ("warm_start", "on_progress")
"""Parameters that copies share: a tree that is given fitted stays fitted, and who watches a fit watches its folds."""


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; a subclass names its shape and objective, and adds parameters."""

    regresses: ClassVar[bool] = False
    parameters_elsewhere: ClassVar[dict[str, str]] = ELSEWHERE
    abstain = None  # type: str | None
    """A parameter of the classifiers alone."""
    ccp_alpha = 0.0  # type: Any
    """A parameter of the trees alone."""

    requirements: Any = None
    objective: Any = None
    solver: Any = None
    formulation: Any = None
    warm_start: Any = "auto"
    time_limit: float | None = 60
    threads: int | None = None
    min_weight_fraction_leaf: float = 0.0
    exclude: Any = None
    categorical_features: Any = None
    missing: str = "value"
    dates: str | None = None
    unseen: str = "warn"
    keep_data: bool = False
    verbose: int = 0
    on_progress: Callable[..., Any] | None = None

    result_: Result | None = field(init=False)
    certificate_: dict[str, Any] | None = field(init=False)

    def _shape(self) -> Shape:
        raise AssertionError("each estimator names its shape")

    def _predict_by(self, graph: DecisionGraph, data: Dataset) -> None:
        """Keep what predictions take."""
        self.graph_ = graph

    def _keep(self, graph: DecisionGraph, data: Dataset) -> None:
        self._predict_by(graph, data)

    # ---------------------------------------------------------------- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep``, those of requirements as ``requirements__NAME__PARAMETER``, too."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        return {**parameters, **nested_parameters(self.requirements)} if deep else parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``requirements__NAME__PARAMETER`` makes the requirement anew with that value.

        Raises CallError if there is no such parameter.
        """
        nested = {key[len(PREFIX) :]: value for key, value in params.items() if key.startswith(PREFIX)}
        own = {key: value for key, value in params.items() if not key.startswith(PREFIX)}
        unknown = unknown_parameter(
            type(self).__name__, own, list(super().get_params(deep=False)), self.parameters_elsewhere
        )
        if unknown is not None:
            raise unknown
        super().set_params(**own)
        if nested:
            self.requirements = with_parameters(self.requirements, nested)
        return self

    def __sklearn_clone__(self) -> Self:
        bare = copy(self)
        bare.__dict__.update(dict.fromkeys(AS_GIVEN))
        copied: Self = super(OptimalEstimator, bare).__sklearn_clone__()
        copied.__dict__.update({name: getattr(self, name) for name in AS_GIVEN})
        return copied

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    # ---------------------------------------------------------------- fitting

    def _read(self, X: Any, y: Any, weights: Any, labels: pd.Index | None) -> Dataset:
        names = getattr(self, "feature_names_in_", None)  # lost where the table became an array
        if names is None:
            names = X.columns if isinstance(X, pd.DataFrame) else [f"x{j}" for j in range(X.shape[1])]
        chosen = in_row_order(self.categorical_features, pd.Index(names), "categorical_features", "mask")
        chosen = [] if chosen is None else np.atleast_1d(chosen).tolist()
        if chosen and all(isinstance(entry, bool) for entry in chosen):
            chosen = [name for name, is_one in zip(names, chosen, strict=True) if is_one]
        categorical = [names[entry] if isinstance(entry, int) else entry for entry in chosen]
        one_of("missing", self.missing, (*MISSING, "majority"))
        Unseen.of(self.unseen)
        options = TableOptions.of(
            categorical, "value" if self.missing == "majority" else self.missing, self.dates, self.abstain,
            AUTO,  # scikit-learn's boosting, and its class weights, give weights of all digits
        )  # fmt: skip
        return Dataset.from_user(
            X,
            y,
            weights,
            feature_names=names,
            row_labels=labels,
            exclude=() if self.exclude is None else self.exclude,
            options=options,
            allow_single_class=True,
            allow_quantities=self.regresses,
        )

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        """The table as the objective reads it."""
        return self._with_target(self._table(X, y, sample_weight))

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        """The table as treeform reads it; sets what scikit-learn wants to know of it."""
        return self._read(*self._validated(X, y, sample_weight))

    def _with_target(self, table: Dataset) -> Dataset:
        """The table with its target as the objective reads it."""
        return table

    def _constant(self, data: Dataset) -> DecisionGraph | None:
        """The model where all rows have one target, else None."""
        raise AssertionError("each estimator knows its constant model")

    def _objective(self) -> Objective:
        """What is minimised, without the complexity penalty."""
        raise AssertionError("each estimator has an objective")

    def _problem(self, data: Dataset, sensitive_features: Any) -> Problem:
        problem = Problem(data, None, shape=self._shape(), sensitive_features=sensitive_features)
        problem.minimize(with_penalty(self._objective(), self.ccp_alpha, data))
        problem.add(listed(self.requirements))
        if self.min_weight_fraction_leaf:
            problem.add(MinSupport(fraction=self.min_weight_fraction_leaf))
        return problem

    def _settle(self, data: Dataset, sensitive_features: Any, by: OptimalEstimator | None = None) -> None:
        """The best model of these rows, as another estimator finds it; without a search where they have one target."""
        one = by or self
        constant = one._constant(data)
        if constant is None:
            self._finish(one._solve(data, sensitive_features), data)
            return
        self.result_, self.certificate_ = None, None
        self._keep(constant, data)

    def _solve(self, data: Dataset, sensitive_features: Any) -> Result:
        problem = self._problem(data, sensitive_features)
        return problem.solve(
            self.solver,
            formulation=self.formulation,
            warm_start=self.warm_start,
            time_limit=self.time_limit,
            threads=self.threads,
            on_progress=self._watcher(),
        )

    def _watcher(self) -> Callable[..., Any] | None:
        """What is called at each improvement."""
        return print if self.verbose and self.on_progress is None else self.on_progress

    def _finish(self, result: Result, data: Dataset) -> None:
        """Keep the answer of a solve; report an interrupt, and what is not proved."""
        self._keep(_graph_of(result), data)
        self.certificate_ = result.certificate()
        self.result_ = result if self.keep_data else result.without_data()
        if result.limit is Limit.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status is not Status.OPTIMAL:
            known = "nothing is proved of others"
            if result.gap is not None:
                ends = f"{value_text(result.bound)} and {value_text(result.objective)}"
                known = f"the best objective is between {ends}, gap {result.gap:.2%}"
            what = f"the model is not proved to be the best: {known}, stopped by {result.limit}"
            warn_caller(what, ConvergenceWarning)

    # ---------------------------------------------------------------- where rows go

    def apply(self, X: Any) -> Ints:
        """The leaf that each row reaches, as a position in the arrays of ``graph_``; shape (m,)."""
        return self._leaf(X)

    def decision_path(self, X: Any) -> csr_array:
        """The nodes that each row visits: sparse indicator matrix of shape (m, nodes)."""
        encoded = self._encoded(X)
        return csr_array(self._deciding().route(encoded))

    def get_depth(self) -> int:
        """The largest number of tests on a path."""
        self._fitted()
        return self.graph_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        self._fitted()
        return self.graph_.n_leaves

    def _leaf(self, X: Any) -> Ints:
        encoded = self._encoded(X)  # checks first whether there is a graph
        return self._deciding().apply(encoded)

    def _encoded(self, X: Any) -> Floats:
        table = self._for_prediction(X)
        return self._deciding().encode(table, self.unseen)

    def _deciding(self) -> DecisionGraph:
        """The graph that predicts: ``graph_``, or the same nodes with a place for all missing values."""
        return self.graph_.accepting if self.missing == "majority" else self.graph_

    # ---------------------------------------------------------------- what scikit-learn checks

    def _targets(self, y: Any) -> Any:
        """The targets as scikit-learn's checks want them."""
        return np.asarray(y)

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, pd.Index | None]:
        """Table, targets and weights, and the labels of the rows, which the arrays among them have lost."""
        labels = row_labels(X)
        X, y, sample_weight = self._paired(X, y, sample_weight)
        if y is not None and (targets := np.asarray(y)).ndim == 1:
            refuse_missing(targets)
        with in_our_words():
            if _needs_encoding(X):
                _, y = validate_data(self, X, y, skip_check_array=True), y
            else:
                X, y = validate_data(self, X, y, dtype=np.float64, **self._gaps())
                X = X.toarray() if hasattr(X, "toarray") else X
        y = self._targets(y)
        if sample_weight is not None:
            with in_our_words("sample_weight"):
                sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            with np.errstate(over="ignore"):
                if not np.isfinite(sample_weight.sum()):
                    raise DataError(
                        "the sum of sample_weight is larger than all floats",
                        cause=f"the largest is {sample_weight.max():g}",
                        fix="divide all of them by the largest",
                    )
        return X, y, sample_weight, labels

    @staticmethod
    def _paired(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Targets and weights in the order of the rows; see `treeform.data.roles`."""
        refuse_repeated_names(X)
        labels = row_labels(X)
        y = in_row_order(y, labels, "the target", "y")
        columns = getattr(y, "shape", (0,))[1:]
        if columns and columns[0] > 1:
            raise SpecError(
                f"the target has {columns[0]} columns",
                cause="one label or value is learned for each row",
                fix="give one of them as y, or fit an estimator for each (sklearn.multioutput)",
            )
        return as_pandas(X), y, in_row_order(sample_weight, labels, "sample_weight", "sample_weight")

    def _for_prediction(self, X: Any) -> Any:
        self._fitted()
        refuse_repeated_names(X)
        X = as_pandas(X)
        if isinstance(X, pd.DataFrame) and self.exclude is not None and len(self.exclude):
            return X  # by name; columns that were excluded need not be there
        with in_our_words():
            if _needs_encoding(X):
                validate_data(self, X, reset=False, skip_check_array=True)
                return X
            X = validate_data(self, X, dtype=np.float64, reset=False, **self._gaps())
        return X.toarray() if hasattr(X, "toarray") else X

    def _fitted(self) -> None:
        """Refuse what asks for a model before there is one."""
        check_is_fitted(self, "graph_", msg="this %(name)s is not fitted yet\n  Fix: call fit(X, y) first")

    def _gaps(self) -> dict[str, Any]:
        return {"ensure_all_finite": "allow-nan" if self.missing != "error" else True, "accept_sparse": "csr"}


def _needs_encoding(X: Any) -> bool:
    """Whether ``X`` is a table with columns that only treeform's own encoding understands."""
    return isinstance(X, pd.DataFrame) and not all(pd.api.types.is_numeric_dtype(t) for t in X.dtypes)


def _graph_of(result: Result) -> DecisionGraph:
    if result.graph is not None:
        return result.graph
    if result.status is Status.INFEASIBLE:
        raise SpecError(
            "no model of this shape satisfies the requirements",
            cause="; ".join(str(claim) for claim in result.claims if claim.kind == "infeasible"),
            fix="loosen a requirement or allow a larger shape",
        )
    if result.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    raise SpecError(
        f"the search stopped ({result.limit}) before it had a model",
        cause="no model that satisfies the requirements was found in time",
        fix="raise time_limit, or loosen the requirements",
    )
