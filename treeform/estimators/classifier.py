"""What the estimators share: stating the problem, solving it, predicting with the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from treeform.data import Dataset
from treeform.data.options import TableOptions
from treeform.data.table import as_pandas
from treeform.errors import SpecError, TreeformWarning
from treeform.estimators.importances import impurity_importances
from treeform.estimators.parameters import (
    PREFIX,
    listed,
    monotone_of,
    nested_parameters,
    weights_of,
    with_parameters,
)
from treeform.graph import DecisionGraph
from treeform.language.objective import Error
from treeform.problem import Problem
from treeform.requirements import MinSupport
from treeform.result import Result
from treeform.shape import Shape
from treeform.solve import Limit, Status
from treeform.solve.options import SolveOptions
from treeform.solve.threads import on_threads

DECISIONS = ("label", "argmax")


class OptimalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; a subclass names its shape and lists the parameters."""

    requirements: Any
    objective: Any
    solver: Any
    formulation: Any
    warm_start: Any
    time_limit: float | None
    threads: int | None
    class_weight: Any
    min_weight_fraction_leaf: float
    monotonic_cst: Any
    exclude: Any
    categorical_features: Any
    missing: str
    dates: str | None
    unseen: str
    decision: str
    keep_data: bool
    verbose: int
    on_progress: Callable[..., Any] | None

    def _shape(self) -> Shape:
        raise AssertionError("each estimator names its shape")

    # ---------------------------------------------------------------- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep``, those of requirements as ``requirements__NAME__PARAMETER``, too."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        return {**parameters, **nested_parameters(self.requirements)} if deep else parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``requirements__NAME__PARAMETER`` makes the requirement anew with that value."""
        nested = {key[len(PREFIX) :]: value for key, value in params.items() if key.startswith(PREFIX)}
        super().set_params(**{key: value for key, value in params.items() if not key.startswith(PREFIX)})
        if nested:
            self.requirements = with_parameters(self.requirements, nested)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    # ---------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None) -> Self:
        """Learn the best model of this shape under the requirements.

        Parameters
        ----------
        X : DataFrame, array or sparse matrix of shape (n_samples, n_features)
            Numeric and boolean columns; in a DataFrame also text, categories and dates. Missing values are values.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Non-negative weights, exact or on a stated grid; see ``notes`` of the result.
        sensitive_features : array of shape (n_samples,), optional
            Groups for fairness requirements that name none; routed as scikit-learn metadata.

        Returns
        -------
        self

        Raises
        ------
        SpecError
            If no model of the shape satisfies the requirements, or the limit came before the first model.
        KeyboardInterrupt
            After Ctrl-C; the best model found is in ``graph_`` and ``result_``.

        Warns
        -----
        ConvergenceWarning
            If the answer is not proved; with the gap and what stopped the search.
        """
        if self.decision not in DECISIONS:
            raise SpecError(f"decision={self.decision!r} is not known", fix="use 'label' or 'argmax'")
        data = self._prepared(X, y, sample_weight)
        self.classes_ = np.asarray(data.classes)
        if data.n_classes == 1:
            self.result_, self.certificate_ = None, None
            self._keep(DecisionGraph.leaf(0, data), data)
            return self
        result = self._solve(data, sensitive_features)
        self._keep(_graph_of(result), data)
        self.certificate_ = result.certificate()
        self.result_ = result if self.keep_data else result.without_data()
        if result.limit is Limit.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status is not Status.OPTIMAL:
            gap = "unknown" if result.gap is None else f"{result.gap:.2%}"
            warnings.warn(
                f"the model is not proved to be the best: gap {gap}, stopped by {result.limit}", ConvergenceWarning,
                stacklevel=2,
            )  # fmt: skip
        self._check_decision()
        return self

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        X, y = self._validated(as_pandas(X), y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return self._read(X, y, weights_of(self.class_weight, y, sample_weight))

    def _read(self, X: Any, y: Any, weights: Any) -> Dataset:
        names = getattr(self, "feature_names_in_", None)  # lost where the table became an array
        if names is None:
            names = X.columns if isinstance(X, pd.DataFrame) else [f"x{j}" for j in range(X.shape[1])]
        chosen = (
            [] if self.categorical_features is None else np.atleast_1d(self.categorical_features).tolist()
        )
        if chosen and all(isinstance(entry, bool) for entry in chosen):
            chosen = [name for name, is_one in zip(names, chosen, strict=True) if is_one]
        categorical = [names[entry] if isinstance(entry, int) else entry for entry in chosen]
        options = TableOptions.of(
            categorical, "value" if self.missing == "majority" else self.missing, self.dates
        )
        return Dataset.from_user(
            X,
            y,
            weights,
            feature_names=names,
            exclude=self.exclude or (),
            options=options,
            allow_single_class=True,
        )

    def _problem(self, data: Dataset, sensitive_features: Any) -> Problem:
        problem = Problem(data, None, shape=self._shape(), sensitive_features=sensitive_features)
        problem.minimize(Error() if self.objective is None else self.objective)
        problem.add(listed(self.requirements))
        if self.min_weight_fraction_leaf:
            problem.add(MinSupport(self.min_weight_fraction_leaf))
        problem.add(monotone_of(self.monotonic_cst, data.table.names, None))
        return problem

    def _solve(self, data: Dataset, sensitive_features: Any) -> Result:
        problem = self._problem(data, sensitive_features)
        options = SolveOptions(self.solver, self.formulation, self.warm_start)
        return problem.solve(
            on_threads(problem.question, options, self.threads).solver,
            formulation=self.formulation,
            warm_start=self.warm_start,
            time_limit=self.time_limit,
            on_progress=print if self.verbose and self.on_progress is None else self.on_progress,
        )

    def _keep(self, graph: DecisionGraph, data: Dataset) -> None:
        self.graph_ = graph
        self.feature_importances_ = impurity_importances(graph, data)

    def _check_decision(self) -> None:
        """Whether the class of the greatest share is another one than the label of the leaf."""
        if self.decision == "label":
            return
        leaves = self.graph_.feature < 0
        greatest = self.graph_.shares.max(axis=1)
        share = self.graph_.shares[np.arange(len(leaves)), np.maximum(self.graph_.label, 0)]
        differ = int((leaves & (share < greatest)).sum())
        if not differ:
            return
        what = f"{differ} leaves have another label than their most frequent class"
        if listed(self.requirements) or self.monotonic_cst is not None:
            raise SpecError(
                what,
                cause="decision='argmax' would predict what no requirement was asked about",
                fix="use decision='label', or leave out the requirements",
            )
        warnings.warn(what, TreeformWarning, stacklevel=3)

    # ---------------------------------------------------------------- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels, shape (m,).

        The label of the leaf. Where requirements or costs bind, it may differ from the class of the greatest share,
        which ``decision="argmax"`` predicts.
        """
        leaf = self._leaf(X)
        code = self.graph_.shares.argmax(axis=1) if self.decision == "argmax" else self.graph_.label
        return np.asarray(self.graph_.classes[code[leaf]])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Shares of the training weight per class at the leaf reached, shape (m, K); columns as ``classes_``."""
        leaf = self._leaf(X)
        return np.asarray(self.graph_.shares[leaf])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`; minus infinity for shares of 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The leaf that each row reaches, as a position in the arrays of ``graph_``; shape (m,)."""
        return self._leaf(X)

    def decision_path(self, X: Any) -> csr_array:
        """The nodes that each row visits: sparse indicator matrix of shape (m, nodes)."""
        encoded = self._encoded(X)
        return csr_array(self._deciding().route(encoded))

    def get_depth(self) -> int:
        """The largest number of tests on a path."""
        check_is_fitted(self, "graph_")
        return self.graph_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self, "graph_")
        return self.graph_.n_leaves

    def _leaf(self, X: Any) -> NDArray[np.int64]:
        encoded = self._encoded(X)  # checks first whether there is a graph
        return self._deciding().apply(encoded)

    def _encoded(self, X: Any) -> NDArray[np.float64]:
        table = self._for_prediction(X)
        return self._deciding().encode(table, self.unseen)

    def _deciding(self) -> DecisionGraph:
        """The graph that predicts: ``graph_``, or the same nodes with a place for all missing values."""
        return self.graph_.accepting if self.missing == "majority" else self.graph_

    # ---------------------------------------------------------------- what scikit-learn checks

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        if _needs_encoding(X):
            _, y = validate_data(self, X, y, skip_check_array=True), y
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, **self._gaps())
            X = X.toarray() if hasattr(X, "toarray") else X
        check_classification_targets(y)
        return X, np.asarray(y)

    def _for_prediction(self, X: Any) -> Any:
        check_is_fitted(self, "graph_")
        X = as_pandas(X)
        if isinstance(X, pd.DataFrame) and self.exclude:
            return X  # by name; columns that were excluded need not be there
        if _needs_encoding(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        X = validate_data(self, X, dtype=np.float64, reset=False, **self._gaps())
        return X.toarray() if hasattr(X, "toarray") else X

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
