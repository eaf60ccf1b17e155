"""The best layered decision diagram as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from treeform.errors import SpecError
from treeform.estimators.classifier import OptimalClassifier
from treeform.shape import Diagram, Shape


class OptimalDiagramClassifier(OptimalClassifier):
    """The best layered decision diagram within a skeleton (Florio et al., AAAI 2023), with proof.

    Parameters
    ----------
    widths : tuple of int, default (1, 2, 4, 4, 4)
        Largest number of test nodes in each layer, root first.
    requirements : sequence of Requirement, or mapping from names, optional
        What the model has to satisfy, for example ``[tf.MinSupport(0.05)]``. Their parameters can be set and searched
        over as ``requirements__min_support__at_least``.
    objective : Objective or str, optional
        What to minimise; `Error` when left out.
    solver, formulation, warm_start, time_limit
        As in `Problem.solve`.
    threads : int, optional
        Threads of the solver.
    class_weight : dict or "balanced", optional
        Weights of the classes, times ``sample_weight``.
    min_weight_fraction_leaf : float, default 0.0
        `MinSupport`: each leaf has at least this share of the total weight.
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
        threads: int | None = None,
        class_weight: Any = None,
        min_weight_fraction_leaf: float = 0.0,
        monotonic_cst: Any = None,
        exclude: Any = None,
        categorical_features: Any = None,
        missing: str = "value",
        dates: str | None = None,
        unseen: str = "warn",
        decision: str = "label",
        abstain: str | None = None,
        keep_data: bool = False,
        verbose: int = 0,
        on_progress: Callable[..., Any] | None = None,
    ) -> None:
        self.widths = widths
        self.requirements = requirements
        self.objective = objective
        self.solver = solver
        self.formulation = formulation
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.threads = threads
        self.class_weight = class_weight
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.monotonic_cst = monotonic_cst
        self.exclude = exclude
        self.categorical_features = categorical_features
        self.missing = missing
        self.dates = dates
        self.unseen = unseen
        self.decision = decision
        self.abstain = abstain
        self.keep_data = keep_data
        self.verbose = verbose
        self.on_progress = on_progress

    def _shape(self) -> Shape:
        if isinstance(self.widths, Iterable):
            return Diagram(*self.widths)
        raise SpecError(
            f"widths={self.widths!r} are no widths of layers",
            cause="each layer has one, root first",
            fix="use for example widths=(1, 2, 4)",
        )
