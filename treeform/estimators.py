"""scikit-learn estimators: problems that are stated by parameters and solved by ``fit``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.objective import Error
from treeform.problem import Problem
from treeform.shape import Diagram, Shape, Tree
from treeform.solve import Result, Status


class _OptimalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: stating the problem, solving it, predicting with the graph."""

    objective: Any
    requirements: Any
    solver: Any
    formulation: Any
    warm_start: Any
    time_limit: float | None

    def _shape(self) -> Shape:
        raise AssertionError("each estimator names its shape")

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None
    ) -> _OptimalClassifier:
        """Learn the best model of this shape under the requirements.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            Numeric, boolean and (in a DataFrame) categorical columns; no missing values.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Non-negative weights, taken exactly.
        sensitive_features : array of shape (n_samples,), optional
            Groups for fairness requirements that name none; routed as scikit-learn metadata.

        Returns
        -------
        self

        Raises
        ------
        SpecError
            If no model of the shape satisfies the requirements, or the limit came before the first model.
        """
        X, y = self._validated(X, y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        names = getattr(self, "feature_names_in_", None)  # lost where the table became an array
        data = Dataset.from_user(X, y, sample_weight, feature_names=names, allow_single_class=True)
        self.classes_ = np.asarray(data.classes)
        if data.n_classes == 1:
            self.result_ = None
            self.graph_ = DecisionGraph.leaf(0, data)
            return self
        problem = Problem(data, None, shape=self._shape(), sensitive_features=sensitive_features)
        problem.minimize(Error() if self.objective is None else self.objective)
        problem.add(() if self.requirements is None else self.requirements)
        result = problem.solve(
            self.solver, formulation=self.formulation, warm_start=self.warm_start, time_limit=self.time_limit
        )
        self.result_ = result
        self.graph_ = _graph_of(result)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Class labels, shape (m,)."""
        table = self._for_prediction(X)
        return np.asarray(self.graph_.predict(table))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Shares of the training weight per class at the leaf reached, shape (m, K); columns as ``classes_``."""
        table = self._for_prediction(X)
        return np.asarray(self.graph_.predict_proba(table))

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        if _has_categories(X):
            _, y = validate_data(self, X, y, skip_check_array=True), y
        else:
            X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        return X, np.asarray(y)

    def _for_prediction(self, X: Any) -> Any:
        check_is_fitted(self, "graph_")
        if _has_categories(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return validate_data(self, X, dtype=np.float64, reset=False)


class OptimalTreeClassifier(_OptimalClassifier):
    """The best decision tree of bounded depth, with proof.

    Parameters
    ----------
    max_depth : int, default 3
        The largest number of tests on a path.
    requirements : sequence of Requirement, optional
        What the tree has to satisfy, for example ``[tf.MinSupport(0.05)]``.
    objective : Objective or str, optional
        What to minimise; `Error` when left out.
    solver, formulation, warm_start, time_limit
        As in `Problem.solve`.

    Attributes
    ----------
    graph_ : DecisionGraph
        The tree.
    result_ : Result or None
        Status, bound, claims, certificate; None when the data hold one class only.
    classes_ : ndarray of shape (K,)
        The labels.
    n_features_in_ : int
        Number of columns seen in fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import treeform as tf
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = tf.OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> clf.result_.errors, str(clf.result_.status)
    (6, 'optimal')
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        requirements: Any = None,
        objective: Any = None,
        solver: Any = None,
        formulation: Any = None,
        warm_start: Any = "auto",
        time_limit: float | None = 60,
    ) -> None:
        self.max_depth = max_depth
        self.requirements = requirements
        self.objective = objective
        self.solver = solver
        self.formulation = formulation
        self.warm_start = warm_start
        self.time_limit = time_limit

    def _shape(self) -> Shape:
        return Tree(self.max_depth)


class OptimalDiagramClassifier(_OptimalClassifier):
    """The best layered decision diagram within a skeleton (Florio et al., AAAI 2023), with proof.

    Parameters
    ----------
    widths : tuple of int, default (1, 2, 4, 4, 4)
        Largest number of test nodes in each layer, root first.
    requirements, objective, solver, formulation, warm_start, time_limit
        As in `OptimalTreeClassifier`.

    Attributes
    ----------
    graph_, result_, classes_, n_features_in_
        As in `OptimalTreeClassifier`.
    """

    def __init__(
        self,
        widths: Any = (1, 2, 4, 4, 4),
        *,
        requirements: Any = None,
        objective: Any = None,
        solver: Any = None,
        formulation: Any = None,
        warm_start: Any = "auto",
        time_limit: float | None = 60,
    ) -> None:
        self.widths = widths
        self.requirements = requirements
        self.objective = objective
        self.solver = solver
        self.formulation = formulation
        self.warm_start = warm_start
        self.time_limit = time_limit

    def _shape(self) -> Shape:
        return Diagram(*self.widths)


def _has_categories(X: Any) -> bool:
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
    raise SpecError(
        f"the search stopped ({result.limit}) before it had a model",
        cause="no model that satisfies the requirements was found in time",
        fix="raise time_limit, or loosen the requirements",
    )
