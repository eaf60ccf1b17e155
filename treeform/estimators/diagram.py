"""The best layered decision diagram as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from treeform.errors import SpecError
from treeform.estimators.classifier import OptimalClassifier
from treeform.shape import Diagram, Shape


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalDiagramClassifier(OptimalClassifier):
    """The best layered decision diagram within a skeleton (Florio et al., AAAI 2023), with proof.

    Parameters
    ----------
    widths : tuple of int, default (1, 2, 4, 4, 4)
        Largest number of test nodes in each layer, root first.
    requirements, objective, solver, formulation, warm_start, time_limit, threads
        As in `OptimalTreeClassifier`.
    class_weight, min_weight_fraction_leaf, monotonic_cst, exclude, categorical_features
        As in `OptimalTreeClassifier`.
    missing, dates, unseen, decision, abstain, keep_data, verbose, on_progress
        As in `OptimalTreeClassifier`.

    Attributes
    ----------
    graph_, result_, certificate_, classes_, feature_importances_, n_features_in_
        As in `OptimalTreeClassifier`.
    """

    widths: Any = field(default=(1, 2, 4, 4, 4), kw_only=False)

    def _shape(self) -> Shape:
        if isinstance(self.widths, Iterable):
            return Diagram(*self.widths)
        raise SpecError(
            f"widths={self.widths!r} are no widths of layers",
            cause="each layer has one, root first",
            fix="use for example widths=(1, 2, 4)",
        )
