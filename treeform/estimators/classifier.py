"""What the classifiers share: stating the problem, and predicting labels and shares."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from treeform.data import Dataset
from treeform.data.labels import of_one_type
from treeform.errors import SpecError, warn_caller
from treeform.estimators.base import OptimalEstimator
from treeform.estimators.importances import impurity_importances
from treeform.estimators.parameters import monotone_of, weights_of
from treeform.estimators.refusals import in_our_words
from treeform.graph import DecisionGraph
from treeform.language.named import listed
from treeform.language.objective import Error, Objective
from treeform.problem import Problem
from treeform.utils.arguments import clear_call
from treeform.utils.arrays import Floats
from treeform.utils.text import count_of

DECISIONS = ("label", "argmax")


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalClassifier(ClassifierMixin, OptimalEstimator):  # type: ignore[misc]
    """Base of the classifiers; a subclass names its shape."""

    class_weight: Any = None
    monotonic_cst: Any = None
    decision: str = "label"
    abstain: str | None = None

    # ---------------------------------------------------------------- fitting

    @clear_call
    def fit(self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None) -> Self:
        """Learn the best model of this shape under the requirements.

        Raises SpecError if no model of the shape satisfies the requirements, or the limit came before the first model;
        KeyboardInterrupt after Ctrl-C; the best model found is in ``graph_`` and ``result_``.

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

        Warns
        -----
        ConvergenceWarning
            If the answer is not proved; with the gap and what stopped the search.
        """
        if self.decision not in DECISIONS:
            raise SpecError(f"decision={self.decision!r} is not known", fix="use 'label' or 'argmax'")
        if self.abstain is not None and self.decision == "argmax":
            raise SpecError(
                f"decision='argmax' never abstains, and abstain={self.abstain!r} is given",
                cause="no row of the training data has that label, so that it is in no leaf the most frequent one",
                fix="use decision='label'",
            )
        self._settle(self._prepared(X, y, sample_weight), sensitive_features)
        self._check_decision()
        return self

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Dataset:
        X, y, weights, labels = self._validated(X, y, sample_weight)
        return self._read(X, y, weights_of(self.class_weight, y, weights), labels)

    def _labels(self, data: Dataset) -> NDArray[Any]:
        """Labels of the target, in their own type: the one that stands for no decision comes last, and is left out."""
        if self.abstain is not None:
            return np.array(data.classes[:-1].tolist())
        dates = all(isinstance(label, np.datetime64) for label in data.classes)
        return np.array(data.classes.tolist()) if dates else np.asarray(data.classes)

    def _constant(self, data: Dataset) -> DecisionGraph | None:
        return DecisionGraph.leaf(0, data) if len(self._labels(data)) == 1 else None

    def _predict_by(self, graph: DecisionGraph, data: Dataset) -> None:
        super()._predict_by(graph, data)
        self.classes_ = self._labels(data)

    def _keep(self, graph: DecisionGraph, data: Dataset) -> None:
        super()._keep(graph, data)
        self.feature_importances_ = impurity_importances(graph, data)

    def _objective(self) -> Objective:
        return Objective.of(Error() if self.objective is None else self.objective)

    def _problem(self, data: Dataset, sensitive_features: Any) -> Problem:
        problem = super()._problem(data, sensitive_features)
        problem.add(monotone_of(self.monotonic_cst, data.table.names, None))
        return problem

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
        what = f"{count_of(differ, 'leaf', 'have')} another label than the most frequent class there"
        if listed(self.requirements) or self.monotonic_cst is not None:
            raise SpecError(
                what,
                cause="decision='argmax' would predict what no requirement was asked about",
                fix="use decision='label', or leave out the requirements",
            )
        warn_caller(what)

    # ---------------------------------------------------------------- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels, shape (m,).

        The label of the leaf. Where requirements or costs bind, it may differ from the class of the greatest share,
        which ``decision="argmax"`` predicts. Where the leaf decides nothing, it is the label given as ``abstain``;
        beside labels that are no text, the array is one of objects.
        """
        leaf = self._leaf(X)
        code = self.graph_.shares.argmax(axis=1) if self.decision == "argmax" else self.graph_.label
        return np.asarray((self.classes_ if self.abstain is None else self.graph_.classes)[code[leaf]])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the weight that is predicted right; where the model abstains, it is not."""
        X, y, sample_weight = self._paired(X, y, sample_weight)
        if self.abstain is None:
            with in_our_words():
                return float(super().score(X, of_one_type(y), sample_weight))
        right = np.asarray(self.predict(X), dtype=object) == np.asarray(y, dtype=object)
        return float(np.average(right, weights=sample_weight))

    def predict_proba(self, X: Any) -> Floats:
        """Shares of the training weight per class at the leaf reached, shape (m, K); columns as ``classes_``.

        Where the model abstains, too: they are what a person who is asked may want to see.
        """
        leaf = self._leaf(X)
        return np.asarray(self.graph_.shares[leaf][:, : len(self.classes_)])

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`; minus infinity for shares of 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _targets(self, y: Any) -> Any:
        y = of_one_type(y)
        with in_our_words():
            try:
                with np.errstate(invalid="ignore"):  # some numbers are too large to be compared with whole ones
                    check_classification_targets(y)
            except ValueError as error:
                raise SpecError(
                    shorten(str(error).split(". ")[0], 80, placeholder=" ..."),
                    cause="a classifier learns labels: text, whole numbers or booleans, in one column",
                    fix="for quantities use tf.OptimalTreeRegressor; make labels text, for example with astype(str)",
                ) from error
        return super()._targets(y)
