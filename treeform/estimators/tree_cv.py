"""Trees whose depth and complexity penalty are chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from treeform.data import Dataset
from treeform.estimators.base import OptimalEstimator
from treeform.estimators.classifier import OptimalClassifier
from treeform.estimators.complexity import total_weight
from treeform.estimators.cross_validated import CrossValidatedTree, Rows
from treeform.estimators.regressor import OptimalTreeRegressor
from treeform.estimators.tree import OptimalTreeClassifier
from treeform.graph import DecisionGraph
from treeform.language.losses import loss_of
from treeform.utils.arguments import clear_call


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeClassifierCV(CrossValidatedTree, OptimalClassifier):
    """A decision tree whose depth and complexity penalty are chosen by cross-validation.

    Parameters
    ----------
    max_depth : sequence of int, or int, default (1, 2, 3, 4, 5, 6)
        The depths to choose from.
    ccp_alphas : sequence of float, optional
        Complexity penalties to choose from, as shares of the total weight for each test. By default, up to twelve for
        each depth are taken from the tree's own pruning path (Breiman et al., 1984).
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn; five stratified folds by default.
    scoring : str or callable, optional
        As in scikit-learn; the accuracy by default.
    n_jobs : int, optional
        Folds that are learnt at the same time.
    select : {"close", "best", "one_standard_error"}, default "close"
        ``"close"`` takes the smallest tree whose scores on the folds fall short of the best ones by at most a quarter
        of the standard error of the difference; ``"one_standard_error"`` the smallest one whose score is within one
        standard error of the best (Breiman et al., 1984); ``"best"`` the best score.
    time_limit : float or None, default 60
        Seconds for everything together, cross-validation included. Where reading the rows of each fold would take most
        of it, the folds are of a part of the rows, and a warning says so.
    requirements, objective, solver, formulation, threads
        As in `OptimalTreeClassifier`; they hold on every fold as well.
    warm_start
        As in `OptimalTreeClassifier`. A given model is where the trees of all rows start; folds start without it, as it
        may have been fitted on rows that they hold out.
    verbose : int, default 0
        1 prints which fold goes on, and the improvements of the last tree; 2 all improvements.
    class_weight, min_weight_fraction_leaf, monotonic_cst, exclude, categorical_features
        As in `OptimalTreeClassifier`.
    missing, dates, unseen, decision, abstain, keep_data, on_progress
        As in `OptimalTreeClassifier`.

    Attributes
    ----------
    best_params_ : dict
        ``max_depth`` and ``ccp_alpha``; `OptimalTreeClassifier` takes them.
    best_score_ : float
        Mean score on the held-out rows.
    best_index_ : int
        Where it stands in ``cv_results_``.
    cv_results_ : dict of arrays
        As in `sklearn.model_selection.GridSearchCV`, with ``mean_n_tests``.
    n_splits_ : int
    scorer_ : callable
        What scored the held-out rows.
    graph_, result_, certificate_, classes_, feature_importances_, n_features_in_
        Of the tree that was learnt on all rows with ``best_params_``; see `OptimalTreeClassifier`.

    See Also
    --------
    OptimalTreeClassifier : One depth and penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import treeform as tf
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = tf.OptimalTreeClassifierCV(max_depth=range(1, 4), time_limit=None).fit(X, y)
    >>> clf.best_params_["max_depth"], clf.graph_.n_leaves
    (2, 3)
    """

    def _single(self) -> type[OptimalEstimator]:
        return OptimalTreeClassifier

    @clear_call
    def fit(self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None) -> Self:
        """Choose depth and penalty, and learn the tree.

        Parameters
        ----------
        X, y, sample_weight, sensitive_features
            As in `OptimalTreeClassifier.fit`.

        Returns
        -------
        self

        Raises
        ------
        SpecError
            If a parameter is not possible, or no depth has a model that satisfies the requirements on all rows and on
            each fold. Depths without one have NaN for their scores in ``cv_results_``.
        KeyboardInterrupt
            After Ctrl-C; with a model in ``graph_`` if the last tree had begun.

        Warns
        -----
        ConvergenceWarning
            If the tree is not proved to be the best of its depth and penalty.
        """
        return self._fit(Rows.of(X, y, sample_weight, sensitive_features))


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeRegressorCV(CrossValidatedTree, OptimalTreeRegressor):
    """A regression tree whose depth and complexity penalty are chosen by cross-validation.

    Parameters
    ----------
    max_depth : sequence of int, or int, default (1, 2, 3, 4, 5, 6)
        The depths to choose from.
    ccp_alphas : sequence of float, optional
        Complexity penalties to choose from: what a test has to save of the loss, over the total weight. By default,
        up to twelve for each depth are taken from the tree's own pruning path (Breiman et al., 1984).
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn; five folds by default.
    scoring : str or callable, optional
        As in scikit-learn; R squared by default.
    n_jobs : int, optional
        Folds that are learnt at the same time.
    select : {"close", "best", "one_standard_error"}, default "close"
        As in `OptimalTreeClassifierCV`.
    time_limit : float or None, default 60
        Seconds for everything together, cross-validation included. Where reading the rows of each fold would take most
        of it, the folds are of a part of the rows, and a warning says so.
    loss, grid, requirements, objective, solver, formulation, threads
        As in `OptimalTreeRegressor`.
    warm_start, verbose
        As in `OptimalTreeClassifierCV`.
    min_weight_fraction_leaf, exclude, categorical_features, missing, dates, unseen, keep_data, on_progress
        As in `OptimalTreeRegressor`.

    Attributes
    ----------
    best_params_, best_score_, best_index_, cv_results_, n_splits_, scorer_
        As in `OptimalTreeClassifierCV`.
    graph_, result_, certificate_, feature_importances_, n_features_in_
        Of the tree that was learnt on all rows with ``best_params_``; see `OptimalTreeRegressor`.

    See Also
    --------
    OptimalTreeRegressor : One depth and penalty.

    Examples
    --------
    >>> import treeform as tf
    >>> X, y = [[float(i)] for i in range(20)], [0.0] * 10 + [1.0] * 10
    >>> tf.OptimalTreeRegressorCV(max_depth=[1, 2], cv=2, time_limit=None).fit(X, y).predict([[3.0], [15.0]])
    array([0., 1.])
    """

    def _single(self) -> type[OptimalEstimator]:
        return OptimalTreeRegressor

    def _for_prices(self, one: OptimalEstimator, table: Dataset) -> Dataset:
        """On a grid so coarse that a test may cost as much as all tests together can save."""
        data = super()._for_prices(one, table)
        objective = one._objective()
        _, loss = loss_of(objective)
        constant = DecisionGraph.constant(loss.best_value(data, np.arange(data.n_samples)), data)
        one.set_params(ccp_alpha=Fraction(objective.evaluate(constant, data)) / total_weight(data))
        return one._with_target(table)

    @clear_call
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose depth and penalty, and learn the tree.

        Rows, errors and warnings are as in `OptimalTreeClassifierCV.fit`.

        Returns
        -------
        self
        """
        return self._fit(Rows.of(X, y, sample_weight, None))
