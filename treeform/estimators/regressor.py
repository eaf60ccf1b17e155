"""The best regression tree as a scikit-learn estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from treeform.data import Dataset
from treeform.data.exact import AUTO
from treeform.errors import SpecError
from treeform.estimators.base import OptimalEstimator
from treeform.estimators.complexity import price_of
from treeform.estimators.importances import variance_importances
from treeform.estimators.parameters import depth_of
from treeform.estimators.refusals import in_our_words
from treeform.graph import DecisionGraph
from treeform.language.losses import leaf_loss, loss_of
from treeform.language.objective import Objective
from treeform.objectives.regression import AbsoluteError, SquaredError
from treeform.shape import Shape, Tree
from treeform.utils.arguments import clear_call
from treeform.utils.arrays import Floats

MOST_UNITS = 2**50
"""The highest price of a test, in units of the loss. The search counts in 64 bits, and the price may be a fraction."""
LOSSES = {"squared_error": SquaredError, "absolute_error": AbsoluteError}


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeRegressor(RegressorMixin, OptimalEstimator):  # type: ignore[misc]
    """The best regression tree of bounded depth, with proof.

    Parameters
    ----------
    max_depth : int, default 3
        The largest number of tests on a path.
    loss : {"squared_error", "absolute_error"}, default "squared_error"
        Leaves predict means under the first, and medians under the second.
    grid : number, "auto" or None, default "auto"
        Targets are rounded to multiples of it; with "auto" only where they have too many digits to be added exactly,
        which ``result_.notes`` and the certificate then say. None refuses such targets.
    requirements : sequence of Requirement, or mapping from names, optional
        Such as `MinSupport`, `MaxNodes` and `NoTestOn`; under absolute errors also `Monotone` and `MeanParity`.
    objective : Objective or str, optional
        In place of ``loss``, for example ``"squared_error + 10*nodes"``.
    solver, formulation, warm_start, time_limit, threads, min_weight_fraction_leaf, ccp_alpha
        As in `OptimalTreeClassifier`.
    exclude : str or sequence of str, optional
        Columns that no test may use; they need not be there at prediction.
    missing : {"value", "error"}, default "value"
        Whether missing values are values.
    categorical_features, dates, unseen, keep_data, verbose, on_progress
        As in `OptimalTreeClassifier`.

    Attributes
    ----------
    graph_ : DecisionGraph
        The model; its ``values`` are exact.
    result_ : Result or None
        Status, bound, claims; None when all targets are equal.
    certificate_ : dict or None
        What `treeform.check` verifies.
    feature_importances_ : ndarray of shape (F,)
        Decrease of the squared error by the tests of each column, as shares.
    n_features_in_ : int
        Number of columns seen in fit.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import treeform as tf
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = tf.OptimalTreeRegressor(max_depth=2).fit(X, y)
    >>> str(model.result_.status), round(float(model.result_.objective))
    ('optimal', 1477077)
    """

    regresses: ClassVar[bool] = True

    max_depth: int = field(default=3, kw_only=False)
    loss: str = "squared_error"
    grid: Any = "auto"
    ccp_alpha: Any = 0.0

    def _shape(self) -> Shape:
        return Tree(depth_of(self.max_depth))

    @clear_call
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the best tree of this depth; see `OptimalTreeClassifier.fit`.

        Parameters
        ----------
        X, sample_weight
            The rows and their weights.
        y : array of shape (n_samples,)
            Numbers. A float stands for the decimal number that it prints as.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If targets have too many digits and ``grid`` is None.
        """
        self._settle(self._prepared(X, y, sample_weight), None)
        return self

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        self._objective()  # a wrong one is refused before the table is read
        return super()._table(X, y, sample_weight)

    def _with_target(self, table: Dataset) -> Dataset:
        objective = self._objective()
        data = objective.reading(table)
        grid = self._grid_of_penalty(objective, data)
        return data if grid is None else table.as_quantity(grid)

    def _grid_of_penalty(self, objective: Objective, data: Dataset) -> Fraction | None:
        """A coarser grid where the penalty is too large a number of units of the loss; None where it is not."""
        weight, loss = loss_of(objective)
        quantity = data.quantity
        assert quantity is not None
        price = price_of(self.ccp_alpha, data) / weight
        if self.grid != AUTO or price <= MOST_UNITS * loss.per_unit(data):
            return None
        power = 2 if loss.is_squared else 1
        grid = Fraction(10) ** math.ceil(math.log10(quantity.unit))
        while price > MOST_UNITS * loss.per_unit(data) * (grid / quantity.unit) ** power:
            grid *= 10
        return grid

    def _constant(self, data: Dataset) -> DecisionGraph | None:
        assert data.quantity is not None
        if data.quantity.lowest < data.quantity.highest:
            return None
        _, loss = loss_of(self._objective())
        return DecisionGraph.constant(loss.best_value(data, np.arange(data.n_samples)), data)

    def predict(self, X: Any) -> Floats:
        """The value of the leaf that each row reaches, shape (m,)."""
        leaf = self._leaf(X)
        return np.asarray(self.graph_.leaf_values[leaf])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R squared of the predictions."""
        with in_our_words():
            return float(super().score(*self._paired(X, y, sample_weight)))

    def _objective(self) -> Objective:
        if self.objective is not None:
            given = Objective.of(self.objective)
            if leaf_loss(given) is not None:
                return given
            raise SpecError(
                f"the objective {given} is that of a classifier",
                fix="use loss=, or for example 'squared_error'",
            )
        if self.loss not in LOSSES:
            raise SpecError(f"loss={self.loss!r} is not known", fix=f"use one of {', '.join(LOSSES)}")
        return Objective.of(LOSSES[self.loss](grid=self.grid))

    def _keep(self, graph: DecisionGraph, data: Dataset) -> None:
        super()._keep(graph, data)
        self.feature_importances_ = variance_importances(graph, data)
