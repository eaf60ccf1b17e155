"""The best decision tree as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from sklearn.base import clone
from sklearn.utils import Bunch

from treeform.estimators.classifier import OptimalClassifier
from treeform.estimators.complexity import pruning_path
from treeform.estimators.parameters import depth_of
from treeform.shape import Shape, Tree
from treeform.utils.arguments import renamed


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeClassifier(OptimalClassifier):
    """The best decision tree of bounded depth, with proof.

    Parameters
    ----------
    max_depth : int, default 3
        The largest number of tests on a path.
    requirements : sequence of Requirement, or mapping from names, optional
        What the model has to satisfy, for example ``[tf.MinSupport(0.05)]`` or ``["min_support:0.05"]``. Their
        parameters can be set and searched over as ``requirements__min_support__at_least``.
    objective : Objective or str, optional
        What to minimise; `Error` by default.
    solver, formulation, warm_start, time_limit
        As in `Problem.solve`.
    threads : int, optional
        Threads of the solver.
    class_weight : dict or "balanced", optional
        Weights of the classes, times ``sample_weight``.
    min_weight_fraction_leaf : float, default 0.0
        `MinSupport`: each leaf has at least this share of the total weight.
    ccp_alpha : float, str or Fraction, default 0.0
        Complexity penalty: a test has to save this share of the total weight, as in scikit-learn.
    monotonic_cst : dict or array of {1, 0, -1}, optional
        `Monotone` by column: 1, the greater label is never less likely for greater values; -1, the reverse.
    exclude : str or sequence of str, optional
        Columns that no test may use, but that requirements may name; they need not be there at prediction.
    categorical_features : sequence of str, int or bool, optional
        Columns whose values are levels.
    missing : {"value", "majority", "error"}, default "value"
        Whether missing values are values. At prediction a value that is missing in a column that had none missing in
        fit is refused, or with "majority" sent at each test to the child of more training weight, as scikit-learn does.
    dates : {None, "days"}, default None
        None refuses dates.
    unseen : {"warn", "error", "other"}, default "warn"
        What to do about levels that were not there in fit.
    decision : {"label", "argmax"}, default "label"
        Predict the label of the leaf, or its most frequent class. Where they differ, ``fit`` refuses ``"argmax"``
        under requirements, and warns under costs.
    abstain : str, optional
        What ``predict`` gives where a leaf decides nothing, such as ``"ask"``: no class, and not in ``classes_``.
        `AbstainCost` as objective prices it.
    keep_data : bool, default False
        Keep the training rows in ``result_``; a pickled model holds none otherwise.
    verbose : int, default 0
        Print progress.
    on_progress : callable, optional
        Called with a `Progress` at each improvement.

    Attributes
    ----------
    graph_ : DecisionGraph
        The model.
    result_ : Result or None
        Status, bound, claims; None when the data hold one class only.
    certificate_ : dict or None
        What `treeform.check` verifies.
    classes_ : ndarray of shape (K,)
        The labels in the target.
    feature_importances_ : ndarray of shape (F,)
        Decrease of the Gini impurity by the tests of each column, as shares; NaN for hyperplanes.
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

    max_depth: int = field(default=3, kw_only=False)
    ccp_alpha: Any = 0.0

    def _shape(self) -> Shape:
        return Tree(depth_of(self.max_depth))

    @renamed(limit="max_models")
    def near_optimal(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sensitive_features: Any = None,
        *,
        within: Any = "0.01",
        max_models: int = 100,
    ) -> list[Self]:
        """Fitted classifiers for the near-optimal models, the best first.

        Parameters
        ----------
        X, y, sample_weight, sensitive_features
            As in `fit`.
        within, max_models
            As in `treeform.Problem.near_optimal`: a share of the optimum, and how many models are listed at most.

        Returns
        -------
        list of OptimalTreeClassifier
            Copies of this one. ``certificate_`` and ``result_`` are None: each model was evaluated, and all of them
            counted, but only the best has a proof of its own.
        """
        found = self._problem(self._prepared(X, y, sample_weight), sensitive_features).near_optimal(
            self.solver,
            within=within,
            max_models=max_models,
            formulation=self.formulation,
            time_limit=self.time_limit,
            on_progress=self.on_progress,
        )
        fitted = []
        for model in found.models:
            one = clone(self)
            data = one._prepared(X, y, sample_weight)
            one.certificate_, one.result_ = None, None
            one._keep(model.graph, data)
            one._check_decision()
            fitted.append(one)
        return fitted

    def cost_complexity_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The best tree for every price of a test, from one size table.

        scikit-learn's ``cost_complexity_pruning_path`` prunes one tree greedily; these trees are the optima.

        Returns
        -------
        Bunch
            ``ccp_alphas``, ``errors``, ``n_nodes``, ``graphs`` and ``proved``; see `treeform.estimators.complexity`.
        """
        data = self._prepared(X, y, sample_weight)
        return pruning_path(self._problem(data, None).size_table(time_limit=self.time_limit))
